//! Small crates, to see that circles are found.

use std::{collections::BTreeMap, path::Path};

use super::{Crate, faults, floors};

/// A crate of files of a folder `src`.
fn made_up(files: &[(&str, &str)]) -> Crate {
    let files: BTreeMap<_, _> =
        files.iter().map(|(path, text)| (Path::new("src").join(path), *text)).collect();
    Crate::read(Path::new("src/lib.rs"), &|path| files.get(path).map(|text| (*text).to_owned()))
}

/// The modules of the circles, as `parent: a b`.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let name = |circle: &super::Circle| {
        let members: Vec<_> = circle.arrows.iter().map(|arrow| arrow.from.as_str()).collect();
        format!("{}: {}", circle.parent.join("::"), members.join(" "))
    };
    made_up(files).circles.iter().map(name).collect()
}

#[test]
fn two_modules_that_name_each_other_are_a_circle() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A; fn f() { crate::b::g() }"),
        ("b.rs", "use super::a::A; pub fn g() -> A { A }"),
    ];
    assert_eq!(circles(&files), [": a b"]);
    let text = made_up(&files).circles.first().unwrap().to_string();
    assert!(text.contains("a -> b: src/a.rs names crate::b::g"), "{text}");
    assert!(text.contains("b -> a: src/b.rs names super::a::A"), "{text}");
}

#[test]
fn a_circle_may_have_three_modules_and_lie_deep() {
    let files = [
        ("lib.rs", "mod p;"),
        ("p/mod.rs", "mod a; mod b; mod c; mod d;"),
        ("p/a.rs", "use super::b; fn f() { b::f() }"),
        ("p/b/mod.rs", "mod inner; pub fn f() {}"),
        ("p/b/inner.rs", "use crate::p::{c::{self, f}, d};"),
        ("p/c.rs", "pub fn f() -> self::super::a::A {}"),
        ("p/d.rs", ""),
    ];
    assert_eq!(circles(&files), ["p: a b c"]);
}

#[test]
fn parents_and_children_are_one_room() {
    let files = [
        ("lib.rs", "mod a; pub struct Root; fn f() { a::f() }"),
        ("a.rs", "mod b; pub use b::B; pub fn f() -> B { crate::Root; B }"),
        ("a/b.rs", "pub struct B; fn g() { super::f(); super::super::f() }"),
    ];
    assert_eq!(circles(&files), [""; 0]);
}

#[test]
fn a_re_export_leads_to_what_it_names() {
    let through_parent = [
        ("lib.rs", "mod a; mod b; pub use a::A; pub use b::{B as Other};"),
        ("a.rs", "pub struct A; fn f(_: super::Other) {}"),
        ("b.rs", "pub struct B; fn f(_: crate::A) {}"),
    ];
    assert_eq!(circles(&through_parent), [": a b"]);
    let own = [
        ("lib.rs", "mod a; mod b; pub struct A; pub use b::B;"),
        ("a.rs", "pub struct A; fn f(_: super::B) {}"),
        ("b.rs", "pub struct B; fn f(_: crate::A) {}"),
    ];
    assert_eq!(circles(&own), [""; 0]);
    let twice = [
        ("lib.rs", "mod a; mod b; mod c; pub use c::*;"),
        ("a.rs", "pub struct A; use super::deep::B;"),
        ("b.rs", "pub struct B; use crate::a::A;"),
        ("c.rs", "pub mod deep { pub use super::super::b::B; }"),
    ];
    assert_eq!(circles(&twice), [": a b", ": a c b"]);
}

#[test]
fn a_private_import_of_the_parent_is_followed() {
    let files = [
        ("lib.rs", "mod p;"),
        ("p.rs", "mod a; mod b; use a::A; use b::B;"),
        ("p/a.rs", "use super::*; pub struct A; fn f(_: B) {}"),
        ("p/b.rs", "use super::A; pub struct B;"),
    ];
    assert_eq!(circles(&files), ["p: a b"]);
}

#[test]
fn names_of_a_glob_count_where_they_are_used() {
    let used = [
        ("lib.rs", "mod a; mod b; mod prelude;"),
        ("prelude.rs", "pub use crate::b::*;"),
        ("a.rs", "use crate::prelude::*; pub fn f() { g() }"),
        ("b.rs", "pub fn g() { crate::a::f() }"),
    ];
    assert_eq!(circles(&used), [": a b", ": a prelude b"]);
    let unused = [
        ("lib.rs", "mod a; mod b; pub use b::g;"),
        ("a.rs", "use super::*; pub fn f() { f() }"),
        ("b.rs", "pub fn g() { crate::a::f() }"),
    ];
    assert_eq!(circles(&unused), [""; 0]);
}

