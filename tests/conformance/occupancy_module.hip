// Occupancy of a module's kernels: the same answers as for host functions, with and without flags.
// CARD: registers, LDS and waves of a unit
#include "image.h"
#include "resources.h"

static void compare(const NamedKernel& kernel, hipFunction_t function, int block, size_t lds) {
    int by_host = -1, by_module = -1, with_flags = -1, host_flags = -1;
    NEED(hipOccupancyMaxActiveBlocksPerMultiprocessor(&by_host, kernel.function, block, lds));
    hipError_t plain = hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&by_module, function, block, lds);
    hipError_t flags =
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with_flags, function, block, lds, 0);
    hipError_t host = hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&host_flags, kernel.function, block,
                                                                            lds, hipOccupancyDefault);
    line("%s, block %d, %zu bytes: %s %s %s, %d, agree %d", kernel.name, block, lds,
         observe::name_of(plain).c_str(), observe::name_of(flags).c_str(), observe::name_of(host).c_str(),
         by_module, by_host == by_module && by_module == with_flags && with_flags == host_flags);
}

int main() {
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    for (const NamedKernel& kernel : all_kernels) {
        hipFunction_t function = nullptr;
        NEED(hipModuleGetFunction(&function, module, kernel.name));
        hipFuncAttributes attributes;
        NEED(hipFuncGetAttributes(&attributes, kernel.function));
        for (int block : {64, 128, 256}) {
            if (block > attributes.maxThreadsPerBlock) continue;
            for (size_t lds : {size_t(0), size_t(8192), size_t(32768)}) compare(kernel, function, block, lds);
        }
        int grid = -1, block = -1, grid_flags = -1, block_flags = -1;
        hipError_t plain = hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, function, 0, 0);
        hipError_t flags = hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid_flags, &block_flags, function,
                                                                            0, 0, hipOccupancyDefault);
        line("%s, potential: %s %s, agree %d", kernel.name, observe::name_of(plain).c_str(),
             observe::name_of(flags).c_str(), grid == grid_flags && block == block_flags);
    }
    NEED(hipModuleUnload(module));
}
