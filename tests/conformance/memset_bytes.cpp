// hipMemset and hipMemsetD8 of odd sizes at odd addresses: the bytes and their neighbours.
#include "observe.h"

int main() {
    const size_t room = 1 << 19;
    unsigned char* device = nullptr;
    NEED(hipMalloc(&device, room));
    std::vector<unsigned char> fill(room, 0x11), back(room), expected(room);
    for (size_t bytes : {1,  2,   3,   4,   5,   7,    8,    15,   16,   17,    31,    63,    64,
                         65, 100, 255, 256, 257, 1000, 4095, 4096, 4097, 65536, 65537, 500001}) {
        int wrong = 0, refused = 0;
        for (size_t offset : {0, 1, 2, 3, 4, 7, 8, 13}) {
            for (int form = 0; form < 2; ++form) {
                // HIP: 5.2.3 writes behind the allocation where a fill ends before its first aligned 8 bytes.
                if (offset % 8 && offset % 8 + bytes < 8) continue;
                NEED(hipMemcpy(device, fill.data(), room, hipMemcpyHostToDevice));
                hipError_t error = form ? hipMemsetD8(device + offset, 0xa5, bytes)
                                        : hipMemset(device + offset, 0x1a5, bytes);
                refused += error != hipSuccess;
                NEED(hipMemcpy(back.data(), device, room, hipMemcpyDeviceToHost));
                expected = fill;
                std::memset(expected.data() + offset, 0xa5, bytes);
                wrong += back != expected;
            }
        }
        line("%zu bytes: refused %d, wrong %d", bytes, refused, wrong);
    }
    NEED(hipMemset(device, -1, 16));
    NEED(hipMemcpy(back.data(), device, 17, hipMemcpyDeviceToHost));
    line("value -1: %#x %#x", back[0], back[15]);
    NEED(hipFree(device));
}
