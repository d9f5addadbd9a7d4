// What the occupancy functions refuse, and their forms with flags and for modules.
// CARD: registers, LDS and waves of a unit
#include "image.h"
#include "resources.h"

// DIFFERS no kernel: 5.2.3 says hipErrorInvalidValue; hipErrorInvalidDeviceFunction is documented (occupancy
//     functions)
// DIFFERS flags 2: 5.2.3 takes any flag; only the caching override is one
int main() {
    const void* k = reinterpret_cast<const void*>(small);
    int blocks = 77, grid = 77, block = 77, host = 0;
    show("null result", hipOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, k, 64, 0));
    show("null function",
         hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_cast<const void*>(nullptr), 64, 0));
    show("no kernel",
         hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_cast<const void*>(&host), 64, 0));
    show("blocks of 0", hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 0, 0));
    show("blocks of -1", hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, -1, 0));
    show("blocks of 1025", hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 1025, 0));
    show("result", blocks);
    blocks = 77;
    show("flags 0", hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, k, 64, 0, 0));
    show("result", blocks);
    show("flags 1", hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, k, 64, 0, 1));
    show("result", blocks);
    show("flags 2", hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, k, 64, 0, 2));
    show("flags, null result", hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(nullptr, k, 64, 0, 0));

    show("potential, null grid", hipOccupancyMaxPotentialBlockSize(nullptr, &block, k, 0, 0));
    show("potential, null block", hipOccupancyMaxPotentialBlockSize(&grid, nullptr, k, 0, 0));
    show("potential, null function",
         hipOccupancyMaxPotentialBlockSize(&grid, &block, static_cast<const void*>(nullptr), 0, 0));
    show("no kernel, potential",
         hipOccupancyMaxPotentialBlockSize(&grid, &block, static_cast<const void*>(&host), 0, 0));

    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    for (const NamedKernel& kernel : all_kernels) {
        hipFuncAttributes attributes;
        NEED(hipFuncGetAttributes(&attributes, kernel.function));
        // Bounds have a program of their own.
        if (attributes.maxThreadsPerBlock < 1024) continue;
        hipFunction_t f = nullptr;
        NEED(hipModuleGetFunction(&f, module, kernel.name));
        for (int size : {64, 256}) {
            hipError_t error = hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, size, 1000);
            line("module, %s, blocks of %d: %s, %d", kernel.name, size, observe::name_of(error).c_str(),
                 blocks);
            error = hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, size, 1000, 0);
            line("module with flags, %s, blocks of %d: %s, %d", kernel.name, size,
                 observe::name_of(error).c_str(), blocks);
        }
        hipError_t error = hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0);
        line("module, potential of %s: %s, %d of %d", kernel.name, observe::name_of(error).c_str(), grid,
             block);
        error = hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, 0, 0, 0);
        line("module, potential with flags of %s: %s, %d of %d", kernel.name, observe::name_of(error).c_str(),
             grid, block);
    }
    hipFunction_t f = nullptr;
    NEED(hipModuleGetFunction(&f, module, "small"));
    show("module, null result", hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, f, 64, 0));
    // HIP: 5.2.3 crashes on a null module function.
    show("module, potential, null grid", hipModuleOccupancyMaxPotentialBlockSize(nullptr, &block, f, 0, 0));
    NEED(hipModuleUnload(module));
}
