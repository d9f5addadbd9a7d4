// hipExtLaunchKernel: events around a kernel, flags, errors.
#include "resources.h"

#include <hip/hip_ext.h>

__global__ void fill(int* out, int n) { out[threadIdx.x] = n; }

int main() {
    int* device = nullptr;
    NEED(hipMalloc(&device, 64 * sizeof(int)));
    int n = 4;
    void* args[] = {&device, &n};
    const void* k = reinterpret_cast<const void*>(fill);
    hipEvent_t start, stop;
    NEED(hipEventCreate(&start));
    NEED(hipEventCreate(&stop));
    show("with events", hipExtLaunchKernel(k, dim3(1), dim3(64), args, 0, nullptr, start, stop, 0));
    show("stop", hipEventSynchronize(stop));
    float ms = -1;
    show("elapsed", hipEventElapsedTime(&ms, start, stop));
    show("not negative", ms >= 0);
    int back[64] = {};
    NEED(hipMemcpy(back, device, sizeof back, hipMemcpyDeviceToHost));
    show_all("written", back, 64, 4);
    show("without events", hipExtLaunchKernel(k, dim3(1), dim3(64), args, 0, nullptr, nullptr, nullptr, 0));
    show("any order", hipExtLaunchKernel(k, dim3(1), dim3(64), args, 0, nullptr, nullptr, nullptr, 1));
    show("only a stop", hipExtLaunchKernel(k, dim3(1), dim3(64), args, 0, nullptr, nullptr, stop, 0));
    show("synchronize", hipDeviceSynchronize());
    show("stop again", hipEventQuery(stop));
    show("null function",
         hipExtLaunchKernel(nullptr, dim3(1), dim3(64), args, 0, nullptr, nullptr, nullptr, 0));
    show("zero, grid", hipExtLaunchKernel(k, dim3(0), dim3(64), args, 0, nullptr, nullptr, nullptr, 0));
    show("block of 1025", hipExtLaunchKernel(k, dim3(1), dim3(1025), args, 0, nullptr, nullptr, nullptr, 0));
    show("synchronize", hipDeviceSynchronize());
    NEED(hipEventDestroy(start));
    NEED(hipEventDestroy(stop));
    NEED(hipFree(device));
}
