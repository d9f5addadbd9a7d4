//! Streams, captures, events, graphs and executables.

use super::*;

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
    hipEventCreateWithFlags(event: NewEvent, flags: EventFlags);
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
    aqlipseGraphExecGetDeviceGraph(graph: Room<*mut c_void>, exec: Exec);
    aqlipseGraphExecProfile(exec: Exec, launches: FewWords);
    aqlipseGraphExecReplan(exec: Exec);
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

    hipGraphNodeSetEnabled(exec: Exec, node: Node, enabled: Enabled);
    hipGraphNodeGetEnabled(exec: Exec, node: Node, enabled: Room<c_uint>);
    hipGraphInstantiateWithParams(exec: NewExec, graph: Graph, parameters: Instantiation);
    hipGraphDebugDotPrint(graph: Graph, path: Path, flags: Flags);
    hipGraphKernelNodeGetAttribute(node: Node, attribute: Attribute, value: Room<hipLaunchAttributeValue>);
    hipGraphKernelNodeSetAttribute(node: Node, attribute: Attribute, value: AttributeValue);
    hipUserObjectCreate(
        object: NewUserObject, resource: Counter, destroy: HostFunction, count: References, flags: ObjectFlags,
    );
    hipUserObjectRetain(object: UserObject, count: References);
    hipUserObjectRelease(object: UserObject, count: References);
    hipGraphRetainUserObject(graph: Graph, object: UserObject, count: References, flags: RetainFlags);
    hipGraphReleaseUserObject(graph: Graph, object: UserObject, count: References);

    hipDrvGraphAddMemcpyNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: DriverBox, context: DeviceContext,
    );
    hipDrvGraphMemcpyNodeGetParams(node: Node, parameters: Room<HIP_MEMCPY3D>);
    hipDrvGraphMemcpyNodeSetParams(node: Node, parameters: DriverBox);
    hipDrvGraphExecMemcpyNodeSetParams(exec: Exec, node: Node, parameters: DriverBox, context: DeviceContext);
    hipDrvGraphAddMemsetNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: MemsetParameters, context: DeviceContext,
    );
    hipDrvGraphExecMemsetNodeSetParams(
        exec: Exec, node: Node, parameters: MemsetParameters, context: DeviceContext,
    );
    hipDrvGraphAddMemFreeNode(node: NewNode, graph: Graph, after: Nodes, count: Few, memory: AsyncMemory);
    aqlipseGraphAddMemsetD64Node(
        node: NewNode, graph: Graph, after: Nodes, count: Few, to: Device, pitch: Pitch, value: Long,
        width: Width, height: Height,
    );
    aqlipseGraphExecMemsetD64NodeSetParams(
        exec: Exec, node: Node, to: Device, pitch: Pitch, value: Long, width: Width, height: Height,
    );

    hipGraphAddMemcpyNodeToSymbol(
        node: NewNode, graph: Graph, after: Nodes, count: Few, symbol: Symbol, from: Place, bytes: SymbolBytes,
        offset: SymbolOffset, kind: Direction,
    );
    hipGraphAddMemcpyNodeFromSymbol(
        node: NewNode, graph: Graph, after: Nodes, count: Few, to: Place, symbol: Symbol, bytes: SymbolBytes,
        offset: SymbolOffset, kind: Direction,
    );
    hipGraphMemcpyNodeSetParamsToSymbol(
        node: Node, symbol: Symbol, from: Place, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
    );
    hipGraphMemcpyNodeSetParamsFromSymbol(
        node: Node, to: Place, symbol: Symbol, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
    );
    hipGraphExecMemcpyNodeSetParamsToSymbol(
        exec: Exec, node: Node, symbol: Symbol, from: Place, bytes: SymbolBytes, offset: SymbolOffset,
        kind: Direction,
    );
    hipGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: Exec, node: Node, to: Place, symbol: Symbol, bytes: SymbolBytes, offset: SymbolOffset,
        kind: Direction,
    );

    hipGraphAddBatchMemOpNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: BatchOperations,
    );
    hipGraphBatchMemOpNodeGetParams(node: Node, parameters: Room<hipBatchMemOpNodeParams>);
    hipGraphBatchMemOpNodeSetParams(node: Node, parameters: BatchOperations);
    hipGraphExecBatchMemOpNodeSetParams(exec: Exec, node: Node, parameters: BatchOperations);
    hipGraphAddExtMemcpyBatchNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: BatchCopies,
    );
    hipGraphExtMemcpyBatchNodeGetParams(node: Node, parameters: Room<hipExtMemcpyBatchNodeParams>);
    hipGraphExtMemcpyBatchNodeSetParams(node: Node, parameters: BatchCopies);
    hipGraphExecExtMemcpyBatchNodeSetParams(exec: Exec, node: Node, parameters: BatchCopies);
    hipGraphAddExternalSemaphoresSignalNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: SignalParameters,
    );
    hipGraphExternalSemaphoresSignalNodeGetParams(
        node: Node, parameters: Room<hipExternalSemaphoreSignalNodeParams>,
    );
    hipGraphExternalSemaphoresSignalNodeSetParams(node: Node, parameters: SignalParameters);
    hipGraphExecExternalSemaphoresSignalNodeSetParams(exec: Exec, node: Node, parameters: SignalParameters);
    hipGraphAddExternalSemaphoresWaitNode(
        node: NewNode, graph: Graph, after: Nodes, count: Few, parameters: WaitParameters,
    );
    hipGraphExternalSemaphoresWaitNodeGetParams(
        node: Node, parameters: Room<hipExternalSemaphoreWaitNodeParams>,
    );
    hipGraphExternalSemaphoresWaitNodeSetParams(node: Node, parameters: WaitParameters);
    hipGraphExecExternalSemaphoresWaitNodeSetParams(exec: Exec, node: Node, parameters: WaitParameters);

    hipStreamQuery_spt(stream: Stream);
    hipStreamSynchronize_spt(stream: Stream);
    hipStreamGetPriority_spt(stream: Stream, priority: Room<c_int>);
    hipStreamGetFlags_spt(stream: Stream, flags: Room<c_uint>);
    hipStreamWaitEvent_spt(stream: Stream, event: Event, flags: Flags);
    hipStreamAddCallback_spt(stream: Stream, callback: Callback, data: Counter, flags: Flags);
    hipLaunchHostFunc_spt(stream: Stream, function: HostFunction, data: Counter);
    hipEventRecord_spt(event: Event, stream: Stream);
    hipStreamBeginCapture_spt(stream: Stream, mode: CaptureMode);
    hipStreamEndCapture_spt(stream: Stream, graph: NewGraph);
    hipStreamIsCapturing_spt(stream: Stream, status: Room<hipStreamCaptureStatus>);
    hipStreamGetCaptureInfo_spt(stream: Stream, status: Room<hipStreamCaptureStatus>, id: Room<u64>);
    hipStreamGetCaptureInfo_v2_spt(
        stream: Stream, status: Room<hipStreamCaptureStatus>, id: Room<u64>, graph: Room<hipGraph_t>,
        nodes: Room<*const hipGraphNode_t>, count: Room<usize>,
    );
    hipGraphLaunch_spt(exec: Exec, stream: Stream);
}
