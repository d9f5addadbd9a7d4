//! The modules of a crate, and what each path in scope of a module leads to.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item, ItemMod, UseTree};

/// Names a module of a [`Tree`]; the crate's root is 0.
pub type Id = usize;

/// A module.
pub struct Module {
    /// Its name, with those of the modules around it; the root's is empty.
    pub path: Vec<String>,
    /// Where it is written.
    pub file: PathBuf,
    pub parent: Option<Id>,
    pub children: BTreeMap<String, Id>,
    /// What is written in it, but for its modules.
    pub content: Vec<Item>,
    items: BTreeSet<String>,
    macros: BTreeMap<String, TokenStream>,
    imports: Vec<Import>,
}

/// One path of a `use`.
#[derive(Clone, Debug)]
pub struct Import {
    /// What it is called here; a glob has no name.
    pub name: Option<String>,
    pub path: Vec<String>,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Module(Id),
    /// Something that a module defines.
    Item(Id, String),
}

impl End {
    /// The module, or the one that defines the item.
    pub fn module(&self) -> Id {
        match self {
            Self::Module(module) | Self::Item(module, _) => *module,
        }
    }
}

/// The modules of a crate that are not tests.
pub struct Tree(Vec<Module>);

impl Tree {
    /// Reads a crate. `read` returns the text of a file, if there is such a file.
    pub fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut tree = Self(Vec::new());
        let folder = root.with_file_name("");
        tree.add_file(Vec::new(), root, &folder, None, read);
        tree.name_exported_macros();
        tree
    }

    pub fn modules(&self) -> impl Iterator<Item = (Id, &Module)> {
        self.0.iter().enumerate()
    }

    pub fn module(&self, id: Id) -> &Module {
        &self.0[id]
    }

    /// The module and those around it, the innermost first.
    pub fn around(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(Some(id), |&id| self.0[id].parent)
    }

    /// `folder` is where the files of its children lie.
    fn add_file(
        &mut self,
        path: Vec<String>,
        file: &Path,
        folder: &Path,
        parent: Option<Id>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Id {
        let text = read(file).unwrap_or_else(|| panic!("{}: no such file", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(path, file, [&file.with_file_name(""), folder], parent, parsed.items, read)
    }

    /// `folders` are where paths of `#[path]` begin and where the files of children without it lie.
    fn add(
        &mut self,
        path: Vec<String>,
        file: &Path,
        folders: [&Path; 2],
        parent: Option<Id>,
        content: Vec<Item>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Id {
        let id = self.0.len();
        let (modules, content): (Vec<_>, Vec<_>) =
            content.into_iter().partition(|item| matches!(item, Item::Mod(_)));
        let mut module = Module {
            path: path.clone(),
            file: file.to_owned(),
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            macros: BTreeMap::new(),
            imports: Vec::new(),
            content,
        };
        module.index();
        self.0.push(module);
        for item in modules {
            let Item::Mod(item) = item else { unreachable!() };
            if is_of_tests(&item.attrs) {
                continue;
            }
            let name = plain(&item.ident);
            let inner: Vec<_> = path.iter().cloned().chain([name.clone()]).collect();
            let Some(child) = self.add_child(id, inner, item, file, folders, read) else { continue };
            self.0[id].children.insert(name, child);
        }
        id
    }

    fn add_child(
        &mut self,
        id: Id,
        path: Vec<String>,
        item: ItemMod,
        file: &Path,
        [given, folder]: [&Path; 2],
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Option<Id> {
        let name = path.last()?.clone();
        let inner = folder.join(&name);
        if let Some((_, content)) = item.content {
            return Some(self.add(path, file, [&inner, &inner], Some(id), content, read));
        }
        let chosen = item.attrs.iter().find_map(chosen_file).map(|file| straight(&given.join(file)));
        let (flat, nested) = (folder.join(format!("{name}.rs")), inner.join("mod.rs"));
        let (file, folder) = match chosen {
            // Such a file counts as a `mod.rs`: its children lie beside it.
            Some(file) => (file.clone(), file.with_file_name("")),
            None if read(&flat).is_some() => (flat, inner),
            None => (nested, inner),
        };
        (!is_test_file(&file)).then(|| self.add_file(path, &file, &folder, Some(id), read))
    }

    /// `#[macro_export]` puts a macro into the root, and each macro is known by name below where it is defined.
    fn name_exported_macros(&mut self) {
        let mut exported = Vec::new();
        for module in &self.0[1..] {
            for item in &module.content {
                if let Item::Macro(item) = item
                    && let Some(name) = &item.ident
                    && item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
                {
                    let path = ["crate".to_owned()].into_iter().chain(module.path.clone());
                    let name = plain(name);
                    exported.push(Import { name: Some(name.clone()), path: path.chain([name]).collect() });
                }
            }
        }
        self.0[0].imports.extend(exported);
    }

    /// What `path` leads to from `module`: nothing of the crate, one thing, or several that share a name. Reports each
    /// module that the path runs through to `through`.
    pub fn resolve(&self, module: Id, path: &[String], through: &mut BTreeSet<Id>) -> Vec<End> {
        self.follow(module, path, through, &mut BTreeSet::new())
    }

    fn follow(
        &self,
        module: Id,
        path: &[String],
        through: &mut BTreeSet<Id>,
        seen: &mut BTreeSet<(Id, String)>,
    ) -> Vec<End> {
        let mut start = module;
        let mut rest = path;
        while let [first, tail @ ..] = rest {
            match first.as_str() {
                "crate" => start = 0,
                "self" => {}
                "super" => match self.0[start].parent {
                    Some(parent) => start = parent,
                    None => return Vec::new(),
                },
                _ => break,
            }
            rest = tail;
        }
        self.descend(start, rest, through, seen)
    }

    fn descend(
        &self,
        module: Id,
        path: &[String],
        through: &mut BTreeSet<Id>,
        seen: &mut BTreeSet<(Id, String)>,
    ) -> Vec<End> {
        let [first, rest @ ..] = path else { return vec![End::Module(module)] };
        let mut ends = self.named(module, first, seen);
        through.extend(ends.iter().map(End::module));
        if rest.is_empty() {
            return ends;
        }
        // What follows a module is in it; what follows a type belongs to the type.
        if ends.iter().any(|end| matches!(end, End::Module(_))) {
            ends.retain(|end| matches!(end, End::Module(_)));
        }
        let follow = |end: End| match end {
            End::Module(module) => self.descend(module, rest, through, seen),
            End::Item(..) => vec![end],
        };
        ends.into_iter().flat_map(follow).collect()
    }

    /// What `name` is in `module`.
    fn named(&self, id: Id, name: &str, seen: &mut BTreeSet<(Id, String)>) -> Vec<End> {
        if !seen.insert((id, name.to_owned())) {
            return Vec::new();
        }
        let module = &self.0[id];
        let mut ends: Vec<_> =
            module.children.get(name).map(|&child| End::Module(child)).into_iter().collect();
        if module.items.contains(name) {
            ends.push(End::Item(id, name.to_owned()));
        }
        let elsewhere = &mut BTreeSet::new();
        for import in module.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            // `use name;` and `use name::Item as name` begin with a name that cannot be the import itself.
            ends.extend(self.follow(id, &import.path, elsewhere, seen));
        }
        if ends.is_empty() {
            for import in module.imports.iter().filter(|import| import.name.is_none()) {
                for end in self.follow(id, &import.path, elsewhere, &mut seen.clone()) {
                    match end {
                        End::Module(module) => ends.extend(self.named(module, name, seen)),
                        // The names of an enum's variants are those of the enum.
                        End::Item(..) => {}
                    }
                }
            }
        }
        seen.remove(&(id, name.to_owned()));
        ends.sort();
        ends.dedup();
        ends
    }

    /// What `name!` is in `module`: macros are in scope in all modules below their own.
    pub fn named_macro(&self, module: Id, name: &str) -> Option<(Id, &TokenStream)> {
        let textual = self.around(module).find_map(|around| Some((around, self.0[around].macros.get(name)?)));
        textual.or_else(|| {
            let ends = self.named(module, name, &mut BTreeSet::new());
            ends.iter().find_map(|end| self.macro_of(end))
        })
    }

    /// The macro that a path led to.
    pub fn macro_of(&self, end: &End) -> Option<(Id, &TokenStream)> {
        let End::Item(module, name) = end else { return None };
        self.0[*module].macros.get(name).map(|tokens| (*module, tokens))
    }
}

impl Module {
    /// Finds out which names the content makes.
    fn index(&mut self) {
        for item in &self.content {
            if is_of_tests(attributes(item)) {
                continue;
            }
            let name = match item {
                Item::Const(item) => &item.ident,
                Item::Enum(item) => &item.ident,
                Item::Fn(item) => &item.sig.ident,
                Item::Static(item) => &item.ident,
                Item::Struct(item) => &item.ident,
                Item::Trait(item) => &item.ident,
                Item::TraitAlias(item) => &item.ident,
                Item::Type(item) => &item.ident,
                Item::Union(item) => &item.ident,
                Item::Macro(item) => match &item.ident {
                    Some(name) => {
                        self.macros.insert(plain(name), item.mac.tokens.clone());
                        name
                    }
                    None => {
                        self.items.extend(made_by_macro(&item.mac.tokens));
                        continue;
                    }
                },
                Item::Use(item) => {
                    self.imports.extend(imports(item));
                    continue;
                }
                Item::ForeignMod(item) => {
                    let functions = item.items.iter().filter_map(|item| match item {
                        syn::ForeignItem::Fn(item) => Some(plain(&item.sig.ident)),
                        syn::ForeignItem::Static(item) => Some(plain(&item.ident)),
                        _ => None,
                    });
                    self.items.extend(functions);
                    continue;
                }
                _ => continue,
            };
            self.items.insert(plain(name));
        }
    }
}

/// Names that a macro may define which is called with these tokens: it makes items, of which only the call is seen.
/// Types and values are not made but named.
fn made_by_macro(tokens: &TokenStream) -> Vec<String> {
    let mut made = Vec::new();
    let mut named = false;
    for token in tokens.clone() {
        match &token {
            TokenTree::Ident(name) if !named => made.push(plain(name)),
            TokenTree::Group(group) => made.extend(made_by_macro(&group.stream())),
            _ => {}
        }
        named = matches!(&token, TokenTree::Punct(sign) if !matches!(sign.as_char(), ',' | ';' | '#'));
    }
    made
}

/// The paths of a `use`, unless they begin in other crates for certain.
pub fn imports(item: &syn::ItemUse) -> Vec<Import> {
    let mut imports = Vec::new();
    if item.leading_colon.is_none() {
        flatten(&item.tree, &[], &mut imports);
    }
    imports
}

fn flatten(tree: &UseTree, before: &[String], imports: &mut Vec<Import>) {
    let longer = |name: &syn::Ident| {
        let mut path = before.to_vec();
        // `a::{self}` is `a`.
        if name != "self" || before.is_empty() {
            path.push(plain(name));
        }
        path
    };
    match tree {
        UseTree::Path(tree) => flatten(&tree.tree, &longer(&tree.ident), imports),
        UseTree::Name(tree) => {
            let path = longer(&tree.ident);
            imports.push(Import { name: path.last().cloned(), path });
        }
        UseTree::Rename(tree) => {
            imports.push(Import { name: Some(plain(&tree.rename)), path: longer(&tree.ident) });
        }
        UseTree::Glob(_) => imports.push(Import { name: None, path: before.to_vec() }),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, imports)),
    }
}

/// A name without `r#`.
pub fn plain(name: &syn::Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// The file that `#[path = "file"]` names.
fn chosen_file(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(value) = &attribute.meta else { return None };
    let syn::Expr::Lit(literal) = &value.value else { return None };
    let syn::Lit::Str(file) = &literal.lit else { return None };
    value.path.is_ident("path").then(|| file.value())
}

/// A path without its `..`.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                straight.pop();
            }
            part => straight.push(part),
        }
    }
    straight
}

