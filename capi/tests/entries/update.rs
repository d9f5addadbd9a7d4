use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, doubles, line, threes};

unsafe extern "C" {
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddKernelNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipKernelNodeParams,
    ) -> hipError_t;
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
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphAddChildGraphNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        child: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        error_node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
    fn hipGraphExecChildGraphNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        child: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphKernelNodeSetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t;
    fn hipGraphKernelNodeGetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t;
    fn hipGraphKernelNodeSetParams(node: hipGraphNode_t, params: *const hipKernelNodeParams) -> hipError_t;
    fn hipGraphKernelNodeCopyAttributes(source: hipGraphNode_t, destination: hipGraphNode_t) -> hipError_t;
}

/// A graph whose nodes each follow the one before.
struct Chain {
    graph: hipGraph_t,
    nodes: Vec<hipGraphNode_t>,
}

impl Chain {
    fn new() -> Self {
        let mut graph = hipGraph_t::NULL;
        ok!(hipGraphCreate(&mut graph, 0));
        Self { graph, nodes: Vec::new() }
    }

    fn add(
        mut self,
        add: impl FnOnce(*mut hipGraphNode_t, hipGraph_t, *const hipGraphNode_t, usize) -> hipError_t,
    ) -> Self {
        let mut node = hipGraphNode_t::NULL;
        let last = self.nodes.last().map_or(ptr::null(), ptr::from_ref);
        ok!(add(&mut node, self.graph, last, usize::from(!last.is_null())));
        self.nodes.push(node);
        self
    }

    fn kernel<T>(self, function: *const c_void, memory: &Memory<T>) -> Self {
        let mut address = memory.address;
        let mut arguments = [(&raw mut address).cast::<c_void>()];
        let params = hipKernelNodeParams {
            blockDim: line(BLOCK),
            extra: ptr::null_mut(),
            func: function.cast_mut(),
            gridDim: line(1),
            kernelParams: arguments.as_mut_ptr(),
            sharedMemBytes: 0,
        };
        // SAFETY: the kernels take one pointer.
        self.add(|node, graph, after, count| unsafe {
            hipGraphAddKernelNode(node, graph, after, count, &params)
        })
    }

    fn copy(self, to: &Memory<u32>, from: &Memory<u32>, kind: hipMemcpyKind) -> Self {
        let (dst, src) = (to.pointer(), from.pointer());
        // SAFETY: both hold 16 bytes.
        self.add(|node, graph, after, count| unsafe {
            hipGraphAddMemcpyNode1D(node, graph, after, count, dst, src, 16, kind)
        })
    }

    fn fill(self, memory: &Memory<u32>, value: u32, width: usize, height: usize) -> Self {
        let params =
            hipMemsetParams { dst: memory.pointer(), elementSize: 4, height, pitch: 8, value, width };
        // SAFETY: the parameters are valid.
        self.add(|node, graph, after, count| unsafe {
            hipGraphAddMemsetNode(node, graph, after, count, &params)
        })
    }

    fn child(self, child: &Chain) -> Self {
        // SAFETY: all handles are alive.
        self.add(|node, graph, after, count| unsafe {
            hipGraphAddChildGraphNode(node, graph, after, count, child.graph)
        })
    }

    fn instantiate(&self) -> hipGraphExec_t {
        let mut exec = hipGraphExec_t::NULL;
        ok!(hipGraphInstantiateWithFlags(&mut exec, self.graph, 0));
        exec
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: the graph is ours. A test that has failed already has other troubles than this code.
        let _ = unsafe { hipGraphDestroy(self.graph) };
    }
}

fn update(exec: hipGraphExec_t, graph: hipGraph_t) -> (hipError_t, hipGraphNode_t, hipGraphExecUpdateResult) {
    let (mut node, mut result) = (hipGraphNode_t(1), hipGraphExecUpdateResult(99));
    // SAFETY: all pointers are valid.
    let code = unsafe { hipGraphExecUpdate(exec, graph, &mut node, &mut result) };
    (code, node, result)
}

const UPDATED: (hipError_t, hipGraphNode_t, hipGraphExecUpdateResult) =
    (capi::error::hipSuccess, hipGraphNode_t::NULL, hipGraphExecUpdateSuccess);

fn launch(exec: hipGraphExec_t) {
    ok!(hipGraphLaunch(exec, hipStream_t::NULL));
}

const SIZE: usize = BLOCK as usize;

