//! Memory of every kind, copies and fills.

use super::*;

calls! {
    hipMemGetInfo(free: Room<usize>, total: Room<usize>);
    hipExtMallocWithFlags(memory: NewMemory, bytes: Length, flags: Flags);
    hipMallocManaged(memory: NewMemory, bytes: Length, flags: One);
    hipMallocPitch(memory: NewMemory, pitch: Room<usize>, width: Width, height: Height);
    hipMemAllocPitch(
        memory: NewMemory, pitch: Room<usize>, width: Width, height: Height, element: ElementBytes,
    );
    hipMemAdvise(memory: AnyMemory, bytes: Bytes, advice: Advice, device: Ordinal);
    hipMemAdvise_v2(memory: AnyMemory, bytes: Bytes, advice: Advice, location: Location);
    hipMemPrefetchAsync(memory: AnyMemory, bytes: Bytes, device: Ordinal, stream: Stream);
    hipMemPrefetchAsync_v2(
        memory: AnyMemory, bytes: Bytes, location: Location, flags: Rarely, stream: Stream,
    );
    hipMemPrefetchBatchAsync(
        starts: First<Ranges>, bytes: First<Sizes>, count: Few, locations: First<Locations>,
        firsts: First<FirstCopies>, location_count: One64, flags: NoFlags64, stream: Stream,
    );
    hipMemDiscardBatchAsync(
        starts: First<Ranges>, bytes: First<Sizes>, count: Few, flags: NoFlags64, stream: Stream,
    );
    hipMemDiscardAndPrefetchBatchAsync(
        starts: First<Ranges>, bytes: First<Sizes>, count: Few, locations: First<Locations>,
        firsts: First<FirstCopies>, location_count: One64, flags: NoFlags64, stream: Stream,
    );
    hipDrvMemDiscardBatchAsync(
        starts: First<Ranges>, bytes: First<Sizes>, count: Few, flags: NoFlags64, stream: Stream,
    );
    hipDrvMemDiscardAndPrefetchBatchAsync(
        starts: First<Ranges>, bytes: First<Sizes>, count: Few, locations: First<Locations>,
        firsts: First<FirstCopies>, location_count: One64, flags: NoFlags64, stream: Stream,
    );
    hipMemRangeGetAttribute(
        value: AnyRoom, room: Four, attribute: RangeAttribute, memory: AnyMemory, bytes: Bytes,
    );
    hipStreamAttachMemAsync(stream: Stream, memory: AnyMemory, bytes: Bytes, flags: Flags);

    hipHostMalloc(memory: NewHostMemory, bytes: Length, flags: Flags);
    hipHostAlloc(memory: NewHostMemory, bytes: Length, flags: Flags);
    hipExtHostAlloc(memory: NewHostMemory, bytes: Length, flags: Flags);
    hipMallocHost(memory: NewHostMemory, bytes: Length);
    hipMemAllocHost(memory: NewHostMemory, bytes: Length);
    hipHostFree(memory: DoomedHostMemory);
    hipFreeHost(memory: DoomedHostMemory);
    hipHostGetDevicePointer(address: Room<*mut c_void>, memory: HostMemory, flags: Rarely);
    hipHostGetFlags(flags: Room<c_uint>, memory: HostMemory);
    hipHostRegister(memory: Pages, bytes: PagesBytes, flags: Flags);
    hipHostUnregister(memory: Pages);

    hipMemGetAddressRange(base: Room<*mut c_void>, bytes: Room<usize>, memory: AnyMemory);
    hipMemPtrGetInfo(memory: AnyMemory, bytes: Room<usize>);
    hipPointerGetAttribute(value: AnyRoom, attribute: PointerAttribute, memory: AnyMemory);
    hipPointerSetAttribute(value: AnyValue, attribute: PointerAttribute, memory: AnyMemory);

    hipMemPoolCreate(pool: NewPool, properties: PoolProperties);
    hipMemPoolDestroy(pool: DoomedPool);
    hipMallocFromPoolAsync(memory: NewAsyncMemory, bytes: Length, pool: Pool, stream: Stream);
    hipMemPoolTrimTo(pool: Pool, keep: Bytes);
    hipMemPoolGetAttribute(pool: Pool, attribute: PoolAttribute, value: AnyRoom);
    hipMemPoolSetAttribute(pool: Pool, attribute: PoolAttribute, value: AnyValue);
    hipMemPoolGetAccess(flags: Room<hipMemAccessFlags>, pool: Pool, location: LocationIn);
    hipMemPoolSetAccess(pool: Pool, rights: Rights, count: One);
    hipDeviceGetDefaultMemPool(pool: FoundPool, device: Ordinal);
    hipDeviceGetMemPool(pool: FoundPool, device: Ordinal);
    hipDeviceSetMemPool(device: Ordinal, pool: Pool);
    hipMemGetDefaultMemPool(pool: FoundPool, location: LocationIn, kind: PinnedType);
    hipMemGetMemPool(pool: FoundPool, location: LocationIn, kind: PinnedType);
    hipMemSetMemPool(location: LocationIn, kind: PinnedType, pool: Pool);
    hipDeviceGetGraphMemAttribute(device: Ordinal, attribute: GraphMemoryAttribute, value: AnyRoom);
    hipDeviceSetGraphMemAttribute(device: Ordinal, attribute: GraphMemoryAttribute, value: AnyValue);
    hipDeviceGraphMemTrim(device: Ordinal);

    hipMemAddressReserve(
        range: NewRange, bytes: GranuleBytesOnly, alignment: Nil, wish: NoAddress, flags: NoFlags64,
    );
    hipMemAddressFree(range: DoomedRange, bytes: GranuleBytes);
    hipMemCreate(memory: NewPhysical, bytes: GranuleBytes, properties: PhysicalProperties, flags: NoFlags64);
    hipMemRelease(memory: DoomedPhysical);
    hipMemMap(range: Range, bytes: GranuleBytes, offset: Rest, memory: Physical, flags: NoFlags64);
    hipMemUnmap(range: Range, bytes: GranuleBytes);
    hipMemSetAccess(range: Range, bytes: GranuleBytes, rights: Rights, count: One);
    hipMemGetAccess(flags: Room<u64>, location: LocationIn, range: Range);
    hipMemGetAllocationGranularity(
        granule: Room<usize>, properties: PhysicalProperties, option: GranularityOption,
    );
    hipMemGetAllocationPropertiesFromHandle(properties: Room<hipMemAllocationProp>, memory: Physical);
    hipMemRetainAllocationHandle(memory: NewPhysical, range: Range);
    hipMemExportToShareableHandle(
        descriptor: NewExported, memory: Physical, kind: DescriptorKind, flags: NoFlags64,
    );
    hipMemImportFromShareableHandle(memory: NewPhysical, descriptor: Exported, kind: DescriptorKind);
    hipImportExternalMemory(
        memory: NewExternalMemory, description: Imported<hipExternalMemoryHandleDesc>,
    );
    hipDestroyExternalMemory(memory: DoomedExternalMemory);
    hipExternalMemoryGetMappedBuffer(
        memory: NewMemory, from: ExternalMemory, description: BufferDescription,
    );
    hipExternalMemoryGetMappedMipmappedArray(
        array: NewMipmap, from: ExternalMemory, description: MappedMipmapDescription,
    );

    hipMallocArray(
        array: NewArray, description: ChannelDescription, width: Width, height: Height, flags: Rarely,
    );
    hipMalloc3DArray(array: NewArray, description: ChannelDescription, extent: Extent, flags: Rarely);
    hipArrayCreate(array: NewArray, description: ArrayDescription);
    hipArray3DCreate(array: NewArray, description: BoxArrayDescription);
    hipFreeArray(array: DoomedArray);
    hipArrayDestroy(array: DoomedArray);
    hipArrayGetDescriptor(description: Room<HIP_ARRAY_DESCRIPTOR>, array: Array);
    hipArray3DGetDescriptor(description: Room<HIP_ARRAY3D_DESCRIPTOR>, array: Array);
    hipArrayGetInfo(
        description: Room<hipChannelFormatDesc>, extent: Room<hipExtent>, flags: Room<c_uint>, array: Array,
    );
    hipGetChannelDesc(description: Room<hipChannelFormatDesc>, array: Array);
    hipMallocMipmappedArray(
        array: NewMipmap, description: ChannelDescription, extent: Extent, levels: Levels, flags: Rarely,
    );
    hipMipmappedArrayCreate(array: NewMipmap, description: BoxArrayDescription, levels: Levels);
    hipMipmappedArrayGetMemoryRequirements(
        requirements: Room<hipArrayMemoryRequirements>, array: Mipmap, device: Ordinal,
    );
    hipFreeMipmappedArray(array: DoomedMipmap);
    hipMipmappedArrayDestroy(array: DoomedMipmap);
    hipGetMipmappedArrayLevel(level: FoundLevel, array: Mipmap, number: LevelNumber);
    hipMipmappedArrayGetLevel(level: FoundLevel, array: Mipmap, number: LevelNumber);
    hipMemcpy2DToArray(
        to: Array, offset: Offset, row: Row, from: Place, pitch: Pitch, width: Width, height: Height,
        kind: Direction,
    );
    hipMemcpy2DToArrayAsync(
        to: Array, offset: Offset, row: Row, from: Place, pitch: Pitch, width: Width, height: Height,
        kind: Direction, stream: Stream,
    );
    hipMemcpy2DToArray_spt(
        to: Array, offset: Offset, row: Row, from: Place, pitch: Pitch, width: Width, height: Height,
        kind: Direction,
    );
    hipMemcpy2DToArrayAsync_spt(
        to: Array, offset: Offset, row: Row, from: Place, pitch: Pitch, width: Width, height: Height,
        kind: Direction, stream: Stream,
    );
    hipMemcpy2DFromArray(
        to: Place, pitch: Pitch, from: Array, offset: Offset, row: Row, width: Width, height: Height,
        kind: Direction,
    );
    hipMemcpy2DFromArrayAsync(
        to: Place, pitch: Pitch, from: Array, offset: Offset, row: Row, width: Width, height: Height,
        kind: Direction, stream: Stream,
    );
    hipMemcpy2DFromArray_spt(
        to: Place, pitch: Pitch, from: Array, offset: Offset, row: Row, width: Width, height: Height,
        kind: Direction,
    );
    hipMemcpy2DFromArrayAsync_spt(
        to: Place, pitch: Pitch, from: Array, offset: Offset, row: Row, width: Width, height: Height,
        kind: Direction, stream: Stream,
    );
    hipMemcpy2DArrayToArray(
        to: Array, offset: Offset, row: Row, from: Array, from_offset: Offset, from_row: Row, width: Width,
        height: Height, kind: Direction,
    );
    hipMemcpyToArray(
        to: Array, offset: Offset, row: Row, from: Place, bytes: Bytes, kind: Direction,
    );
    hipMemcpyFromArray(
        to: Place, from: Array, offset: Offset, row: Row, bytes: Bytes, kind: Direction,
    );
    hipMemcpyFromArray_spt(
        to: Place, from: Array, offset: Offset, row: Row, bytes: Bytes, kind: Direction,
    );
    hipMemcpyAtoH(to: Place, from: Array, offset: Offset, bytes: SymbolBytes);
    hipMemcpyAtoHAsync(to: Place, from: Array, offset: Offset, bytes: SymbolBytes, stream: Stream);
    hipMemcpyHtoA(to: Array, offset: Offset, from: Place, bytes: SymbolBytes);
    hipMemcpyHtoAAsync(to: Array, offset: Offset, from: Place, bytes: SymbolBytes, stream: Stream);
    hipMemcpyAtoA(to: Array, offset: Offset, from: Array, from_offset: Offset, bytes: SymbolBytes);
    hipMemcpyAtoD(to: Device, from: Array, offset: Offset, bytes: SymbolBytes);
    hipMemcpyDtoA(to: Array, offset: Offset, from: Device, bytes: SymbolBytes);

    hipMemcpy_spt(to: Place, from: Place, bytes: Bytes, kind: Direction);
    hipMemcpyAsync_spt(to: Place, from: Place, bytes: Bytes, kind: Direction, stream: Stream);
    hipMemcpyWithStream(to: Place, from: Place, bytes: Bytes, kind: Direction, stream: Stream);
    hipMemcpyDtoD(to: Device, from: Device, bytes: Bytes);
    hipMemcpyDtoDAsync(to: Device, from: Device, bytes: Bytes, stream: Stream);
    hipMemcpyDtoH(to: Place, from: Device, bytes: Bytes);
    hipMemcpyDtoHAsync(to: Place, from: Device, bytes: Bytes, stream: Stream);
    hipMemcpyHtoD(to: Device, from: Place, bytes: Bytes);
    hipMemcpyHtoDAsync(to: Device, from: Place, bytes: Bytes, stream: Stream);
    hipMemcpyPeer(to: Place, to_device: Ordinal, from: Place, from_device: Ordinal, bytes: Bytes);
    hipMemcpyPeerAsync(
        to: Place, to_device: Ordinal, from: Place, from_device: Ordinal, bytes: Bytes, stream: Stream,
    );
    hipMemcpy2D(
        to: Place, to_pitch: Pitch, from: Place, from_pitch: Pitch, width: Width, height: Height,
        kind: Direction,
    );
    hipMemcpy2DAsync(
        to: Place, to_pitch: Pitch, from: Place, from_pitch: Pitch, width: Width, height: Height,
        kind: Direction, stream: Stream,
    );
    hipMemcpy2D_spt(
        to: Place, to_pitch: Pitch, from: Place, from_pitch: Pitch, width: Width, height: Height,
        kind: Direction,
    );
    hipMemcpy2DAsync_spt(
        to: Place, to_pitch: Pitch, from: Place, from_pitch: Pitch, width: Width, height: Height,
        kind: Direction, stream: Stream,
    );
    hipMemcpy3D(parameters: BoxParameters);
    hipMemcpy3D_spt(parameters: BoxParameters);
    hipMemcpy3DAsync_spt(parameters: BoxParameters, stream: Stream);
    hipMemcpy3DPeer(parameters: PeerBox);
    hipMemcpy3DPeerAsync(parameters: PeerBox, stream: Stream);
    hipMemcpyParam2D(parameters: Rectangle);
    hipMemcpyParam2DAsync(parameters: Rectangle, stream: Stream);
    hipDrvMemcpy2DUnaligned(parameters: Rectangle);
    hipDrvMemcpy3D(parameters: DriverBox);
    hipDrvMemcpy3DAsync(parameters: DriverBox, stream: Stream);
    hipMemcpyBatchAsync(
        to: First<Ends>, from: First<Ends>, bytes: First<Sizes>, count: Few, attributes: First<CopyAttributes>,
        firsts: First<FirstCopies>, attribute_count: One64, failed: Room<usize>, stream: Stream,
    );
    hipMemcpy3DBatchAsync(
        count: Few, copies: First<BoxCopies>, failed: Room<usize>, flags: NoFlags64, stream: Stream,
    );
    hipGetSymbolAddress(address: Room<*mut c_void>, symbol: Symbol);
    hipGetSymbolSize(bytes: Room<usize>, symbol: Symbol);
    hipMemcpyToSymbol(
        symbol: Symbol, from: Place, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
    );
    hipMemcpyToSymbolAsync(
        symbol: Symbol, from: Place, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
        stream: Stream,
    );
    hipMemcpyToSymbol_spt(
        symbol: Symbol, from: Place, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
    );
    hipMemcpyToSymbolAsync_spt(
        symbol: Symbol, from: Place, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
        stream: Stream,
    );
    hipMemcpyFromSymbol(
        to: Place, symbol: Symbol, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
    );
    hipMemcpyFromSymbolAsync(
        to: Place, symbol: Symbol, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction, stream: Stream,
    );
    hipMemcpyFromSymbol_spt(
        to: Place, symbol: Symbol, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction,
    );
    hipMemcpyFromSymbolAsync_spt(
        to: Place, symbol: Symbol, bytes: SymbolBytes, offset: SymbolOffset, kind: Direction, stream: Stream,
    );

    hipMemset_spt(memory: Device, value: Byte, bytes: Bytes);
    hipMemsetAsync_spt(memory: Device, value: Byte, bytes: Bytes, stream: Stream);
    hipMemset2D(memory: Device, pitch: Pitch, value: Byte, width: Width, height: Height);
    hipMemset2DAsync(
        memory: Device, pitch: Pitch, value: Byte, width: Width, height: Height, stream: Stream,
    );
    hipMemset2D_spt(memory: Device, pitch: Pitch, value: Byte, width: Width, height: Height);
    hipMemset2DAsync_spt(
        memory: Device, pitch: Pitch, value: Byte, width: Width, height: Height, stream: Stream,
    );
    hipMemset3D(memory: Rows, value: Byte, extent: Extent);
    hipMemset3DAsync(memory: Rows, value: Byte, extent: Extent, stream: Stream);
    hipMemset3D_spt(memory: Rows, value: Byte, extent: Extent);
    hipMemset3DAsync_spt(memory: Rows, value: Byte, extent: Extent, stream: Stream);
    hipMemsetD8(memory: Device, value: Char, count: Bytes);
    hipMemsetD8Async(memory: Device, value: Char, count: Bytes, stream: Stream);
    hipMemsetD16(memory: Device, value: Short, count: Bytes);
    hipMemsetD16Async(memory: Device, value: Short, count: Bytes, stream: Stream);
    hipMemsetD32(memory: Device, value: Byte, count: Bytes);
    hipMemsetD2D8(memory: Device, pitch: Pitch, value: Char, width: Width, height: Height);
    hipMemsetD2D8Async(
        memory: Device, pitch: Pitch, value: Char, width: Width, height: Height, stream: Stream,
    );
    hipMemsetD2D16(memory: Device, pitch: Pitch, value: Short, width: Width, height: Height);
    hipMemsetD2D16Async(
        memory: Device, pitch: Pitch, value: Short, width: Width, height: Height, stream: Stream,
    );
    hipMemsetD2D32(memory: Device, pitch: Pitch, value: Word, width: Width, height: Height);
    hipMemsetD2D32Async(
        memory: Device, pitch: Pitch, value: Word, width: Width, height: Height, stream: Stream,
    );
    aqlipseMemsetD2D64Async(
        memory: Device, pitch: Pitch, value: Long, width: Width, height: Height, stream: Stream,
    );
}
