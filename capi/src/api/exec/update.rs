//! Updating executables from whole graphs.

use aqlipse::{UpdateReason as Reason, UpdateRefusal as Refusal};

use crate::{
    caller,
    error::{hipErrorGraphExecUpdateFailure, hipErrorInvalidValue},
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
        outcome.map_err(|refusal| {
            tracing::info!("{refusal}");
            hipErrorGraphExecUpdateFailure
        })
    }
}