// proves: hipGraphExecUpdate
#[test]
fn an_update_changes_operands_and_functions_of_later_launches() {
    let [a, b] = [1.0f64, 1.0].map(|value| Memory::of(&[value; SIZE]));
    let [numbers, copies] = [0u32, 0].map(|value| Memory::of(&[value; SIZE]));
    let kind = hipMemcpyDeviceToDevice;
    let before = Chain::new().kernel(doubles(), &a).fill(&numbers, 1, 4, 1).copy(&copies, &numbers, kind);
    let exec = before.instantiate();
    launch(exec);
    // The launch may still be in flight: it keeps what it was given.
    let after = Chain::new().kernel(doubles(), &b).fill(&numbers, 2, 2, 1).copy(&copies, &numbers, kind);
    assert_eq!(update(exec, after.graph), UPDATED);
    launch(exec);
    assert_eq!((a.read()[5], b.read()[5]), (2.0, 2.0));
    assert_eq!(copies.read()[..5], [2, 2, 1, 1, 0]);
    let other = Chain::new().kernel(threes(), &copies).fill(&numbers, 3, 1, 1).copy(&copies, &numbers, kind);
    assert_eq!(update(exec, other.graph), UPDATED);
    launch(exec);
    assert_eq!(copies.read()[..6], [3, 2, 1, 1, 3, 3], "another kernel in the same place");
    let mut clone = hipGraph_t::NULL;
    ok!(hipGraphClone(&mut clone, before.graph));
    assert_eq!(update(exec, clone), UPDATED);
    for _ in 0..100 {
        assert_eq!(update(exec, before.graph), UPDATED);
    }
    launch(exec);
    assert_eq!((a.read()[5], b.read()[5]), (4.0, 2.0));
    ok!(hipGraphDestroy(clone), hipGraphExecDestroy(exec));
}

#[test]
fn a_refused_update_names_the_node_and_changes_nothing() {
    let [x, y] = [7u32, 0].map(|value| Memory::of(&[value; SIZE]));
    let kind = hipMemcpyDeviceToDevice;
    let before = Chain::new().fill(&x, 1, 2, 2).copy(&y, &x, kind);
    let exec = before.instantiate();
    let refused = |chain: &Chain, node: Option<usize>, result| {
        let named = node.map_or(hipGraphNode_t::NULL, |n| chain.nodes[n]);
        let failure = capi::error::hipErrorGraphExecUpdateFailure;
        assert_eq!(update(exec, chain.graph), (failure, named, result));
    };
    let topology = hipGraphExecUpdateErrorTopologyChanged;
    refused(&Chain::new().fill(&x, 2, 2, 2), None, topology);
    let mut loose = Chain::new().fill(&x, 2, 2, 2);
    let first = loose.nodes.pop();
    loose = loose.copy(&y, &x, kind);
    loose.nodes.insert(0, first.unwrap());
    refused(&loose, Some(1), topology);
    // A node of another kind is named before an edge that turned elsewhere.
    let mut other = Chain::new().fill(&x, 2, 2, 2);
    let first = other.nodes.pop();
    other = other.fill(&y, 2, 2, 1);
    other.nodes.insert(0, first.unwrap());
    refused(&other, Some(1), hipGraphExecUpdateErrorNodeTypeChanged);
    refused(
        &Chain::new().fill(&x, 2, 2, 2).fill(&y, 2, 2, 1),
        Some(1),
        hipGraphExecUpdateErrorNodeTypeChanged,
    );
    let parameters = hipGraphExecUpdateErrorParametersChanged;
    refused(&Chain::new().fill(&x, 2, 2, 2).copy(&y, &x, hipMemcpyDefault), Some(1), parameters);
    refused(&Chain::new().fill(&x, 2, 1, 2).copy(&y, &x, kind), Some(0), parameters);
    launch(exec);
    assert_eq!(y.read()[..5], [1, 1, 1, 1, 0]);

    let (mut node, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateSuccess);
    fails!(
        hipErrorInvalidValue,
        hipGraphExecUpdate(hipGraphExec_t::NULL, before.graph, &mut node, &mut result)
    );
    fails!(hipErrorInvalidValue, hipGraphExecUpdate(exec, hipGraph_t::NULL, &mut node, &mut result));
    fails!(hipErrorInvalidValue, hipGraphExecUpdate(exec, before.graph, ptr::null_mut(), &mut result));
    fails!(hipErrorInvalidValue, hipGraphExecUpdate(exec, before.graph, &mut node, ptr::null_mut()));
    ok!(hipGraphExecDestroy(exec));
}

