// Freed pool memory in stream order: the stream that freed it has it again, and its work stays in order.
#include "observe.h"

__global__ void set(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add(int* sum, const int* data) { sum[threadIdx.x] += data[threadIdx.x]; }

int main() {
    constexpr int n = 256;
    hipMemPool_t pool = nullptr;
    NEED(hipDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long all = ~0ull;
    NEED(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &all));
    hipStream_t stream, other;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&other));
    int *sum = nullptr, *first = nullptr;
    NEED(hipMalloc(reinterpret_cast<void**>(&sum), n * sizeof(int)));
    NEED(hipMemset(sum, 0, n * sizeof(int)));
    int same = 0;
    for (int round = 0; round < 20; ++round) {
        int* data = nullptr;
        NEED(hipMallocAsync(reinterpret_cast<void**>(&data), n * sizeof(int), stream));
        if (round == 0) first = data;
        same += data == first;
        set<<<1, n, 0, stream>>>(data, round);
        add<<<1, n, 0, stream>>>(sum, data);
        NEED(hipFreeAsync(data, stream));
    }
    show("rounds with the same memory", same);
    std::vector<int> back(n);
    NEED(hipMemcpyAsync(back.data(), sum, n * sizeof(int), hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    show_all("sums", back.data(), back.size(), 190);

    // The free is over: any stream may have it, or other memory.
    int* data = nullptr;
    NEED(hipMallocAsync(reinterpret_cast<void**>(&data), n * sizeof(int), other));
    set<<<1, n, 0, other>>>(data, 7);
    NEED(hipMemcpyAsync(back.data(), data, n * sizeof(int), hipMemcpyDeviceToHost, other));
    NEED(hipStreamSynchronize(other));
    show_all("data", back.data(), back.size(), 7);
    NEED(hipFreeAsync(data, other));
    NEED(hipDeviceSynchronize());
}
