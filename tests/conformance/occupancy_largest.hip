// hipOccupancyMaxPotentialBlockSize of kernels whose registers leave room for other numbers of wavefronts than powers of 2.
// CARD: registers, LDS and waves of a unit
#include "resources.h"

extern "C" __global__ void __launch_bounds__(1024) any(int* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(256) registers150(float* data) { hold<150>(data); }
extern "C" __global__ void __launch_bounds__(256) registers70(float* data) { hold<70>(data); }

static void one(const char* name, const void* function, size_t lds, int limit) {
    int grid = -1, block = -1, units = 1, blocks = -1;
    NEED(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    hipError_t error = hipOccupancyMaxPotentialBlockSize(&grid, &block, function, lds, limit);
    NEED(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 512, lds));
    line("%s, %zu bytes, limit %d: %s, %d to a unit, block %d; of 512 %d", name, lds, limit,
         observe::name_of(error).c_str(), grid / units, block, blocks);
}

int main() {
    for (size_t lds : {0, 1024, 32768, 65536, 70000}) {
        for (int limit : {0, 192, 320, 512, 832}) {
            one("any", reinterpret_cast<const void*>(any), lds, limit);
            one("registers150", reinterpret_cast<const void*>(registers150), lds, limit);
            one("registers70", reinterpret_cast<const void*>(registers70), lds, limit);
        }
    }
    return 0;
}
