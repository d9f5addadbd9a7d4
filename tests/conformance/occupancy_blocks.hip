// hipOccupancyMaxActiveBlocksPerMultiprocessor: kernels with different registers, LDS and bounds.
// CARD: registers, LDS and waves of a unit
#include "resources.h"

static void one(const char* how, const NamedKernel& kernel, int block, size_t lds) {
    int blocks = -1;
    hipError_t error = hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, block, lds);
    line("%s, %s, blocks of %d, %zu bytes: %s, %d", how, kernel.name, block, lds,
         observe::name_of(error).c_str(), blocks);
}

// DIFFERS LDS between granules: AMD's counts bytes, though LDS is given out in runs of 512; a cooperative grid of
//     so many blocks would never be resident (LLVM AMDGPU usage, GRANULATED_LDS_SIZE)
int main() {
    for (const NamedKernel& kernel : all_kernels) {
        hipFuncAttributes attributes;
        NEED(hipFuncGetAttributes(&attributes, kernel.function));
        for (int block : {1, 32, 63, 64, 65, 100, 128, 192, 256, 320, 512, 768, 1000, 1024}) {
            bool within = block <= attributes.maxThreadsPerBlock;
            one(within ? "block" : "block above its bounds", kernel, block, 0);
        }
        for (size_t lds : {512, 1024, 4096, 8192, 16384, 32768, 45056, 65536, 65537, 100000}) {
            one("dynamic LDS", kernel, 64, lds);
        }
        one("LDS between granules", kernel, 64, 5000);
        for (size_t lds : {1, 10000, 20000}) one("dynamic LDS", kernel, 64, lds);
    }
}
