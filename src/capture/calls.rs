//! What a capture does to each call of HIP, as one table: what the call is to a capture, and what to call instead.
//!
//! Whoever breaks a capture is looked up here for the sentence that says so, and whether a call may be made at all
//! while a capture is open is asked here before it begins. The rules are those of CUDA's
//! `cudaThreadExchangeStreamCaptureMode` and Programming Guide ("Prohibited and Unhandled Operations"), which HIP 7
//! follows ("HIP 7.0 changes", stream capture).

use std::{cell::Cell, collections::HashMap, sync::LazyLock};

/// What a call is to captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Becomes a node where its stream captures.
    Captured,
    /// Moves what later nodes depend on, where its stream captures.
    Mark,
    /// Concerns no capture.
    Allowed,
    /// Asks for a stream's capture; the default stream has none that could be asked for while a blocking one captures.
    Asks,
    /// Begins, ends or steers a capture.
    Session,
    /// Waits for a stream, or asks how far it is.
    Waits,
    /// Waits for an event, or asks whether it has been reached.
    WaitsEvent,
    /// Waits for everything on a device.
    WaitsDevice,
    /// Acts at once, next to any stream's order.
    Unsafe,
    /// Acts at once, and is refused by name since HIP 7.
    Restricted,
    /// Works on the default stream and waits for it.
    DefaultStream,
    /// Works on the thread's own stream and waits for it.
    ThreadStream,
    /// Calls back when a stream gets there, with an argument that no graph can hold.
    Callback,
    /// Is ordered by a stream, but there is no node for it.
    Uncapturable,
}

impl Class {
    /// Whether a thread that a capture restrains may not make such a call.
    pub fn is_unsafe(self) -> bool {
        matches!(self, Self::Unsafe | Self::Restricted)
    }

    /// The rule that such a call breaks, as the end of a sentence about it.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::Captured | Self::Mark | Self::Callback => {
                "the default stream would wait for a blocking stream that captures and has nothing to wait for"
            }
            Self::DefaultStream => {
                "it waits for the default stream, which no call may while a stream captures"
            }
            Self::Waits | Self::WaitsDevice | Self::ThreadStream => {
                "what is captured has not been submitted, so nobody can wait for it or ask how far it is"
            }
            Self::WaitsEvent => {
                "the event marks a place in a graph, which is reached only when that is launched"
            }
            Self::Unsafe => "it acts at once, and a graph that relies on it would be launched without it",
            Self::Restricted => {
                "it changes what later work relies on, and a graph would be launched without it"
            }
            Self::Uncapturable => "there is no node that could hold it",
            Self::Allowed | Self::Asks | Self::Session => "the capture is not in a state that allows it",
        }
    }
}

/// A call of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What the call is to captures.
    pub class: Class,
    /// What to do instead.
    pub instead: &'static str,
}

/// The row of a call, if it has to do with streams, memory or graphs.
pub fn row(call: &str) -> Option<Row> {
    static ROWS: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
        let rows = TABLE.iter().flat_map(|group| {
            let row = Row { class: group.class, instead: group.instead };
            group.calls.split_ascii_whitespace().map(move |call| (call, row))
        });
        rows.collect()
    });
    ROWS.get(call).copied()
}

/// Every call of the table with its row; one that the table has twice comes twice.
pub fn all() -> impl Iterator<Item = (&'static str, Row)> {
    TABLE.iter().flat_map(|group| {
        let row = Row { class: group.class, instead: group.instead };
        group.calls.split_ascii_whitespace().map(move |call| (call, row))
    })
}

thread_local! {
    static MAKING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Runs the body of an exported call: until it returns, errors name it. A call inside another goes by the outer name.
pub fn making<T>(call: &'static str, body: impl FnOnce() -> T) -> T {
    struct Leave<'a>(&'a Cell<Option<&'static str>>, Option<&'static str>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    // There as long as the thread: nothing has to be dropped.
    MAKING.with(|making| {
        let outer = making.get();
        making.set(outer.or(Some(call)));
        let _leave = Leave(making, outer);
        body()
    })
}

/// The exported call that the thread is in.
pub(super) fn current() -> Option<&'static str> {
    MAKING.try_with(Cell::get).ok().flatten()
}

