// hipMemset2D: rows of every width, gaps between rows stay, synchronous and not.
#include "observe.h"

// DIFFERS one row too many: 5.2.3 writes behind the allocation; cudaMemset2D
int main() {
    const size_t pitch = 96, height = 20, room = pitch * height;
    unsigned char* device = nullptr;
    NEED(hipMalloc(&device, room));
    std::vector<unsigned char> fill(room, 0x33), back(room), expected(room);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    for (size_t width : {1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 95, 96}) {
        for (size_t rows : {1, 2, 5, 20}) {
            int wrong = 0;
            hipError_t error = hipSuccess;
            for (int async = 0; async < 2; ++async) {
                NEED(hipMemcpy(device, fill.data(), room, hipMemcpyHostToDevice));
                hipError_t now = async ? hipMemset2DAsync(device, pitch, 0x77, width, rows, stream)
                                       : hipMemset2D(device, pitch, 0x77, width, rows);
                if (now != hipSuccess) error = now;
                NEED(hipStreamSynchronize(stream));
                NEED(hipMemcpy(back.data(), device, room, hipMemcpyDeviceToHost));
                expected = fill;
                for (size_t y = 0; y < rows; ++y) std::memset(expected.data() + y * pitch, 0x77, width);
                wrong += back != expected;
            }
            line("%zu x %zu: %s, wrong %d", width, rows, observe::name_of(error).c_str(), wrong);
        }
    }
    show("at an offset", hipMemset2D(device + 5, pitch, 1, 10, 3));
    NEED(hipMemcpy(back.data(), device, room, hipMemcpyDeviceToHost));
    show_sum("its bytes", back.data(), room);
    show("width 0", hipMemset2D(device, pitch, 1, 0, 3));
    show("height 0", hipMemset2D(device, pitch, 1, 3, 0));
    show("pitch below the width", hipMemset2D(device, 8, 1, 16, 3));
    show("pitch 0", hipMemset2D(device, 0, 1, 16, 3));
    show("null", hipMemset2D(nullptr, pitch, 1, 16, 3));
    show("null, height 0", hipMemset2D(nullptr, pitch, 1, 16, 0));
    show("one row too many", hipMemset2D(device, pitch, 1, 16, height + 1));
    show("async, null", hipMemset2DAsync(nullptr, pitch, 1, 16, 3, stream));
    show("async, width 0", hipMemset2DAsync(device, pitch, 1, 0, 3, stream));
    show("async, pitch below the width", hipMemset2DAsync(device, 8, 1, 16, 3, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
}
