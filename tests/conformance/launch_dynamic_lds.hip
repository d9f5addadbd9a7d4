// Dynamic LDS: sizes from a byte to all there is, beside static LDS.
#include "observe.h"

__global__ void reverse(int* data, int count) {
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) room[i] = data[blockIdx.x * count + i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) data[blockIdx.x * count + i] = room[count - 1 - i];
}

__global__ void beside(int* data, int count) {
    __shared__ int fixed[64];
    extern __shared__ int room[];
    fixed[threadIdx.x] = data[threadIdx.x];
    for (int i = threadIdx.x; i < count; i += blockDim.x) room[i] = -1;
    __syncthreads();
    data[threadIdx.x] = fixed[63 - threadIdx.x];
}

int main() {
    const int room = 16384 * 3;
    int* device = nullptr;
    NEED(hipMalloc(&device, room * sizeof(int)));
    std::vector<int> host(room), back(room);
    for (int i = 0; i < room; ++i) host[i] = i;
    for (int count : {1, 3, 64, 100, 1000, 4096, 8192, 16384}) {
        NEED(hipMemcpy(device, host.data(), room * sizeof(int), hipMemcpyHostToDevice));
        reverse<<<3, 256, count * sizeof(int)>>>(device, count);
        show("launch", hipGetLastError());
        NEED(hipMemcpy(back.data(), device, room * sizeof(int), hipMemcpyDeviceToHost));
        int wrong = 0;
        for (int b = 0; b < 3; ++b) {
            for (int i = 0; i < count; ++i) wrong += back[b * count + i] != host[b * count + count - 1 - i];
        }
        line("%d words, wrong: %d", count, wrong);
    }
    for (int count : {1, 64, 8000, 16320}) {
        NEED(hipMemcpy(device, host.data(), 64 * sizeof(int), hipMemcpyHostToDevice));
        beside<<<1, 64, count * sizeof(int)>>>(device, count);
        show("launch beside", hipGetLastError());
        NEED(hipMemcpy(back.data(), device, 64 * sizeof(int), hipMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < 64; ++i) wrong += back[i] != 63 - i;
        line("%d words beside static ones, wrong: %d", count, wrong);
    }
    NEED(hipFree(device));
}