/// Calls that captures treat alike.
struct Group {
    class: Class,
    instead: &'static str,
    calls: &'static str,
}

const fn group(class: Class, instead: &'static str, calls: &'static str) -> Group {
    Group { class, instead, calls }
}

const ON_A_STREAM: &str = "make the call on the stream that captures";
const BEFORE: &str = "call it before the capture or behind it, or capture in relaxed mode";
const ASYNC: &str = "use the call's asynchronous form on the stream that captures";
const LAUNCHED: &str = "end the capture, launch its graph, and wait for the stream that it was launched on";

const TABLE: &[Group] = &[
    group(
        Class::Captured,
        ON_A_STREAM,
        "hipLaunchKernel hipLaunchKernel_spt hipLaunchKernelExC hipDrvLaunchKernelEx hipLaunchByPtr \
         hipModuleLaunchKernel hipExtLaunchKernel hipExtModuleLaunchKernel hipHccModuleLaunchKernel \
         _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j \
         _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_ \
         _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv \
         hipLaunchCooperativeKernel hipLaunchCooperativeKernel_spt hipModuleLaunchCooperativeKernel \
         hipGraphLaunch hipGraphLaunch_spt hipLaunchHostFunc hipLaunchHostFunc_spt",
    ),
    group(
        Class::Captured,
        ON_A_STREAM,
        "hipMemcpyAsync hipMemcpyAsync_spt hipMemcpyHtoDAsync hipMemcpyDtoHAsync hipMemcpyDtoDAsync \
         hipMemcpyPeerAsync hipMemcpy3DPeerAsync hipMemcpyBatchAsync hipMemcpy3DBatchAsync \
         hipMemcpy2DAsync hipMemcpy2DAsync_spt hipMemcpyParam2DAsync hipMemcpy3DAsync hipMemcpy3DAsync_spt \
         hipDrvMemcpy3DAsync hipMemcpy2DFromArrayAsync hipMemcpy2DFromArrayAsync_spt hipMemcpy2DToArrayAsync \
         hipMemcpy2DToArrayAsync_spt hipMemcpyAtoHAsync hipMemcpyHtoAAsync \
         hipMemcpyFromSymbolAsync hipMemcpyFromSymbolAsync_spt hipMemcpyToSymbolAsync hipMemcpyToSymbolAsync_spt \
         hipMemsetAsync hipMemsetAsync_spt hipMemsetD8Async hipMemsetD16Async hipMemsetD32Async hipMemset2DAsync \
         hipMemset2DAsync_spt hipMemset3DAsync hipMemset3DAsync_spt hipMemsetD2D8Async hipMemsetD2D16Async \
         hipMemsetD2D32Async aqlipseMemsetD2D64Async",
    ),
    group(
        Class::Captured,
        ON_A_STREAM,
        "hipMallocAsync hipMallocFromPoolAsync hipFreeAsync hipSignalExternalSemaphoresAsync \
         hipWaitExternalSemaphoresAsync hipStreamWaitValue32 hipStreamWaitValue64 hipStreamWriteValue32 \
         hipStreamWriteValue64 hipStreamBatchMemOp",
    ),
    group(
        Class::Mark,
        "record and wait on streams of the capture; an event from outside goes in with hipEventRecordExternal and \
         hipEventWaitExternal",
        "hipEventRecord hipEventRecord_spt hipEventRecordWithFlags hipStreamWaitEvent hipStreamWaitEvent_spt \
         hipExecutionCtxRecordEvent hipExecutionCtxWaitEvent",
    ),
    group(
        Class::Asks,
        "ask for the stream that captures",
        "hipStreamIsCapturing hipStreamIsCapturing_spt hipStreamGetCaptureInfo hipStreamGetCaptureInfo_spt \
         hipStreamGetCaptureInfo_v2 hipStreamGetCaptureInfo_v2_spt",
    ),
    group(
        Class::Session,
        "end the capture on the stream, and in the thread, that it was begun on",
        "hipStreamBeginCapture hipStreamBeginCapture_spt hipStreamBeginCaptureToGraph hipStreamEndCapture \
         hipStreamEndCapture_spt hipStreamUpdateCaptureDependencies hipThreadExchangeStreamCaptureMode",
    ),
    group(
        Class::Waits,
        LAUNCHED,
        "hipStreamSynchronize hipStreamSynchronize_spt hipStreamQuery hipStreamQuery_spt",
    ),
    group(
        Class::WaitsEvent,
        "record an event behind the launch of the captured graph; a thread that only watches other work takes relaxed \
         mode with hipThreadExchangeStreamCaptureMode",
        "hipEventSynchronize hipEventQuery",
    ),
    group(
        Class::WaitsDevice,
        LAUNCHED,
        "hipDeviceSynchronize hipCtxSynchronize hipExecutionCtxSynchronize hipDeviceReset hipDevicePrimaryCtxReset",
    ),
    group(Class::WaitsDevice, "use hipMemcpyPeerAsync on the stream that captures", "hipMemcpyPeer"),
    group(
        Class::Unsafe,
        "allocate with hipMallocAsync on the stream that captures, or before the capture, or capture in relaxed mode",
        "hipMalloc hipExtMallocWithFlags hipMallocPitch hipMalloc3D hipMemAllocPitch hipMallocManaged",
    ),
    group(
        Class::Unsafe,
        "free with hipFreeAsync on the stream that captures, or behind the capture, or capture in relaxed mode",
        "hipFree",
    ),
    group(
        Class::Unsafe,
        BEFORE,
        "hipHostMalloc hipHostAlloc hipMallocHost hipMemAllocHost hipExtHostAlloc hipHostFree hipFreeHost \
         hipHostRegister hipHostUnregister hipMemAdvise hipMemAdvise_v2 hipModuleUnload hipLibraryUnload \
         hipMemPoolExportPointer hipMemPoolExportToShareableHandle hipMemPoolImportFromShareableHandle \
         hipMemPoolImportPointer hipMallocArray hipMalloc3DArray hipMallocMipmappedArray hipArrayCreate \
         hipArray3DCreate hipMipmappedArrayCreate hipFreeArray hipFreeMipmappedArray hipArrayDestroy \
         hipMipmappedArrayDestroy hipIpcOpenMemHandle hipIpcCloseMemHandle hipMemUnmap",
    ),
    group(
        Class::Restricted,
        BEFORE,
        "hipDeviceSetMemPool hipMemSetMemPool hipMemPoolCreate hipMemPoolDestroy hipDeviceSetSharedMemConfig \
         hipDeviceSetCacheConfig",
    ),
    group(Class::Restricted, ASYNC, "hipMemcpyWithStream"),
    group(
        Class::DefaultStream,
        ASYNC,
        "hipMemcpy hipMemcpyHtoD hipMemcpyDtoH hipMemcpyDtoD hipMemcpy3DPeer hipMemcpy2D hipMemcpy3D \
         hipMemcpyParam2D hipDrvMemcpy2DUnaligned hipDrvMemcpy3D hipMemcpy2DFromArray hipMemcpy2DToArray \
         hipMemcpy2DArrayToArray hipMemcpyFromArray hipMemcpyToArray hipMemcpyAtoA hipMemcpyAtoD hipMemcpyAtoH \
         hipMemcpyDtoA hipMemcpyHtoA hipMemcpyFromSymbol hipMemcpyToSymbol hipMemset hipMemsetD8 hipMemsetD16 \
         hipMemsetD32 hipMemset2D hipMemset3D hipMemsetD2D8 hipMemsetD2D16 hipMemsetD2D32",
    ),
    group(
        Class::ThreadStream,
        ASYNC,
        "hipMemcpy_spt hipMemcpy2D_spt hipMemcpy3D_spt hipMemcpy2DFromArray_spt hipMemcpy2DToArray_spt \
         hipMemcpyFromArray_spt hipMemcpyFromSymbol_spt hipMemcpyToSymbol_spt hipMemset_spt hipMemset2D_spt \
         hipMemset3D_spt",
    ),
    group(
        Class::Callback,
        "use hipLaunchHostFunc, which becomes a node",
        "hipStreamAddCallback hipStreamAddCallback_spt",
    ),
    group(
        Class::Uncapturable,
        "make the call on a stream that does not capture",
        "hipLaunchCooperativeKernelMultiDevice hipModuleLaunchCooperativeKernelMultiDevice \
         hipExtLaunchMultiKernelMultiDevice hipStreamAttachMemAsync hipMemPrefetchAsync hipMemPrefetchAsync_v2 \
         hipMemPrefetchBatchAsync hipMemDiscardBatchAsync hipMemDiscardAndPrefetchBatchAsync \
         hipDrvMemDiscardBatchAsync hipDrvMemDiscardAndPrefetchBatchAsync hipMemMapArrayAsync",
    ),
    group(
        Class::Allowed,
        "",
        "hipStreamCreate hipStreamCreateWithFlags hipStreamCreateWithPriority hipExtStreamCreateWithCUMask \
         hipExtStreamGetCUMask hipStreamDestroy hipStreamGetDevice hipStreamGetFlags hipStreamGetFlags_spt \
         hipStreamGetPriority hipStreamGetPriority_spt hipStreamGetId hipStreamGetAttribute hipStreamSetAttribute \
         hipStreamCopyAttributes hipStreamGetDevResource hipGetStreamDeviceId \
         hipEventCreate hipEventCreateWithFlags hipEventDestroy hipEventElapsedTime \
         hipGetSymbolAddress hipGetSymbolSize hipHostGetDevicePointer hipHostGetFlags hipMemGetAddressRange \
         hipMemGetInfo hipMemPtrGetInfo hipMemRangeGetAttribute hipMemRangeGetAttributes hipPointerGetAttributes \
         hipPointerGetAttribute hipDrvPointerGetAttributes hipPointerSetAttribute \
         hipDeviceGetDefaultMemPool hipDeviceGetMemPool hipMemGetDefaultMemPool hipMemGetMemPool \
         hipMemPoolGetAccess hipMemPoolGetAttribute hipMemPoolSetAccess hipMemPoolSetAttribute hipMemPoolTrimTo",
    ),
    group(
        Class::Allowed,
        "",
        "hipConfigureCall hipSetupArgument hipFuncGetAttribute hipFuncGetAttributes hipFuncSetAttribute \
         hipFuncSetCacheConfig hipFuncSetSharedMemConfig hipGetFuncBySymbol hipGetProcAddress hipGetProcAddress_spt \
         hipGetDriverEntryPoint hipGetDriverEntryPoint_spt \
         hipModuleGetFunction hipModuleGetFunctionCount hipModuleGetGlobal hipModuleGetTexRef hipModuleLoad \
         hipModuleLoadData hipModuleLoadDataEx hipModuleLoadFatBinary \
         hipModuleOccupancyMaxActiveBlocksPerMultiprocessor \
         hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags hipModuleOccupancyMaxPotentialBlockSize \
         hipModuleOccupancyMaxPotentialBlockSizeWithFlags hipOccupancyAvailableDynamicSMemPerBlock \
         hipOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags \
         hipOccupancyMaxPotentialBlockSize \
         hipKernelGetAttribute hipKernelGetFunction hipKernelGetLibrary hipKernelGetName hipKernelGetParamInfo \
         hipKernelSetAttribute hipLibraryEnumerateKernels hipLibraryGetGlobal hipLibraryGetKernel \
         hipLibraryGetKernelCount hipLibraryGetManaged hipLibraryLoadData hipLibraryLoadFromFile",
    ),
    group(
        Class::Allowed,
        "",
        "hipChooseDevice hipChooseDeviceR0000 hipChooseDeviceR0600 hipCtxCreate hipCtxDestroy hipCtxGetApiVersion \
         hipCtxGetCacheConfig hipCtxSetCacheConfig hipCtxSetSharedMemConfig hipCtxGetCurrent hipCtxGetDevice hipCtxGetFlags hipCtxGetSharedMemConfig \
         hipCtxPopCurrent hipCtxPushCurrent hipCtxSetCurrent hipDeviceComputeCapability hipDeviceGet \
         hipDeviceGetAttribute hipDeviceGetByPCIBusId hipDeviceGetCacheConfig hipDeviceGetLimit hipDeviceGetLuid \
         hipDeviceGetName hipDeviceGetPCIBusId hipDeviceGetSharedMemConfig hipDeviceGetStreamPriorityRange \
         hipDeviceGetTexture1DLinearMaxWidth hipDeviceGetUuid hipDevicePrimaryCtxGetState \
         hipDevicePrimaryCtxRelease hipDevicePrimaryCtxRetain hipDevicePrimaryCtxSetFlags hipDeviceSetLimit \
         hipDeviceTotalMem hipDriverGetVersion hipGetDevice hipGetDeviceCount hipGetDeviceFlags \
         hipGetDeviceProperties hipGetDevicePropertiesR0000 hipGetDevicePropertiesR0600 hipInit hipInitDevice \
         hipRuntimeGetVersion hipSetDevice hipSetDeviceFlags hipSetValidDevices \
         hipCtxDisablePeerAccess hipCtxEnablePeerAccess hipDeviceCanAccessPeer hipDeviceDisablePeerAccess \
         hipDeviceEnablePeerAccess hipDeviceGetP2PAttribute hipExtGetLinkTypeAndHopCount \
         hipIpcGetEventHandle hipIpcGetMemHandle hipIpcOpenEventHandle \
         hipDevResourceGenerateDesc hipDevSmResourceSplit hipDevSmResourceSplitByCount hipDeviceGetDevResource \
         hipDeviceGetExecutionCtx hipExecutionCtxDestroy hipExecutionCtxGetDevResource hipExecutionCtxGetDevice \
         hipExecutionCtxGetId hipExecutionCtxStreamCreate hipGreenCtxCreate",
    ),
    group(
        Class::Allowed,
        "",
        "hipMemAddressFree hipMemAddressReserve hipMemCreate hipMemExportToShareableHandle hipMemGetAccess \
         hipMemGetAllocationGranularity hipMemGetAllocationPropertiesFromHandle hipMemGetHandleForAddressRange \
         hipMemImportFromShareableHandle hipMemMap hipMemRelease hipMemRetainAllocationHandle hipMemSetAccess \
         hipDestroyExternalMemory hipDestroyExternalSemaphore hipExternalMemoryGetMappedBuffer \
         hipImportExternalMemory hipImportExternalSemaphore",
    ),
    group(
        Class::Allowed,
        "",
        "hipGraphCreate hipGraphDestroy hipGraphClone hipGraphDestroyNode hipGraphAddDependencies \
         hipGraphRemoveDependencies hipGraphGetEdges hipGraphGetNodes hipGraphGetRootNodes hipGraphNodeFindInClone \
         hipGraphNodeGetDependencies hipGraphNodeGetDependentNodes hipGraphNodeGetType hipGraphNodeGetEnabled \
         hipGraphNodeSetEnabled hipGraphNodeSetParams hipGraphDebugDotPrint hipGraphReleaseUserObject \
         hipGraphRetainUserObject hipUserObjectCreate hipUserObjectRelease hipUserObjectRetain \
         hipGraphAddNode hipGraphAddKernelNode hipGraphAddMemcpyNode hipGraphAddMemcpyNode1D \
         hipGraphAddMemcpyNodeFromSymbol hipGraphAddMemcpyNodeToSymbol hipGraphAddMemsetNode hipGraphAddEmptyNode \
         hipGraphAddChildGraphNode hipGraphAddEventRecordNode hipGraphAddEventWaitNode hipGraphAddHostNode \
         hipGraphAddMemAllocNode hipGraphAddMemFreeNode hipGraphAddBatchMemOpNode \
         hipGraphAddExternalSemaphoresSignalNode hipGraphAddExternalSemaphoresWaitNode hipGraphAddExtMemcpyBatchNode \
         aqlipseGraphAddMemsetD64Node hipDrvGraphAddMemFreeNode \
         hipDrvGraphAddMemcpyNode hipDrvGraphAddMemsetNode",
    ),
    group(
        Class::Allowed,
        "",
        "hipGraphKernelNodeGetParams hipGraphKernelNodeSetParams hipGraphKernelNodeGetAttribute \
         hipGraphKernelNodeSetAttribute hipGraphKernelNodeCopyAttributes hipGraphMemcpyNodeGetParams \
         hipGraphMemcpyNodeSetParams hipGraphMemcpyNodeSetParams1D hipGraphMemcpyNodeSetParamsFromSymbol \
         hipGraphMemcpyNodeSetParamsToSymbol hipGraphMemsetNodeGetParams hipGraphMemsetNodeSetParams \
         hipGraphHostNodeGetParams hipGraphHostNodeSetParams hipGraphChildGraphNodeGetGraph \
         hipGraphEventRecordNodeGetEvent hipGraphEventRecordNodeSetEvent hipGraphEventWaitNodeGetEvent \
         hipGraphEventWaitNodeSetEvent hipGraphMemAllocNodeGetParams hipGraphMemFreeNodeGetParams \
         hipGraphBatchMemOpNodeGetParams hipGraphBatchMemOpNodeSetParams hipGraphExtMemcpyBatchNodeGetParams \
         hipGraphExtMemcpyBatchNodeSetParams \
         hipGraphExternalSemaphoresSignalNodeGetParams hipGraphExternalSemaphoresSignalNodeSetParams \
         hipGraphExternalSemaphoresWaitNodeGetParams hipGraphExternalSemaphoresWaitNodeSetParams \
         hipDrvGraphMemcpyNodeGetParams hipDrvGraphMemcpyNodeSetParams",
    ),
    group(
        Class::Allowed,
        "",
        "hipGraphInstantiate hipGraphInstantiateWithFlags hipGraphInstantiateWithParams hipGraphUpload \
         hipGraphExecDestroy hipGraphExecGetFlags hipGraphExecUpdate hipGraphExecNodeSetParams \
         hipGraphExecKernelNodeSetParams hipGraphExecMemcpyNodeSetParams hipGraphExecMemcpyNodeSetParams1D \
         hipGraphExecMemcpyNodeSetParamsFromSymbol hipGraphExecMemcpyNodeSetParamsToSymbol \
         hipGraphExecMemsetNodeSetParams hipGraphExecHostNodeSetParams hipGraphExecChildGraphNodeSetParams \
         hipGraphExecEventRecordNodeSetEvent hipGraphExecEventWaitNodeSetEvent hipGraphExecBatchMemOpNodeSetParams \
         hipGraphExecExternalSemaphoresSignalNodeSetParams hipGraphExecExternalSemaphoresWaitNodeSetParams \
         hipGraphExecExtMemcpyBatchNodeSetParams aqlipseGraphExecMemsetD64NodeSetParams \
         aqlipseGraphExecGetDeviceGraph aqlipseGraphExecProfile aqlipseGraphExecReplan \
         hipDrvGraphExecMemcpyNodeSetParams hipDrvGraphExecMemsetNodeSetParams hipDeviceGetGraphMemAttribute \
         hipDeviceSetGraphMemAttribute hipDeviceGraphMemTrim",
    ),
    group(
        Class::Allowed,
        "",
        "hipGraphConditionalHandleCreate hipGraphAddConditionalNode hipGraphConditionalNodeGetBody",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_call_has_one_row_and_what_can_be_refused_has_advice() {
        let mut seen = HashSet::new();
        for (call, row) in all() {
            assert!(seen.insert(call), "{call} has two rows");
            assert_eq!(row.instead.is_empty(), row.class == Class::Allowed, "{call}");
        }
    }

    #[test]
    fn a_call_inside_another_goes_by_the_outer_name() {
        assert_eq!(current(), None);
        making("hipMemcpy_spt", || {
            making("hipMemcpyAsync", || assert_eq!(current(), Some("hipMemcpy_spt")));
            assert_eq!(current(), Some("hipMemcpy_spt"));
        });
        assert_eq!(current(), None);
    }
}
