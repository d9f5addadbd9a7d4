//! Executable graphs.

use std::ffi::c_char;

use aqlipse::{Error, Exec, InstantiateFailure as Failure, Options, RESIDENT_ON_ONE_DEVICE};

use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    object::{self, EXECS},
    types::*,
};

/// Flags of instantiation.
const AUTO_FREE: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const NODE_PRIORITY: u64 = 8;
const KNOWN_FLAGS: u64 = AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY;

/// Why there is no executable.
enum Refusal {
    /// The call cannot be served.
    Call(hipError_t),
    /// The graph cannot be launched from a device.
    DeviceLaunch(Failure),
    /// The graph cannot be made executable.
    Graph(Failure),
}

impl From<hipError_t> for Refusal {
    fn from(code: hipError_t) -> Self {
        Self::Call(code)
    }
}

impl Refusal {
    fn code(&self) -> hipError_t {
        match self {
            Self::Call(code) => *code,
            Self::DeviceLaunch(failure) | Self::Graph(failure) => failure.error.clone().into(),
        }
    }

    fn result(&self) -> hipGraphInstantiateResult {
        match self {
            Self::Call(_) => hipGraphInstantiateError,
            Self::DeviceLaunch(failure) if failure.error == Error::NotSupported(RESIDENT_ON_ONE_DEVICE) => {
                hipGraphInstantiateMultipleDevicesNotSupported
            }
            Self::DeviceLaunch(_) => hipGraphInstantiateNodeOperationNotSupported,
            Self::Graph(failure) if failure.structure => hipGraphInstantiateInvalidStructure,
            Self::Graph(_) => hipGraphInstantiateError,
        }
    }

    /// The node that is to blame, or null.
    fn node(&self) -> hipGraphNode_t {
        match self {
            Self::DeviceLaunch(Failure { node: Some(node), .. })
            | Self::Graph(Failure { node: Some(node), .. }) => object::node_handle(*node),
            _ => hipGraphNode_t::NULL,
        }
    }

    /// Why, in words.
    fn text(&self) -> String {
        match self {
            Self::Call(code) => code.text().to_string_lossy().into_owned(),
            Self::DeviceLaunch(failure) | Self::Graph(failure) => failure.to_string(),
        }
    }
}

/// Makes an executable, and prepares its first launch if it is to be `prepared` on a stream.
fn instantiate(
    exec: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: u64,
    prepared: Option<hipStream_t>,
) -> Result<(), Refusal> {
    // A graph that devices launch cannot free what the host's launches have left. The other pair AMD's library refuses.
    let contradiction =
        [AUTO_FREE | DEVICE_LAUNCH, UPLOAD | NODE_PRIORITY].iter().any(|both| flags & both == *both);
    if exec.is_null() || flags & !KNOWN_FLAGS != 0 || contradiction {
        return Err(hipErrorInvalidValue.into());
    }
    let graph = object::graph(graph)?;
    // Before anything is made.
    prepared.map_or(Ok(()), |stream| object::stream(stream).map(drop))?;
    let resident = flags & DEVICE_LAUNCH != 0;
    let options = Options {
        auto_free: flags & AUTO_FREE != 0,
        upload: flags & UPLOAD != 0,
        node_priority: flags & NODE_PRIORITY != 0,
        resident,
        ..Options::default()
    };
    let made = graph.with_template(|template| Ok(Exec::instantiate(template, options)))?;
    let made = made.map_err(|failure| match failure.error {
        Error::NotSupported(_) if resident => Refusal::DeviceLaunch(failure),
        _ => Refusal::Graph(failure),
    })?;
    match prepared {
        Some(stream) => object::with_stream(stream, |stream| Ok(made.upload(stream)?))?,
        // Only the structure of parameters names a stream. What is brought to a device waits for one that is named.
        None if options.upload && !resident => {
            made.upload(current::device_ref()?.default_stream()).map_err(hipError_t::from)?
        }
        None => {}
    }
    let handle = EXECS.give(made)?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(exec, hipGraphExec_t(handle)) }?;
    Ok(())
}

