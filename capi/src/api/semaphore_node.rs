//! Nodes that signal external semaphores and wait for them.

use aqlipse::{GraphNode, external::ExternalSemaphore, graph::Node};

use super::{
    exec::set_exec,
    node::{add, plain, set},
    node_view,
    params::with_node,
};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    semaphores::{SEMAPHORES, semaphore},
    types::*,
};

/// Semaphores with the value of each.
type Each = Box<[(ExternalSemaphore, u64)]>;

/// Pairs semaphores with the values that `fence` reads of their parameters.
///
/// # Errors
/// `hipErrorInvalidValue` for no semaphores, arrays at null, semaphores that do not exist and flags, which only other
/// kinds of semaphore have.
unsafe fn each<P: Copy>(
    handles: *const hipExternalSemaphore_t,
    params: *const P,
    count: u32,
    fence: impl Fn(&P) -> (u64, u32),
) -> Result<Each, hipError_t> {
    if count == 0 {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's arrays, null or readable.
    let (handles, params) = unsafe {
        (caller::read_slice(handles, count as usize)?, caller::read_slice(params, count as usize)?)
    };
    let pairs = handles.into_iter().zip(&params).map(|(handle, params)| match fence(params) {
        (value, 0) => Ok((semaphore(handle)?, value)),
        _ => Err(hipErrorInvalidValue),
    });
    pairs.collect()
}

/// The node that signals semaphores.
///
/// # Safety
/// The pointer is null or readable, and so are the arrays behind it.
pub(super) unsafe fn signal_node(
    params: *const hipExternalSemaphoreSignalNodeParams,
) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's promise.
    let each = unsafe {
        let given = caller::read(params)?;
        each(given.extSemArray, given.paramsArray, given.numExtSems, |p| (p.params.fence, p.flags))?
    };
    Ok(Node::SemaphoreSignal(each))
}

/// The node that waits for semaphores.
///
/// # Safety
/// As [`signal_node`].
pub(super) unsafe fn wait_node(
    params: *const hipExternalSemaphoreWaitNodeParams,
) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's promise.
    let each = unsafe {
        let given = caller::read(params)?;
        each(given.extSemArray, given.paramsArray, given.numExtSems, |p| (p.params.fence, p.flags))?
    };
    Ok(Node::SemaphoreWait(each))
}

/// Keeps the handles and the parameters of a node for callers to look at: of each semaphore a handle, and `words` words
/// that begin with the value.
fn shown(node: hipGraphNode_t, each: &Each, words: usize) -> Result<[*mut u64; 2], hipError_t> {
    let (_, id) = object::node(node)?;
    // A semaphore whose handle is gone works on in the node, but cannot be named any more.
    let handle =
        |semaphore: &ExternalSemaphore| SEMAPHORES.find(|known| known == semaphore).unwrap_or(0) as u64;
    let handles = each.iter().map(|(semaphore, _)| handle(semaphore)).collect();
    let mut params = vec![0u64; each.len() * words].into_boxed_slice();
    for ((_, value), params) in each.iter().zip(params.chunks_exact_mut(words)) {
        params[0] = *value;
    }
    let kept = node_view::keep(id, vec![handles, params]);
    Ok([kept[0], kept[1]])
}

entry! {
    /// Adds a node that signals semaphores when what it depends on has completed.
    fn hipGraphAddExternalSemaphoresSignalNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add(node, graph, after, count, |graph, after| plain(signal_node(params)?)(graph, after)) }
    }
}

entry! {
    /// Adds a node that holds back what depends on it until semaphores have been signalled.
    fn hipGraphAddExternalSemaphoresWaitNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add(node, graph, after, count, |graph, after| plain(wait_node(params)?)(graph, after)) }
    }
}

entry! {
    /// Stores what a node signals; the arrays stay the node's.
    fn hipGraphExternalSemaphoresSignalNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let each = with_node(node, |node| match node {
            Node::SemaphoreSignal(each) => Ok(each.clone()),
            _ => Err(hipErrorInvalidValue),
        })?;
        let words = size_of::<hipExternalSemaphoreSignalParams>() / size_of::<u64>();
        let [handles, values] = shown(node, &each, words)?;
        let found = hipExternalSemaphoreSignalNodeParams {
            extSemArray: handles.cast(),
            paramsArray: values.cast(),
            // CAST: a node takes a 32-bit number of them.
            numExtSems: each.len() as u32,
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found) }
    }
}

entry! {
    /// Stores what a node waits for; the arrays stay the node's.
    fn hipGraphExternalSemaphoresWaitNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let each = with_node(node, |node| match node {
            Node::SemaphoreWait(each) => Ok(each.clone()),
            _ => Err(hipErrorInvalidValue),
        })?;
        let words = size_of::<hipExternalSemaphoreWaitParams>() / size_of::<u64>();
        let [handles, values] = shown(node, &each, words)?;
        let found = hipExternalSemaphoreWaitNodeParams {
            extSemArray: handles.cast(),
            paramsArray: values.cast(),
            // CAST: a node takes a 32-bit number of them.
            numExtSems: each.len() as u32,
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found) }
    }
}

entry! {
    /// Lets a node signal other semaphores.
    fn hipGraphExternalSemaphoresSignalNodeSetParams(
        node: hipGraphNode_t,
        params: *const hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set(node, unsafe { signal_node(params) }?)
    }
}

entry! {
    /// Lets a node wait for other semaphores.
    fn hipGraphExternalSemaphoresWaitNodeSetParams(
        node: hipGraphNode_t,
        params: *const hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set(node, unsafe { wait_node(params) }?)
    }
}

entry! {
    /// Lets a node of an executable signal other semaphores, as many as before.
    fn hipGraphExecExternalSemaphoresSignalNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t {
        object::exec(exec)?;
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, unsafe { signal_node(params) }?)
    }
}

entry! {
    /// Lets a node of an executable wait for other semaphores, as many as before.
    fn hipGraphExecExternalSemaphoresWaitNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t {
        object::exec(exec)?;
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, unsafe { wait_node(params) }?)
    }
}
