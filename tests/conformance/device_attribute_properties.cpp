// Attributes of a device against the fields of its properties that say the same.
#include "observe.h"

static hipDeviceProp_t properties;

static void one(const char* name, hipDeviceAttribute_t attribute, long long property) {
    int value = -1;
    hipError_t error = hipDeviceGetAttribute(&value, attribute, 0);
    line("%s: %s, agrees %d", name, observe::name_of(error).c_str(), value == property);
}

#define ONE(attribute, field) one(#field, hipDeviceAttribute##attribute, properties.field)

int main() {
    NEED(hipGetDeviceProperties(&properties, 0));
    ONE(ClockRate, clockRate);
    ONE(ComputeCapabilityMajor, major);
    ONE(ComputeCapabilityMinor, minor);
    ONE(ComputeMode, computeMode);
    ONE(ConcurrentKernels, concurrentKernels);
    ONE(CooperativeLaunch, cooperativeLaunch);
    ONE(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch);
    ONE(EccEnabled, ECCEnabled);
    ONE(Integrated, integrated);
    ONE(IsMultiGpuBoard, isMultiGpuBoard);
    ONE(KernelExecTimeout, kernelExecTimeoutEnabled);
    ONE(L2CacheSize, l2CacheSize);
    ONE(ManagedMemory, managedMemory);
    ONE(MaxBlockDimX, maxThreadsDim[0]);
    ONE(MaxBlockDimY, maxThreadsDim[1]);
    ONE(MaxBlockDimZ, maxThreadsDim[2]);
    ONE(MaxGridDimX, maxGridSize[0]);
    ONE(MaxGridDimY, maxGridSize[1]);
    ONE(MaxGridDimZ, maxGridSize[2]);
    ONE(MaxPitch, memPitch);
    ONE(MaxRegistersPerBlock, regsPerBlock);
    ONE(MaxSharedMemoryPerBlock, sharedMemPerBlock);
    ONE(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor);
    ONE(MaxThreadsPerBlock, maxThreadsPerBlock);
    ONE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor);
    ONE(MemoryBusWidth, memoryBusWidth);
    ONE(MemoryClockRate, memoryClockRate);
    ONE(MultiprocessorCount, multiProcessorCount);
    ONE(PageableMemoryAccess, pageableMemoryAccess);
    ONE(PciBusId, pciBusID);
    ONE(PciDeviceId, pciDeviceID);
    ONE(TextureAlignment, textureAlignment);
    ONE(TexturePitchAlignment, texturePitchAlignment);
    ONE(WarpSize, warpSize);
    ONE(AsicRevision, asicRevision);
    ONE(CanMapHostMemory, canMapHostMemory);
}
