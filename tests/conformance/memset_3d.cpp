// hipMemset3D: boxes in pitched memory, gaps stay, errors, synchronous and not.
#include "observe.h"

static const size_t pitch = 64, rows = 6, slices = 4, room = pitch * rows * slices;
static unsigned char* device = nullptr;

static void one(const char* label, size_t width, size_t height, size_t depth, hipStream_t stream) {
    std::vector<unsigned char> fill(room, 0x33), back(room), expected = fill;
    for (size_t z = 0; z < depth && z < slices; ++z) {
        for (size_t y = 0; y < height; ++y) {
            std::memset(expected.data() + (z * rows + y) * pitch, 0x44, width < pitch ? width : pitch);
        }
    }
    NEED(hipMemcpy(device, fill.data(), room, hipMemcpyHostToDevice));
    hipPitchedPtr p = make_hipPitchedPtr(device, pitch, pitch, rows);
    hipExtent extent = make_hipExtent(width, height, depth);
    hipError_t error = stream ? hipMemset3DAsync(p, 0x44, extent, stream) : hipMemset3D(p, 0x44, extent);
    NEED(hipDeviceSynchronize());
    NEED(hipMemcpy(back.data(), device, room, hipMemcpyDeviceToHost));
    line("%s %zu x %zu x %zu: %s, right %d", label, width, height, depth, observe::name_of(error).c_str(),
         back == (error == hipSuccess ? expected : fill));
}

// DIFFERS full rows: 5.2.3 fills rows that follow each other, also those between the slices of the box;
//     cudaMemset3D
// DIFFERS too wide: 5.2.3 wraps into the next row; the box must fit
int main() {
    NEED(hipMalloc(&device, room));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    one("all", pitch, rows, slices, nullptr);
    one("a box", 10, 3, 2, nullptr);
    one("a box, async", 10, 3, 2, stream);
    one("full rows", pitch, 2, 3, nullptr);
    one("full slices", 17, rows, 3, nullptr);
    one("one byte", 1, 1, 1, nullptr);
    one("a column", 1, 1, slices, nullptr);
    one("width 0", 0, 3, 2, nullptr);
    one("height 0", 3, 0, 2, nullptr);
    one("depth 0", 3, 3, 0, nullptr);
    one("too wide", pitch + 1, 2, 2, nullptr);
    one("one slice too many", pitch, rows, slices + 1, nullptr);
    hipPitchedPtr p = make_hipPitchedPtr(nullptr, pitch, pitch, rows);
    show("null", hipMemset3D(p, 1, make_hipExtent(4, 4, 1)));
    show("null, empty", hipMemset3D(p, 1, make_hipExtent(0, 4, 1)));
    show("null, async", hipMemset3DAsync(p, 1, make_hipExtent(4, 4, 1), stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
}
