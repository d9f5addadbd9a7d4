use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphMemsetNodeSetParams(node: hipGraphNode_t, params: *const hipMemsetParams) -> hipError_t;
    fn hipGraphAddChildGraphNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        child: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphChildGraphNodeGetGraph(node: hipGraphNode_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, original: hipGraph_t) -> hipError_t;
    fn hipGraphNodeFindInClone(
        node: *mut hipGraphNode_t,
        original: hipGraphNode_t,
        clone: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

/// `child` as a node of `graph`, and the graph inside the node.
fn nest(graph: hipGraph_t, child: hipGraph_t) -> (hipGraphNode_t, hipGraph_t) {
    let (mut node, mut inside) = (hipGraphNode_t::NULL, hipGraph_t::NULL);
    ok!(
        hipGraphAddChildGraphNode(&mut node, graph, ptr::null(), 0, child),
        hipGraphChildGraphNodeGetGraph(node, &mut inside),
    );
    (node, inside)
}

fn only_node(graph: hipGraph_t) -> hipGraphNode_t {
    let (mut node, mut count) = (hipGraphNode_t::NULL, 1);
    ok!(hipGraphGetNodes(graph, &mut node, &mut count));
    assert_eq!(count, 1);
    node
}

fn fill(memory: &Memory<u32>, value: u32) -> hipMemsetParams {
    hipMemsetParams { dst: memory.pointer(), elementSize: 4, height: 1, pitch: 0, value, width: 4 }
}

// proves: hipGraphChildGraphNodeGetGraph
#[test]
fn the_graph_inside_a_node_ends_with_the_node_and_with_what_is_around_it() {
    let (outer, middle, inner) = (new_graph(), new_graph(), new_graph());
    let mut node = hipGraphNode_t::NULL;
    ok!(hipGraphAddEmptyNode(&mut node, inner, ptr::null(), 0));
    nest(middle, inner);
    let (child, inside) = nest(outer, middle);
    let mut nested = hipGraph_t::NULL;
    ok!(hipGraphChildGraphNodeGetGraph(only_node(inside), &mut nested));
    let leaf = only_node(nested);
    let mut count = 0;
    fails!(hipErrorInvalidValue, hipGraphDestroy(inside));
    fails!(hipErrorInvalidValue, hipGraphDestroy(nested));
    ok!(hipGraphGetNodes(nested, ptr::null_mut(), &mut count));
    fails!(hipErrorInvalidValue, hipGraphChildGraphNodeGetGraph(leaf, &mut nested));

    // Another node gets another graph, also where one has gone.
    ok!(hipGraphDestroyNode(child));
    fails!(hipErrorInvalidValue, hipGraphGetNodes(inside, ptr::null_mut(), &mut count));
    fails!(hipErrorInvalidValue, hipGraphGetNodes(nested, ptr::null_mut(), &mut count));
    fails!(hipErrorInvalidValue, hipGraphDestroyNode(leaf));
    let (_, again) = nest(outer, middle);
    assert_ne!(again, inside);
    fails!(hipErrorInvalidValue, hipGraphGetNodes(inside, ptr::null_mut(), &mut count));
    ok!(hipGraphDestroy(outer));
    fails!(hipErrorInvalidValue, hipGraphGetNodes(again, ptr::null_mut(), &mut count));
    ok!(hipGraphDestroy(middle), hipGraphDestroy(inner));
}

// proves: hipGraphChildGraphNodeGetGraph, hipGraphClone, hipGraphNodeFindInClone, hipGraphExecMemsetNodeSetParams
#[test]
fn the_graph_inside_a_node_can_be_cloned_nested_and_made_executable() {
    let memory = Memory::of(&[0u32; 4]);
    let (outer, child) = (new_graph(), new_graph());
    let (mut node, mut found) = (hipGraphNode_t::NULL, hipGraphNode_t::NULL);
    ok!(hipGraphAddMemsetNode(&mut node, child, ptr::null(), 0, &fill(&memory, 1)));
    let (_, inside) = nest(outer, child);
    let copy = only_node(inside);
    let (mut clone, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(
        hipGraphNodeFindInClone(&mut found, node, inside),
        hipGraphMemsetNodeSetParams(copy, &fill(&memory, 2)),
        hipGraphClone(&mut clone, inside),
    );
    assert_eq!(found, copy);
    ok!(hipGraphNodeFindInClone(&mut found, copy, clone));
    assert_eq!(found, only_node(clone));
    let (_, again) = nest(outer, inside);
    ok!(hipGraphNodeFindInClone(&mut found, copy, again));

    ok!(hipGraphInstantiateWithFlags(&mut exec, inside, 0), hipGraphLaunch(exec, hipStream_t::NULL),);
    assert_eq!(memory.read(), [2; 4]);
    // Nodes of the graph inside name those of an executable that was made of it, or of what is around it.
    for graph in [inside, outer] {
        ok!(
            hipGraphExecDestroy(exec),
            hipGraphInstantiateWithFlags(&mut exec, graph, 0),
            hipGraphExecMemsetNodeSetParams(exec, copy, &fill(&memory, 3)),
            hipGraphExecMemsetNodeSetParams(exec, copy, &fill(&memory, 4)),
        );
    }
    ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipGraphExecDestroy(exec));
    assert!(
        [[2; 4], [4; 4]].contains(&memory.read()[..].try_into().unwrap()),
        "the two copies are unordered"
    );
    ok!(hipGraphDestroy(outer), hipGraphDestroy(child), hipGraphDestroy(clone));
}

#[test]
fn memory_nodes_stay_out_of_the_graph_inside_a_node() {
    let (outer, child) = (new_graph(), new_graph());
    let (_, inside) = nest(outer, child);
    let mut node = hipGraphNode_t::NULL;
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.r#type = hipMemLocationTypeDevice;
    params.bytesize = 64;
    fails!(hipErrorNotSupported, hipGraphAddMemAllocNode(&mut node, inside, ptr::null(), 0, &mut params));
    ok!(hipGraphDestroy(outer), hipGraphDestroy(child));
}
