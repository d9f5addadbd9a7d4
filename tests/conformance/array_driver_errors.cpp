// hipMemcpyParam2D and hipDrvMemcpy3D with arrays: boxes that leave them, and arrays that are none.
#include "driver_copy.h"
#include "array.h"

static float host[4096];

int main() {
    hipArray *flat = plane(), *deep = cube();
    hip_Memcpy2D rows = between<hip_Memcpy2D>(hipMemoryTypeHost, host, hipMemoryTypeArray, nullptr);
    rows.srcPitch = 64;
    auto copy_rows = [&](const char* label, hipArray* to, size_t x, size_t y, size_t width, size_t height) {
        rows.dstArray = to;
        rows.dstXInBytes = x;
        rows.dstY = y;
        rows.WidthInBytes = width;
        rows.Height = height;
        show(label, hipMemcpyParam2D(&rows));
    };
    rows.srcPitch = 128;
    copy_rows("rows too wide", flat, 0, 0, 68, 8);
    copy_rows("rows too high", flat, 0, 0, 64, 9);
    copy_rows("rows too far right", flat, 4, 0, 64, 8);
    copy_rows("rows too far down", flat, 0, 1, 64, 8);
    copy_rows("rows to no array", nullptr, 0, 0, 64, 8);
    HIP_MEMCPY3D box = between<HIP_MEMCPY3D>(hipMemoryTypeHost, host, hipMemoryTypeArray, nullptr);
    auto copy_box = [&](const char* label, hipArray* to, size_t z, size_t width, size_t height, size_t depth) {
        box.srcPitch = 128;
        box.srcHeight = 16;
        box.dstArray = to;
        box.dstZ = z;
        box.WidthInBytes = width;
        box.Height = height;
        box.Depth = depth;
        show(label, hipDrvMemcpy3D(&box));
    };
    copy_box("box too wide", deep, 0, 68, 8, 4);
    copy_box("box too high", deep, 0, 64, 9, 4);
    copy_box("box too deep", deep, 0, 64, 8, 5);
    copy_box("box too far back", deep, 1, 64, 8, 4);
    copy_box("box to no array", nullptr, 0, 64, 8, 4);
    copy_box("two slices of a plane", flat, 0, 64, 8, 2);
    box = between<HIP_MEMCPY3D>(hipMemoryTypeArray, nullptr, hipMemoryTypeHost, host);
    box.srcArray = deep;
    box.dstPitch = 64;
    box.dstHeight = 8;
    box.WidthInBytes = 64;
    box.Height = 8;
    box.Depth = 5;
    show("from an array, too deep", hipDrvMemcpy3D(&box));
    NEED(hipFreeArray(flat));
    NEED(hipFreeArray(deep));
}
