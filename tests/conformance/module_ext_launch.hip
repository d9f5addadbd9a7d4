// hipExtModuleLaunchKernel and its older name: grids in threads, partial blocks, events, errors.
// CARD: whether a grid counts its partial blocks, by the version of the code object
#include "image.h"

#include <hip/hip_ext.h>

extern "C" __global__ void mark(int* out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = int(blockDim.x) * 1000 + int(gridDim.x) * 10 + int(gridDim.y);
}

static int* device = nullptr;
static const int count = 1024;

static void reset() {
    std::vector<int> zero(count, 0);
    NEED(hipMemcpy(device, zero.data(), count * sizeof(int), hipMemcpyHostToDevice));
}

static void see(const char* label, hipError_t error) {
    show(label, error);
    NEED(hipDeviceSynchronize());
    std::vector<int> back(count);
    NEED(hipMemcpy(back.data(), device, count * sizeof(int), hipMemcpyDeviceToHost));
    int written = 0, last = 0;
    for (int i = 0; i < count; ++i) {
        if (back[i]) ++written, last = back[i];
    }
    line("%s, written: %d, the last is %d", label, written, last);
}

// DIFFERS null function: 5.2.3 says hipErrorInvalidImage; CUDA has an error for bad handles
//     (CUDA_ERROR_INVALID_HANDLE, 400)
int main() {
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    hipFunction_t f = nullptr;
    NEED(hipModuleGetFunction(&f, module, "mark"));
    NEED(hipMalloc(&device, count * sizeof(int)));
    int width = 1024;
    void* args[] = {&device, &width};
    reset();
    see("whole blocks", hipExtModuleLaunchKernel(f, 256, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    reset();
    see("a partial block", hipExtModuleLaunchKernel(f, 200, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    reset();
    see("less than a block", hipExtModuleLaunchKernel(f, 5, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    reset();
    width = 32;
    see("partial in two dimensions",
        hipExtModuleLaunchKernel(f, 20, 21, 1, 8, 8, 1, 0, nullptr, args, nullptr));
    width = 1024;
    reset();
    see("the older name", hipHccModuleLaunchKernel(f, 130, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    hipEvent_t start, stop;
    NEED(hipEventCreate(&start));
    NEED(hipEventCreate(&stop));
    reset();
    see("with events",
        hipExtModuleLaunchKernel(f, 100, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr, start, stop, 0));
    show("stop event", hipEventQuery(stop));
    float ms = -1;
    show("elapsed", hipEventElapsedTime(&ms, start, stop));
    show("elapsed is not negative", ms >= 0);
    show("null function", hipExtModuleLaunchKernel(nullptr, 64, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    show("zero, threads", hipExtModuleLaunchKernel(f, 0, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    show("zero, block", hipExtModuleLaunchKernel(f, 64, 1, 1, 0, 1, 1, 0, nullptr, args, nullptr));
    show("block of 2048", hipExtModuleLaunchKernel(f, 64, 1, 1, 2048, 1, 1, 0, nullptr, args, nullptr));
    show("synchronize", hipDeviceSynchronize());
    NEED(hipEventDestroy(start));
    NEED(hipEventDestroy(stop));
    NEED(hipModuleUnload(module));
    NEED(hipFree(device));
}
