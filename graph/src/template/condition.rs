//! What decides which graphs of a conditional node run: a value that kernels store.

use std::{any::Any, fmt, sync::Arc};

use super::Graph;

/// The value that decides at one conditional node; kernels store it, and every launch begins with its default.
///
/// Clones mean the same value. Kernels have its address among their arguments, so a copy of a graph has the same
/// conditions as the graph.
#[derive(Clone)]
pub struct Condition(Arc<Value>);

/// Bytes from a signal's handle to its value (`amd_signal_t`).
pub const SIGNAL_TO_VALUE: u64 = 8;

struct Value {
    address: u64,
    default: u64,
    owner: Box<dyn Any + Send + Sync>,
}

impl Condition {
    /// A condition whose value lies at `address` as long as `owner` exists.
    pub fn new(address: u64, default: u64, owner: impl Any + Send + Sync) -> Self {
        Self(Arc::new(Value { address, default, owner: Box::new(owner) }))
    }

    /// Where kernels store the value, 64 bits.
    pub fn address(&self) -> u64 {
        self.0.address
    }

    /// The value that a launch begins with.
    pub fn default_value(&self) -> u64 {
        self.0.default
    }

    /// What kernels get for it: the address, the default and the signal whose value it is (`hipGraphConditionalHandle`
    /// of AMD's proposal).
    pub fn words(&self) -> [u64; 3] {
        [self.0.address, self.0.default, self.0.address - SIGNAL_TO_VALUE]
    }

    /// What tells the value from others.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// What keeps the value as long as it exists.
    pub fn alive(&self) -> Arc<dyn Any + Send + Sync> {
        self.0.clone()
    }

    /// What keeps the value's memory.
    pub fn owner(&self) -> &(dyn Any + Send + Sync) {
        &*self.0.owner
    }
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Condition {}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({:#x}, default {})", self.0.address, self.0.default)
    }
}

/// How a conditional node chooses among its bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConditionalKind {
    /// The first body if the value is not 0; otherwise the second, if there is one.
    If,
    /// The only body, again and again while the value is not 0.
    While,
    /// The body of that number, if there is one.
    Switch,
}

impl ConditionalKind {
    /// Whether a node of this kind can have so many bodies.
    pub fn takes(self, bodies: usize) -> bool {
        match self {
            Self::If => (1..=2).contains(&bodies),
            Self::While => bodies == 1,
            Self::Switch => bodies >= 1,
        }
    }

    /// The body that runs next under a value, of so many.
    pub fn choose(self, value: u64, bodies: usize) -> Option<usize> {
        let wanted = match self {
            Self::If => u64::from(value == 0),
            Self::While => return (value != 0).then_some(0),
            Self::Switch => value,
        };
        usize::try_from(wanted).ok().filter(|&body| body < bodies)
    }
}

/// What a conditional node does.
#[derive(Debug, Clone)]
pub struct Conditional<K, E, S> {
    pub(super) condition: Condition,
    pub(super) kind: ConditionalKind,
    pub(super) bodies: Vec<Graph<K, E, S>>,
}

impl<K, E, S> Conditional<K, E, S> {
    /// The value that decides.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// How it decides.
    pub fn kind(&self) -> ConditionalKind {
        self.kind
    }

    /// The graphs to choose from.
    pub fn bodies(&self) -> &[Graph<K, E, S>] {
        &self.bodies
    }

    /// Lets another value decide.
    pub fn set_condition(&mut self, condition: Condition) {
        self.condition = condition;
    }

    /// The same node before its bodies are added.
    pub(super) fn without_bodies(&self) -> Self {
        Self {
            condition: self.condition.clone(),
            kind: self.kind,
            bodies: Vec::with_capacity(self.bodies.len()),
        }
    }
}
