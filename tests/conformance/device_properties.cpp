// What hipGetDeviceProperties says of the device, and which ordinals it refuses.
// CARD: units, caches, clocks and registers
#include "observe.h"

int main() {
    hipDeviceProp_t p;
    show("null", hipGetDeviceProperties(nullptr, 0));
    show("ordinal -1", hipGetDeviceProperties(&p, -1));
    show("ordinal 1 of 1", hipGetDeviceProperties(&p, 1));
    std::memset(&p, 0xab, sizeof p);
    show("ordinal 0", hipGetDeviceProperties(&p, 0));

    show("name", p.name);
    show("shared memory per block", p.sharedMemPerBlock);
    show("registers per block", p.regsPerBlock);
    show("warp size", p.warpSize);
    show("threads per block", p.maxThreadsPerBlock);
    line("block: %d %d %d", p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
    line("grid: %d %d %d", p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    show("clock in kHz", p.clockRate);
    show("memory clock in kHz", p.memoryClockRate);
    show("memory bus in bits", p.memoryBusWidth);
    show("constant memory", p.totalConstMem);
    line("compute capability: %d.%d", p.major, p.minor);
    show("compute units", p.multiProcessorCount);
    show("L2 bytes", p.l2CacheSize);
    show("threads per compute unit", p.maxThreadsPerMultiProcessor);
    show("compute mode", p.computeMode);
    // DIFFERS clock of clock(): 5.2.3 says 1 GHz; it counts cycles of the engine; MI200 ISA (S_MEMTIME)
    show("clock of clock() in kHz", p.clockInstructionRate);
    show("concurrent kernels", p.concurrentKernels);
    line("PCI: %d %d %d", p.pciDomainID, p.pciBusID, p.pciDeviceID);
    show("shared memory per compute unit", p.maxSharedMemoryPerMultiProcessor);
    show("board with several devices", p.isMultiGpuBoard);
    show("maps host memory", p.canMapHostMemory);
    show("GCN architecture as a number", p.gcnArch);
    show("GCN architecture", p.gcnArchName);
    show("integrated", p.integrated);
    show("cooperative launch", p.cooperativeLaunch);
    show("cooperative launch on several devices", p.cooperativeMultiDeviceLaunch);
    show("unmatched functions", p.cooperativeMultiDeviceUnmatchedFunc);
    show("unmatched grids", p.cooperativeMultiDeviceUnmatchedGridDim);
    show("unmatched blocks", p.cooperativeMultiDeviceUnmatchedBlockDim);
    show("unmatched shared memory", p.cooperativeMultiDeviceUnmatchedSharedMem);
    // DIFFERS textures: the emulated device has none; README, What is not promised
    line("textures: linear %d, 1D %d, 2D %d %d, 3D %d %d %d", p.maxTexture1DLinear, p.maxTexture1D,
         p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]);
    line("texture alignment: %zu, of a pitch %zu", p.textureAlignment, p.texturePitchAlignment);
    line("HDP registers: memory %s, register %s", p.hdpMemFlushCntl ? "given" : "none",
         p.hdpRegFlushCntl ? "given" : "none");
    show("largest pitch", p.memPitch);
    show("kernel time limit", p.kernelExecTimeoutEnabled);
    show("ECC", p.ECCEnabled);
    show("TCC driver", p.tccDriver);
    show("large BAR", p.isLargeBar);
    show("ASIC revision", p.asicRevision);
    // DIFFERS managed memory: AMD's needs a driver with shared virtual memory, ours is pinned
    //     host memory; capi/src/api/memory/linear.rs
    show("managed memory", p.managedMemory);
    show("host access to managed memory", p.directManagedMemAccessFromHost);
    show("concurrent managed access", p.concurrentManagedAccess);
    show("pageable memory access", p.pageableMemoryAccess);
    show("by the host's page tables", p.pageableMemoryAccessUsesHostPageTables);

    const hipDeviceArch_t& a = p.arch;
    line("arch global atomics: int32 %u, float exchange %u", a.hasGlobalInt32Atomics,
         a.hasGlobalFloatAtomicExch);
    line("arch shared atomics: int32 %u, float exchange %u, float add %u", a.hasSharedInt32Atomics,
         a.hasSharedFloatAtomicExch, a.hasFloatAtomicAdd);
    line("arch 64 bits: global int64 %u, shared int64 %u, doubles %u", a.hasGlobalInt64Atomics,
         a.hasSharedInt64Atomics, a.hasDoubles);
    line("arch wave: vote %u, ballot %u, shuffle %u, funnel shift %u", a.hasWarpVote, a.hasWarpBallot,
         a.hasWarpShuffle, a.hasFunnelShift);
    line("arch sync: fence %u, sync threads %u", a.hasThreadFenceSystem, a.hasSyncThreadsExt);
    line("arch rest: surfaces %u, 3D grid %u, dynamic parallelism %u", a.hasSurfaceFuncs, a.has3dGrid,
         a.hasDynamicParallelism);
}
