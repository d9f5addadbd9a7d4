//! Batches: of words, of copies, and as nodes.

use std::{
    ffi::c_uint,
    mem, ptr,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipStreamBatchMemOp(
        stream: hipStream_t,
        count: c_uint,
        params: *mut hipStreamBatchMemOpParams,
        flags: c_uint,
    ) -> hipError_t;
    fn hipStreamWriteValue32(stream: hipStream_t, at: *mut c_void, value: u32, flags: c_uint) -> hipError_t;
    fn hipStreamWaitValue64(
        stream: hipStream_t,
        at: *mut c_void,
        value: u64,
        flags: c_uint,
        mask: u64,
    ) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, graph: hipGraph_t) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphNodeGetType(node: hipGraphNode_t, kind: *mut hipGraphNodeType) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
    fn hipGraphAddNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipGraphNodeParams,
    ) -> hipError_t;
    fn hipGraphAddBatchMemOpNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipBatchMemOpNodeParams,
    ) -> hipError_t;
    fn hipGraphBatchMemOpNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipBatchMemOpNodeParams,
    ) -> hipError_t;
    fn hipGraphBatchMemOpNodeSetParams(
        node: hipGraphNode_t,
        params: *mut hipBatchMemOpNodeParams,
    ) -> hipError_t;
    fn hipGraphExecBatchMemOpNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipBatchMemOpNodeParams,
    ) -> hipError_t;
    fn hipGraphAddExtMemcpyBatchNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipExtMemcpyBatchNodeParams,
    ) -> hipError_t;
    fn hipGraphExtMemcpyBatchNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipExtMemcpyBatchNodeParams,
    ) -> hipError_t;
    fn hipGraphExtMemcpyBatchNodeSetParams(
        node: hipGraphNode_t,
        params: *const hipExtMemcpyBatchNodeParams,
    ) -> hipError_t;
    fn hipGraphExecExtMemcpyBatchNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipExtMemcpyBatchNodeParams,
    ) -> hipError_t;
    fn hipMemcpyBatchAsync(
        dsts: *mut *mut c_void,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        attributes: *mut hipMemcpyAttributes,
        places: *mut usize,
        attribute_count: usize,
        failed: *mut usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy3DBatchAsync(
        count: usize,
        ops: *mut hipMemcpy3DBatchOp,
        failed: *mut usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy3DPeer(params: *mut hipMemcpy3DPeerParms) -> hipError_t;
    fn hipMemcpy3DPeerAsync(params: *mut hipMemcpy3DPeerParms, stream: hipStream_t) -> hipError_t;
    fn hipMallocArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) -> hipError_t;
    fn hipFreeArray(array: hipArray_t) -> hipError_t;
    fn hipMemcpyAtoH(dst: *mut c_void, src: hipArray_t, offset: usize, bytes: usize) -> hipError_t;
    fn hipMemAdvise_v2(
        address: *const c_void,
        bytes: usize,
        advice: hipMemoryAdvise,
        location: hipMemLocation,
    ) -> hipError_t;
    fn hipMemPrefetchAsync_v2(
        address: *const c_void,
        bytes: usize,
        location: hipMemLocation,
        flags: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemRangeGetAttribute(
        out: *mut c_void,
        room: usize,
        attribute: hipMemRangeAttribute,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t;
    fn hipPointerSetAttribute(
        value: *const c_void,
        attribute: hipPointer_attribute,
        pointer: hipDeviceptr_t,
    ) -> hipError_t;
    fn aqlipseMemsetD2D64Async(
        dst: hipDeviceptr_t,
        pitch: usize,
        value: u64,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn aqlipseGraphAddMemsetD64Node(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: hipDeviceptr_t,
        pitch: usize,
        value: u64,
        width: usize,
        height: usize,
    ) -> hipError_t;
    fn aqlipseGraphExecMemsetD64NodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        dst: hipDeviceptr_t,
        pitch: usize,
        value: u64,
        width: usize,
        height: usize,
    ) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, params: *mut hipMemsetParams) -> hipError_t;
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute: hipPointer_attribute,
        pointer: hipDeviceptr_t,
    ) -> hipError_t;
}

/// Pinned words of the host, all 0.
struct Words {
    address: *mut u64,
}

impl Words {
    fn new(count: usize) -> Self {
        let mut address = ptr::null_mut();
        ok!(hipHostMalloc(&mut address, count * 8, 0));
        // SAFETY: the memory was just allocated with this size.
        unsafe { address.write_bytes(0, count * 8) };
        Self { address: address.cast() }
    }

    fn at(&self, index: usize) -> *mut c_void {
        self.address.wrapping_add(index).cast()
    }

    fn wide(&self, index: usize) -> &AtomicU64 {
        // SAFETY: the memory lives as long as this, and is aligned.
        unsafe { AtomicU64::from_ptr(self.at(index).cast()) }
    }

    fn narrow(&self, index: usize) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(self.at(index).cast()) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: the memory is ours.
        let _ = unsafe { hipHostFree(self.address.cast()) };
    }
}

