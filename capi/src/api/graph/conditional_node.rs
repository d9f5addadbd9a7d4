//! Conditional nodes, of AMD's proposal (`capi/include/aqlipse/hip_graph_conditional.h`).

use std::{collections::HashSet, ffi::c_uint};

use aqlipse::{
    Template,
    graph::{ConditionalKind, Inside},
};

use super::{template::dependencies, view};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    graph_ref::GraphRef,
    object,
    types::*,
};

/// Asks for the default at every launch; it is given without the flag too.
const ASSIGN_DEFAULT: c_uint = 1;

entry! {
    /// Makes a value for one conditional node of a graph, or of one nested in it; every launch begins with the default.
    fn hipGraphConditionalHandleCreate(
        handle: *mut hipGraphConditionalHandle,
        graph: hipGraph_t,
        default_value: c_uint,
        flags: c_uint,
    ) -> hipError_t {
        if handle.is_null() || flags & !ASSIGN_DEFAULT != 0 {
            return Err(hipErrorInvalidValue);
        }
        let condition = object::graph(graph)?.with(|graph| Ok(graph.create_condition(default_value.into())?))?;
        let [device_ptr, default_value, signal_handle] = condition.words();
        let made = hipGraphConditionalHandle { device_ptr, default_value, signal_handle };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, made) }
    }
}

fn kind_of(kind: hipGraphConditionalNodeType) -> Result<ConditionalKind, hipError_t> {
    Ok(match kind {
        hipGraphCondTypeIf => ConditionalKind::If,
        hipGraphCondTypeWhile => ConditionalKind::While,
        hipGraphCondTypeSwitch => ConditionalKind::Switch,
        _ => return Err(hipErrorInvalidValue),
    })
}

/// The graphs behind the handles of bodies, which must be different ones, and none of them the graph around.
fn bodies_of(handles: &[hipGraph_t], around: hipGraph_t) -> Result<Vec<GraphRef>, hipError_t> {
    let mut seen = HashSet::from([around]);
    let graph = |&handle: &hipGraph_t| {
        if seen.insert(handle) { object::graph(handle) } else { Err(hipErrorInvalidValue) }
    };
    handles.iter().map(graph).collect()
}

entry! {
    /// Adds a node that runs copies of some graphs as a value says.
    fn hipGraphAddConditionalNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        handle: hipGraphConditionalHandle,
        kind: hipGraphConditionalNodeType,
        body_count: c_uint,
        bodies: *mut hipGraph_t,
    ) -> hipError_t {
        let kind = kind_of(kind)?;
        if node.is_null() || !kind.takes(body_count as usize) {
            return Err(hipErrorInvalidValue);
        }
        let around = object::graph(graph)?;
        // SAFETY: the caller's array.
        let bodies = bodies_of(&unsafe { caller::read_slice(bodies, body_count as usize) }?, graph)?;
        // Before a body gives its memory away, all that can be refused is.
        let (condition, after) = around.with(|graph| {
            // SAFETY: the caller's array.
            let after = unsafe { dependencies(graph.graph().topology(), after, count) }?;
            let condition = graph.condition_at(handle.device_ptr).ok_or(hipErrorInvalidValue)?;
            graph.check_conditional(&condition, kind, bodies.len(), &after)?;
            Ok((condition, after))
        })?;
        for body in &bodies {
            body.with(|body| Ok(body.check_body()?))?;
        }
        let bodies = bodies.iter().map(|body| body.with(|body| Ok(body.to_body()?)));
        let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        let id = around.with(|graph| {
            Ok(graph.on(&current::device()?).add_conditional(&condition, kind, bodies, &after)?)
        })?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(node, object::node_handle(id)) }
    }
}

/// The most bodies that a node is made with at once: each is a graph of its own.
const MOST_BODIES: c_uint = 1 << 16;

/// Adds a node with empty bodies, and stores where their handles are. The array is the node's.
///
/// # Safety
/// `node` and `params` are null or point to what can be read and written; `after` is null or readable.
pub(super) unsafe fn add_with_empty_bodies(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    params: *mut hipConditionalNodeParams,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's promise.
    let mut given = unsafe { caller::read(params) }?;
    let kind = kind_of(given.r#type)?;
    if node.is_null() || given.size > MOST_BODIES || !kind.takes(given.size as usize) {
        return Err(hipErrorInvalidValue);
    }
    let device = current::device()?;
    let around = object::graph(graph)?;
    let id = around.with(|graph| {
        // SAFETY: the caller's promise.
        let after = unsafe { dependencies(graph.graph().topology(), after, count) }?;
        let condition = graph.condition_at(given.handle.device_ptr).ok_or(hipErrorInvalidValue)?;
        let bodies = (0..given.size).map(|_| Template::new(&device)).collect();
        Ok(graph.on(&device).add_conditional(&condition, kind, bodies, &after)?)
    })?;
    let handle = |body| Ok(object::nested_graph(&around.inside(Inside { node: id, body }))?.0 as u64);
    let handles = (0..given.size).map(handle).collect::<Result<Box<[u64]>, hipError_t>>()?;
    given.phGraph_out = view::keep(id, vec![handles])[0].cast();
    // SAFETY: the caller's pointers, which are not null.
    unsafe {
        caller::write(params, given)?;
        caller::write(node, object::node_handle(id))
    }
}

entry! {
    /// Stores the graph that is a body of a conditional node, and that belongs to the node.
    fn hipGraphConditionalNodeGetBody(node: hipGraphNode_t, index: c_uint, body: *mut hipGraph_t) -> hipError_t {
        if body.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (around, id) = object::node(node)?;
        let step = Inside { node: id, body: index };
        around.with(|around| {
            around.graph().conditional(id).map_err(aqlipse::Error::from)?;
            Ok(around.graph().nested(step).map(drop).map_err(aqlipse::Error::from)?)
        })?;
        let handle = object::nested_graph(&around.inside(step))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(body, handle) }
    }
}
