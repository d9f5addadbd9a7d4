//! What nodes of all kinds have in common: adding one to a graph, asking for its parameters and changing them.

use aqlipse::{
    Device, GraphNode, TemplateAt,
    graph::{Node, NodeId},
};

use super::template::{Dependencies, dependencies};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

/// Exports the functions that give nodes of a kind their parameters: `add` makes a node of a template, `set` changes one,
/// and `exec` changes one of an executable. The expression behind `=>` makes the node of what the caller gives; it is asked
/// when all handles are known to be good. The build script reads each name from its own line.
macro_rules! node_entries {
    ($given:tt => $made:expr; $($(#[$meta:meta])* $way:ident fn $name:ident;)+) => {
        $(node_entries! { @$way [$(#[$meta])*] $name $given $made })+
    };
    (@add [$($meta:tt)*] $name:ident ($($arg:ident: $ty:ty),*) $made:expr) => {
        entry! {
            $($meta)*
            fn $name(
                node: *mut $crate::types::hipGraphNode_t,
                graph: $crate::types::hipGraph_t,
                after: *const $crate::types::hipGraphNode_t,
                count: usize,
                $($arg: $ty),*
            ) -> hipError_t {
                // SAFETY: the caller's pointers.
                unsafe { $crate::api::graph::node::add_made(node, graph, after, count, |_| $made) }
            }
        }
    };
    (@set [$($meta:tt)*] $name:ident ($($arg:ident: $ty:ty),*) $made:expr) => {
        entry! {
            $($meta)*
            fn $name(node: $crate::types::hipGraphNode_t, $($arg: $ty),*) -> hipError_t {
                // SAFETY: the caller's pointers.
                #[allow(unused_unsafe, reason = "some nodes are made of no pointers")]
                let made = || unsafe { $made };
                $crate::api::graph::node::set(node, made)
            }
        }
    };
    (@exec [$($meta:tt)*] $name:ident ($($arg:ident: $ty:ty),*) $made:expr) => {
        entry! {
            $($meta)*
            fn $name(
                exec: $crate::types::hipGraphExec_t,
                node: $crate::types::hipGraphNode_t,
                $($arg: $ty),*
            ) -> hipError_t {
                // SAFETY: the caller's pointers.
                #[allow(unused_unsafe, reason = "some nodes are made of no pointers")]
                let made = || unsafe { $made };
                $crate::api::graph::node::set_exec(exec, node, made)
            }
        }
    };
}
pub(super) use node_entries;

/// Adds one node to a graph and stores its handle.
pub(super) unsafe fn add(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    make: impl FnOnce(&mut TemplateAt<'_>, &[NodeId]) -> Result<NodeId, hipError_t>,
) -> Result<(), hipError_t> {
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let id = object::with_graph(graph, |graph| {
        // SAFETY: the caller's array.
        let after = unsafe { dependencies(graph.graph().topology(), after, count) }?;
        make(&mut graph.on(current::device_ref()?), &after)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(node, object::node_handle(id)) }
}

/// Adds a node with the parameters that `make` makes, for the calling thread's device.
pub(super) unsafe fn add_made(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    make: impl FnOnce(&Device) -> Result<GraphNode, hipError_t>,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointers.
    unsafe {
        add_behind(node, graph, after, count, |graph, device, after| {
            let made = make(device)?;
            Ok(graph.add_behind(made, after)?)
        })
    }
}

/// As [`add`], with the device that the node is for, and dependencies that stay where they are.
#[inline]
pub(super) unsafe fn add_behind(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    add: impl FnOnce(&mut TemplateAt<'_>, &Device, Dependencies) -> Result<NodeId, hipError_t>,
) -> Result<(), hipError_t> {
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let id = object::with_graph(graph, |graph| {
        // SAFETY: the caller's array.
        let after = unsafe { Dependencies::new(graph.graph().topology(), after, count) }?;
        let device = current::device_ref()?;
        add(&mut graph.on(device), device, after)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(node, object::node_handle(id)) }
}

/// Gives a node of a template the parameters that `make` makes, which are of its kind; the attributes of a kernel stay.
pub(super) fn set(
    node: hipGraphNode_t,
    make: impl FnOnce() -> Result<GraphNode, hipError_t>,
) -> Result<(), hipError_t> {
    let (graph, id) = object::node(node)?;
    let mut made = make()?;
    graph.with(|graph| {
        if let (Ok(Node::Kernel(old)), Node::Kernel(new)) = (graph.graph().node(id), &mut made) {
            new.attributes = old.attributes.clone();
        }
        Ok(graph.on(&current::device()?).set(id, made)?)
    })
}

node_entries! {
    () => Ok(Node::Empty);
    /// Adds a node that is only a place in the order.
    add fn hipGraphAddEmptyNode;
}

/// Lets `read` look at the parameters of a node.
pub(crate) fn with_node<T>(
    node: hipGraphNode_t,
    read: impl FnOnce(&GraphNode) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| read(graph.graph().node(id).map_err(aqlipse::Error::from)?))
}

/// Gives a node of an executable the parameters that `make` makes, which are of its kind; the attributes of a kernel stay.
pub(super) fn set_exec(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    make: impl FnOnce() -> Result<GraphNode, hipError_t>,
) -> Result<(), hipError_t> {
    let exec = object::exec(exec)?;
    let (graph, id) = object::node(node)?;
    let mut made = make()?;
    if let Node::Kernel(kernel) = &mut made {
        // The function is the one of the current device, which must be the node's.
        if exec.device_of(id)? != current::device()? {
            return Err(hipErrorInvalidValue);
        }
        graph.with(|graph| {
            if let Node::Kernel(old) = graph.graph().node(id).map_err(aqlipse::Error::from)? {
                kernel.attributes = old.attributes.clone();
            }
            Ok(())
        })?;
    }
    Ok(exec.set_node(id, &made)?)
}
