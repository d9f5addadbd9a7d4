// The launch that headers of HIP 4 make in C++: hip_impl::hipLaunchKernelGGLImpl, with packed arguments.
// proves: _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv
#include "observe.h"

namespace hip_impl {
void hipLaunchKernelGGLImpl(std::uintptr_t function, const dim3& blocks, const dim3& threads,
                            std::uint32_t shared_bytes, hipStream_t stream, void** config);
}

__global__ void fill(int* out, int value, int count) {
    extern __shared__ int staged[];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    staged[threadIdx.x] = value + at;
    if (at < count) out[at] = staged[threadIdx.x];
}

struct Arguments {
    int* out;
    int value, count;
};

static void launch(const char* label, const void* kernel, Arguments arguments, hipStream_t stream) {
    size_t bytes = sizeof arguments;
    void* config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      HIP_LAUNCH_PARAM_END};
    (void)hipGetLastError();
    hip_impl::hipLaunchKernelGGLImpl(reinterpret_cast<std::uintptr_t>(kernel), dim3(3), dim3(64), 256, stream,
                                     config);
    line("%s: last error %s", label, observe::name_of(hipGetLastError()).c_str());
}

int main() {
    constexpr int COUNT = 150;
    int* out = nullptr;
    int host[COUNT + 10];
    hipStream_t stream = nullptr;
    NEED(hipMalloc(&out, sizeof host));
    NEED(hipMemset(out, 0xff, sizeof host));
    NEED(hipStreamCreate(&stream));
    const void* kernel = reinterpret_cast<const void*>(fill);
    launch("on the null stream", kernel, {out, 5, COUNT}, nullptr);
    NEED(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
    line("values: %d %d %d, behind them %d", host[0], host[64], host[COUNT - 1], host[COUNT]);
    launch("on a stream", kernel, {out, -7, 10}, stream);
    show("synchronise", hipStreamSynchronize(stream));
    NEED(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
    line("values: %d %d %d", host[0], host[9], host[10]);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(out));
}
