//! What the nodes of a graph do: parameters, copied deeply when they are given.
//!
//! `K` is the runtime's reference to a kernel, `E` to an event, `S` to a semaphore that other processes share; all are
//! opaque here and cheap to clone. Addresses are plain numbers: nothing in this module dereferences one.

use std::fmt;
use std::sync::Arc;

use super::{Attributes, Conditional, Graph, Kernargs, Memcpy, Memset, RunCopy, WordStep};

/// One node's work and parameters.
#[derive(Debug, Clone)]
pub enum Node<K, E, S> {
    /// Nothing but its place in the order.
    Empty,
    /// A kernel dispatch.
    Kernel(Kernel<K>),
    /// A copy.
    Memcpy(Memcpy),
    /// A fill.
    Memset(Memset),
    /// A call on the host.
    Host(HostFn),
    /// A whole graph, owned by this node.
    Child(Box<Graph<K, E, S>>),
    /// Recording of an event.
    EventRecord(E),
    /// Waiting for an event.
    EventWait(E),
    /// The birth of a graph allocation.
    MemAlloc(MemAlloc),
    /// The end of a graph allocation.
    MemFree(MemFree),
    /// Writes of words and waits for words, one after the other.
    BatchMemOp(Box<[WordStep]>),
    /// Copies without an order among each other.
    MemcpyBatch(Box<[RunCopy]>),
    /// Signals of semaphores, each with its value.
    SemaphoreSignal(Box<[(S, u64)]>),
    /// Waits for semaphores, each for its value.
    SemaphoreWait(Box<[(S, u64)]>),
    /// Graphs, owned by this node, that run as a value says.
    Conditional(Box<Conditional<K, E, S>>),
}

/// The kind of a node, without its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum NodeKind {
    /// [`Node::Empty`]
    Empty,
    /// [`Node::Kernel`]
    Kernel,
    /// [`Node::Memcpy`]
    Memcpy,
    /// [`Node::Memset`]
    Memset,
    /// [`Node::Host`]
    Host,
    /// [`Node::Child`]
    Child,
    /// [`Node::EventRecord`]
    EventRecord,
    /// [`Node::EventWait`]
    EventWait,
    /// [`Node::MemAlloc`]
    MemAlloc,
    /// [`Node::MemFree`]
    MemFree,
    /// [`Node::BatchMemOp`]
    BatchMemOp,
    /// [`Node::MemcpyBatch`]
    MemcpyBatch,
    /// [`Node::SemaphoreSignal`]
    SemaphoreSignal,
    /// [`Node::SemaphoreWait`]
    SemaphoreWait,
    /// [`Node::Conditional`]
    Conditional,
}

impl<K, E, S> Node<K, E, S> {
    /// The kind of the node.
    pub fn kind(&self) -> NodeKind {
        match self {
            Self::Empty => NodeKind::Empty,
            Self::Kernel(_) => NodeKind::Kernel,
            Self::Memcpy(_) => NodeKind::Memcpy,
            Self::Memset(_) => NodeKind::Memset,
            Self::Host(_) => NodeKind::Host,
            Self::Child(_) => NodeKind::Child,
            Self::EventRecord(_) => NodeKind::EventRecord,
            Self::EventWait(_) => NodeKind::EventWait,
            Self::MemAlloc(_) => NodeKind::MemAlloc,
            Self::MemFree(_) => NodeKind::MemFree,
            Self::BatchMemOp(_) => NodeKind::BatchMemOp,
            Self::MemcpyBatch(_) => NodeKind::MemcpyBatch,
            Self::SemaphoreSignal(_) => NodeKind::SemaphoreSignal,
            Self::SemaphoreWait(_) => NodeKind::SemaphoreWait,
            Self::Conditional(_) => NodeKind::Conditional,
        }
    }
}

impl<K, E, S> Node<K, E, S> {
    /// The graphs that the node owns.
    pub fn nested(&self) -> &[Graph<K, E, S>] {
        match self {
            Self::Child(child) => std::slice::from_ref(child),
            Self::Conditional(conditional) => conditional.bodies(),
            _ => &[],
        }
    }
}

impl<K, E, S> Node<K, E, S> {
    /// Whether it waits for a word or a semaphore, which work may change that comes after the graph's.
    pub fn waits(&self) -> bool {
        match self {
            Self::BatchMemOp(steps) => steps.iter().any(WordStep::waits),
            Self::SemaphoreWait(_) => true,
            _ => false,
        }
    }

    /// What updates of an executable cannot change of a node with several parts: one mark for each, in order.
    ///
    /// CUDA fixes the number and the types of batched memory operations (`cuGraphExecBatchMemOpNodeSetParams`) and the
    /// number of semaphores (`cudaGraphExecUpdate`); AMD fixes the number of copies of a batch.
    pub fn parts(&self) -> Option<Box<[u8]>> {
        match self {
            Self::BatchMemOp(steps) => Some(steps.iter().map(WordStep::mark).collect()),
            Self::MemcpyBatch(copies) => Some(vec![0; copies.len()].into()),
            Self::SemaphoreSignal(each) | Self::SemaphoreWait(each) => Some(vec![0; each.len()].into()),
            _ => None,
        }
    }
}

impl NodeKind {
    /// Whether an executable graph may disable nodes of this kind (kernel, copy and fill only).
    pub fn can_be_disabled(self) -> bool {
        matches!(self, Self::Kernel | Self::Memcpy | Self::Memset)
    }
}

/// A kernel dispatch.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel<K> {
    /// The kernel.
    pub function: K,
    /// Size of the grid, in blocks.
    pub grid: [u32; 3],
    /// Size of a block, in threads.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The explicit arguments, packed as the kernel's metadata lays them out.
    pub kernargs: Kernargs,
    /// Launch attributes.
    pub attributes: Attributes,
}

/// A call on the host, and the two words by which its owner recognises it.
#[derive(Clone)]
pub struct HostFn {
    call: Arc<dyn Fn() + Send + Sync>,
    function: usize,
    user_data: usize,
}

impl HostFn {
    /// Wraps a Rust closure.
    pub fn new(call: impl Fn() + Send + Sync + 'static) -> Self {
        Self::with_words(call, 0, 0)
    }

    /// Wraps a call made on behalf of a foreign function, whose address and argument can be asked for later.
    pub fn with_words(call: impl Fn() + Send + Sync + 'static, function: usize, user_data: usize) -> Self {
        Self { call: Arc::new(call), function, user_data }
    }

    /// Makes the call.
    pub fn call(&self) {
        (self.call)();
    }

    /// The address of the foreign function; 0 for a Rust closure.
    pub fn function(&self) -> usize {
        self.function
    }

    /// The foreign function's argument; 0 for a Rust closure.
    pub fn user_data(&self) -> usize {
        self.user_data
    }
}

impl fmt::Debug for HostFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostFn({:#x}, {:#x})", self.function, self.user_data)
    }
}

/// The birth of a graph allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemAlloc {
    /// The address, fixed for the life of the node.
    pub address: u64,
    /// The size that was asked for.
    pub bytes: u64,
    /// The device whose memory it is.
    pub device: u32,
}

/// The end of a graph allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemFree {
    /// The address that the allocation node reported.
    pub address: u64,
}
