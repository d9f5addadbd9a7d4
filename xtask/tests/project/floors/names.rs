//! The paths that a module names.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Block, ImplItem, Item, ItemMacro, ItemUse, Macro, Path, Stmt,
    visit::{self, Visit},
};

use super::tree::{End, Id, Import, Tree, attributes, imports, is_of_tests, plain};

/// A path in `from` that leads to or through `to`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub from: Id,
    pub to: Id,
    /// As it is written.
    pub path: String,
}

/// All that modules of a crate name of other modules of it.
pub fn references(tree: &Tree) -> BTreeSet<Reference> {
    let mut found = BTreeSet::new();
    for (id, module) in tree.modules() {
        let mut names =
            Names { tree, module: id, blocks: Vec::new(), expanding: Vec::new(), found: &mut found };
        module.content.iter().for_each(|item| names.visit_item(item));
    }
    found
}

struct Names<'a> {
    tree: &'a Tree,
    module: Id,
    /// What blocks around the place import or define, which has no path.
    blocks: Vec<BTreeMap<String, Option<Vec<String>>>>,
    /// The macros of which the tokens are read.
    expanding: Vec<(Id, String)>,
    found: &'a mut BTreeSet<Reference>,
}

impl Names<'_> {
    /// What `path` leads to, all of which is noted. A lone name in an expression is no module.
    fn name(&mut self, path: &[String], lone_module: bool) -> Vec<End> {
        let [first, rest @ ..] = path else { return Vec::new() };
        let local = self.blocks.iter().rev().find_map(|block| block.get(first).cloned());
        let full = match local {
            Some(None) => return Vec::new(),
            Some(Some(import)) => import.into_iter().chain(rest.iter().cloned()).collect(),
            None => path.to_vec(),
        };
        let mut through = BTreeSet::new();
        let mut ends = self.tree.resolve(self.module, &full, &mut through);
        if path.len() == 1 && !lone_module {
            ends.retain(|end| matches!(end, End::Item(..)));
            through = ends.iter().map(End::module).collect();
        }
        through.extend(ends.iter().map(End::module));
        for to in through {
            self.found.insert(Reference { from: self.module, to, path: path.join("::") });
        }
        ends
    }

    fn name_imports(&mut self, imports: &[Import]) {
        for import in imports {
            self.name(&import.path, true);
        }
    }

    /// Notes what a macro call names, and what the macro's own tokens name where it is called.
    fn call(&mut self, path: &[String]) {
        let found = match path {
            [name] => self.tree.named_macro(self.module, name),
            _ => None,
        };
        let ends = self.name(path, false);
        let Some((defined, tokens)) = found.or_else(|| ends.iter().find_map(|end| self.tree.macro_of(end)))
        else {
            return;
        };
        let key = (defined, path.last().cloned().unwrap_or_default());
        if !self.expanding.contains(&key) {
            let tokens = tokens.clone();
            self.expanding.push(key);
            self.tokens(&tokens, |path| path[0] != "crate");
            self.expanding.pop();
        }
    }

    /// Notes the paths among tokens that are not parsed.
    fn tokens(&mut self, tokens: &TokenStream, wanted: fn(&[String]) -> bool) {
        for (path, is_call) in paths(tokens) {
            if is_call {
                if wanted(&path) {
                    self.call(&path);
                }
            } else if wanted(&path) {
                self.name(&path, false);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_of_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_of_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    /// Comments are attributes, too.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.name_imports(&imports(item));
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        match item.ident {
            // Other paths of a macro begin where it is called.
            Some(_) => self.tokens(&item.mac.tokens, |path| path[0] == "crate"),
            None => self.visit_macro(&item.mac),
        }
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if call.path.leading_colon.is_none() {
            self.call(&names(&call.path));
        }
        self.tokens(&call.tokens, |_| true);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            self.name(&names(path), false);
        }
        visit::visit_path(self, path);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let mut names = BTreeMap::new();
        for statement in &block.stmts {
            match statement {
                Stmt::Item(Item::Use(item)) => {
                    let imports = imports(item);
                    names.extend(
                        imports.into_iter().filter_map(|import| Some((import.name?, Some(import.path)))),
                    );
                }
                Stmt::Item(Item::Fn(item)) => drop(names.insert(plain(&item.sig.ident), None)),
                Stmt::Item(Item::Struct(item)) => drop(names.insert(plain(&item.ident), None)),
                Stmt::Item(Item::Enum(item)) => drop(names.insert(plain(&item.ident), None)),
                Stmt::Item(Item::Const(item)) => drop(names.insert(plain(&item.ident), None)),
                _ => {}
            }
        }
        // The paths of the imports themselves begin outside of the block.
        for statement in &block.stmts {
            if let Stmt::Item(item @ Item::Use(_)) = statement {
                self.visit_item(item);
            }
        }
        self.blocks.push(names);
        for statement in &block.stmts {
            if !matches!(statement, Stmt::Item(Item::Use(_))) {
                self.visit_stmt(statement);
            }
        }
        self.blocks.pop();
    }
}

fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| plain(&segment.ident)).collect()
}

/// The paths among tokens, and whether each is that of a macro call. Fields, methods, lifetimes and the variables of
/// macros are none.
fn paths(tokens: &TokenStream) -> Vec<(Vec<String>, bool)> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let is = |at: Option<usize>, sign: char| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
    };
    let colons = |at: Option<usize>| is(at, ':') && is(at.and_then(|at| at.checked_add(1)), ':');
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let before = at.checked_sub(1);
        let before_that = at.checked_sub(2);
        match &tokens[at] {
            TokenTree::Group(group) => found.extend(paths(&group.stream())),
            TokenTree::Ident(first) => {
                let field = is(before, '.') && !is(before_that, '.');
                let variable = is(before, '$') && first != "crate";
                let tail = colons(before_that);
                let mut path = vec![plain(first)];
                while colons(Some(at + 1))
                    && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                {
                    path.push(plain(next));
                    at += 3;
                }
                if !(field || variable || tail || is(before, '\'')) {
                    let is_call =
                        is(Some(at + 1), '!') && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)));
                    found.push((path, is_call));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
