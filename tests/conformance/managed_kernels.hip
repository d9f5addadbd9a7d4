// Managed and pinned memory in kernels, by the host's own pointer; managed variables by the device's pointer.
// proves: hipMallocManaged
#include "observe.h"

__global__ void twice(int* data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= 2;
}

__global__ void sum(const int* data, int count, long long* out) {
    long long total = 0;
    for (int i = 0; i < count; ++i) total += data[i];
    *out = total;
}

int main() {
    const int count = 5000;
    int *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
    long long* total = nullptr;
    NEED(hipMallocManaged(&managed, count * sizeof(int)));
    NEED(hipHostMalloc(&pinned, count * sizeof(int), hipHostMallocMapped));
    NEED(hipMallocManaged(&total, sizeof *total));
    NEED(hipHostGetDevicePointer(reinterpret_cast<void**>(&mapped), pinned, 0));
    for (int i = 0; i < count; ++i) managed[i] = pinned[i] = i;
    twice<<<20, 256>>>(managed, count);
    twice<<<20, 256>>>(mapped, count);
    show("synchronize", hipDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += managed[i] != 2 * i || pinned[i] != 2 * i;
    show("wrong", wrong);
    sum<<<1, 1>>>(managed, count, total);
    show("synchronize", hipDeviceSynchronize());
    show("total", *total);
    for (int i = 0; i < count; ++i) managed[i] = 1;
    sum<<<1, 1>>>(managed, count, total);
    NEED(hipDeviceSynchronize());
    show("total of what the host wrote", *total);
    std::vector<int> registered(count, 3);
    int* device = nullptr;
    NEED(hipHostRegister(registered.data(), count * sizeof(int), hipHostRegisterMapped));
    NEED(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), registered.data(), 0));
    twice<<<20, 256>>>(device, count);
    NEED(hipDeviceSynchronize());
    show_all("registered", registered.data(), registered.size(), 6);
    // HIP: 5.2.3 aborts in hipHostUnregister where the device's address of the memory is the host's.
    NEED(hipFree(managed));
    NEED(hipFree(total));
    NEED(hipHostFree(pinned));
}
