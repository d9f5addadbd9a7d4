// hipMemcpy3D: positions and extents in pitched memory, all directions, synchronous and not.
#include "observe.h"

static const size_t row = 64, rows = 6, slices = 5, total = row * rows * slices;

static hipMemcpy3DParms box(void* to, void* from, hipMemcpyKind kind) {
    hipMemcpy3DParms p;
    std::memset(&p, 0, sizeof p);
    p.srcPtr = make_hipPitchedPtr(from, row, row, rows);
    p.dstPtr = make_hipPitchedPtr(to, row, row, rows);
    p.extent = make_hipExtent(20, 3, 2);
    p.kind = kind;
    return p;
}

int main() {
    unsigned char *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, total));
    NEED(hipMalloc(&b, total));
    std::vector<unsigned char> source(total), target(total), zero(total, 0);
    for (size_t i = 0; i < total; ++i) source[i] = static_cast<unsigned char>(i * 7 + 1);
    auto reset = [&](unsigned char* d) { NEED(hipMemcpy(d, zero.data(), total, hipMemcpyHostToDevice)); };
    auto see = [&](const char* label, hipError_t error, unsigned char* d) {
        show(label, error);
        NEED(hipDeviceSynchronize());
        NEED(hipMemcpy(target.data(), d, total, hipMemcpyDeviceToHost));
        show_sum("its bytes", target.data(), total);
    };

    reset(a);
    hipMemcpy3DParms p = box(a, source.data(), hipMemcpyHostToDevice);
    see("host to device", hipMemcpy3D(&p), a);
    reset(a);
    p.srcPos = make_hipPos(3, 1, 2);
    p.dstPos = make_hipPos(8, 2, 1);
    see("with positions", hipMemcpy3D(&p), a);
    reset(a);
    p = box(a, source.data(), hipMemcpyHostToDevice);
    p.extent = make_hipExtent(row, rows, slices);
    see("everything", hipMemcpy3D(&p), a);
    reset(b);
    p = box(b, a, hipMemcpyDeviceToDevice);
    p.srcPos = make_hipPos(1, 2, 3);
    see("device to device", hipMemcpy3D(&p), b);
    reset(b);
    p.kind = hipMemcpyDefault;
    p.dstPos = make_hipPos(40, 3, 0);
    see("default", hipMemcpy3D(&p), b);
    std::vector<unsigned char> back(total, 0);
    p = box(back.data(), a, hipMemcpyDeviceToHost);
    p.srcPos = make_hipPos(10, 0, 1);
    show("device to host", hipMemcpy3D(&p));
    show_sum("its bytes", back.data(), total);
    std::vector<unsigned char> other(total, 0);
    p = box(other.data(), source.data(), hipMemcpyHostToHost);
    show("host to host", hipMemcpy3D(&p));
    show_sum("its bytes", other.data(), total);

    // Another pitch and number of rows on one side.
    reset(a);
    p = box(a, source.data(), hipMemcpyHostToDevice);
    p.srcPtr = make_hipPitchedPtr(source.data(), 48, 48, 4);
    see("another shape", hipMemcpy3D(&p), a);

    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    reset(a);
    p = box(a, source.data(), hipMemcpyHostToDevice);
    p.dstPos = make_hipPos(1, 1, 1);
    see("async", hipMemcpy3DAsync(&p, stream), a);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