// proves: hipGraphExecChildGraphNodeSetParams
#[test]
fn nested_graphs_are_updated_alone_and_with_the_graph_around_them() {
    let [x, y] = [0u32, 0].map(|value| Memory::of(&[value; SIZE]));
    let inner = |value| Chain::new().fill(&x, value, 2, 1).fill(&y, value, 1, 1);
    let outer = |inner: &Chain| Chain::new().child(inner).fill(&y, 9, 1, 1);
    let before = outer(&inner(1));
    let exec = before.instantiate();
    ok!(hipGraphExecChildGraphNodeSetParams(exec, before.nodes[0], inner(2).graph));
    launch(exec);
    assert_eq!((&x.read()[..3], y.read()[0]), (&[2, 2, 0][..], 9));
    assert_eq!(update(exec, outer(&inner(3)).graph), UPDATED);
    launch(exec);
    assert_eq!(x.read()[..3], [3, 3, 0]);
    // Of a nested graph that does not fit, the node around it is named.
    let wrong = outer(&Chain::new().fill(&x, 4, 2, 1));
    let failure = capi::error::hipErrorGraphExecUpdateFailure;
    let named = wrong.nodes[0];
    assert_eq!(update(exec, wrong.graph), (failure, named, hipGraphExecUpdateErrorTopologyChanged));
    let set = |node, child: &Chain| {
        // SAFETY: handles are checked.
        unsafe { hipGraphExecChildGraphNodeSetParams(exec, node, child.graph) }
    };
    fails!(hipErrorInvalidValue, set(before.nodes[0], &before));
    fails!(hipErrorInvalidValue, set(before.nodes[1], &inner(5)));
    fails!(hipErrorInvalidValue, set(hipGraphNode_t::NULL, &inner(5)));
    launch(exec);
    assert_eq!(x.read()[..3], [3, 3, 0]);
    ok!(hipGraphExecDestroy(exec));
}

// proves: hipGraphKernelNodeSetAttribute, hipGraphKernelNodeGetAttribute, hipGraphKernelNodeCopyAttributes
// proves: hipGraphKernelNodeSetParams
#[test]
fn attributes_of_a_kernel_node_are_kept_and_copied() {
    let memory = Memory::of(&[1.0f64; SIZE]);
    let chain = Chain::new().kernel(doubles(), &memory).kernel(doubles(), &memory);
    let [first, second] = chain.nodes[..] else { unreachable!("two nodes were added") };
    let mut value = hipLaunchAttributeValue { priority: -1 };
    ok!(
        hipGraphKernelNodeSetAttribute(first, hipLaunchAttributePriority, &value),
        hipGraphKernelNodeCopyAttributes(first, second),
    );
    value.priority = 0;
    ok!(hipGraphKernelNodeGetAttribute(second, hipLaunchAttributePriority, &mut value));
    // SAFETY: the member that was asked for.
    assert_eq!(unsafe { value.priority }, -1);
    let mut address = memory.address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let params = hipKernelNodeParams {
        blockDim: line(BLOCK),
        extra: ptr::null_mut(),
        func: doubles().cast_mut(),
        gridDim: line(1),
        kernelParams: arguments.as_mut_ptr(),
        sharedMemBytes: 0,
    };
    value.priority = 0;
    ok!(
        hipGraphKernelNodeSetParams(second, &params),
        hipGraphKernelNodeGetAttribute(second, hipLaunchAttributePriority, &mut value),
    );
    // SAFETY: the member that was asked for.
    assert_eq!(unsafe { value.priority }, -1, "other parameters leave the attributes");
    fails!(
        hipErrorInvalidValue,
        hipGraphKernelNodeSetAttribute(first, hipLaunchAttributeID(u32::MAX), &value)
    );
    fails!(
        hipErrorInvalidValue,
        hipGraphKernelNodeSetAttribute(first, hipLaunchAttributePriority, ptr::null())
    );
    for cooperative in [1, 2, -5, 0] {
        value.cooperative = cooperative;
        let mut set = hipLaunchAttributeValue { pad: [0; 64] };
        ok!(
            hipGraphKernelNodeSetAttribute(first, hipLaunchAttributeCooperative, &value),
            hipGraphKernelNodeGetAttribute(first, hipLaunchAttributeCooperative, &mut set)
        );
        // SAFETY: the member that was asked for.
        assert_eq!(unsafe { set.cooperative }, cooperative, "it reads back as it was set");
    }
    fails!(hipErrorInvalidValue, hipGraphKernelNodeCopyAttributes(first, hipGraphNode_t::NULL));
}
