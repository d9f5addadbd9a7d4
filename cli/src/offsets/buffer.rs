//! Buffers, and why they cannot be placed.

/// Most buffers that are placed together.
pub const MOST: usize = 1 << 14;

/// A buffer to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its size. A buffer of no bytes takes none.
    pub bytes: u64,
    /// What its offset is a multiple of: a power of two.
    pub align: u64,
}

/// Why something is no problem of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// There are other lives than buffers.
    #[error("{buffers} buffers, but {lives} lives")]
    Lives {
        /// How many buffers there are.
        buffers: usize,
        /// How many lives.
        lives: usize,
    },
    /// The alignment of a buffer is no power of two.
    #[error("buffer {buffer}: alignment {align} is no power of two")]
    Align {
        /// Which.
        buffer: usize,
        /// Its alignment.
        align: u64,
    },
    /// All buffers beside each other would not fit into 2^62 bytes.
    #[error("buffers up to number {buffer} do not fit into 2^62 bytes")]
    TooLarge {
        /// The first one that is too much.
        buffer: usize,
    },
    /// There are more buffers than are placed together.
    #[error("{buffers} buffers: at most {} are placed", MOST)]
    TooMany {
        /// How many there are.
        buffers: usize,
    },
    /// A buffer or an edge names a node that there is not.
    #[error("there is no node {node}: there are {nodes}")]
    NoNode {
        /// What it names.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// The node that frees a buffer does not wait for the one that allocates it.
    #[error("buffer {buffer}: the node that frees it does not wait for the one that allocates it")]
    Free {
        /// Which.
        buffer: usize,
    },
    /// The nodes depend on each other in a circle.
    #[error("node {node} is part of, or behind, a circle of nodes that depend on each other")]
    Cycle {
        /// One that cannot begin.
        node: u32,
    },
}
