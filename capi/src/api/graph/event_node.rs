//! Event record and event wait nodes.

use aqlipse::{Event, GraphNode, graph::Node};

use super::node::{node_entries, with_node};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object::{self, EVENTS},
    types::*,
};

/// The node that records an event.
///
/// # Errors
/// `hipErrorInvalidValue` for an event that does not exist.
pub(super) fn record_node(event: hipEvent_t) -> Result<GraphNode, hipError_t> {
    Ok(Node::EventRecord(object::node_event(event)?))
}

/// The node that waits for an event.
///
/// # Errors
/// As [`record_node`].
pub(super) fn wait_node(event: hipEvent_t) -> Result<GraphNode, hipError_t> {
    Ok(Node::EventWait(object::node_event(event)?))
}

/// Stores the handle of the event that `find` finds in a node.
fn get_event(
    node: hipGraphNode_t,
    event: *mut hipEvent_t,
    find: impl FnOnce(&GraphNode) -> Option<&Event>,
) -> Result<(), hipError_t> {
    let id = with_node(node, |node| Ok(find(node).ok_or(hipErrorInvalidValue)?.id()))?;
    // An event whose handle is gone works on in the node, but cannot be named any more.
    let handle = EVENTS.find(|event| event.id() == id).ok_or(hipErrorInvalidValue)?;
    // SAFETY: the caller's pointer, null or writable.
    unsafe { caller::write(event, hipEvent_t(handle)) }
}

node_entries! {
    (event: hipEvent_t) => record_node(event);
    /// Adds a node that records an event when what it depends on has completed.
    add fn hipGraphAddEventRecordNode;
    /// Lets a node record another event.
    set fn hipGraphEventRecordNodeSetEvent;
    /// Lets a node of an executable record another event.
    exec fn hipGraphExecEventRecordNodeSetEvent;
}

node_entries! {
    (event: hipEvent_t) => wait_node(event);
    /// Adds a node that holds back what depends on it until an event, as it stands at the launch, has been reached.
    add fn hipGraphAddEventWaitNode;
    /// Lets a node wait for another event.
    set fn hipGraphEventWaitNodeSetEvent;
    /// Lets a node of an executable wait for another event.
    exec fn hipGraphExecEventWaitNodeSetEvent;
}

entry! {
    /// Stores the event that a node records.
    fn hipGraphEventRecordNodeGetEvent(node: hipGraphNode_t, event: *mut hipEvent_t) -> hipError_t {
        get_event(node, event, |node| match node {
            Node::EventRecord(event) => Some(event),
            _ => None,
        })
    }
}

entry! {
    /// Stores the event that a node waits for.
    fn hipGraphEventWaitNodeGetEvent(node: hipGraphNode_t, event: *mut hipEvent_t) -> hipError_t {
        get_event(node, event, |node| match node {
            Node::EventWait(event) => Some(event),
            _ => None,
        })
    }
}