#[test]
fn a_file_may_be_elsewhere() {
    let files = [
        ("lib.rs", "#[path = \"../other/x.rs\"] mod a; mod b;"),
        ("../other/x.rs", "mod y; pub struct A;"),
        ("../other/y.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; pub struct B;"),
    ];
    let files: BTreeMap<_, _> = files.iter().map(|(path, text)| (*path, *text)).collect();
    let read = |path: &Path| {
        let name = path.to_str().unwrap();
        let name = name.strip_prefix("src/").map_or_else(|| format!("../{name}"), str::to_owned);
        files.get(name.as_str()).map(|text| (*text).to_owned())
    };
    assert_eq!(Crate::read(Path::new("src/lib.rs"), &read).circles.len(), 1);
}

#[test]
fn modules_in_a_file_are_modules() {
    let files =
        [("lib.rs", "mod a { use super::b::f; pub fn g() { f() } } mod b { pub fn f() { super::a::g() } }")];
    assert_eq!(circles(&files), [": a b"]);
}

#[test]
fn chains_of_super_are_followed() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod x;"),
        ("a/x.rs", "mod y;"),
        ("a/x/y.rs", "fn f() { super::super::super::b::f() }"),
        ("b.rs", "use super::a as first; use first::x; pub fn f() {}"),
    ];
    assert_eq!(circles(&files), [": a b"]);
}

#[test]
fn tests_and_models_may_name_what_they_like() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "pub struct A; #[cfg(test)] use crate::b; #[cfg(test)] mod here { use crate::b::B; } mod tests;
             #[cfg(all(loom, test))] mod model; impl A { #[cfg(test)] fn f() { crate::b::f() } }
             #[cfg(any(test, doctest))] fn f() { crate::b::f() }",
        ),
        ("a/tests.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; pub struct B; fn f() {}"),
    ];
    assert_eq!(circles(&files), [""; 0]);
    let not_tests = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A; #[cfg(not(all(loom, test)))] use crate::b;"),
        ("b.rs", "use crate::a::A;"),
    ];
    assert_eq!(circles(&not_tests), [": a b"]);
}

#[test]
fn comments_and_strings_name_nothing() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "//! [`crate::b`]\n/// [`f`](crate::b::f)\n// crate::b\npub fn f() { g(\"crate::b::f()\") }",
        ),
        ("b.rs", "use crate::a;"),
    ];
    assert_eq!(circles(&files), [""; 0]);
}

#[test]
fn arguments_of_macros_are_read() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn f() { assert_eq!(1, (|| crate::b::g())()) }"),
        ("b.rs", "use crate::a; rows! { 1, Some(a::f); }"),
    ];
    assert_eq!(circles(&files), [": a b"]);
}

#[test]
fn a_macro_names_where_it_is_called() {
    let relative = [
        ("lib.rs", "macro_rules! call { () => { super::b::g() } } mod a; mod b;"),
        ("a.rs", "pub fn f() { call!() }"),
        ("b.rs", "pub fn g() { crate::a::f() }"),
    ];
    assert_eq!(circles(&relative), [": a b"]);
    let absolute = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "#[macro_export] macro_rules! call { ($x:ident) => { $crate::b::g($x) } }"),
        ("b.rs", "pub fn g() { crate::call!(x) }"),
    ];
    assert_eq!(circles(&absolute), [": a b"]);
}

#[test]
fn an_import_in_a_block_is_of_the_block() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "pub fn f() { use crate::b as x; x::g() } fn g() { use crate::c as x; x::h() }"),
        ("b.rs", "pub fn g() {}"),
        ("c.rs", "pub fn h() { crate::a::f() }"),
    ];
    assert_eq!(circles(&files), [": a c"]);
}

#[test]
fn a_variable_is_no_module() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn f() { let b = 1; b + 1; write!(b, c, self.b, b = b) }"),
        ("b.rs", "pub fn g() { crate::a::f() }"),
    ];
    assert_eq!(circles(&files), [""; 0]);
}

#[test]
fn floors_are_read_and_held() {
    let page = "//! A crate.\n//!\n//! Floors, lowest first; a module uses those below it, and those of its own floor:\n\
                //! 1. `a`, `b`\n//! 2. `c`: the rest\n//!\n//! More of `d`.\nmod a; mod b; mod c;";
    let floors = floors(page);
    assert_eq!(floors, [("a".into(), 1), ("b".into(), 1), ("c".into(), 2)]);
    let good = [("lib.rs", page), ("a.rs", "use super::b;"), ("b.rs", ""), ("c.rs", "use super::a;")];
    assert_eq!(faults(&made_up(&good), &floors), [""; 0]);
    let up = [("lib.rs", page), ("a.rs", ""), ("b.rs", "use crate::c;"), ("c.rs", "")];
    assert_eq!(faults(&made_up(&up), &floors), ["`b` is below `c`: src/b.rs names crate::c"]);
    let other = [("lib.rs", "mod a; mod b; mod d;"), ("a.rs", ""), ("b.rs", ""), ("d.rs", "")];
    assert_eq!(faults(&made_up(&other), &floors), ["`d` is on no floor", "there is no module `c`"]);
}
