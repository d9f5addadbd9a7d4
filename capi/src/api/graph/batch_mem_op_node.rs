//! Batches of memory operations: words written and waited for, on streams and as nodes.

use std::ffi::c_uint;

use aqlipse::{
    GraphNode, Word,
    graph::{Node, WordAction, WordStep},
};

use super::{
    node::{node_entries, with_node},
    view,
};
use crate::{
    api::memory::word::steps,
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

/// Words of one operation as callers see it.
const WORDS: usize = size_of::<hipStreamBatchMemOpParams>() / size_of::<u64>();

/// An operation as callers see it, in words: operation, address, value and flags. The mask of a captured wait has no
/// place there.
fn described(step: &WordStep) -> [u64; WORDS] {
    let (operation, flags) = match (step.action, step.value) {
        (WordAction::Write, Word::U32(_)) => (hipStreamMemOpWriteValue32, 0),
        (WordAction::Write, Word::U64(_)) => (hipStreamMemOpWriteValue64, 0),
        (WordAction::Wait { condition, .. }, Word::U32(_)) => (hipStreamMemOpWaitValue32, condition as u64),
        (WordAction::Wait { condition, .. }, Word::U64(_)) => (hipStreamMemOpWaitValue64, condition as u64),
    };
    let value = match step.value {
        Word::U32(value) => value.into(),
        Word::U64(value) => value,
    };
    // ABI: little-endian words hold the 32-bit fields with zeros for the padding behind them.
    [operation.0.into(), step.address, value, flags, 0, 0]
}

/// The node that does a batch.
pub(super) unsafe fn batch_node(params: *const hipBatchMemOpNodeParams) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's pointer, null or readable, and the array in it.
    let steps = unsafe {
        let params = caller::read(params)?;
        steps(params.count, params.paramArray, params.flags)?
    };
    // What instantiation would refuse is refused where it is given.
    steps.iter().try_for_each(|step| aqlipse::memory::check_word(step.address, step.value))?;
    Ok(Node::BatchMemOp(steps.into()))
}

node_entries! {
    (params: *const hipBatchMemOpNodeParams) => batch_node(params);
    /// Adds a node that writes words and waits for words, one after the other.
    add fn hipGraphAddBatchMemOpNode;
    /// Gives a node another batch.
    set fn hipGraphBatchMemOpNodeSetParams;
    /// Gives a node of an executable other addresses, values and conditions; how many operations there are and of which
    /// types must stay.
    exec fn hipGraphExecBatchMemOpNodeSetParams;
}

entry! {
    /// Stores the operations of a node; the array stays the node's, and the context is null: operations have none.
    fn hipGraphBatchMemOpNodeGetParams(node: hipGraphNode_t, params: *mut hipBatchMemOpNodeParams) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let steps = with_node(node, |node| match node {
            Node::BatchMemOp(steps) => Ok(steps.clone()),
            _ => Err(hipErrorInvalidValue),
        })?;
        let words = steps.iter().flat_map(described).collect();
        let (_, id) = object::node(node)?;
        let kept = view::keep(id, vec![words]);
        let found = hipBatchMemOpNodeParams {
            ctx: hipCtx_t::NULL,
            // CAST: fewer than `LIMIT`.
            count: steps.len() as c_uint,
            paramArray: kept[0].cast(),
            flags: 0,
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found) }
    }
}
