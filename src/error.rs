//! What can go wrong, one enum for the whole runtime.

use std::{cell::RefCell, fmt};

use aqlipse_graph::{compile::CompileError, image};

/// Result of a runtime operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a runtime operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is outside what the operation accepts.
    #[error("invalid value: {0}")]
    InvalidValue(&'static str),
    /// The device or the host has no memory left for a request of this many bytes.
    #[error("out of memory: {bytes} bytes requested")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// No plan of a graph keeps to the bytes that its memory may take.
    #[error(transparent)]
    MemoryLimit(#[from] aqlipse_graph::schedule::memory::LimitExceeded),
    /// No HSA runtime could be started.
    #[error("not initialised: {0}")]
    NotInitialized(String),
    /// There is no GPU.
    #[error("no device")]
    NoDevice,
    /// There is no device with this ordinal.
    #[error("invalid device ordinal {0}")]
    InvalidDevice(i64),
    /// A code object or bundle is malformed.
    #[error("invalid device image: {0}")]
    InvalidImage(String),
    /// The image holds nothing for the device; the text lists what it has.
    #[error("no binary for this device: {0}")]
    NoBinaryForGpu(String),
    /// The module has no such symbol.
    #[error("symbol not found: {0}")]
    NotFound(String),
    /// A file could not be read.
    #[error("file not found: {0}")]
    FileNotFound(String),
    /// The handle names nothing alive.
    #[error("invalid handle")]
    InvalidHandle,
    /// The function is not a kernel of this device.
    #[error("invalid device function")]
    InvalidDeviceFunction,
    /// The symbol is not a device variable.
    #[error("invalid device symbol")]
    InvalidSymbol,
    /// Grid, block or shared memory are outside what the device or the kernel accepts.
    #[error("invalid launch configuration: {0}")]
    InvalidConfiguration(Misfit),
    /// The direction contradicts the operands, or is no direction.
    #[error("invalid copy direction")]
    InvalidMemcpyDirection,
    /// The host range is registered already.
    #[error("host memory is registered already")]
    AlreadyRegistered,
    /// The host range is not registered.
    #[error("host memory is not registered")]
    NotRegistered,
    /// The object is not in a state that allows the operation.
    #[error("illegal state: {0}")]
    IllegalState(&'static str),
    /// Work is still pending.
    #[error("not ready")]
    NotReady,
    /// The stream no longer exists.
    #[error("the stream is destroyed")]
    StreamDestroyed,
    /// A kernel touched memory that it may not touch.
    #[error("illegal memory access by a kernel: {0}")]
    IllegalAddress(String),
    /// A kernel stopped for another reason.
    #[error("launch failure: {0}")]
    LaunchFailure(String),
    /// Memory of the device is damaged, and cannot be corrected.
    #[error("uncorrectable memory error: {0}")]
    UncorrectableMemory(String),
    /// No link between two devices.
    #[error("the device cannot access the other's memory")]
    PeerAccessUnsupported,
    /// Access to another device's memory that was asked for before.
    #[error("access to the device's memory is enabled already")]
    PeerAccessAlreadyEnabled,
    /// Access to another device's memory that was not asked for.
    #[error("access to the device's memory is not enabled")]
    PeerAccessNotEnabled,
    /// A cooperative launch with more blocks than the device holds at once.
    #[error("{blocks} blocks, of which the device holds {resident} at once")]
    CooperativeLaunchTooLarge {
        /// Blocks of the launch.
        blocks: u64,
        /// Blocks that can be resident.
        resident: u64,
    },
    /// A stream capture rule is broken.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A graph operation was refused.
    #[error("{0}")]
    Graph(String),
    /// An executable graph cannot take the update.
    #[error("graph update refused: {0}")]
    UpdateRefused(String),
    /// The operation exists, but not here.
    #[error("not supported: {0}")]
    NotSupported(&'static str),
    /// The operating system refused; the text says what.
    #[error("{0}")]
    OperatingSystem(String),
    /// The HSA runtime reported an error that has no better name.
    #[error("{0}")]
    Hsa(String),
}

/// What of a launch does not fit the kernel or the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// A dimension of the grid or the block.
    #[error("a dimension is 0")]
    Zero,
    /// The block, for any kernel.
    #[error("the block is larger than the device takes")]
    Block,
    /// The block, for this kernel.
    #[error("the block is larger than the kernel was compiled for")]
    Bounds,
    /// The block, for a kernel that takes one size only.
    #[error("the kernel requires another block size")]
    RequiredBlock,
    /// The shared memory, that of the kernel and that of the launch together.
    #[error("more shared memory than a block can have")]
    SharedMemory,
    /// A grid that was given in work-items.
    #[error("the last block lacks all of its work-items")]
    Lacking,
    /// The blocks of one dimension of the grid.
    #[error("the grid has more blocks in one dimension than the device takes")]
    Grid,
    /// The work-items of one dimension of the grid.
    #[error("the grid has 2^32 work-items or more in one dimension")]
    WorkItems,
}

/// Which rule of stream capture was broken (HIP error codes 900 to 908).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// 900: the call is not allowed while a stream captures.
    #[error("operation not permitted while a stream is capturing")]
    Unsupported,
    /// 901: an earlier call has spoilt the capture.
    #[error("an earlier error invalidated the capture sequence")]
    Invalidated,
    /// 902: two captures would become one.
    #[error("the operation would merge two independent capture sequences")]
    Merge,
    /// 903: the capture was begun on another stream.
    #[error("the capture was not begun on this stream")]
    Unmatched,
    /// 904: a forked stream has work that no event brought back.
    #[error("the capture has work that was not joined to the origin stream")]
    Unjoined,
    /// 905: a dependency on something outside the capture.
    #[error("a dependency would cross the boundary of the capture sequence")]
    Isolation,
    /// 906: the default stream, which would wait for a capturing one.
    #[error("the operation would depend implicitly on a capturing stream")]
    Implicit,
    /// 907: the event marks a place in a graph, not in time.
    #[error("the event was last recorded in a capturing stream")]
    CapturedEvent,
    /// 908: the capture belongs to another thread.
    #[error("the capture was begun by another thread")]
    WrongThread,
}

impl From<hsa::Error> for Error {
    fn from(e: hsa::Error) -> Self {
        match e {
            // Of a signal, a queue, a mapping: how many bytes it would have taken is unknown.
            hsa::Error::Call { status: hsa_sys::HSA_STATUS_ERROR_OUT_OF_RESOURCES, .. } => {
                tracing::debug!("{e}");
                Error::OutOfMemory { bytes: 0 }
            }
            e => Error::Hsa(e.to_string()),
        }
    }
}

impl Error {
    /// What a failed call means that has a meaning of its own, `otherwise`, but for want of memory: that is always told
    /// apart, so that the caller knows that the same call may succeed later.
    pub(crate) fn of_call(error: hsa::Error, otherwise: impl FnOnce(hsa::Error) -> Self) -> Self {
        match Self::from(error.clone()) {
            short @ Self::OutOfMemory { .. } => short,
            _ => otherwise(error),
        }
    }
}

impl From<image::Error> for Error {
    fn from(defect: image::Error) -> Self {
        explain(defect);
        Error::IllegalState("the plan of a graph does not fit its nodes")
    }
}

impl<T: Into<Error>> From<CompileError<T>> for Error {
    fn from(error: CompileError<T>) -> Self {
        match error {
            CompileError::Template(error) => error.into(),
            CompileError::MemoryLimit(limit) => limit.into(),
            CompileError::Image(defect) => defect.into(),
            CompileError::Target(error) => error.into(),
            CompileError::Plan(fault) => {
                Error::Graph(format!("the schedule does not enforce the graph: {fault}"))
            }
            CompileError::Units(error) => Error::Graph(error.to_string()),
            _ => Error::IllegalState("the graph is not compiled"),
        }
    }
}

impl From<loader::Error> for Error {
    fn from(e: loader::Error) -> Self {
        match e {
            loader::Error::NoMatch { .. } => Error::NoBinaryForGpu(e.to_string()),
            e => Error::InvalidImage(e.to_string()),
        }
    }
}

thread_local! {
    static DETAIL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps a sentence that explains the calling thread's latest failure, and logs it.
pub(crate) fn explain(detail: impl fmt::Display) {
    let text = detail.to_string();
    tracing::warn!("{text}");
    // A stream that dies with its thread may fail when the thread's storage is gone; no call could ask then.
    let _ = DETAIL.try_with(|d| *d.borrow_mut() = Some(text));
}

/// The explanation of the calling thread's latest failure that had one.
pub fn last_error_detail() -> Option<String> {
    DETAIL.with(|d| d.borrow().clone())
}
