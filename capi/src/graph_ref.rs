//! What a graph handle stands for: a graph of its own, or one inside a node.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use aqlipse::{
    Template, TemplateAt,
    capture::SharedTemplate,
    graph::{GraphId, Inside, NodeId},
};
use parking_lot::{Mutex, RwLock};

use crate::error::{hipError_t, hipErrorInvalidValue};

/// A graph that callers can name.
#[derive(Clone)]
pub struct GraphRef {
    template: SharedTemplate,
    /// The steps into nested graphs that lead to it, outermost first.
    path: Arc<[Inside]>,
}

impl GraphRef {
    /// A graph with nothing around it.
    pub fn whole(template: SharedTemplate) -> Self {
        Self { template, path: Arc::default() }
    }

    /// The graph that a step into a node of this graph leads to.
    pub fn inside(&self, step: impl Into<Inside>) -> Self {
        let path = self.path.iter().copied().chain([step.into()]).collect();
        Self { template: self.template.clone(), path }
    }

    /// The graph that `path` leads to in a template, as [`GraphRef::into_parts`] gave it.
    pub fn of_parts(template: SharedTemplate, path: Arc<[Inside]>) -> Self {
        Self { template, path }
    }

    /// The template, and the steps into nested graphs that lead to the graph in it, outermost first.
    pub fn into_parts(self) -> (SharedTemplate, Arc<[Inside]>) {
        (self.template, self.path)
    }

    /// Whether the graph lies inside a node.
    pub fn is_nested(&self) -> bool {
        !self.path.is_empty()
    }

    /// Queries or edits the graph.
    ///
    /// # Errors
    /// What `work` refuses; `hipErrorInvalidValue` if a node around the graph is gone.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut TemplateAt<'_>) -> Result<T, hipError_t>,
    ) -> Result<T, hipError_t> {
        work(&mut self.template.lock().at(&self.path)?)
    }

    /// Reads the graph as a template of its own.
    ///
    /// # Errors
    /// As [`GraphRef::with`].
    pub fn with_template<T>(
        &self,
        work: impl FnOnce(&Template) -> Result<T, hipError_t>,
    ) -> Result<T, hipError_t> {
        if self.is_nested() { work(&self.snapshot()?) } else { work(&self.template.lock()) }
    }

    /// A copy of the graph as it is now, with the same identities.
    ///
    /// # Errors
    /// `hipErrorNotSupported` for a graph with memory nodes.
    pub fn snapshot(&self) -> Result<Template, hipError_t> {
        self.with(|graph| Ok(graph.snapshot()?))
    }

    fn downgrade(&self) -> WeakRef {
        WeakRef { template: Arc::downgrade(&self.template), path: self.path.clone() }
    }
}

/// A graph that lives only as long as another owner holds it.
#[derive(Clone)]
pub struct WeakRef {
    template: Weak<Mutex<Template>>,
    path: Arc<[Inside]>,
}

impl WeakRef {
    fn upgrade(&self) -> Option<GraphRef> {
        Some(GraphRef { template: self.template.upgrade()?, path: self.path.clone() })
    }
}

/// What the table of graphs holds.
#[derive(Clone)]
pub enum Held {
    /// The caller's own graph, until the caller destroys it.
    Whole(SharedTemplate),
    /// The graph inside a node, which goes with the node.
    Nested(WeakRef),
}

impl Held {
    /// The graph, if it still exists.
    pub fn graph(&self) -> Option<GraphRef> {
        match self {
            Self::Whole(template) => Some(GraphRef::whole(template.clone())),
            Self::Nested(nested) => nested.upgrade(),
        }
    }

    /// The graph that lies inside a node.
    pub fn nested(graph: &GraphRef) -> Self {
        Self::Nested(graph.downgrade())
    }

    /// Whether it is the graph inside a node that is gone.
    pub fn is_dead(&self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Nested(nested) => nested.upgrade().is_none_or(|graph| graph.with(|_| Ok(())).is_err()),
        }
    }

    /// Whether it is this graph.
    pub fn is(&self, graph: &GraphRef) -> bool {
        match self {
            Self::Whole(template) => graph.path.is_empty() && Arc::ptr_eq(template, &graph.template),
            Self::Nested(nested) => {
                nested.path == graph.path && nested.template.as_ptr() == Arc::as_ptr(&graph.template)
            }
        }
    }
}

/// The graphs that callers know, by the identity that their nodes carry.
static KNOWN: RwLock<Option<HashMap<GraphId, WeakRef>>> = RwLock::new(None);

/// Lets the nodes of a graph be found.
///
/// # Errors
/// As [`GraphRef::with`].
pub fn make_known(graph: &GraphRef) -> Result<(), hipError_t> {
    let id = graph.with(|graph| Ok(graph.graph().id()))?;
    let mut known = KNOWN.write();
    let known = known.get_or_insert_default();
    // Not at every call: the map would be walked once for each graph in it.
    if known.len() == known.capacity() {
        known.retain(|_, graph| graph.template.strong_count() > 0);
    }
    known.insert(id, graph.downgrade());
    Ok(())
}

/// The graph of a node.
///
/// # Errors
/// `hipErrorInvalidValue` for a graph that does not exist (any more).
pub fn graph_of(node: NodeId) -> Result<GraphRef, hipError_t> {
    let known = KNOWN.read();
    let graph = known.as_ref().and_then(|known| known.get(&node.graph()));
    graph.and_then(WeakRef::upgrade).ok_or(hipErrorInvalidValue)
}