fn op(
    operation: hipStreamBatchMemOpType,
    address: *mut c_void,
    value: u64,
    flags: c_uint,
) -> hipStreamBatchMemOpParams {
    let value = hipStreamMemOpValueParams { operation, address, value, flags, alias: ptr::null_mut() };
    // SAFETY: all members are plain data, for which zeros are values.
    let mut params: hipStreamBatchMemOpParams = unsafe { mem::zeroed() };
    params.waitValue = value;
    params
}

fn node_params(ops: &mut [hipStreamBatchMemOpParams]) -> hipBatchMemOpNodeParams {
    hipBatchMemOpNodeParams {
        ctx: hipCtx_t::NULL,
        count: ops.len() as c_uint,
        paramArray: ops.as_mut_ptr(),
        flags: 0,
    }
}

// proves: hipStreamBatchMemOp
#[test]
fn operations_of_a_batch_run_one_after_the_other() {
    let (words, stream) = (Words::new(4), new_stream());
    // High bits that a 32-bit operation must not look at or touch.
    words.wide(1).store(0xffff_ffff_0000_0000, Ordering::Release);
    let mut ops = [
        op(hipStreamMemOpWriteValue64, words.at(0), 1 << 40, 0),
        op(hipStreamMemOpWaitValue64, words.at(2), 7, hipStreamWaitValueGte),
        op(hipStreamMemOpWriteValue32, words.at(1), 0x1_0000_0005, 0),
        op(hipStreamMemOpWaitValue32, words.at(3), 3, hipStreamWaitValueEq),
        op(hipStreamMemOpWriteValue64, words.at(0), 2, 0),
    ];
    ok!(hipStreamBatchMemOp(stream, 5, ops.as_mut_ptr(), 0));
    let until = |word: &AtomicU64, value| {
        while word.load(Ordering::Acquire) != value {
            std::thread::yield_now();
        }
    };
    until(words.wide(0), 1 << 40);
    assert_eq!(words.narrow(1).load(Ordering::Acquire), 0, "the wait before holds it back");
    fails!(hipErrorNotReady, hipStreamQuery(stream));
    words.wide(2).store(9, Ordering::Release);
    until(words.wide(1), 0xffff_ffff_0000_0005);
    assert_eq!(words.wide(0).load(Ordering::Acquire), 1 << 40);
    words.narrow(3).store(3, Ordering::Release);
    ok!(hipStreamSynchronize(stream));
    assert_eq!(words.wide(0).load(Ordering::Acquire), 2);
    ok!(hipStreamDestroy(stream));
}

#[test]
fn the_largest_batch_has_255_operations() {
    let (words, stream) = (Words::new(255), new_stream());
    let write = |n: usize| op(hipStreamMemOpWriteValue64, words.at(n % 255), n as u64 + 1, 0);
    let mut ops: Vec<_> = (0..256).map(write).collect();
    fails!(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 256, ops.as_mut_ptr(), 0));
    ok!(hipStreamBatchMemOp(stream, 255, ops.as_mut_ptr(), 0), hipStreamSynchronize(stream));
    assert!((0..255).all(|n| words.wide(n).load(Ordering::Acquire) == n as u64 + 1));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn batches_that_cannot_be_done_are_refused_as_a_whole() {
    let (words, stream) = (Words::new(2), new_stream());
    let good = op(hipStreamMemOpWriteValue64, words.at(0), 5, 0);
    let mut pageable = 0u64;
    let odd = words.at(0).wrapping_byte_add(4);
    use capi::error::*;
    for (code, bad) in [
        (hipErrorInvalidValue, op(hipStreamBatchMemOpType(0), words.at(1), 0, 0)),
        (hipErrorInvalidValue, op(hipStreamBatchMemOpType(77), words.at(1), 0, 0)),
        (hipErrorInvalidValue, op(hipStreamMemOpWaitValue64, words.at(1), 0, 4)),
        (hipErrorInvalidValue, op(hipStreamMemOpWriteValue64, odd, 0, 0)),
        (hipErrorInvalidValue, op(hipStreamMemOpWriteValue64, ptr::null_mut(), 0, 0)),
        (hipErrorInvalidValue, op(hipStreamMemOpWriteValue64, (&raw mut pageable).cast(), 0, 0)),
        (hipErrorNotSupported, op(hipStreamMemOpBarrier, ptr::null_mut(), 0, 0)),
        (hipErrorNotSupported, op(hipStreamMemOpFlushRemoteWrites, ptr::null_mut(), 0, 0)),
    ] {
        let mut ops = [good, bad];
        // SAFETY: the array has two operations.
        assert_eq!(unsafe { hipStreamBatchMemOp(stream, 2, ops.as_mut_ptr(), 0) }, code);
        let (mut graph, mut node) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
        ok!(hipGraphCreate(&mut graph, 0));
        // SAFETY: as above.
        let added =
            unsafe { hipGraphAddBatchMemOpNode(&mut node, graph, ptr::null(), 0, &node_params(&mut ops)) };
        assert_eq!(added, code);
        ok!(hipGraphDestroy(graph));
    }
    let mut one = [good];
    fails!(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 0, one.as_mut_ptr(), 0));
    fails!(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 1, ptr::null_mut(), 0));
    fails!(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 1, one.as_mut_ptr(), 1));
    ok!(hipStreamSynchronize(stream));
    assert_eq!(words.wide(0).load(Ordering::Acquire), 0, "nothing was done");
    ok!(hipStreamDestroy(stream));
}

