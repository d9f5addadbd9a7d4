//! Executable graphs.

use std::ffi::{c_char, c_void};

use aqlipse::{
    Exec, GraphNode, Options,
    graph::{Memcpy, Node},
};

use super::{
    node::{box_copy, copy_node, host_node, kernel_node, memset_node},
    params::{apart, with_node},
};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue, hipErrorNotSupported},
    object::{self, EXECS},
    types::*,
};

/// Flags of instantiation.
const AUTO_FREE: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const NODE_PRIORITY: u64 = 8;
const KNOWN_FLAGS: u64 = AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY;

fn instantiate(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> Result<(), hipError_t> {
    if exec.is_null() || flags & !KNOWN_FLAGS != 0 {
        return Err(hipErrorInvalidValue);
    }
    if flags & (DEVICE_LAUNCH | NODE_PRIORITY) != 0 {
        return Err(hipErrorNotSupported);
    }
    let graph = object::graph(graph)?;
    let options = Options { auto_free: flags & AUTO_FREE != 0, ..Options::default() };
    let made = graph.with_template(|template| Ok(Exec::new(template, options)?))?;
    // Kernel arguments are placed when the executable is made: there is nothing left to upload.
    let handle = EXECS.insert(made)?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(exec, hipGraphExec_t(handle)) }
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
        let outcome = instantiate(exec, graph, 0);
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(error_node, hipGraphNode_t::NULL);
            if log_bytes > 0 {
                caller::write_if_wanted(log, 0);
            }
        }
        outcome
    }
}

entry! {
    /// Makes an executable of a graph; `flags` may ask to free automatically on launch.
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t {
        instantiate(exec, graph, flags)
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
        let outcome = match given.flags & UPLOAD {
            0 => Ok(()),
            _ => object::stream(given.uploadStream).map(drop),
        };
        let outcome = outcome.and_then(|()| instantiate(exec, graph, given.flags));
        given.errNode_out = hipGraphNode_t::NULL;
        given.result_out = match outcome {
            Ok(()) => hipGraphInstantiateSuccess,
            Err(hipErrorNotSupported) => hipGraphInstantiateNodeOperationNotSupported,
            Err(_) if has_unused_condition(graph) => hipGraphInstantiateConditionalHandleUnused,
            Err(hipErrorInvalidValue) if given.flags & !KNOWN_FLAGS == 0 => hipGraphInstantiateInvalidStructure,
            Err(_) => hipGraphInstantiateError,
        };
        // SAFETY: the caller's pointer, which was readable and takes the results.
        unsafe { caller::write(params, given) }?;
        outcome
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
        let exec = object::exec(exec)?;
        Ok(exec.launch(&object::stream(stream)?)?)
    }
}

entry! {
    /// [`hipGraphLaunch`] for callers for whom a null stream is the thread's own.
    fn hipGraphLaunch_spt(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
        let exec = object::exec(exec)?;
        Ok(exec.launch(&object::stream(object::per_thread(stream))?)?)
    }
}

entry! {
    /// Prepares a launch; everything that a launch needs is in place already.
    fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
        object::exec(exec)?;
        object::stream(stream).map(drop)
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
        let value = if exec.options().auto_free { AUTO_FREE } else { 0 };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, value) }
    }
}

/// Gives a node of an executable other parameters of its kind; the shape of a fill of several rows must stay.
pub(super) fn set_exec(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    parameters: GraphNode,
) -> Result<(), hipError_t> {
    let exec = object::exec(exec)?;
    let (_, id) = object::node(node)?;
    with_node(node, |current| {
        if current.kind() != parameters.kind() {
            return Err(hipErrorInvalidValue);
        }
        if let (Node::Memset(old), Node::Memset(new)) = (current, &parameters)
            && (old.height > 1 || new.height > 1)
            && (old.width, old.height) != (new.width, new.height)
        {
            return Err(hipErrorInvalidValue);
        }
        Ok(())
    })?;
    Ok(exec.set_node(id, &parameters)?)
}

entry! {
    /// Gives a kernel node of an executable other parameters.
    fn hipGraphExecKernelNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipKernelNodeParams,
    ) -> hipError_t {
        object::exec(exec)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, unsafe { kernel_node(params) }?)
    }
}

/// Gives a copy node of an executable other operands; the direction must stay.
pub(super) fn set_exec_copy(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    copy: impl FnOnce() -> Result<Memcpy, hipError_t>,
) -> Result<(), hipError_t> {
    object::exec(exec)?;
    object::node(node)?;
    let copy = copy()?;
    let same = with_node(node, |node| Ok(matches!(node, Node::Memcpy(old) if old.kind() == copy.kind())))?;
    if !same {
        return Err(hipErrorInvalidValue);
    }
    set_exec(exec, node, copy_node(copy)?)
}

entry! {
    /// Gives a copy node of an executable another box to copy; the direction must stay.
    fn hipGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipMemcpy3DParms,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let params = unsafe { caller::read(params) };
        set_exec_copy(exec, node, || box_copy(&params?))
    }
}

entry! {
    /// Gives a copy node of an executable other operands; the direction must stay.
    fn hipGraphExecMemcpyNodeSetParams1D(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        set_exec_copy(exec, node, || apart(dst, src, bytes, kind))
    }
}

entry! {
    /// Gives a fill node of an executable other operands.
    fn hipGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipMemsetParams,
    ) -> hipError_t {
        object::exec(exec)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, unsafe { memset_node(params) }?)
    }
}

entry! {
    /// Gives a host node of an executable another function.
    fn hipGraphExecHostNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipHostNodeParams,
    ) -> hipError_t {
        object::exec(exec)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, unsafe { host_node(params) }?)
    }
}
