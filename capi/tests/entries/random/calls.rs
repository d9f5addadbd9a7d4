//! The calls, each with how its arguments are made up.

use std::ffi::{c_int, c_uint, c_void};

use super::{arguments::*, world::Caller, *};

/// One exported function.
pub struct Call {
    pub name: &'static str,
    /// Calls it once; says whether it succeeded.
    pub run: fn(&mut Caller<'_>) -> bool,
}

impl Call {
    /// Whether little else would succeed if it were made as often as others: what it ends was to be used, or what it
    /// begins forbids the others.
    pub fn is_rare(&self) -> bool {
        ["Destroy", "BeginCapture", "ExchangeStreamCaptureMode", "ConditionalHandleCreate"]
            .iter()
            .any(|part| self.name.contains(part))
    }
}

macro_rules! calls {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {
        mod c {
            use super::*;

            unsafe extern "C" {
                $(pub fn $name($($argument: <$kind as Argument>::C),*) -> hipError_t;)*
            }
        }

        pub const CALLS: &[Call] = &[$(Call {
            name: stringify!($name),
            run: |_caller| {
                $(let mut $argument = <$kind as Argument>::make(_caller);)*
                // SAFETY: handles and numbers may be anything; addresses are what `arguments` says.
                let code = unsafe { c::$name($($argument.c()),*) };
                let succeeded = code == capi::error::hipSuccess;
                $($argument.done(_caller, succeeded);)*
                succeeded
            },
        }),*];
    };
}

calls! {
    hipStreamCreate(stream: NewStream);
    hipStreamCreateWithFlags(stream: NewStream, flags: Flags);
    hipStreamCreateWithPriority(stream: NewStream, flags: Flags, priority: Priority);
    hipStreamDestroy(stream: DoomedStream);
    hipStreamSynchronize(stream: Stream);
    hipStreamQuery(stream: Stream);
    hipStreamGetFlags(stream: Stream, flags: Room<c_uint>);
    hipStreamGetPriority(stream: Stream, priority: Room<c_int>);
    hipStreamWaitEvent(stream: Stream, event: Event, flags: Flags);
    hipStreamAddCallback(stream: Stream, callback: Callback, data: Counter, flags: Flags);
    hipLaunchHostFunc(stream: Stream, function: HostFunction, data: Counter);
    hipStreamBeginCapture(stream: Stream, mode: CaptureMode);
    hipStreamBeginCaptureToGraph(
        stream: Stream, graph: Graph, after: Nodes, data: Nothing, count: Few, mode: CaptureMode,
    );
    hipStreamEndCapture(stream: Stream, graph: NewGraph);
    hipStreamIsCapturing(stream: Stream, status: Room<hipStreamCaptureStatus>);
    hipStreamGetCaptureInfo(stream: Stream, status: Room<hipStreamCaptureStatus>, id: Room<u64>);
    hipStreamGetCaptureInfo_v2(
        stream: Stream, status: Room<hipStreamCaptureStatus>, id: Room<u64>, graph: Room<hipGraph_t>,
        nodes: Room<*const hipGraphNode_t>, count: Room<usize>,
    );
    hipStreamUpdateCaptureDependencies(stream: Stream, nodes: NodesMut, count: Few, flags: Flags);
    hipThreadExchangeStreamCaptureMode(mode: ModeInOut);
    hipDeviceSynchronize();
    hipGetLastError();

    hipEventCreate(event: NewEvent);
    hipEventCreateWithFlags(event: NewEvent, flags: Flags);
    hipEventDestroy(event: DoomedEvent);
    hipEventRecord(event: Event, stream: Stream);
    hipEventRecordWithFlags(event: Event, stream: Stream, flags: Flags);
    hipEventQuery(event: Event);
    hipEventSynchronize(event: Event);
    hipEventElapsedTime(time: Room<f32>, start: Event, stop: Event);

    hipMalloc(memory: NewMemory, bytes: Length);
    hipFree(memory: DoomedMemory);
    hipMallocAsync(memory: NewAsyncMemory, bytes: Length, stream: Stream);
    hipFreeAsync(memory: DoomedAsyncMemory, stream: Stream);
    hipMemset(memory: Device, value: Byte, bytes: Bytes);
    hipMemsetAsync(memory: Device, value: Byte, bytes: Bytes, stream: Stream);
    hipMemsetD32Async(memory: Device, value: Byte, count: Few, stream: Stream);
    hipMemcpy(to: Place, from: Place, bytes: Bytes, kind: Direction);
    hipMemcpyAsync(to: Place, from: Place, bytes: Bytes, kind: Direction, stream: Stream);
    hipMemcpy3DAsync(parameters: BoxParameters, stream: Stream);
    hipPointerGetAttributes(attributes: Room<hipPointerAttribute_t>, memory: AnyMemory);
    hipModuleLaunchKernel(
        kernel: Kernel, grid_x: Blocks, grid_y: One, grid_z: One, block_x: Threads, block_y: One, block_z: One,
        shared: SharedBytes, stream: Stream, parameters: KernelParameters, extra: NoExtra,
    );

    hipGraphCreate(graph: NewGraph, flags: Rarely);
    hipGraphDestroy(graph: DoomedGraph);
    hipGraphClone(clone: NewGraph, graph: Graph);
    hipGraphNodeFindInClone(node: NewNode, original: Node, clone: Graph);
    hipGraphAddDependencies(graph: Graph, from: Nodes, to: Nodes, count: Few);
    hipGraphRemoveDependencies(graph: Graph, from: Nodes, to: Nodes, count: Few);
    hipGraphDestroyNode(node: DoomedNode);
    hipGraphGetNodes(graph: Graph, nodes: RoomForNodes, count: NodeCount);
    hipGraphGetRootNodes(graph: Graph, nodes: RoomForNodes, count: NodeCount);
    hipGraphGetEdges(graph: Graph, from: RoomForNodes, to: RoomForNodes, count: NodeCount);
    hipGraphNodeGetDependencies(node: Node, nodes: RoomForNodes, count: NodeCount);
    hipGraphNodeGetDependentNodes(node: Node, nodes: RoomForNodes, count: NodeCount);
    hipGraphNodeGetType(node: Node, kind: Room<hipGraphNodeType>);
    hipGraphAddEmptyNode(node: NewNode, graph: Graph, after: Nodes, count: Few);
    hipGraphAddKernelNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: KernelNodeParameters,
    );
    hipGraphKernelNodeGetParams(node: Node, parameters: Room<hipKernelNodeParams>);
    hipGraphKernelNodeSetParams(node: Node, parameters: KernelNodeParameters);
    hipGraphKernelNodeCopyAttributes(from: Node, to: Node);
    hipGraphAddMemcpyNode(node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: BoxParameters);
    hipGraphAddMemcpyNode1D(
        node: NewNode, graph: Graph, after: Nodes, count: Few, to: Place, from: Place, bytes: Bytes,
        kind: Direction,
    );
    hipGraphMemcpyNodeGetParams(node: Node, parameters: Room<hipMemcpy3DParms>);
    hipGraphMemcpyNodeSetParams(node: Node, parameters: BoxParameters);
    hipGraphMemcpyNodeSetParams1D(node: Node, to: Place, from: Place, bytes: Bytes, kind: Direction);
    hipGraphAddMemsetNode(node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: MemsetParameters);
    hipGraphMemsetNodeGetParams(node: Node, parameters: Room<hipMemsetParams>);
    hipGraphMemsetNodeSetParams(node: Node, parameters: MemsetParameters);
    hipGraphAddHostNode(node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: HostParameters);
    hipGraphHostNodeGetParams(node: Node, parameters: Room<hipHostNodeParams>);
    hipGraphHostNodeSetParams(node: Node, parameters: HostParameters);
    hipGraphAddChildGraphNode(node: NewNode, graph: Graph, after: Nodes, count: Few, child: Graph);
    hipGraphChildGraphNodeGetGraph(node: Node, graph: Room<hipGraph_t>);
    hipGraphConditionalHandleCreate(handle: NewCondition, graph: Graph, default: Rarely, flags: Flags);
    hipGraphAddConditionalNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, condition: Condition, kind: Choice,
        bodies: One, body: Body,
    );
    hipGraphConditionalNodeGetBody(node: Node, number: Rarely, body: Room<hipGraph_t>);
    hipGraphAddEventRecordNode(node: NewNode, graph: Graph, after: Nodes, count: Few, event: Event);
    hipGraphEventRecordNodeGetEvent(node: Node, event: Room<hipEvent_t>);
    hipGraphEventRecordNodeSetEvent(node: Node, event: Event);
    hipGraphAddEventWaitNode(node: NewNode, graph: Graph, after: Nodes, count: Few, event: Event);
    hipGraphEventWaitNodeGetEvent(node: Node, event: Room<hipEvent_t>);
    hipGraphEventWaitNodeSetEvent(node: Node, event: Event);
    hipGraphAddMemAllocNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: AllocationParameters,
    );
    hipGraphMemAllocNodeGetParams(node: Node, parameters: Room<hipMemAllocNodeParams>);
    hipGraphAddMemFreeNode(node: NewNode, graph: Graph, after: Nodes, count: Few, memory: AsyncMemory);
    hipGraphMemFreeNodeGetParams(node: Node, memory: Room<*mut c_void>);
    hipGraphAddNode(node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: NodeParameters);
    hipGraphNodeSetParams(node: Node, parameters: NodeParameters);

    hipGraphInstantiate(
        exec: NewExec, graph: Graph, node: Room<hipGraphNode_t>, log: NoLog, bytes: Nil,
    );
    hipGraphInstantiateWithFlags(exec: NewExec, graph: Graph, flags: Flags64);
    hipGraphExecGetFlags(exec: Exec, flags: Room<u64>);
    hipGraphLaunch(exec: Exec, stream: Stream);
    hipGraphUpload(exec: Exec, stream: Stream);
    hipGraphExecDestroy(exec: DoomedExec);
    hipGraphExecUpdate(
        exec: Exec, graph: Graph, node: Room<hipGraphNode_t>, result: Room<hipGraphExecUpdateResult>,
    );
    hipGraphExecKernelNodeSetParams(exec: Exec, node: Node, parameters: KernelNodeParameters);
    hipGraphExecMemcpyNodeSetParams(exec: Exec, node: Node, parameters: BoxParameters);
    hipGraphExecMemcpyNodeSetParams1D(
        exec: Exec, node: Node, to: Place, from: Place, bytes: Bytes, kind: Direction,
    );
    hipGraphExecMemsetNodeSetParams(exec: Exec, node: Node, parameters: MemsetParameters);
    hipGraphExecHostNodeSetParams(exec: Exec, node: Node, parameters: HostParameters);
    hipGraphExecChildGraphNodeSetParams(exec: Exec, node: Node, child: Graph);
    hipGraphExecEventRecordNodeSetEvent(exec: Exec, node: Node, event: Event);
    hipGraphExecEventWaitNodeSetEvent(exec: Exec, node: Node, event: Event);
    hipGraphExecNodeSetParams(exec: Exec, node: Node, parameters: NodeParameters);
}
