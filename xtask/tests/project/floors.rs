//! Modules depend on each other in one direction, and on those of lower floors.
//!
//! A module and its own children are one room: what they name of each other does not count. Between the children of a
//! module no paths may lead in a circle. A crate may also say in its first page on which floor each module stands:
//!
//! ```text
//! //! Floors, lowest first; a module uses those below it, and those of its own floor:
//! //! 1. `error`, `trace`
//! //! 2. `memory`
//! ```
//!
//! Then no path may lead to a higher floor.

mod circles;
mod made_up;
mod names;
mod tree;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use circles::{Arrows, Circle};
use tree::Tree;

/// Packages that must have floors. Others may.
const MUST_HAVE_FLOORS: &[&str] = &["aqlipse", "aqlipse-graph", "capi", "aqlipse-emulator"];

/// Begins the list of floors in the first page of a crate.
const FLOORS: &str = "Floors, lowest first; a module uses those below it, and those of its own floor:";

/// A crate that was read.
struct Crate {
    tree: Tree,
    arrows: Arrows,
    circles: BTreeSet<Circle>,
}

impl Crate {
    fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let tree = Tree::read(root, read);
        let arrows = circles::arrows(&tree, &names::references(&tree));
        let circles = circles::circles(&tree, &arrows);
        Self { tree, arrows, circles }
    }
}

/// The roots of the crates of each package, but for tests: the library, programs, benchmarks, examples, build scripts.
fn packages() -> BTreeMap<String, Vec<PathBuf>> {
    let metadata =
        xtask::output(xtask::cargo().args(["metadata", "--no-deps", "--format-version=1"])).unwrap();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let mut packages = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let targets =
            package["targets"].as_array().unwrap().iter().filter(|target| target["kind"][0] != "test");
        let roots = targets.map(|target| target["src_path"].as_str().unwrap().into());
        packages.insert(package["name"].as_str().unwrap().to_owned(), roots.collect());
    }
    packages
}

/// Files are named as in the workspace.
fn from_disk(root: &Path) -> Crate {
    let root = root.strip_prefix(xtask::root()).unwrap();
    Crate::read(root, &|path| fs::read_to_string(xtask::root().join(path)).ok())
}

/// The circles of each package.
fn circles_of_packages() -> BTreeMap<String, BTreeSet<Circle>> {
    let circles = |roots: Vec<PathBuf>| roots.iter().flat_map(|root| from_disk(root).circles).collect();
    packages().into_iter().map(|(package, roots)| (package, circles(roots))).collect()
}

#[test]
fn modules_do_not_depend_on_each_other_in_circles() {
    let mut report = String::new();
    for (package, circles) in circles_of_packages() {
        println!("{package}: {} circles", circles.len());
        if !circles.is_empty() {
            report += &format!("{package}:\n");
            report.extend(circles.iter().map(Circle::to_string));
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn no_path_leads_to_a_higher_floor() {
    for (package, roots) in packages() {
        let libraries: Vec<_> = roots.iter().filter(|root| root.ends_with("src/lib.rs")).collect();
        let floors: Vec<_> = libraries.iter().map(|root| floors(&xtask::read(root).unwrap())).collect();
        let has_floors = floors.iter().any(|floors| !floors.is_empty());
        assert!(has_floors || !MUST_HAVE_FLOORS.contains(&package.as_str()), "{package} has no floors");
        for (root, floors) in libraries.into_iter().zip(floors).filter(|(_, floors)| !floors.is_empty()) {
            let faults = faults(&from_disk(root), &floors);
            assert!(faults.is_empty(), "{package}:\n{}", faults.join("\n"));
        }
    }
}

/// The floor of each module, by the first page of a crate.
fn floors(text: &str) -> Vec<(String, usize)> {
    let page = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let list = page.skip_while(|line| *line != FLOORS).skip(1).skip_while(|line| line.is_empty());
    let mut floors = Vec::new();
    for (line, number) in list.take_while(|line| !line.is_empty()).zip(1..) {
        let modules = line.strip_prefix(&format!("{number}. "));
        let modules = modules.unwrap_or_else(|| panic!("`{line}` is not floor {number}"));
        let names = modules.split('`').skip(1).step_by(2);
        floors.extend(names.map(|name| (name.to_owned(), number)));
    }
    floors
}

/// What contradicts the floors of a crate.
fn faults(read: &Crate, floors: &[(String, usize)]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut floor_of = BTreeMap::new();
    for (module, floor) in floors {
        if floor_of.insert(module.as_str(), *floor).is_some() {
            faults.push(format!("`{module}` is on two floors"));
        }
    }
    let modules: BTreeSet<_> = read.tree.module(0).children.keys().map(String::as_str).collect();
    let listed: BTreeSet<_> = floor_of.keys().copied().collect();
    faults.extend(modules.difference(&listed).map(|module| format!("`{module}` is on no floor")));
    faults.extend(listed.difference(&modules).map(|module| format!("there is no module `{module}`")));
    for arrow in read.arrows.get(&0).into_iter().flat_map(BTreeMap::values) {
        let [from, to] = [&arrow.from, &arrow.to].map(|module| floor_of.get(module.as_str()));
        if from.zip(to).is_some_and(|(from, to)| from < to) {
            let (file, path) = (arrow.file.display(), &arrow.path);
            faults.push(format!("`{}` is below `{}`: {file} names {path}", arrow.from, arrow.to));
        }
    }
    faults
}
