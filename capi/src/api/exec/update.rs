//! Updating executables from whole graphs.

use aqlipse::{UpdateReason as Reason, UpdateRefusal as Refusal};

use crate::{
    caller,
    error::{hipError_t, hipErrorGraphExecUpdateFailure, hipErrorInvalidValue},
    object,
    types::*,
};

fn result_of(refusal: &Refusal) -> hipGraphExecUpdateResult {
    match refusal.reason {
        Reason::Topology => hipGraphExecUpdateErrorTopologyChanged,
        Reason::Kind => hipGraphExecUpdateErrorNodeTypeChanged,
        Reason::Parameters => hipGraphExecUpdateErrorParametersChanged,
        Reason::NotSupported => hipGraphExecUpdateErrorNotSupported,
        Reason::Device => hipGraphExecUpdateErrorUnsupportedFunctionChange,
        // A reason that this library does not know yet is a failure like any other.
        _ => hipGraphExecUpdateError,
    }
}

entry! {
    /// Gives an executable the parameters of a graph of the same shape, or stores the node and the result that say
    /// why not and leaves the executable as it was.
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        error_node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t {
        if error_node.is_null() || result.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let exec = object::exec(exec)?;
        let outcome = object::graph(graph)?.with_template(|template| Ok(exec.update(template)))?;
        let (code, node) = match &outcome {
            Ok(()) => (hipGraphExecUpdateSuccess, None),
            Err(refusal) => (result_of(refusal), refusal.node),
        };
        // SAFETY: the caller's pointers, which are not null.
        unsafe {
            caller::write(error_node, node.map_or(hipGraphNode_t::NULL, object::node_handle))?;
            caller::write(result, code)?;
        }
        outcome.map_err(|refusal| explained(hipErrorGraphExecUpdateFailure, &refusal))
    }
}

/// Logs why an update was refused.
fn explained(code: hipError_t, refusal: &Refusal) -> hipError_t {
    tracing::info!("{refusal}");
    code
}

entry! {
    /// Gives the graph inside a node of an executable the parameters of a graph of the same shape.
    fn hipGraphExecChildGraphNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        child: hipGraph_t,
    ) -> hipError_t {
        set_child(exec, node, child)
    }
}

/// Gives the graph inside a node of an executable the parameters of a graph of the same shape.
pub(crate) fn set_child(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    child: hipGraph_t,
) -> Result<(), hipError_t> {
    let exec = object::exec(exec)?;
    let (_, id) = object::node(node)?;
    let outcome = object::graph(child)?.with_template(|child| Ok(exec.update_child(id, child)))?;
    outcome.map_err(|refusal| explained(hipErrorInvalidValue, &refusal))
}