/// Stores as much of a text as there is room for, terminated.
///
/// # Safety
/// The pointer is null or has room for `room` bytes.
unsafe fn write_text(to: *mut c_char, room: usize, text: &str) -> Result<(), hipError_t> {
    let Some(room) = room.checked_sub(1).filter(|_| !to.is_null()) else { return Ok(()) };
    let end = text.floor_char_boundary(room);
    for (n, byte) in text.bytes().take(end).chain([0]).enumerate() {
        // CAST: the bytes of a text, whatever the sign of the platform's characters.
        // SAFETY: at most `room` bytes and the end are stored.
        unsafe { caller::write(to.add(n), byte as c_char) }?;
    }
    Ok(())
}

entry! {
    /// Makes an executable of a graph.
    fn hipGraphInstantiate(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        error_node: *mut hipGraphNode_t,
        log: *mut c_char,
        log_bytes: usize,
    ) -> hipError_t {
        let outcome = instantiate(exec, graph, 0, None);
        let (node, text) = match &outcome {
            Ok(()) => (hipGraphNode_t::NULL, String::new()),
            Err(refusal) => (refusal.node(), refusal.text()),
        };
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(error_node, node);
            write_text(log, log_bytes, &text)?;
        }
        outcome.map_err(|refusal| refusal.code())
    }
}

entry! {
    /// Makes an executable of a graph; `flags` may ask to free automatically on launch, and that kernels can launch it.
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t {
        instantiate(exec, graph, flags, None).map_err(|refusal| refusal.code())
    }
}

entry! {
    /// Makes an executable of a graph; flags, results and the stream to prepare it on are in one structure.
    fn hipGraphInstantiateWithParams(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        params: *mut hipGraphInstantiateParams,
    ) -> hipError_t {
        if exec.is_null() {
            return Err(hipErrorInvalidValue);
        }
        object::graph(graph)?;
        // SAFETY: the caller's pointer, null or readable.
        let mut given = unsafe { caller::read(params) }?;
        let prepared = (given.flags & UPLOAD != 0).then_some(given.uploadStream);
        let outcome = instantiate(exec, graph, given.flags, prepared);
        (given.errNode_out, given.result_out) = match &outcome {
            Ok(()) => (hipGraphNode_t::NULL, hipGraphInstantiateSuccess),
            Err(Refusal::Graph(failure)) if failure.structure && has_unused_condition(graph) => {
                (hipGraphNode_t::NULL, hipGraphInstantiateConditionalHandleUnused)
            }
            Err(refusal) => (refusal.node(), refusal.result()),
        };
        // SAFETY: the caller's pointer, which was readable and takes the results.
        unsafe { caller::write(params, given) }?;
        outcome.map_err(|refusal| refusal.code())
    }
}

/// Whether a condition of the graph, or of one nested in it, has no conditional node.
fn has_unused_condition(graph: hipGraph_t) -> bool {
    let checked =
        object::graph(graph).and_then(|graph| graph.with(|graph| Ok(graph.graph().check_conditions())));
    matches!(checked, Ok(Err(aqlipse::graph::Error::ConditionUnused(_))))
}

entry! {
    /// Launches an executable graph.
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
        let exec = object::look_exec(exec)?;
        object::with_stream(stream, |stream| Ok(exec.launch(stream)?))
    }
}

entry! {
    /// [`hipGraphLaunch`] for callers to which a null stream is the thread's own.
    fn hipGraphLaunch_spt(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
        let exec = object::look_exec(exec)?;
        object::with_stream(object::per_thread(stream), |stream| Ok(exec.launch(stream)?))
    }
}

entry! {
    /// Prepares the next launch on a stream: makes its queues, signals and thread, and brings a graph that kernels may
    /// launch to its device.
    fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
        let exec = object::look_exec(exec)?;
        object::with_stream(stream, |stream| Ok(exec.upload(stream)?))
    }
}

entry! {
    /// Destroys an executable graph; launches in flight complete.
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t {
        EXECS.remove(exec.0).map(drop).ok_or(hipErrorInvalidValue)
    }
}

entry! {
    /// Stores the flags that an executable was made with.
    fn hipGraphExecGetFlags(exec: hipGraphExec_t, flags: *mut u64) -> hipError_t {
        let exec = object::exec(exec)?;
        let Options { auto_free, upload, node_priority, resident, .. } = exec.options();
        let given = [
            (auto_free, AUTO_FREE),
            (upload, UPLOAD),
            (resident, DEVICE_LAUNCH),
            (node_priority, NODE_PRIORITY),
        ];
        let value = given.iter().filter(|(given, _)| *given).map(|(_, flag)| flag).sum();
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, value) }
    }
}
