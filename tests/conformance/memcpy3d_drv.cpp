// hipDrvMemcpy3D and its asynchronous form: offsets, heights, memory types, errors.
#include "driver_copy.h"

static const size_t row = 64, rows = 6, slices = 5, total = row * rows * slices;

static HIP_MEMCPY3D box(hipMemoryType from, void* source, hipMemoryType to, void* target) {
    HIP_MEMCPY3D p = between<HIP_MEMCPY3D>(from, source, to, target);
    p.srcPitch = p.dstPitch = row;
    p.srcHeight = p.dstHeight = rows;
    p.WidthInBytes = 20;
    p.Height = 3;
    p.Depth = 2;
    return p;
}

int main() {
    unsigned char *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, total));
    NEED(hipMalloc(&b, total));
    std::vector<unsigned char> source(total), target(total), zero(total, 0);
    for (size_t i = 0; i < total; ++i) source[i] = static_cast<unsigned char>(i * 11 + 1);
    auto reset = [&](unsigned char* d) { NEED(hipMemcpy(d, zero.data(), total, hipMemcpyHostToDevice)); };
    auto see = [&](const char* label, hipError_t error, unsigned char* d) {
        show(label, error);
        NEED(hipDeviceSynchronize());
        NEED(hipMemcpy(target.data(), d, total, hipMemcpyDeviceToHost));
        show_sum("its bytes", target.data(), total);
    };
    const hipMemoryType on_host = hipMemoryTypeHost, on_device = hipMemoryTypeDevice;

    reset(a);
    HIP_MEMCPY3D p = box(on_host, source.data(), on_device, a);
    see("host to device", hipDrvMemcpy3D(&p), a);
    reset(a);
    p.srcXInBytes = 2, p.srcY = 1, p.srcZ = 1, p.dstXInBytes = 9, p.dstY = 2, p.dstZ = 3;
    see("with offsets", hipDrvMemcpy3D(&p), a);
    reset(b);
    p = box(on_device, a, on_device, b);
    p.WidthInBytes = row, p.Height = rows, p.Depth = slices;
    see("device to device", hipDrvMemcpy3D(&p), b);
    std::vector<unsigned char> back(total, 0);
    p = box(on_device, a, on_host, back.data());
    p.srcZ = 3;
    show("device to host", hipDrvMemcpy3D(&p));
    show_sum("its bytes", back.data(), total);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    reset(a);
    p = box(on_host, source.data(), on_device, a);
    see("async", hipDrvMemcpy3DAsync(&p, stream), a);

    reset(a);
    p = box(on_host, source.data(), on_device, a);
    p.srcPitch = p.dstPitch = p.srcHeight = p.dstHeight = 0;
    see("no pitches and heights", hipDrvMemcpy3D(&p), a);
    reset(a);
    p.srcY = 1, p.dstZ = 1;
    see("no pitches and heights with offsets", hipDrvMemcpy3D(&p), a);

    show("null", hipDrvMemcpy3D(nullptr));
    show("null, async", hipDrvMemcpy3DAsync(nullptr, stream));
    p = box(on_host, source.data(), on_device, a);
    p.WidthInBytes = 0;
    show("width 0", hipDrvMemcpy3D(&p));
    p = box(on_host, source.data(), on_device, a);
    p.Height = 0;
    show("height 0", hipDrvMemcpy3D(&p));
    p = box(on_host, source.data(), on_device, a);
    p.Depth = 0;
    show("depth 0", hipDrvMemcpy3D(&p));
    p = box(on_host, source.data(), on_device, a);
    p.srcPitch = 16;
    show("source pitch below the width", hipDrvMemcpy3D(&p));
    p = box(on_host, nullptr, on_device, a);
    show("null source", hipDrvMemcpy3D(&p));
    p = box(on_host, source.data(), on_device, nullptr);
    show("null destination", hipDrvMemcpy3D(&p));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
