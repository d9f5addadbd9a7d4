//! User objects that an executable holds: copies of the references of its template and of every graph nested in it.
//!
//! An update that takes the parameters of a graph over takes its references over as well; what was held before is held
//! on as long as a launch in flight may need it.

#![forbid(unsafe_code)]

use std::collections::HashMap;

use crate::graph::{Graph, references::Resource};

/// The resources that each graph of an executable holds, by the place of the graph among all of them.
#[derive(Default)]
pub(super) struct RetainedObjects(HashMap<usize, Vec<Resource>>);

impl RetainedObjects {
    /// Holds what `graphs` hold instead of what the graphs in their places held, which is handed over.
    pub(super) fn replace<'g>(
        &mut self,
        graphs: impl IntoIterator<Item = (usize, &'g Graph)>,
    ) -> Vec<Resource> {
        let mut had = Vec::new();
        for (place, graph) in graphs {
            let resources = graph.references().resources();
            // Most graphs hold nothing, and their places are not listed.
            let before = match resources.len() {
                0 => self.0.remove(&place),
                _ => self.0.insert(place, resources.cloned().collect()),
            };
            had.extend(before.into_iter().flatten());
        }
        had
    }

    /// What a graph and those nested in it hold.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut held = Self::default();
        held.replace(graph.with_nested().into_iter().enumerate());
        held
    }

    /// Whether nothing is.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is held.
    pub(super) fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.0.values().flatten()
    }

    /// Takes everything that is held.
    pub(super) fn take(&mut self) -> Vec<Resource> {
        self.0.drain().flat_map(|(_, resources)| resources).collect()
    }
}
