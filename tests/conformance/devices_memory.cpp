// Two devices: to which one memory belongs, and calls on memory of the one that is not current.
// DEVICES: 2
#include "observe.h"

static void show_owner(const char* label, void* memory) {
    hipPointerAttribute_t attributes;
    std::memset(&attributes, 0xff, sizeof attributes);
    hipError_t result = hipPointerGetAttributes(&attributes, memory);
    line("%s: %s, device %d", label, observe::name_of(result).c_str(), attributes.device);
}

int main() {
    const size_t bytes = 4096;
    void *device[2], *host = nullptr;
    for (int number : {0, 1}) {
        NEED(hipSetDevice(number));
        NEED(hipMalloc(&device[number], bytes));
    }
    NEED(hipHostMalloc(&host, bytes, hipHostMallocPortable));
    show_owner("first", device[0]);
    show_owner("inside the first", static_cast<char*>(device[0]) + 100);
    show_owner("second", device[1]);
    show_owner("pinned while the second was current", host);

    // The second is current.
    show("fill of the first's memory", hipMemset(device[0], 3, bytes));
    std::vector<unsigned char> back(bytes, 0);
    show("read of the first's memory", hipMemcpy(back.data(), device[0], bytes, hipMemcpyDeviceToHost));
    NEED(hipDeviceSynchronize());
    show_all("read", back.data(), bytes, static_cast<unsigned char>(3));
    void* base = nullptr;
    size_t size = 0;
    show("range of the first's memory", hipMemGetAddressRange(&base, &size, static_cast<char*>(device[0]) + 64));
    show("its base", base == device[0]);
    show("its size", size);

    // Memory that goes is counted where it was.
    size_t before[2], after[2], total;
    void* large[2];
    for (int number : {0, 1}) {
        NEED(hipSetDevice(number));
        NEED(hipMemGetInfo(&before[number], &total));
    }
    NEED(hipSetDevice(1));
    NEED(hipMalloc(&large[1], 64 << 20));
    for (int number : {0, 1}) {
        NEED(hipSetDevice(number));
        NEED(hipMemGetInfo(&after[number], &total));
        line("device %d has less: %d", number, after[number] < before[number]);
    }
    NEED(hipSetDevice(0));
    show("free the second's memory", hipFree(large[1]));
    show("free it again", hipFree(large[1]));
    NEED(hipSetDevice(1));
    size_t end;
    NEED(hipMemGetInfo(&end, &total));
    show("it is back", end == before[1]);
    NEED(hipFree(device[0]));
    NEED(hipFree(device[1]));
    NEED(hipHostFree(host));
}
