//! Large graphs through the C functions.

use std::{ffi::c_char, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, graph: hipGraph_t) -> hipError_t;
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
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphGetEdges(
        graph: hipGraph_t,
        from: *mut hipGraphNode_t,
        to: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
    fn hipGraphDebugDotPrint(graph: hipGraph_t, path: *const c_char, flags: u32) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

/// Nodes and edges.
fn size(graph: hipGraph_t) -> (usize, usize) {
    let (mut nodes, mut edges) = (0, 0);
    ok!(
        hipGraphGetNodes(graph, ptr::null_mut(), &mut nodes),
        hipGraphGetEdges(graph, ptr::null_mut(), ptr::null_mut(), &mut edges),
    );
    (nodes, edges)
}

/// Empty nodes in a row, of which one in a thousand is a fill; the last is, with `value`.
fn chain(memory: &Memory<u32>, len: usize, value: u32) -> hipGraph_t {
    let (mut graph, mut last) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0));
    let mut fill =
        hipMemsetParams { dst: memory.pointer(), elementSize: 4, height: 1, pitch: 4, value: 0, width: 1 };
    for n in 1..=len {
        let (before, count) = (last, usize::from(n > 1));
        if n % 1000 == 0 || n == len {
            fill.value = if n == len { value } else { u32::MAX };
            ok!(hipGraphAddMemsetNode(&mut last, graph, &before, count, &fill));
        } else {
            ok!(hipGraphAddEmptyNode(&mut last, graph, &before, count));
        }
    }
    graph
}

fn whole_life_of_a_chain(len: usize) {
    let (stream, memory) = (new_stream(), Memory::of(&[0u32]));
    let (graph, mut copy, mut exec) = (chain(&memory, len, 1), hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(hipGraphClone(&mut copy, graph), hipGraphDestroy(graph));
    assert_eq!(size(copy), (len, len - 1));
    ok!(hipGraphDebugDotPrint(copy, c"/dev/null".as_ptr(), 0));
    ok!(hipGraphInstantiateWithFlags(&mut exec, copy, 0), hipGraphDestroy(copy));
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [1]);
    let (other, mut node, mut result) =
        (chain(&memory, len, 2), hipGraphNode_t::NULL, hipGraphExecUpdateError);
    ok!(hipGraphExecUpdate(exec, other, &mut node, &mut result), hipGraphDestroy(other));
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [2]);
    ok!(hipGraphExecDestroy(exec), hipStreamDestroy(stream));
}

#[test]
fn a_long_chain_is_built_cloned_printed_launched_updated_and_destroyed() {
    whole_life_of_a_chain(100_000);
}

#[test]
#[ignore = "ten seconds on a small machine"]
fn a_chain_of_a_million_is_built_cloned_printed_launched_updated_and_destroyed() {
    whole_life_of_a_chain(1_000_000);
}

#[test]
fn a_graph_of_more_packets_than_a_queue_holds_is_launched() {
    // Queues have 16384 slots, and each fill adds a packet.
    const FILLS: u32 = 20_000;
    let (stream, memory, mut graph) = (new_stream(), Memory::of(&[0u32; 2]), hipGraph_t::NULL);
    let (mut last, mut exec) = (hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0));
    for n in 1..=FILLS {
        let dst = memory.pointer().wrapping_byte_add(if n == FILLS { 4 } else { 0 });
        let fill = hipMemsetParams { dst, elementSize: 4, height: 1, pitch: 4, value: n, width: 1 };
        let before = last;
        ok!(hipGraphAddMemsetNode(&mut last, graph, &before, usize::from(n > 1), &fill));
    }
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0), hipGraphDestroy(graph));
    ok!(hipGraphLaunch(exec, stream), hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [FILLS - 1, FILLS]);
    ok!(hipGraphExecDestroy(exec), hipStreamDestroy(stream));
}

/// Layers of ten nodes, of which each depends on all of the layer before, and a fill behind them.
#[test]
fn a_graph_of_a_hundred_thousand_nodes_and_a_million_edges_is_launched() {
    const NODES: usize = 100_000;
    const WIDTH: usize = 10;
    let (stream, memory, mut graph) = (new_stream(), Memory::of(&[0u32]), hipGraph_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0));
    let mut before: Vec<hipGraphNode_t> = Vec::new();
    for _ in 0..NODES / WIDTH {
        let mut layer = [hipGraphNode_t::NULL; WIDTH];
        for node in &mut layer {
            ok!(hipGraphAddEmptyNode(node, graph, before.as_ptr(), before.len()));
        }
        before = layer.into();
    }
    let fill =
        hipMemsetParams { dst: memory.pointer(), elementSize: 4, height: 1, pitch: 4, value: 7, width: 1 };
    let (mut last, mut exec) = (hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    ok!(hipGraphAddMemsetNode(&mut last, graph, before.as_ptr(), WIDTH, &fill));
    assert_eq!(size(graph), (NODES + 1, (NODES / WIDTH - 1) * WIDTH * WIDTH + WIDTH));
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0), hipGraphLaunch(exec, stream));
    ok!(hipStreamSynchronize(stream), hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    assert_eq!(memory.read(), [7]);
    ok!(hipStreamDestroy(stream));
}
