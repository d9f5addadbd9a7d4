// Copies of odd sizes at odd addresses, there and back: every byte and its neighbours.
#include "observe.h"

int main() {
    const size_t room = (1 << 20) + 4096;
    unsigned char* device = nullptr;
    unsigned char* second = nullptr;
    NEED(hipMalloc(&device, room));
    NEED(hipMalloc(&second, room));
    std::vector<unsigned char> source(room), back(room), expected(room);
    for (size_t i = 0; i < room; ++i) source[i] = static_cast<unsigned char>(i * 31 + (i >> 8));

    for (size_t bytes :
         {1,   2,   3,   4,    7,    8,    15,   16,    17,    31,    63,      64,           65,
          127, 255, 256, 1000, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20, (1 << 20) + 3}) {
        int wrong_up = 0, wrong_across = 0;
        for (size_t offset : {0, 1, 3, 4, 8, 13}) {
            std::vector<unsigned char> fill(room, 0xee);
            NEED(hipMemcpy(device, fill.data(), room, hipMemcpyHostToDevice));
            NEED(hipMemcpy(second, fill.data(), room, hipMemcpyHostToDevice));
            NEED(hipMemcpy(device + offset, source.data() + 2 * offset, bytes, hipMemcpyHostToDevice));
            NEED(hipMemcpy(back.data(), device, room, hipMemcpyDeviceToHost));
            expected = fill;
            std::memcpy(expected.data() + offset, source.data() + 2 * offset, bytes);
            wrong_up += back != expected;
            NEED(hipMemcpy(second + offset + 1, device + offset, bytes, hipMemcpyDeviceToDevice));
            NEED(hipMemcpy(back.data(), second, room, hipMemcpyDeviceToHost));
            expected = fill;
            std::memcpy(expected.data() + offset + 1, source.data() + 2 * offset, bytes);
            wrong_across += back != expected;
        }
        line("%zu bytes: wrong to the device %d, wrong on the device %d", bytes, wrong_up, wrong_across);
    }
    NEED(hipFree(device));
    NEED(hipFree(second));
}
