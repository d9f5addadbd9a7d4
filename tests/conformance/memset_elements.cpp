// hipMemsetD16 and hipMemsetD32: elements, neighbours, addresses that are not aligned.
#include "observe.h"

static const size_t room = 65536;
static unsigned char* device = nullptr;
static std::vector<unsigned char> back(room);

static void reset() {
    std::vector<unsigned char> fill(room, 0x11);
    NEED(hipMemcpy(device, fill.data(), room, hipMemcpyHostToDevice));
}

static void see(const char* label, size_t count, size_t offset, hipError_t error) {
    NEED(hipDeviceSynchronize());
    NEED(hipMemcpy(back.data(), device, room, hipMemcpyDeviceToHost));
    line("%s of %zu at %zu: %s", label, count, offset, observe::name_of(error).c_str());
    show_sum("its bytes", back.data(), room);
}

int main() {
    NEED(hipMalloc(&device, room));
    for (size_t count : {1, 2, 3, 5, 16, 63, 64, 65, 1000, 4097}) {
        for (size_t offset : {0, 2, 4, 6, 8}) {
            // HIP: 5.2.3 writes behind the allocation where a fill ends before its first aligned 8 bytes.
            if (offset % 8 && offset % 8 + 2 * count < 8) continue;
            reset();
            see("D16", count, offset, hipMemsetD16(device + offset, 0xbeef, count));
        }
        for (size_t offset : {0, 4, 8, 12}) {
            reset();
            see("D32", count, offset, hipMemsetD32(device + offset, 0x01020304, count));
        }
    }
    reset();
    see("D16, whole allocation", room / 2, 0, hipMemsetD16(device, 0x0102, room / 2));
    reset();
    see("D32, whole allocation", room / 4, 0, hipMemsetD32(device, -2, room / 4));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    reset();
    see("D8 async", 100, 3, hipMemsetD8Async(device + 3, 7, 100, stream));
    see("D16 async", 100, 10, hipMemsetD16Async(device + 10, 0x0809, 100, stream));
    see("D32 async", 100, 1000, hipMemsetD32Async(device + 1000, 0x0a0b0c0d, 100, stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
}
