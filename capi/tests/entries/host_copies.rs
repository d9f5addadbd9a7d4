//! Copy nodes from host to host, at which AMD's 5.2.3 crashes.

use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemcpyNode1D(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphAddMemcpyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemcpy3DParms,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

#[test]
fn nodes_copy_from_host_to_host_at_each_launch() {
    const BYTES: usize = 256;
    let (stream, mut pinned) = (new_stream(), ptr::null_mut());
    let (mut from, mut to, mut back) = ([1u8; BYTES], [0u8; BYTES], [0u8; BYTES]);
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    let mut nodes = [hipGraphNode_t::NULL; 3];
    let kind = hipMemcpyHostToHost;
    let (source, target): (*mut c_void, *mut c_void) = (from.as_mut_ptr().cast(), to.as_mut_ptr().cast());
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut rows: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
    // The left half of each of 8 rows.
    (rows.srcPtr.ptr, rows.srcPtr.pitch, rows.srcPtr.ysize) = (target, 32, 8);
    (rows.dstPtr.ptr, rows.dstPtr.pitch, rows.dstPtr.ysize) = (back.as_mut_ptr().cast(), 32, 8);
    (rows.extent, rows.kind) = (hipExtent { width: 16, height: 8, depth: 1 }, kind);
    ok!(
        hipHostMalloc(&mut pinned, BYTES, 0),
        hipGraphCreate(&mut graph, 0),
        hipGraphAddMemcpyNode1D(&mut nodes[0], graph, ptr::null(), 0, pinned, source, BYTES, kind),
        hipGraphAddMemcpyNode1D(&mut nodes[1], graph, &nodes[0], 1, target, pinned, BYTES, kind),
        hipGraphAddMemcpyNode(&mut nodes[2], graph, &nodes[1], 1, &rows),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
    );
    for value in [2, 3] {
        // SAFETY: the array of that many bytes, which only this thread and the launches below use.
        unsafe { source.cast::<u8>().write_bytes(value, BYTES) };
        ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
        // SAFETY: as above; the launch is over.
        let (to, back) = unsafe { ((&raw const to).read_volatile(), (&raw const back).read_volatile()) };
        assert_eq!(to, [value; BYTES]);
        assert!(back.chunks(32).all(|row| row[..16] == [value; 16] && row[16..] == [0; 16]), "{back:?}");
    }
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream), hipHostFree(pinned));
}