// proves: hipGraphAddBatchMemOpNode, hipGraphBatchMemOpNodeGetParams, hipGraphBatchMemOpNodeSetParams
// proves: hipGraphExecBatchMemOpNodeSetParams
#[test]
fn a_node_does_a_batch_and_takes_others_of_its_types() {
    let (words, stream) = (Words::new(4), new_stream());
    let mut ops = [
        op(hipStreamMemOpWaitValue32, words.at(0), 1, hipStreamWaitValueAnd),
        op(hipStreamMemOpWriteValue64, words.at(1), 11, 0),
    ];
    let (mut graph, mut node, mut exec) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    ok!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddBatchMemOpNode(&mut node, graph, ptr::null(), 0, &node_params(&mut ops)),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
    );
    let mut kind = hipGraphNodeTypeEmpty;
    ok!(hipGraphNodeGetType(node, &mut kind));
    assert_eq!(kind, hipGraphNodeTypeBatchMemOp);
    assert_eq!(words.wide(1).load(Ordering::Acquire), 0);
    words.narrow(0).store(3, Ordering::Release);
    ok!(hipStreamSynchronize(stream));
    assert_eq!(words.wide(1).load(Ordering::Acquire), 11);

    let mut found = node_params(&mut []);
    ok!(hipGraphBatchMemOpNodeGetParams(node, &mut found));
    assert_eq!((found.count, found.flags), (2, 0));
    // SAFETY: the node's array of as many operations, which share a layout.
    let seen: [hipStreamMemOpValueParams; 2] =
        unsafe { [0, 1].map(|n| (*found.paramArray.add(n)).waitValue) };
    assert_eq!((seen[0].operation, seen[0].flags), (hipStreamMemOpWaitValue32, hipStreamWaitValueAnd));
    assert_eq!((seen[0].address, seen[0].value), (words.at(0), 1));
    assert_eq!(
        (seen[1].operation, seen[1].address, seen[1].value),
        (hipStreamMemOpWriteValue64, words.at(1), 11)
    );
    let mut again = node_params(&mut []);
    ok!(hipGraphBatchMemOpNodeGetParams(node, &mut again));
    assert_eq!(again.paramArray, found.paramArray, "valid until the node changes");
    ok!(hipGraphBatchMemOpNodeSetParams(node, &mut found));

    // Addresses, values and conditions of an executable may change, types and their number may not.
    let mut others = [
        op(hipStreamMemOpWaitValue32, words.at(2), 5, hipStreamWaitValueEq),
        op(hipStreamMemOpWriteValue64, words.at(3), 12, 0),
    ];
    words.narrow(2).store(5, Ordering::Release);
    ok!(
        hipGraphExecBatchMemOpNodeSetParams(exec, node, &node_params(&mut others)),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(words.wide(3).load(Ordering::Acquire), 12);
    fails!(
        hipErrorInvalidValue,
        hipGraphExecBatchMemOpNodeSetParams(exec, node, &node_params(&mut others[..1]))
    );
    let mut swapped = [others[1], others[0]];
    fails!(hipErrorInvalidValue, hipGraphExecBatchMemOpNodeSetParams(exec, node, &node_params(&mut swapped)));
    // The template takes any; an executable of the old types does not take it over.
    ok!(hipGraphBatchMemOpNodeSetParams(node, &mut node_params(&mut swapped)));
    let mut result = hipGraphExecUpdateSuccess;
    fails!(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(exec, graph, &mut node, &mut result));
    assert_eq!(result, hipGraphExecUpdateErrorParametersChanged);

    fails!(hipErrorInvalidValue, hipGraphBatchMemOpNodeGetParams(node, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGraphBatchMemOpNodeGetParams(hipGraphNode_t(8), &mut found));
    fails!(hipErrorInvalidValue, hipGraphBatchMemOpNodeSetParams(node, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGraphAddBatchMemOpNode(&mut node, graph, ptr::null(), 0, ptr::null()));
    // SAFETY: all members are plain data, for which zeros are values.
    let mut any: hipGraphNodeParams = unsafe { mem::zeroed() };
    any.r#type = hipGraphNodeTypeBatchMemOp;
    fails!(hipErrorInvalidValue, hipGraphAddNode(&mut node, graph, ptr::null(), 0, &mut any));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

#[test]
fn captured_words_become_nodes_that_clones_have_too() {
    let (words, stream) = (Words::new(4), new_stream());
    let mut ops = [op(hipStreamMemOpWriteValue64, words.at(1), 21, 0)];
    let (mut graph, mut clone, mut exec) = (hipGraph_t::NULL, hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
        hipStreamWriteValue32(stream, words.at(0), 20, 0),
        hipStreamBatchMemOp(stream, 1, ops.as_mut_ptr(), 0),
        hipStreamWaitValue64(stream, words.at(2), 0xf0, hipStreamWaitValueEq, 0xf0),
        hipStreamWriteValue32(stream, words.at(3), 23, 0),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphClone(&mut clone, graph),
        hipGraphDestroy(graph),
    );
    let (mut nodes, mut count) = ([hipGraphNode_t::NULL; 8], 8);
    ok!(hipGraphGetNodes(clone, nodes.as_mut_ptr(), &mut count));
    assert_eq!(count, 4);
    for node in &nodes[..4] {
        let mut kind = hipGraphNodeTypeEmpty;
        ok!(hipGraphNodeGetType(*node, &mut kind));
        assert_eq!(kind, hipGraphNodeTypeBatchMemOp);
    }
    assert_eq!(words.wide(1).load(Ordering::Acquire), 0, "nothing ran");
    ok!(hipGraphInstantiateWithFlags(&mut exec, clone, 0), hipGraphLaunch(exec, stream));
    while words.wide(1).load(Ordering::Acquire) != 21 {
        std::thread::yield_now();
    }
    assert_eq!(words.narrow(3).load(Ordering::Acquire), 0);
    // The bits that the mask lacks do not count.
    words.wide(2).store(0xabf5, Ordering::Release);
    ok!(hipStreamSynchronize(stream));
    assert_eq!(words.narrow(0).load(Ordering::Acquire), 20);
    assert_eq!(words.narrow(3).load(Ordering::Acquire), 23);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(clone), hipStreamDestroy(stream));
}

/// A batch of copies.
struct Copies {
    dsts: Vec<*mut c_void>,
    srcs: Vec<*mut c_void>,
    sizes: Vec<usize>,
}

impl Copies {
    fn of<T>(copies: &[(*mut T, *const T, usize)]) -> Self {
        Self {
            dsts: copies.iter().map(|copy| copy.0.cast()).collect(),
            srcs: copies.iter().map(|copy| copy.1.cast_mut().cast()).collect(),
            sizes: copies.iter().map(|copy| copy.2 * size_of::<T>()).collect(),
        }
    }

    fn run(&mut self, failed: &mut usize, stream: hipStream_t) -> hipError_t {
        self.run_with(&mut [], &mut [], failed, stream)
    }

    fn run_with(
        &mut self,
        attributes: &mut [hipMemcpyAttributes],
        places: &mut [usize],
        failed: &mut usize,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the arrays have as many entries as they say, and what they point to lives behind the wait.
        unsafe {
            hipMemcpyBatchAsync(
                self.dsts.as_mut_ptr(),
                self.srcs.as_mut_ptr(),
                self.sizes.as_mut_ptr(),
                self.sizes.len(),
                attributes.as_mut_ptr(),
                places.as_mut_ptr(),
                attributes.len(),
                failed,
                stream,
            )
        }
    }

    fn node(&mut self) -> hipExtMemcpyBatchNodeParams {
        hipExtMemcpyBatchNodeParams {
            dsts: self.dsts.as_mut_ptr(),
            srcs: self.srcs.as_mut_ptr(),
            sizes: self.sizes.as_mut_ptr(),
            count: self.sizes.len(),
            attrs: ptr::null_mut(),
            attrsIdxs: ptr::null_mut(),
            numAttrs: 0,
        }
    }
}

fn numbers(count: u32, seed: u32) -> Vec<u32> {
    (0..count).map(|n| n.wrapping_mul(2_654_435_761) ^ seed).collect()
}

const OK: hipError_t = capi::error::hipSuccess;

// proves: hipMemcpyBatchAsync
#[test]
fn a_batch_copies_runs_of_all_sizes_between_all_kinds_of_memory() {
    let stream = new_stream();
    let (a, b) = (Memory::of(&numbers(50_000, 1)), Memory::of(&[0u32; 50_000]));
    let mut failed = 3;
    // Only memory that the device reaches: one kernel for all.
    let mut batch = Copies::of(&[
        (b.address, a.address.cast_const(), 1),
        (b.address.wrapping_add(7), a.address.wrapping_add(3).cast_const(), 20_000),
        (b.address.wrapping_add(30_000), a.address.wrapping_add(100).cast_const(), 333),
    ]);
    assert_eq!(batch.run(&mut failed, stream), OK);
    ok!(hipStreamSynchronize(stream));
    let (input, mut model) = (a.read(), vec![0u32; 50_000]);
    model[0] = input[0];
    model[7..20_007].copy_from_slice(&input[3..20_003]);
    model[30_000..30_333].copy_from_slice(&input[100..433]);
    assert!(b.read() == model);

    // Ordinary memory of the host at either end, and at both.
    let (from, mut to, mut twin) = (numbers(4000, 9), vec![0u32; 4000], vec![0u32; 10]);
    let mut batch = Copies::of(&[
        (b.address, from.as_ptr(), 4000),
        (to.as_mut_ptr(), a.address.cast_const(), 4000),
        (twin.as_mut_ptr(), from.as_ptr(), 10),
    ]);
    assert_eq!(batch.run(&mut failed, stream), OK);
    ok!(hipStreamSynchronize(stream));
    assert!(b.read()[..4000] == from && to == input[..4000] && twin == from[..10]);
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_batch_says_which_of_its_copies_cannot_be_made() {
    let stream = new_stream();
    let (a, b) = (Memory::of(&numbers(64, 1)), Memory::of(&[0u32; 64]));
    let good = (b.address, a.address.cast_const(), 4);
    let past = b.address.wrapping_add(60);
    for (at, bad) in [
        (1, (ptr::null_mut(), a.address.cast_const(), 4)),
        (1, (b.address, ptr::null(), 4)),
        (1, (b.address, a.address.cast_const(), 0)),
        (1, (past, a.address.cast_const(), 5)),
    ] {
        let mut failed = 77;
        assert_eq!(Copies::of(&[good, bad]).run(&mut failed, stream), capi::error::hipErrorInvalidValue);
        assert_eq!(failed, at);
    }
    let mut failed = 77;
    assert_eq!(Copies::of::<u32>(&[]).run(&mut failed, stream), capi::error::hipErrorInvalidValue);
    assert_eq!(failed, usize::MAX, "none of the copies");
    let nowhere = hipMemLocation { r#type: hipMemLocationTypeInvalid, id: 0 };
    let order = |srcAccessOrder| hipMemcpyAttributes {
        srcAccessOrder,
        srcLocHint: nowhere,
        dstLocHint: nowhere,
        flags: 0,
    };
    let stream_order = order(hipMemcpySrcAccessOrderStream);
    let mut with = |attributes: &mut [hipMemcpyAttributes], places: &mut [usize]| {
        Copies::of(&[good, (b.address.wrapping_add(8), good.1, 4)]).run_with(
            attributes,
            places,
            &mut failed,
            stream,
        )
    };
    let wrong = capi::error::hipErrorInvalidValue;
    assert_eq!(with(&mut [stream_order], &mut [1]), wrong, "the first is for the first copy");
    assert_eq!(with(&mut [stream_order; 2], &mut [0, 0]), wrong);
    assert_eq!(with(&mut [stream_order; 2], &mut [0, 2]), wrong);
    assert_eq!(with(&mut [stream_order; 3], &mut [0, 1, 2]), wrong, "more than there are copies");
    assert_eq!(with(&mut [order(hipMemcpySrcAccessOrder(0))], &mut [0]), wrong);
    assert_eq!(b.read(), [0; 64], "nothing was copied");
    assert_eq!(with(&mut [stream_order, order(hipMemcpySrcAccessOrderAny)], &mut [0, 1]), OK);
    ok!(hipStreamSynchronize(stream));
    assert_eq!(b.read()[8..12], a.read()[..4]);
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_source_that_is_read_during_the_call_is_the_callers_behind_it() {
    let (words, stream) = (Words::new(2), new_stream());
    let target = Memory::of(&[0u64; 1]);
    words.wide(0).store(5, Ordering::Release);
    let nowhere = hipMemLocation { r#type: hipMemLocationTypeInvalid, id: 0 };
    let during = hipMemcpyAttributes {
        srcAccessOrder: hipMemcpySrcAccessOrderDuringApiCall,
        srcLocHint: nowhere,
        dstLocHint: nowhere,
        flags: 0,
    };
    let mut batch = Copies::of(&[(target.address, words.address.cast_const(), 1)]);
    let mut failed = 0;
    assert_eq!(batch.run_with(&mut [during], &mut [0], &mut failed, stream), OK);
    words.wide(0).store(6, Ordering::Release);
    ok!(hipStreamSynchronize(stream));
    assert_eq!(target.read(), [5]);
    let mut graph = hipGraph_t::NULL;
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    let captured = batch.run_with(&mut [during], &mut [0], &mut failed, stream);
    assert_eq!(captured, capi::error::hipErrorNotSupported, "a graph reads its sources when it runs");
    ok!(hipStreamEndCapture(stream, &mut graph), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipGraphAddExtMemcpyBatchNode, hipGraphExtMemcpyBatchNodeGetParams
// proves: hipGraphExtMemcpyBatchNodeSetParams, hipGraphExecExtMemcpyBatchNodeSetParams
#[test]
fn a_node_copies_a_batch_of_a_fixed_number() {
    let stream = new_stream();
    let (a, b) = (Memory::of(&numbers(64, 1)), Memory::of(&[0u32; 64]));
    let mut batch =
        Copies::of(&[(b.address, a.address.cast_const(), 3), (b.address.wrapping_add(32), a.address, 8)]);
    let (mut graph, mut node, mut exec) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    ok!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddExtMemcpyBatchNode(&mut node, graph, ptr::null(), 0, &batch.node()),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    let input = a.read();
    assert_eq!((&b.read()[..3], &b.read()[32..40]), (&input[..3], &input[..8]));
    let mut kind = hipGraphNodeTypeEmpty;
    ok!(hipGraphNodeGetType(node, &mut kind));
    assert_eq!(kind, hipGraphNodeTypeExtMemcpyBatch);
    let mut found = Copies::of::<u32>(&[]).node();
    ok!(hipGraphExtMemcpyBatchNodeGetParams(node, &mut found));
    // SAFETY: the node's arrays, which have as many entries.
    let seen = unsafe { [*found.dsts, *found.dsts.add(1), *found.srcs, *found.srcs.add(1)] };
    assert_eq!(seen, [batch.dsts[0], batch.dsts[1], batch.srcs[0], batch.srcs[1]]);
    // SAFETY: as above.
    assert_eq!(unsafe { (found.count, *found.sizes, *found.sizes.add(1)) }, (2, 12, 32));
    ok!(hipGraphExtMemcpyBatchNodeSetParams(node, &found));

    let mut others = Copies::of(&[
        (b.address.wrapping_add(50), a.address.cast_const(), 1),
        (b.address, a.address.wrapping_add(9), 2),
    ]);
    ok!(
        hipGraphExecExtMemcpyBatchNodeSetParams(exec, node, &others.node()),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!((b.read()[50], &b.read()[..2]), (input[0], &input[9..11]));
    let mut three = Copies::of(&[(b.address, a.address.cast_const(), 1); 3]);
    fails!(hipErrorInvalidValue, hipGraphExecExtMemcpyBatchNodeSetParams(exec, node, &three.node()));
    ok!(hipGraphExtMemcpyBatchNodeSetParams(node, &three.node()));
    let mut empty = Copies::of(&[(b.address, a.address.cast_const(), 0)]);
    fails!(hipErrorInvalidValue, hipGraphExtMemcpyBatchNodeSetParams(node, &empty.node()));
    fails!(
        hipErrorInvalidValue,
        hipGraphAddExtMemcpyBatchNode(&mut node, graph, ptr::null(), 0, ptr::null())
    );
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

#[test]
fn a_captured_batch_is_one_node_whatever_memory_it_copies() {
    let stream = new_stream();
    let (a, b) = (Memory::of(&numbers(64, 1)), Memory::of(&[0u32; 64]));
    let (from, mut to) = (numbers(16, 5), [0u32; 16]);
    let (mut graph, mut exec, mut failed) = (hipGraph_t::NULL, hipGraphExec_t::NULL, 0);
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    let mut batch =
        Copies::of(&[(b.address, from.as_ptr(), 16), (to.as_mut_ptr(), a.address.cast_const(), 16)]);
    assert_eq!(batch.run(&mut failed, stream), OK);
    ok!(hipStreamEndCapture(stream, &mut graph));
    let (mut node, mut count) = (hipGraphNode_t::NULL, 1);
    ok!(hipGraphGetNodes(graph, &mut node, &mut count));
    assert_eq!(count, 1);
    ok!(
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(b.read()[..16], from[..]);
    assert_eq!(to, a.read()[..16]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

fn memory_operand(pointer: *mut u32, row: usize, rows: usize) -> hipMemcpy3DOperand {
    let locHint = hipMemLocation { r#type: hipMemLocationTypeInvalid, id: 0 };
    let ptr = hipMemcpy3DPointer { ptr: pointer.cast(), rowLength: row, layerHeight: rows, locHint };
    hipMemcpy3DOperand { r#type: hipMemcpyOperandTypePointer, op: hipMemcpy3DOperandUnion { ptr } }
}

fn array_operand(array: hipArray_t, x: usize, y: usize) -> hipMemcpy3DOperand {
    let array = hipMemcpy3DArray { array, offset: hipOffset3D { x, y, z: 0 } };
    hipMemcpy3DOperand { r#type: hipMemcpyOperandTypeArray, op: hipMemcpy3DOperandUnion { array } }
}

// proves: hipMemcpy3DBatchAsync
#[test]
fn a_batch_copies_boxes_between_arrays_and_memory() {
    let stream = new_stream();
    let words = hipChannelFormatDesc { x: 32, y: 0, z: 0, w: 0, f: hipChannelFormatKindUnsigned };
    let mut array = hipArray_t::NULL;
    ok!(hipMallocArray(&mut array, &words, 8, 4, 0));
    let mut input = numbers(40, 1);
    let mut out = [0u32; 32];
    let box_of = |width, height| hipExtent { width, height, depth: 1 };
    let copy = |dst, src, extent| hipMemcpy3DBatchOp {
        src,
        dst,
        extent,
        srcAccessOrder: hipMemcpySrcAccessOrderStream,
        flags: 0,
    };
    let mut failed = 9;
    let mut ops = [
        copy(array_operand(array, 0, 0), memory_operand(input.as_mut_ptr(), 0, 0), box_of(8, 4)),
        copy(array_operand(array, 5, 1), memory_operand(input.as_mut_ptr(), 10, 4), box_of(3, 2)),
    ];
    // The second overwrites a part of the first: one batch has no order, so they are two.
    ok!(
        hipMemcpy3DBatchAsync(1, &mut ops[0], &mut failed, 0, stream),
        hipMemcpy3DBatchAsync(1, &mut ops[1], &mut failed, 0, stream),
        hipStreamSynchronize(stream),
        hipMemcpyAtoH(out.as_mut_ptr().cast(), array, 0, 128),
    );
    let mut model = input[..32].to_vec();
    model[13..16].copy_from_slice(&input[..3]);
    model[21..24].copy_from_slice(&input[10..13]);
    assert_eq!(out[..], model[..]);

    let bad = copy(array_operand(array, 6, 0), memory_operand(input.as_mut_ptr(), 0, 0), box_of(3, 1));
    for (flags, at, mut list) in [
        (0, 1, [ops[0], bad]),
        (0, 0, [hipMemcpy3DBatchOp { extent: box_of(0, 1), ..ops[0] }, ops[0]]),
        (0, 1, [ops[0], hipMemcpy3DBatchOp { src: memory_operand(ptr::null_mut(), 0, 0), ..ops[0] }]),
        (0, 0, [hipMemcpy3DBatchOp { src: memory_operand(input.as_mut_ptr(), 7, 4), ..ops[0] }, ops[0]]),
        (0, 0, [hipMemcpy3DBatchOp { dst: array_operand(hipArray_t(8), 0, 0), ..ops[0] }, ops[0]]),
        (1, usize::MAX, [ops[0], ops[1]]),
    ] {
        failed = 9;
        fails!(hipErrorInvalidValue, hipMemcpy3DBatchAsync(2, list.as_mut_ptr(), &mut failed, flags, stream));
        assert_eq!(failed, at);
    }
    fails!(hipErrorInvalidValue, hipMemcpy3DBatchAsync(0, ops.as_mut_ptr(), &mut failed, 0, stream));
    ok!(hipFreeArray(array), hipStreamDestroy(stream));
}

// proves: hipMemcpy3DPeer, hipMemcpy3DPeerAsync
#[test]
fn boxes_are_copied_between_devices_that_exist() {
    let stream = new_stream();
    let (a, b) = (Memory::of(&numbers(64, 1)), Memory::of(&[0u32; 64]));
    let rows = |memory: &Memory<u32>| hipPitchedPtr { ptr: memory.pointer(), pitch: 32, xsize: 32, ysize: 4 };
    let corner = hipPos { x: 0, y: 0, z: 0 };
    let mut params = hipMemcpy3DPeerParms {
        srcArray: hipArray_t::NULL,
        srcPos: hipPos { x: 4, y: 1, z: 1 },
        srcPtr: rows(&a),
        srcDevice: 0,
        dstArray: hipArray_t::NULL,
        dstPos: corner,
        dstPtr: rows(&b),
        dstDevice: 0,
        extent: hipExtent { width: 8, height: 2, depth: 1 },
    };
    ok!(hipMemcpy3DPeer(&mut params));
    let (input, found) = (a.read(), b.read());
    assert_eq!((&found[..2], &found[8..10]), (&input[41..43], &input[49..51]));
    params.dstPos.z = 1;
    ok!(hipMemcpy3DPeerAsync(&mut params, stream), hipStreamSynchronize(stream));
    assert_eq!(b.read()[32..34], input[41..43]);
    for device in [-1, 77] {
        let mut wrong = hipMemcpy3DPeerParms { srcDevice: device, ..params };
        fails!(hipErrorInvalidDevice, hipMemcpy3DPeer(&mut wrong));
        wrong = hipMemcpy3DPeerParms { dstDevice: device, ..params };
        fails!(hipErrorInvalidDevice, hipMemcpy3DPeerAsync(&mut wrong, stream));
    }
    fails!(hipErrorInvalidValue, hipMemcpy3DPeer(ptr::null_mut()));
    ok!(hipStreamDestroy(stream));
}

// proves: hipMemAdvise_v2, hipMemPrefetchAsync_v2
#[test]
fn advice_names_locations() {
    let mut memory = ptr::null_mut();
    ok!(hipMallocManaged(&mut memory, 4096, hipMemAttachGlobal));
    let at = |kind, id| hipMemLocation { r#type: kind, id };
    let asked = |attribute| {
        let mut found = 77;
        ok!(hipMemRangeGetAttribute((&raw mut found).cast(), 4, attribute, memory, 4096));
        found
    };
    ok!(hipMemAdvise_v2(memory, 4096, hipMemAdviseSetPreferredLocation, at(hipMemLocationTypeHost, 99)));
    assert_eq!(asked(hipMemRangeAttributePreferredLocation), hipCpuDeviceId);
    ok!(hipMemAdvise_v2(memory, 4096, hipMemAdviseSetPreferredLocation, at(hipMemLocationTypeDevice, 0)));
    assert_eq!(asked(hipMemRangeAttributePreferredLocation), 0);
    ok!(hipMemAdvise_v2(memory, 4096, hipMemAdviseSetReadMostly, at(hipMemLocationTypeInvalid, 0)));
    assert_eq!(asked(hipMemRangeAttributeReadMostly), 1);
    ok!(hipMemPrefetchAsync_v2(memory, 4096, at(hipMemLocationTypeDevice, 0), 0, hipStream_t::NULL));
    assert_eq!(asked(hipMemRangeAttributeLastPrefetchLocation), 0);
    let advise = |location| {
        // SAFETY: nothing is followed.
        unsafe { hipMemAdvise_v2(memory, 4096, hipMemAdviseSetAccessedBy, location) }
    };
    for number in [77, -1] {
        fails!(hipErrorInvalidDevice, advise(at(hipMemLocationTypeDevice, number)));
    }
    fails!(hipErrorInvalidValue, advise(at(hipMemLocationTypeInvalid, 0)));
    fails!(
        hipErrorInvalidValue,
        hipMemPrefetchAsync_v2(memory, 4096, at(hipMemLocationTypeDevice, 0), 1, hipStream_t::NULL)
    );
    fails!(
        hipErrorInvalidDevice,
        hipMemPrefetchAsync_v2(memory, 4096, at(hipMemLocationTypeDevice, 77), 0, hipStream_t::NULL)
    );
    ok!(hipFree(memory));
}

// proves: hipPointerSetAttribute
#[test]
fn memory_remembers_that_its_operations_shall_wait() {
    let (a, b) = (Memory::of(&[0u32; 4]), Memory::of(&[0u32; 4]));
    let set = |memory: &Memory<u32>, value: bool| {
        ok!(hipPointerSetAttribute(
            (&raw const value).cast(),
            HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
            memory.pointer()
        ));
    };
    let get = |memory: &Memory<u32>| {
        let mut value = 0u8;
        ok!(hipPointerGetAttribute(
            (&raw mut value).cast(),
            HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
            memory.pointer()
        ));
        value
    };
    set(&a, true);
    assert_eq!((get(&a), get(&b)), (1, 0));
    set(&b, true);
    set(&a, false);
    assert_eq!((get(&a), get(&b)), (0, 1));
    let (value, mut pageable) = (1u32, 0u32);
    let one: *const c_void = (&raw const value).cast();
    fails!(
        hipErrorInvalidValue,
        hipPointerSetAttribute(ptr::null(), HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, a.pointer())
    );
    fails!(hipErrorInvalidValue, hipPointerSetAttribute(one, HIP_POINTER_ATTRIBUTE_MAPPED, a.pointer()));
    let freed = Memory::of(&[0u32; 4]).pointer();
    for nothing in [ptr::null_mut(), (&raw mut pageable).cast(), freed] {
        fails!(
            hipErrorInvalidDevicePointer,
            hipPointerSetAttribute(one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, nothing)
        );
    }
}

// proves: aqlipseMemsetD2D64Async, aqlipseGraphAddMemsetD64Node, aqlipseGraphExecMemsetD64NodeSetParams
#[test]
fn one_node_fills_rows_with_elements_whose_halves_differ() {
    let (stream, memory) = (new_stream(), Memory::of(&[0u64; 16]));
    let (value, other) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
    ok!(aqlipseMemsetD2D64Async(memory.pointer(), 32, other, 1, 4, stream), hipStreamSynchronize(stream));
    let mut model = [0; 16];
    (0..4).for_each(|row| model[row * 4] = other);
    assert_eq!(memory.read(), model);

    let (mut graph, mut node, mut exec) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    let second = memory.pointer().wrapping_byte_add(8);
    ok!(
        hipGraphCreate(&mut graph, 0),
        aqlipseGraphAddMemsetD64Node(&mut node, graph, ptr::null(), 0, second, 32, value, 2, 3),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    (0..3).for_each(|row| model[row * 4 + 1..][..2].fill(value));
    assert_eq!(memory.read(), model);
    ok!(
        aqlipseGraphExecMemsetD64NodeSetParams(exec, node, second, 32, 7, 2, 3),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    (0..3).for_each(|row| model[row * 4 + 1..][..2].fill(7));
    assert_eq!(memory.read(), model);
    fails!(hipErrorInvalidValue, aqlipseGraphExecMemsetD64NodeSetParams(exec, node, second, 32, 7, 2, 4));
    fails!(
        hipErrorInvalidValue,
        aqlipseGraphAddMemsetD64Node(&mut node, graph, ptr::null(), 0, second, 8, 7, 2, 3)
    );
    let null = ptr::null_mut();
    fails!(
        hipErrorInvalidValue,
        aqlipseGraphAddMemsetD64Node(&mut node, graph, ptr::null(), 0, null, 8, 7, 1, 1)
    );
    fails!(hipErrorInvalidValue, aqlipseMemsetD2D64Async(second, 32, 7, 16, 1, stream));

    // HIP's own structure has room for 32 bits only.
    let mut params = hipMemsetParams { dst: second, elementSize: 8, height: 1, pitch: 0, value: 1, width: 1 };
    fails!(hipErrorInvalidValue, hipGraphAddMemsetNode(&mut node, graph, ptr::null(), 0, &params));
    fails!(hipErrorNotSupported, hipGraphMemsetNodeGetParams(node, &mut params));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}
