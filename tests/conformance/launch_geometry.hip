// What a kernel sees of its grid: sizes and indices in three dimensions, for many shapes.
#include "observe.h"

struct Seen {
    unsigned blocks, threads, bad;
};

__global__ void look(Seen* seen, dim3 grid, dim3 block) {
    bool right = gridDim.x == grid.x && gridDim.y == grid.y && gridDim.z == grid.z && blockDim.x == block.x &&
                 blockDim.y == block.y && blockDim.z == block.z && threadIdx.x < block.x &&
                 threadIdx.y < block.y && threadIdx.z < block.z && blockIdx.x < grid.x &&
                 blockIdx.y < grid.y && blockIdx.z < grid.z;
    if (!right) atomicAdd(&seen->bad, 1);
    atomicAdd(&seen->threads, 1);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) atomicAdd(&seen->blocks, 1);
}

int main() {
    Seen* device = nullptr;
    NEED(hipMalloc(&device, sizeof(Seen)));
    const dim3 grids[] = {dim3(1), dim3(7), dim3(3, 5), dim3(2, 3, 4), dim3(1, 1, 9), dim3(100, 2)};
    const dim3 blocks[] = {dim3(1),       dim3(64),       dim3(65),  dim3(8, 8),
                           dim3(4, 5, 6), dim3(1, 1, 64), dim3(256), dim3(1024)};
    for (dim3 grid : grids) {
        for (dim3 block : blocks) {
            Seen seen = {0, 0, 0};
            NEED(hipMemcpy(device, &seen, sizeof seen, hipMemcpyHostToDevice));
            look<<<grid, block>>>(device, grid, block);
            hipError_t error = hipGetLastError();
            NEED(hipMemcpy(&seen, device, sizeof seen, hipMemcpyDeviceToHost));
            line("%u %u %u by %u %u %u: %s, blocks %u, threads %u, bad %u", grid.x, grid.y, grid.z, block.x,
                 block.y, block.z, observe::name_of(error).c_str(), seen.blocks, seen.threads, seen.bad);
        }
    }
    NEED(hipFree(device));
}
