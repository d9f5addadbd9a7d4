// hipMemcpyParam2D, its asynchronous form and hipDrvMemcpy2DUnaligned: offsets, pitches, errors.
#include "driver_copy.h"

static const size_t pitch = 64;

static hip_Memcpy2D params(hipMemoryType from, void* source, hipMemoryType to, void* target) {
    hip_Memcpy2D p = between<hip_Memcpy2D>(from, source, to, target);
    p.srcPitch = p.dstPitch = pitch;
    p.WidthInBytes = 32;
    p.Height = 5;
    return p;
}

static void read(const char* label, hipError_t error, unsigned char* device) {
    std::vector<unsigned char> seen(pitch * 16);
    NEED(hipDeviceSynchronize());
    NEED(hipMemcpy(seen.data(), device, seen.size(), hipMemcpyDeviceToHost));
    show(label, error);
    show_sum("its bytes", seen.data(), seen.size());
}

// DIFFERS beyond the row: 5.2.3 wraps into the next row; the rectangle must fit (HIP 7 documentation,
//     memcpy node parameters)
int main() {
    unsigned char *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, pitch * 16));
    NEED(hipMalloc(&b, pitch * 16));
    std::vector<unsigned char> host(pitch * 16), zero(pitch * 16, 0), back(pitch * 16, 0);
    for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 5 + 3);
    auto reset = [&](unsigned char* d) {
        NEED(hipMemcpy(d, zero.data(), zero.size(), hipMemcpyHostToDevice));
    };
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    const hipMemoryType on_host = hipMemoryTypeHost, on_device = hipMemoryTypeDevice;

    reset(a);
    hip_Memcpy2D p = params(on_host, host.data(), on_device, a);
    read("host to device", hipMemcpyParam2D(&p), a);
    reset(a);
    p.srcXInBytes = 4, p.srcY = 2, p.dstXInBytes = 8, p.dstY = 1;
    read("with offsets", hipMemcpyParam2D(&p), a);
    reset(a);
    p.srcPitch = 48;
    read("with another pitch", hipMemcpyParam2D(&p), a);
    reset(b);
    p = params(on_device, a, on_device, b);
    p.dstXInBytes = 3;
    read("device to device", hipMemcpyParam2D(&p), b);
    p = params(on_device, a, on_host, back.data());
    show("device to host", hipMemcpyParam2D(&p));
    show_sum("its bytes", back.data(), back.size());
    reset(a);
    p = params(on_host, host.data(), on_device, a);
    read("async", hipMemcpyParam2DAsync(&p, stream), a);
    reset(a);
    p.dstXInBytes = 1;
    read("unaligned", hipDrvMemcpy2DUnaligned(&p), a);

    // HIP: 5.2.3 crashes on null parameters.
    p = params(on_host, host.data(), on_device, a);
    p.srcPitch = 16;
    show("source pitch below the width", hipMemcpyParam2D(&p));
    p = params(on_host, host.data(), on_device, a);
    p.dstPitch = 16;
    show("destination pitch below the width", hipMemcpyParam2D(&p));
    reset(a);
    p = params(on_host, host.data(), on_device, a);
    p.srcPitch = p.dstPitch = 0;
    read("pitches of 0", hipMemcpyParam2D(&p), a);
    reset(a);
    p.srcXInBytes = 3, p.srcY = 1, p.dstY = 2;
    read("pitches of 0 with offsets", hipMemcpyParam2D(&p), a);
    p = params(on_host, host.data(), on_device, a);
    p.srcXInBytes = pitch - p.WidthInBytes + 1;
    show("beyond the row", hipMemcpyParam2D(&p));
    p = params(on_host, host.data(), on_device, a);
    p.WidthInBytes = 0;
    show("width 0", hipMemcpyParam2D(&p));
    p = params(on_host, host.data(), on_device, a);
    p.Height = 0;
    show("height 0", hipMemcpyParam2D(&p));
    p = params(on_host, nullptr, on_device, a);
    show("null source", hipMemcpyParam2D(&p));
    p = params(on_host, host.data(), on_device, nullptr);
    show("null destination", hipMemcpyParam2D(&p));
    p = params(on_host, host.data(), on_device, a);
    p.Height = 17;
    show("one row too many", hipMemcpyParam2D(&p));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
