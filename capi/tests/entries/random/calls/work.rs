//! What streams are told besides copies, launches, code, contexts, other processes, other devices.

use super::*;

calls! {
    hipStreamGetAttribute(stream: Stream, attribute: Attribute, value: Room<hipLaunchAttributeValue>);
    hipStreamSetAttribute(stream: Stream, attribute: Attribute, value: AttributeValue);
    hipStreamCopyAttributes(to: Stream, from: Stream);
    hipStreamGetDevice(stream: Stream, device: Room<hipDevice_t>);
    hipStreamGetId(stream: Stream, id: Room<u64>);
    hipExtStreamCreateWithCUMask(stream: NewStream, words: Masks, mask: UnitMask);
    hipExtStreamGetCUMask(stream: Stream, words: Masks, mask: Room<u32>);
    hipDeviceGetStreamPriorityRange(least: Room<c_int>, greatest: Room<c_int>);

    hipStreamWriteValue32(stream: Stream, memory: Device, value: Word, flags: Rarely);
    hipStreamWriteValue64(stream: Stream, memory: Device, value: Long, flags: Rarely);
    hipStreamWaitValue32(stream: Stream, memory: Zero, value: Reached, flags: WaitFlags, mask: Mask);
    hipStreamWaitValue64(stream: Stream, memory: Zero, value: ReachedLong, flags: WaitFlags, mask: MaskLong);
    hipStreamBatchMemOp(stream: Stream, count: FewWords, operations: First<MemoryOperations>, flags: Rarely);
    hipImportExternalSemaphore(
        semaphore: NewSemaphore, description: Imported<hipExternalSemaphoreHandleDesc>,
    );
    hipDestroyExternalSemaphore(semaphore: DoomedSemaphore);
    hipSignalExternalSemaphoresAsync(
        semaphores: First<Semaphores>, signals: First<Signals>, count: FewWords, stream: Stream,
    );
    hipWaitExternalSemaphoresAsync(
        semaphores: First<Semaphores>, waits: First<Waits>, count: FewWords, stream: Stream,
    );

    hipLaunchKernel(
        kernel: HostKernel, grid: Grid, block: Block, arguments: KernelParameters, shared: Shared,
        stream: Stream,
    );
    hipLaunchKernel_spt(
        kernel: HostKernel, grid: Grid, block: Block, arguments: KernelParameters, shared: Shared,
        stream: Stream,
    );
    hipExtLaunchKernel(
        kernel: HostKernel, grid: Grid, block: Block, arguments: KernelParameters, shared: Shared,
        stream: Stream, start: Event, stop: Event, flags: LaunchFlags,
    );
    hipLaunchKernelExC(configuration: Configuration, kernel: HostKernel, arguments: KernelParameters);
    hipDrvLaunchKernelEx(
        configuration: DriverConfiguration, kernel: Kernel, arguments: KernelParameters, extra: NoExtra,
    );
    hipLaunchCooperativeKernel(
        kernel: HostKernel, grid: Grid, block: Block, arguments: KernelParameters, shared: SharedBytes,
        stream: Stream,
    );
    hipLaunchCooperativeKernel_spt(
        kernel: HostKernel, grid: Grid, block: Block, arguments: KernelParameters, shared: SharedBytes,
        stream: Stream,
    );
    hipModuleLaunchCooperativeKernel(
        kernel: Kernel, grid_x: Blocks, grid_y: One, grid_z: One, block_x: Threads, block_y: One, block_z: One,
        shared: SharedBytes, stream: Stream, parameters: KernelParameters,
    );
    hipGetFuncBySymbol(function: Room<hipFunction_t>, kernel: HostKernel);

    hipModuleLoadData(module: NewModule, image: Image);
    hipModuleUnload(module: DoomedModule);
    hipModuleGetFunction(function: NewFunction, module: Module, name: KernelName);
    hipModuleGetFunctionCount(count: Room<c_uint>, module: Module);
    hipLibraryLoadData(
        library: NewLibrary, image: Image, options: NoOptions, values: NoText, count: NoneOfThem,
        library_options: NoLibraryOptions, library_values: NoText, library_count: NoneOfThem,
    );
    hipLibraryUnload(library: DoomedLibrary);
    hipLibraryGetKernel(kernel: NewLibraryKernel, library: Library, name: KernelName);
    hipLibraryGetKernelCount(count: Room<c_uint>, library: Library);
    hipKernelGetFunction(function: NewFunction, kernel: LibraryKernel);
    hipKernelGetLibrary(library: Room<hipLibrary_t>, kernel: LibraryKernel);
    hipKernelGetName(name: Room<*const std::ffi::c_char>, kernel: LibraryKernel);
    hipKernelGetParamInfo(
        kernel: LibraryKernel, index: Few, offset: Room<usize>, bytes: Room<usize>,
    );

    hipDevResourceGenerateDesc(descriptor: NewDescriptor, units: Units, count: One);
    hipGreenCtxCreate(context: NewContext, descriptor: Descriptor, device: Ordinal, flags: Rarely);
    hipExecutionCtxDestroy(context: DoomedContext);
    hipExecutionCtxStreamCreate(stream: NewStream, context: Context, flags: Flags, priority: Priority);
    hipExecutionCtxGetDevResource(context: Context, units: Room<hipDevResource>, kind: ResourceType);
    hipExecutionCtxGetDevice(device: Room<hipDevice_t>, context: Context);
    hipExecutionCtxGetId(context: Context, id: Room<u64>);
    hipExecutionCtxRecordEvent(context: Context, event: Event);
    hipExecutionCtxWaitEvent(context: Context, event: Event);
    hipExecutionCtxSynchronize(context: Context);
    hipStreamGetDevResource(stream: Stream, units: Room<hipDevResource>, kind: ResourceType);
    hipDeviceGetDevResource(device: Ordinal, units: Room<hipDevResource>, kind: ResourceType);
    hipDevSmResourceSplitByCount(
        parts: Room<hipDevResource>, count: Groups, units: Units, rest: Room<hipDevResource>, flags: Rarely,
        least: Least,
    );

    hipIpcGetEventHandle(handle: NewEventHandle, event: Event);
    hipIpcOpenEventHandle(event: NewEvent, handle: EventHandle);
    hipIpcGetMemHandle(handle: Room<hipIpcMemHandle_t>, memory: AnyMemory);

    hipDeviceCanAccessPeer(can: Room<c_int>, device: Ordinal, peer: Ordinal);
    hipDeviceEnablePeerAccess(peer: Ordinal, flags: Rarely);
    hipDeviceDisablePeerAccess(peer: Ordinal);
    hipGetDevice(device: Room<c_int>);
    hipSetDevice(device: Ordinal);
    hipPeekAtLastError();
    hipExtGetLastError();
}