/// Whether a file has tests or models of threads, which may name whatever they like.
fn is_test_file(file: &Path) -> bool {
    let beside = file.with_file_name("");
    let name = file.file_name().and_then(|name| name.to_str());
    matches!(name, Some("tests.rs" | "model.rs"))
        || beside.components().any(|part| part.as_os_str() == "tests")
}

/// Whether `#[cfg(..)]` leaves something out of the crate that is not built for tests.
pub fn is_of_tests(attributes: &[Attribute]) -> bool {
    let is = |attribute: &Attribute| {
        let condition = attribute.path().is_ident("cfg").then(|| attribute.parse_args::<syn::Meta>());
        condition.is_some_and(|condition| condition.is_ok_and(|condition| wants_tests(&condition)))
    };
    attributes.iter().any(is)
}

fn wants_tests(condition: &syn::Meta) -> bool {
    let parts = || {
        let list = condition.require_list().ok()?;
        list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated).ok()
    };
    let name = condition.path();
    if name.is_ident("all") {
        parts().is_some_and(|parts| parts.iter().any(wants_tests))
    } else if name.is_ident("any") {
        parts().is_some_and(|parts| parts.iter().all(wants_tests))
    } else {
        name.is_ident("test") || name.is_ident("doctest")
    }
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(syn::ItemConst { attrs, .. })
        | Item::Enum(syn::ItemEnum { attrs, .. })
        | Item::ExternCrate(syn::ItemExternCrate { attrs, .. })
        | Item::Fn(syn::ItemFn { attrs, .. })
        | Item::ForeignMod(syn::ItemForeignMod { attrs, .. })
        | Item::Impl(syn::ItemImpl { attrs, .. })
        | Item::Macro(syn::ItemMacro { attrs, .. })
        | Item::Mod(syn::ItemMod { attrs, .. })
        | Item::Static(syn::ItemStatic { attrs, .. })
        | Item::Struct(syn::ItemStruct { attrs, .. })
        | Item::Trait(syn::ItemTrait { attrs, .. })
        | Item::TraitAlias(syn::ItemTraitAlias { attrs, .. })
        | Item::Type(syn::ItemType { attrs, .. })
        | Item::Union(syn::ItemUnion { attrs, .. })
        | Item::Use(syn::ItemUse { attrs, .. }) => attrs,
        _ => &[],
    }
}
