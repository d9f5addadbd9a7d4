// hipOccupancyMaxPotentialBlockSize: block size, and blocks to a compute unit, by dynamic LDS and limit.
// CARD: registers, LDS and waves of a unit
#include "resources.h"

static int units = 0;

static void one(const char* how, const NamedKernel& kernel, size_t lds, int limit) {
    int grid = -1, block = -1;
    hipFuncAttributes attributes;
    NEED(hipFuncGetAttributes(&attributes, kernel.function));
    if (attributes.maxThreadsPerBlock < 1024 && (limit == 0 || limit > attributes.maxThreadsPerBlock))
        how = "bounded";
    hipError_t error = hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel.function, lds, limit);
    line("%s, %s, %zu bytes, limit %d: %s, %d to a unit, block %d", how, kernel.name, lds, limit,
         observe::name_of(error).c_str(), grid / units, block);
}

// DIFFERS limit within a wavefront: AMD's rounds the limit up and so exceeds it, and a kernel with room for so many
//     threads writes beyond it; cudaOccupancyMaxPotentialBlockSize
int main() {
    NEED(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    for (const NamedKernel& kernel : all_kernels) {
        for (size_t lds : {0, 1024, 8192, 20480, 40960}) {
            one("no limit", kernel, lds, 0);
            for (int limit : {64, 128, 256, 1024, 4096}) one("limited", kernel, lds, limit);
        }
    }
    for (int limit : {1, 63, 100, 1000}) one("limit within a wavefront", all_kernels[1], 0, limit);
    one("negative limit", all_kernels[1], 0, -1);
}
