//! Launches that measure, and plans with what they have measured; which plans those are, the runtime's tests check.

use std::ffi::c_uint;

use capi::{error::hipError_t, types::*};

use super::*;

const DEVICE_LAUNCH: u64 = 4;
const NODE_PRIORITY: u64 = 8;

unsafe extern "C" {
    fn aqlipseGraphExecProfile(exec: hipGraphExec_t, launches: c_uint) -> hipError_t;
    fn aqlipseGraphExecReplan(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        dependencies: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
}

/// Four chains of fills of one array of bytes, in layers: the widths of one chain are all of it, of the others one byte.
fn chains(memory: &Memory<u8>, bytes: usize) -> hipGraph_t {
    let mut graph = hipGraph_t::NULL;
    ok!(hipGraphCreate(&mut graph, 0));
    for chain in 0..4 {
        let mut before: Vec<hipGraphNode_t> = Vec::new();
        for layer in 0..4 {
            let width = if layer == chain { bytes / 4 } else { 1 };
            let params = hipMemsetParams {
                // SAFETY: within the array.
                dst: unsafe { memory.pointer().cast::<u8>().add(chain * bytes / 4) }.cast(),
                elementSize: 1,
                height: 1,
                pitch: width,
                value: 16 * chain as c_uint + layer as c_uint,
                width,
            };
            let mut node = hipGraphNode_t::NULL;
            let (dependencies, count) = (before.as_ptr(), before.len());
            ok!(hipGraphAddMemsetNode(&mut node, graph, dependencies, count, &params));
            before = vec![node];
        }
    }
    graph
}

// proves: aqlipseGraphExecProfile, aqlipseGraphExecReplan
#[test]
fn an_executable_is_measured_and_planned_again_while_it_runs() {
    const BYTES: usize = 1 << 18;
    let (stream, memory) = (new_stream(), Memory::of(&vec![0xffu8; BYTES]));
    let (graph, mut exec, mut next) = (chains(&memory, BYTES), hipGraphExec_t::NULL, hipGraphExec_t::NULL);
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0), aqlipseGraphExecProfile(exec, 2));
    for _ in 0..3 {
        ok!(hipGraphLaunch(exec, stream));
    }
    ok!(aqlipseGraphExecReplan(exec), hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    ok!(aqlipseGraphExecReplan(exec), hipGraphInstantiateWithFlags(&mut next, graph, 0));
    for exec in [exec, next] {
        ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
        let bytes = memory.read();
        for chain in 0..4 {
            let (first, rest) = (chain * BYTES / 4, 16 * chain + chain);
            assert_eq!(usize::from(bytes[first]), 16 * chain + 3, "the last of chain {chain}");
            assert!(bytes[first + 1..][..BYTES / 4 - 1].iter().all(|&byte| usize::from(byte) == rest));
        }
        ok!(hipGraphExecDestroy(exec));
    }
    fails!(hipErrorInvalidValue, aqlipseGraphExecProfile(exec, 1));
    fails!(hipErrorInvalidValue, aqlipseGraphExecReplan(exec));
    fails!(hipErrorInvalidValue, aqlipseGraphExecReplan(hipGraphExec_t::NULL));
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, DEVICE_LAUNCH));
    fails!(hipErrorNotSupported, aqlipseGraphExecProfile(exec, 1));
    fails!(hipErrorNotSupported, aqlipseGraphExecReplan(exec));
    ok!(hipGraphExecDestroy(exec), hipGraphInstantiateWithFlags(&mut exec, graph, NODE_PRIORITY));
    ok!(aqlipseGraphExecProfile(exec, 1));
    fails!(hipErrorNotSupported, aqlipseGraphExecReplan(exec));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}
