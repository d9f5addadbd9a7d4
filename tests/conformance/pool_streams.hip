// Pool memory passed from stream to stream: allocated on one, written on a second, read on a third, freed on any.
#include "observe.h"

__global__ void scale(float* data, float factor) { data[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }

__global__ void fill(float* data, float value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
    constexpr int n = 4096;
    hipStream_t streams[3];
    hipEvent_t events[3];
    for (int i = 0; i < 3; ++i) {
        NEED(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
        NEED(hipEventCreateWithFlags(&events[i], hipEventDisableTiming));
    }
    for (int round = 0; round < 6; ++round) {
        auto &a = streams[round % 3], &b = streams[(round + 1) % 3], &c = streams[(round + 2) % 3];
        float* data = nullptr;
        NEED(hipMallocAsync(reinterpret_cast<void**>(&data), n * sizeof(float), a));
        fill<<<n / 256, 256, 0, a>>>(data, 1.0f);
        NEED(hipEventRecord(events[0], a));
        NEED(hipStreamWaitEvent(b, events[0], 0));
        scale<<<n / 256, 256, 0, b>>>(data, 2.0f + round);
        NEED(hipEventRecord(events[1], b));
        NEED(hipStreamWaitEvent(c, events[1], 0));
        std::vector<float> back(n);
        NEED(hipMemcpyAsync(back.data(), data, n * sizeof(float), hipMemcpyDeviceToHost, c));
        NEED(hipStreamSynchronize(c));
        show_all("data", back.data(), back.size(), 2.0f + round);
        show("free", hipFreeAsync(data, round % 2 ? a : c));
    }
    show("synchronize", hipDeviceSynchronize());
    hipMemPool_t pool = nullptr;
    NEED(hipDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long used = 77;
    show("get", hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    show("used", used);
}
