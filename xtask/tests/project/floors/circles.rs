//! Circles among the children of a module.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    path::PathBuf,
};

use super::{
    names::Reference,
    tree::{Id, Tree},
};

/// An arrow between two children of a module, with one of its reasons.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: String,
    pub to: String,
    pub file: PathBuf,
    pub path: String,
}

/// The arrows between the children of each module.
pub type Arrows = BTreeMap<Id, BTreeMap<(String, String), Arrow>>;

/// Puts each reference to where the two modules part. If one of them is around the other they do not.
pub fn arrows(tree: &Tree, references: &BTreeSet<Reference>) -> Arrows {
    let mut arrows = Arrows::new();
    for reference in references {
        let [from, to] = [reference.from, reference.to].map(|id| tree.module(id));
        let shared = from.path.iter().zip(&to.path).take_while(|(from, to)| from == to).count();
        let [Some(a), Some(b)] = [from.path.get(shared), to.path.get(shared)] else { continue };
        let parent = tree.around(reference.from).find(|&id| tree.module(id).path.len() == shared);
        let parent = parent.expect("the root is around all modules");
        let arrow =
            Arrow { from: a.clone(), to: b.clone(), file: from.file.clone(), path: reference.path.clone() };
        let entry = arrows.entry(parent).or_default().entry((a.clone(), b.clone()));
        let shown = entry.or_insert_with(|| arrow.clone());
        // A path in full says more than a name that was imported.
        if arrow.path.matches("::").count() > shown.path.matches("::").count() {
            *shown = arrow;
        }
    }
    arrows
}

/// Arrows that lead back to where the first begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Circle {
    /// The module around them.
    pub parent: Vec<String>,
    pub arrows: Vec<Arrow>,
}

/// For each arrow that is in a circle the shortest such circle, each once.
pub fn circles(tree: &Tree, arrows: &Arrows) -> BTreeSet<Circle> {
    let mut found = BTreeSet::new();
    for (&parent, arrows) in arrows {
        for arrow in arrows.values() {
            let Some(mut circle) = way(arrows, &arrow.to, &arrow.from) else { continue };
            circle.push(arrow.clone());
            let smallest = circle.iter().map(|arrow| &arrow.from).min().cloned();
            let first = circle.iter().position(|arrow| Some(&arrow.from) == smallest.as_ref());
            circle.rotate_left(first.unwrap_or(0));
            found.insert(Circle { parent: tree.module(parent).path.clone(), arrows: circle });
        }
    }
    found
}

/// The shortest way from `start` to `end`.
fn way(arrows: &BTreeMap<(String, String), Arrow>, start: &str, end: &str) -> Option<Vec<Arrow>> {
    let mut reached_by: BTreeMap<&str, &Arrow> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        if at == end {
            let back =
                std::iter::successors(reached_by.get(end), |arrow| reached_by.get(arrow.from.as_str()));
            let mut way: Vec<_> = back.map(|&arrow| arrow.clone()).collect();
            way.reverse();
            return Some(way);
        }
        for arrow in arrows.values().filter(|arrow| arrow.from == at) {
            if arrow.to != start && !reached_by.contains_key(arrow.to.as_str()) {
                reached_by.insert(&arrow.to, arrow);
                queue.push_back(&arrow.to);
            }
        }
    }
    None
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = ["crate".to_owned()].iter().chain(&self.parent).cloned().collect::<Vec<_>>().join("::");
        writeln!(f, "  a circle in {parent}:")?;
        for Arrow { from, to, file, path } in &self.arrows {
            writeln!(f, "    {from} -> {to}: {} names {path}", file.display())?;
        }
        Ok(())
    }
}
