// The functions for per-thread default streams: to them null is the thread's own stream.
#include "captured.h"
#include "hold.h"

extern "C" {
hipError_t hipMemcpyAsync_spt(void*, const void*, size_t, hipMemcpyKind, hipStream_t);
hipError_t hipMemcpy_spt(void*, const void*, size_t, hipMemcpyKind);
hipError_t hipMemset_spt(void*, int, size_t);
hipError_t hipMemcpy2D_spt(void*, size_t, const void*, size_t, size_t, size_t, hipMemcpyKind);
hipError_t hipMemset2D_spt(void*, size_t, int, size_t, size_t);
hipError_t hipStreamQuery_spt(hipStream_t);
hipError_t hipStreamSynchronize_spt(hipStream_t);
hipError_t hipStreamGetFlags_spt(hipStream_t, unsigned*);
hipError_t hipStreamGetPriority_spt(hipStream_t, int*);
hipError_t hipStreamWaitEvent_spt(hipStream_t, hipEvent_t, unsigned);
hipError_t hipLaunchKernel_spt(const void*, dim3, dim3, void**, size_t, hipStream_t);
}

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    int host[64];
    unsigned flags = 99;
    int priority = 99, value = 7;
    hipEvent_t event;
    NEED(hipEventCreate(&event));
    show("hipMemset_spt", hipMemset_spt(data, 1, sizeof host));
    show("hipMemcpy_spt", hipMemcpy_spt(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 0x01010101);
    void* arguments[] = {&data, &value};
    show("hipLaunchKernel_spt",
         hipLaunchKernel_spt(reinterpret_cast<const void*>(set), dim3(1), dim3(64), arguments, 0, nullptr));
    show("hipStreamSynchronize_spt", hipStreamSynchronize_spt(nullptr));
    show("hipStreamQuery_spt", hipStreamQuery_spt(nullptr));
    show("hipMemcpyAsync_spt", hipMemcpyAsync_spt(host, data, sizeof host, hipMemcpyDeviceToHost, nullptr));
    show("hipStreamSynchronize_spt", hipStreamSynchronize_spt(nullptr));
    show_all("data of the kernel", host, 64, 7);
    show("hipStreamGetFlags_spt", hipStreamGetFlags_spt(nullptr, &flags));
    show("flags", flags);
    show("hipStreamGetPriority_spt", hipStreamGetPriority_spt(nullptr, &priority));
    show("priority", priority);
    NEED(hipEventRecord(event, hipStreamPerThread));
    show("hipStreamWaitEvent_spt", hipStreamWaitEvent_spt(nullptr, event, 0));
    show("hipMemset2D_spt", hipMemset2D_spt(data, 32, 2, 16, 8));
    show("hipMemcpy2D_spt", hipMemcpy2D_spt(host, 32, data, 32, 32, 8, hipMemcpyDeviceToHost));
    show_sum("data of the fill", host, sizeof host);

    // The calls are on the thread's own stream, and that is the one that is waited for.
    Hold hold;
    wait_until_open<<<1, 1, 0, hipStreamPerThread>>>(hold.flag);
    show("held", hipStreamQuery_spt(nullptr));
    hold.open();
    show("released", hipStreamSynchronize_spt(nullptr));
    return 0;
}
