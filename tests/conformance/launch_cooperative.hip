// Cooperative launches: limits and errors of hipLaunchCooperativeKernel and of its form for several devices.
#include "resources.h"

__global__ void fill(int* out, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] = n; }

// DIFFERS cooperative: 5.2.3 needs a queue with global wave sync, which the device has not; ours keeps all
//     blocks resident
int main() {
    int attribute = -1, units = 0, lds = 0;
    show("attribute", hipDeviceGetAttribute(&attribute, hipDeviceAttributeCooperativeLaunch, 0));
    show("cooperative", attribute);
    NEED(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    NEED(hipDeviceGetAttribute(&lds, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
    int* device = nullptr;
    NEED(hipMalloc(&device, 1 << 20));
    int n = 5;
    void* args[] = {&device, &n};
    const void* k = reinterpret_cast<const void*>(fill);
    int per_unit = 0;
    NEED(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, k, 256, 0));
    show("cooperative, launch", hipLaunchCooperativeKernel(k, dim3(2), dim3(64), args, 0, nullptr));
    show("cooperative, as many as fit",
         hipLaunchCooperativeKernel(k, dim3(per_unit * units), dim3(256), args, 0, nullptr));
    show("cooperative, one more",
         hipLaunchCooperativeKernel(k, dim3(per_unit * units + 1), dim3(256), args, 0, nullptr));
    show("cooperative, null function",
         hipLaunchCooperativeKernel(static_cast<const void*>(nullptr), dim3(1), dim3(64), args, 0, nullptr));
    show("cooperative, grid of 0", hipLaunchCooperativeKernel(k, dim3(0), dim3(64), args, 0, nullptr));
    show("cooperative, block of 0", hipLaunchCooperativeKernel(k, dim3(1), dim3(0), args, 0, nullptr));
    show("cooperative, block of 1025", hipLaunchCooperativeKernel(k, dim3(1), dim3(1025), args, 0, nullptr));
    show("cooperative, too much LDS", hipLaunchCooperativeKernel(k, dim3(1), dim3(64), args, lds + 1, nullptr));
    show("synchronize", hipDeviceSynchronize());
    NEED(hipFree(device));
}
