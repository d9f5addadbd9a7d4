//! What the nodes of a graph do: parameters, copied deeply when they are given.
//!
//! `K` is the runtime's reference to a kernel, `E` to an event, `S` to a semaphore that other processes share; all are
//! opaque here and cheap to clone. Addresses are plain numbers: nothing in this module dereferences one.

use std::fmt;
use std::sync::Arc;

use super::{Attributes, Conditional, Graph, Kernargs, RunCopy, WordStep};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// Launch attributes of a kernel node.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KernelAttributes {
    /// Not 0 if all blocks must be resident together. It reads back as it was set.
    pub cooperative: i32,
    /// Priority against other nodes; smaller runs first.
    pub priority: i32,
    /// The range of memory that the caches should favour, a hint.
    pub access_policy: AccessPolicy,
    /// Work-items that the last block of each dimension lacks, where the grid was given in work-items.
    pub lacking: [u32; 3],
    /// The memory synchronisation domain: 0 default, 1 remote. A hint: all writes are in one domain here.
    pub sync_domain: u32,
    /// Which domains those two are.
    pub sync_domain_map: [u8; 2],
}

impl KernelAttributes {
    /// What a launch without attributes has.
    pub const DEFAULT: Self = Self {
        cooperative: 0,
        priority: 0,
        access_policy: AccessPolicy { base: 0, bytes: 0, hit_ratio: 0.0, on_hit: 0, on_miss: 0 },
        lacking: [0; 3],
        sync_domain: 0,
        sync_domain_map: [0; 2],
    };

    /// Whether all blocks must be resident together.
    pub const fn is_cooperative(&self) -> bool {
        self.cooperative != 0
    }
}

/// A hint about how a range of global memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AccessPolicy {
    /// First byte of the range.
    pub base: u64,
    /// Length of the range, in bytes; 0 means no hint.
    pub bytes: u64,
    /// The fraction of accesses that count as hits, 0 to 1.
    pub hit_ratio: f32,
    /// How hits are cached, as the caller encoded it.
    pub on_hit: u32,
    /// How misses are cached, as the caller encoded it.
    pub on_miss: u32,
}

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyKind {
    /// From host to host.
    HostToHost,
    /// From host to device.
    HostToDevice,
    /// From device to host.
    DeviceToHost,
    /// From device to device.
    DeviceToDevice,
    /// As the addresses say.
    Inferred,
}

/// A copy, as it was described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memcpy {
    /// A run of bytes.
    Linear {
        /// Where the first byte goes.
        dst: u64,
        /// Where the first byte comes from.
        src: u64,
        /// How many bytes.
        bytes: u64,
        /// The direction.
        kind: CopyKind,
    },
    /// A box of rows and slices.
    Box(Box<BoxCopy>),
}

impl Memcpy {
    /// A linear copy whose direction follows from the addresses.
    pub fn linear(dst: u64, src: u64, bytes: u64) -> Self {
        Self::Linear { dst, src, bytes, kind: CopyKind::Inferred }
    }

    /// Whether it moves no byte.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Linear { bytes, .. } => *bytes == 0,
            Self::Box(copy) => copy.extent.contains(&0),
        }
    }

    /// First byte and length of everything it may read, gaps between rows included.
    pub fn source_span(&self) -> Option<(u64, u64)> {
        match self {
            Self::Linear { src, bytes, .. } => Some((*src, *bytes)),
            Self::Box(copy) => Some((copy.src.corner_address()?, copy.span(copy.src.pitch, copy.src.rows)?)),
        }
    }

    /// First byte and length of everything it may write, gaps between rows included.
    pub fn destination_span(&self) -> Option<(u64, u64)> {
        match self {
            Self::Linear { dst, bytes, .. } => Some((*dst, *bytes)),
            Self::Box(copy) => Some((copy.dst.corner_address()?, copy.span(copy.dst.pitch, copy.dst.rows)?)),
        }
    }

    /// The same copy with another first source byte.
    pub fn with_source(&self, address: u64) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Linear { src, .. } => *src = address,
            Self::Box(copy) => (copy.src.address, copy.src.corner) = (address, [0; 3]),
        }
        copy
    }

    /// The same copy with another first destination byte.
    pub fn with_destination(&self, address: u64) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Linear { dst, .. } => *dst = address,
            Self::Box(copy) => (copy.dst.address, copy.dst.corner) = (address, [0; 3]),
        }
        copy
    }

    /// The direction of the copy.
    pub fn kind(&self) -> CopyKind {
        match self {
            Self::Linear { kind, .. } => *kind,
            Self::Box(copy) => copy.kind,
        }
    }
}

/// A copy of a box between two pitched surfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxCopy {
    /// The surface written to.
    pub dst: Surface,
    /// The surface read from.
    pub src: Surface,
    /// Width in bytes, height in rows, depth in slices.
    pub extent: [u64; 3],
    /// The direction.
    pub kind: CopyKind,
}

impl BoxCopy {
    /// Bytes from the first to the last of a box on a surface.
    fn span(&self, pitch: u64, rows: u64) -> Option<u64> {
        let [width, height, depth] = self.extent;
        if self.extent.contains(&0) {
            return Some(0);
        }
        // Between one slice and the next; a single one has no use for what may be nonsense.
        let slices = if depth > 1 { (depth - 1).checked_mul(rows.checked_mul(pitch)?)? } else { 0 };
        slices.checked_add((height - 1).checked_mul(pitch)?)?.checked_add(width)
    }
}

/// A pitched allocation, and the corner of a box in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// The allocation's first byte.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Width of a row, in bytes, without its padding.
    pub row_bytes: u64,
    /// Rows from one slice to the next.
    pub rows: u64,
    /// The corner of the box: bytes, rows, slices.
    pub corner: [u64; 3],
}

impl Surface {
    /// The address of the corner, or nothing if it lies beyond 64 bits.
    pub fn corner_address(&self) -> Option<u64> {
        let [x, y, z] = self.corner;
        let row = z.checked_mul(self.rows)?.checked_add(y)?;
        self.address.checked_add(row.checked_mul(self.pitch)?)?.checked_add(x)
    }
}

/// A fill of rows with a repeated element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memset {
    /// The first byte.
    pub dst: u64,
    /// Bytes from one row to the next; of no meaning for one row.
    pub pitch: u64,
    /// The element; its low `element_size` bytes count.
    pub value: u64,
    /// Bytes per element: 1, 2, 4 or 8.
    pub element_size: u32,
    /// Elements per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
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
