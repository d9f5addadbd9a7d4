// hipMemcpy3D with arrays: boxes that leave their ends, ends that are two things or none, and copies of nothing.
#include "array.h"

static float host[4096];

static hipMemcpy3DParms box(hipArray* to, hipPos at, hipExtent extent) {
    hipMemcpy3DParms p{};
    p.srcPtr = make_hipPitchedPtr(host, 64, 16, 8);
    p.dstArray = to;
    p.dstPos = at;
    p.extent = extent;
    p.kind = hipMemcpyHostToDevice;
    return p;
}

static void copy(const char* label, const hipMemcpy3DParms& p) {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    line("%s: %s", label, observe::name_of(hipMemcpy3D(&p)).c_str());
    line("%s, on a stream: %s", label, observe::name_of(hipMemcpy3DAsync(&p, stream)).c_str());
    NEED(hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));
}

int main() {
    hipArray *a = cube(), *flat = plane(), *row = plane(16, 0), *bytes = nullptr;
    const hipPos zero = make_hipPos(0, 0, 0);
    copy("too deep", box(a, zero, make_hipExtent(16, 8, 5)));
    copy("too high", box(a, zero, make_hipExtent(16, 9, 4)));
    hipMemcpy3DParms p = box(a, zero, make_hipExtent(17, 8, 4));
    p.srcPtr.pitch = 128;
    copy("too wide", p);
    copy("too far right", box(a, make_hipPos(1, 0, 0), make_hipExtent(16, 8, 4)));
    copy("too far down", box(a, make_hipPos(0, 1, 0), make_hipExtent(16, 8, 4)));
    copy("too far back", box(a, make_hipPos(0, 0, 1), make_hipExtent(16, 8, 4)));
    copy("two slices of a plane", box(flat, zero, make_hipExtent(16, 8, 2)));
    p = box(row, zero, make_hipExtent(17, 1, 1));
    p.srcPtr.pitch = 128;
    copy("more than a row", p);
    p = box(a, zero, make_hipExtent(16, 8, 4));
    p.srcPtr.pitch = 32;
    copy("rows wider than apart", p);
    p.srcPtr.pitch = 64;
    p.srcPtr.ysize = 4;
    copy("slices higher than apart", p);
    p = box(a, zero, make_hipExtent(16, 8, 4));
    p.dstPtr = make_hipPitchedPtr(host, 64, 16, 8);
    copy("an array and memory", p);
    copy("to nothing", box(nullptr, zero, make_hipExtent(16, 8, 4)));
    p = box(a, zero, make_hipExtent(16, 8, 4));
    p.srcPtr.ptr = nullptr;
    copy("from nothing", p);
    const hipChannelFormatDesc byte = {8, 0, 0, 0, hipChannelFormatKindSigned};
    NEED(hipMalloc3DArray(&bytes, &byte, make_hipExtent(16, 8, 4), hipArrayDefault));
    p = hipMemcpy3DParms{};
    p.srcArray = bytes;
    p.dstArray = a;
    p.extent = make_hipExtent(16, 8, 4);
    p.kind = hipMemcpyDeviceToDevice;
    copy("elements of other sizes", p);
    copy("no width", box(a, zero, make_hipExtent(0, 8, 4)));
    copy("no height", box(a, zero, make_hipExtent(16, 0, 4)));
    copy("no depth", box(a, zero, make_hipExtent(16, 8, 0)));
    for (hipArray* array : {a, flat, row, bytes}) NEED(hipFreeArray(array));
}
