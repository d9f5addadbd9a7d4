// Every device attribute of 5.2.3: its value, or that there is none.
#include "observe.h"

int main() {
    int value = -1;
    show("null", hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0));
    show("device -1", hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, -1));
    show("device 1 of 1", hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1));
    show("attribute 9998", hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(9998), 0));
    show("attribute 20000", hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(20000), 0));
    show("attribute -1", hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(-1), 0));
    show("value after the failures", value);

    const struct {
        const char* name;
        hipDeviceAttribute_t attribute;
    } attributes[] = {
#define ATTRIBUTE(name) {#name, hipDeviceAttribute##name}
        ATTRIBUTE(EccEnabled), ATTRIBUTE(AccessPolicyMaxWindowSize), ATTRIBUTE(AsyncEngineCount),
        ATTRIBUTE(CanMapHostMemory), ATTRIBUTE(CanUseHostPointerForRegisteredMem), ATTRIBUTE(ClockRate),
        ATTRIBUTE(ComputeMode), ATTRIBUTE(ComputePreemptionSupported), ATTRIBUTE(ConcurrentKernels),
        ATTRIBUTE(ConcurrentManagedAccess), ATTRIBUTE(CooperativeLaunch), ATTRIBUTE(CooperativeMultiDeviceLaunch),
        ATTRIBUTE(DeviceOverlap), ATTRIBUTE(DirectManagedMemAccessFromHost), ATTRIBUTE(GlobalL1CacheSupported),
        ATTRIBUTE(HostNativeAtomicSupported), ATTRIBUTE(Integrated), ATTRIBUTE(IsMultiGpuBoard),
        ATTRIBUTE(KernelExecTimeout), ATTRIBUTE(L2CacheSize), ATTRIBUTE(LocalL1CacheSupported), ATTRIBUTE(Luid),
        ATTRIBUTE(LuidDeviceNodeMask), ATTRIBUTE(ComputeCapabilityMajor), ATTRIBUTE(ManagedMemory),
        ATTRIBUTE(MaxBlocksPerMultiProcessor), ATTRIBUTE(MaxBlockDimX), ATTRIBUTE(MaxBlockDimY),
        ATTRIBUTE(MaxBlockDimZ), ATTRIBUTE(MaxGridDimX), ATTRIBUTE(MaxGridDimY), ATTRIBUTE(MaxGridDimZ),
        ATTRIBUTE(MaxSurface1D), ATTRIBUTE(MaxSurface1DLayered), ATTRIBUTE(MaxSurface2D),
        ATTRIBUTE(MaxSurface2DLayered), ATTRIBUTE(MaxSurface3D), ATTRIBUTE(MaxSurfaceCubemap),
        ATTRIBUTE(MaxSurfaceCubemapLayered), ATTRIBUTE(MaxTexture1DWidth), ATTRIBUTE(MaxTexture1DLayered),
        ATTRIBUTE(MaxTexture1DLinear), ATTRIBUTE(MaxTexture1DMipmap), ATTRIBUTE(MaxTexture2DWidth),
        ATTRIBUTE(MaxTexture2DHeight), ATTRIBUTE(MaxTexture2DGather), ATTRIBUTE(MaxTexture2DLayered),
        ATTRIBUTE(MaxTexture2DLinear), ATTRIBUTE(MaxTexture2DMipmap), ATTRIBUTE(MaxTexture3DWidth),
        ATTRIBUTE(MaxTexture3DHeight), ATTRIBUTE(MaxTexture3DDepth), ATTRIBUTE(MaxTexture3DAlt),
        ATTRIBUTE(MaxTextureCubemap), ATTRIBUTE(MaxTextureCubemapLayered), ATTRIBUTE(MaxThreadsDim),
        ATTRIBUTE(MaxThreadsPerBlock), ATTRIBUTE(MaxThreadsPerMultiProcessor), ATTRIBUTE(MaxPitch),
        ATTRIBUTE(MemoryBusWidth), ATTRIBUTE(MemoryClockRate), ATTRIBUTE(ComputeCapabilityMinor),
        ATTRIBUTE(MultiGpuBoardGroupID), ATTRIBUTE(MultiprocessorCount), ATTRIBUTE(Name),
        ATTRIBUTE(PageableMemoryAccess), ATTRIBUTE(PageableMemoryAccessUsesHostPageTables), ATTRIBUTE(PciBusId),
        ATTRIBUTE(PciDeviceId), ATTRIBUTE(PciDomainID), ATTRIBUTE(PersistingL2CacheMaxSize),
        ATTRIBUTE(MaxRegistersPerBlock), ATTRIBUTE(MaxRegistersPerMultiprocessor),
        ATTRIBUTE(ReservedSharedMemPerBlock), ATTRIBUTE(MaxSharedMemoryPerBlock),
        ATTRIBUTE(SharedMemPerBlockOptin), ATTRIBUTE(SharedMemPerMultiprocessor),
        ATTRIBUTE(SingleToDoublePrecisionPerfRatio), ATTRIBUTE(StreamPrioritiesSupported),
        ATTRIBUTE(SurfaceAlignment), ATTRIBUTE(TccDriver), ATTRIBUTE(TextureAlignment),
        ATTRIBUTE(TexturePitchAlignment), ATTRIBUTE(TotalConstantMemory), ATTRIBUTE(TotalGlobalMem),
        ATTRIBUTE(UnifiedAddressing), ATTRIBUTE(Uuid), ATTRIBUTE(WarpSize), ATTRIBUTE(MemoryPoolsSupported),
        ATTRIBUTE(ClockInstructionRate), ATTRIBUTE(Arch), ATTRIBUTE(MaxSharedMemoryPerMultiprocessor),
        ATTRIBUTE(GcnArch), ATTRIBUTE(GcnArchName), ATTRIBUTE(CooperativeMultiDeviceUnmatchedFunc),
        ATTRIBUTE(CooperativeMultiDeviceUnmatchedGridDim), ATTRIBUTE(CooperativeMultiDeviceUnmatchedBlockDim),
        ATTRIBUTE(CooperativeMultiDeviceUnmatchedSharedMem), ATTRIBUTE(IsLargeBar), ATTRIBUTE(AsicRevision),
        ATTRIBUTE(CanUseStreamWaitValue), ATTRIBUTE(ImageSupport), ATTRIBUTE(PhysicalMultiProcessorCount),
        ATTRIBUTE(FineGrainSupport),
    };
    for (const auto& [name, attribute] : attributes) {
        // Some attributes are pointers or arrays behind the int*.
        int room[64] = {};
        hipError_t result = hipDeviceGetAttribute(room, attribute, 0);
        if (result == hipSuccess) {
            show(name, room[0]);
        } else {
            show(name, result);
        }
    }
}
