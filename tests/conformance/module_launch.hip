// hipModuleLaunchKernel: arguments by pointers and as a buffer, grids, dynamic LDS, and what it refuses.
#include "image.h"

struct Pair {
    char tag;
    double value;
};

extern "C" __global__ void write(int* out, int a, Pair pair, short b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a + i + int(pair.value) + pair.tag + b;
}

extern "C" __global__ void shared(int* out) {
    extern __shared__ int room[];
    room[threadIdx.x] = int(threadIdx.x) * 2;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 1; }

// DIFFERS null function: 5.2.3 says hipErrorInvalidImage; CUDA has an error for bad handles
//     (CUDA_ERROR_INVALID_HANDLE, 400)
// DIFFERS extra: AMD's wants the pointer before the size; their order is free (cuLaunchKernel)
int main() {
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    hipFunction_t write_f = nullptr, shared_f = nullptr, bounded_f = nullptr;
    NEED(hipModuleGetFunction(&write_f, module, "write"));
    NEED(hipModuleGetFunction(&shared_f, module, "shared"));
    NEED(hipModuleGetFunction(&bounded_f, module, "bounded"));
    const int count = 256;
    int* device = nullptr;
    NEED(hipMalloc(&device, count * sizeof(int)));
    std::vector<int> back(count);
    auto read = [&](const char* label) {
        NEED(hipMemcpy(back.data(), device, count * sizeof(int), hipMemcpyDeviceToHost));
        line("%s gives: %d %d %d", label, back[0], back[100], back[255]);
    };

    int a = 1000;
    Pair pair = {'\3', 20.0};
    short b = -7;
    void* args[] = {&device, &a, &pair, &b};
    show("by pointers", hipModuleLaunchKernel(write_f, 4, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    read("by pointers");
    struct {
        int* out;
        int a;
        Pair pair;
        short b;
    } packed = {device, 2000, {'\1', 30.0}, 9};
    size_t bytes = sizeof packed;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    show("as a buffer", hipModuleLaunchKernel(write_f, 4, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
    read("as a buffer");
    void* out_only[] = {&device};
    show("dynamic LDS",
         hipModuleLaunchKernel(shared_f, 1, 1, 1, 256, 1, 1, 256 * 4, nullptr, out_only, nullptr));
    read("dynamic LDS");

    show("both kinds of arguments",
         hipModuleLaunchKernel(write_f, 4, 1, 1, 64, 1, 1, 0, nullptr, args, extra));
    show("null function", hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    show("zero, grid x", hipModuleLaunchKernel(write_f, 0, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    show("zero, grid y", hipModuleLaunchKernel(write_f, 1, 0, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    show("zero, grid z", hipModuleLaunchKernel(write_f, 1, 1, 0, 64, 1, 1, 0, nullptr, args, nullptr));
    show("zero, block x", hipModuleLaunchKernel(write_f, 1, 1, 1, 0, 1, 1, 0, nullptr, args, nullptr));
    show("zero, block z", hipModuleLaunchKernel(write_f, 1, 1, 1, 64, 1, 0, 0, nullptr, args, nullptr));
    show("block of 1025", hipModuleLaunchKernel(write_f, 1, 1, 1, 1025, 1, 1, 0, nullptr, args, nullptr));
    show("block of 64 x 64", hipModuleLaunchKernel(write_f, 1, 1, 1, 64, 64, 1, 0, nullptr, args, nullptr));
    show("beyond, the bounds",
         hipModuleLaunchKernel(bounded_f, 1, 1, 1, 256, 1, 1, 0, nullptr, out_only, nullptr));
    show("64 KiB of LDS",
         hipModuleLaunchKernel(shared_f, 1, 1, 1, 64, 1, 1, 65536, nullptr, out_only, nullptr));
    show("beyond, all LDS",
         hipModuleLaunchKernel(shared_f, 1, 1, 1, 64, 1, 1, 160 * 1024 + 1, nullptr, out_only, nullptr));
    show("grid beyond 32 bits",
         hipModuleLaunchKernel(bounded_f, 0x80000000u, 1, 1, 64, 1, 1, 0, nullptr, out_only, nullptr));
    show("synchronize", hipDeviceSynchronize());
    void* no_end[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      nullptr};
    show("extra without its end",
         hipModuleLaunchKernel(write_f, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, no_end));
    void* swapped[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                       HIP_LAUNCH_PARAM_END};
    show("extra in another order",
         hipModuleLaunchKernel(write_f, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, swapped));
    show("synchronize", hipDeviceSynchronize());
    NEED(hipModuleUnload(module));
    NEED(hipFree(device));
}
