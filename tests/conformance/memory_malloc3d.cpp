// hipMalloc3D: pitch and sizes of the result, and what it refuses.
#include "observe.h"

static void one(size_t width, size_t height, size_t depth) {
    hipPitchedPtr p = {reinterpret_cast<void*>(0x10), 1, 2, 3};
    hipError_t error = hipMalloc3D(&p, make_hipExtent(width, height, depth));
    line("%zu x %zu x %zu: %s", width, height, depth, observe::name_of(error).c_str());
    if (error != hipSuccess) return;
    line("%zu x %zu x %zu gives: null %d, pitch %zu, xsize %zu, ysize %zu", width, height, depth,
         p.ptr == nullptr, p.pitch, p.xsize, p.ysize);
    if (p.ptr) {
        hipDeviceptr_t base = nullptr;
        size_t bytes = 0;
        NEED(hipMemGetAddressRange(&base, &bytes, p.ptr));
        line("%zu x %zu x %zu takes: %zu bytes", width, height, depth, bytes);
        NEED(hipFree(p.ptr));
    }
}

int main() {
    one(1, 1, 1);
    one(100, 7, 3);
    one(128, 4, 4);
    one(130, 2, 9);
    one(256, 1, 1);
    one(300, 5, 2);
    one(0, 4, 4);
    one(16, 0, 4);
    one(16, 4, 0);
    one(0, 0, 0);
    show("null result", hipMalloc3D(nullptr, make_hipExtent(16, 4, 4)));
    one(size_t(1) << 40, 1 << 10, 1 << 10);
    one(SIZE_MAX, 1, 1);
}
