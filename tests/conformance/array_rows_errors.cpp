// hipMemcpy2DToArray and hipMemcpy2DFromArray, with and without a stream: what they refuse, and copies of nothing.
#include "array.h"

static float host[4096];
static hipStream_t stream;

static void to(const char* label, hipArray* dst, size_t offset, size_t row, const void* src, size_t pitch, size_t width,
               size_t height, hipMemcpyKind kind = hipMemcpyHostToDevice) {
    line("to, %s: %s", label,
         observe::name_of(hipMemcpy2DToArray(dst, offset, row, src, pitch, width, height, kind)).c_str());
    line("to on a stream, %s: %s", label,
         observe::name_of(hipMemcpy2DToArrayAsync(dst, offset, row, src, pitch, width, height, kind, stream)).c_str());
}

static void from(const char* label, void* dst, size_t pitch, hipArray* src, size_t offset, size_t row, size_t width,
                 size_t height, hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    line("from, %s: %s", label,
         observe::name_of(hipMemcpy2DFromArray(dst, pitch, src, offset, row, width, height, kind)).c_str());
    line("from on a stream, %s: %s", label,
         observe::name_of(hipMemcpy2DFromArrayAsync(dst, pitch, src, offset, row, width, height, kind, stream)).c_str());
}

int main() {
    NEED(hipStreamCreate(&stream));
    hipArray *a = plane(), *row = plane(16, 0);
    to("too wide", a, 0, 0, host, 128, 68, 8);
    to("too high", a, 0, 0, host, 64, 64, 9);
    to("too far right", a, 4, 0, host, 64, 64, 8);
    to("too far down", a, 0, 1, host, 64, 64, 8);
    to("rows wider than apart", a, 0, 0, host, 32, 64, 8);
    to("rows no distance apart", a, 0, 0, host, 0, 64, 8);
    to("from null", a, 0, 0, nullptr, 64, 64, 8);
    to("no array", nullptr, 0, 0, host, 64, 64, 8);
    to("the wrong way", a, 0, 0, host, 64, 64, 8, hipMemcpyDeviceToHost);
    to("two rows into one", row, 0, 0, host, 64, 64, 2);
    to("no width", a, 0, 0, host, 64, 0, 8);
    to("no height", a, 0, 0, host, 64, 64, 0);
    from("too wide", host, 128, a, 0, 0, 68, 8);
    from("too high", host, 64, a, 0, 0, 64, 9);
    from("too far right", host, 64, a, 4, 0, 64, 8);
    from("too far down", host, 64, a, 0, 1, 64, 8);
    from("rows wider than apart", host, 32, a, 0, 0, 64, 8);
    from("rows no distance apart", host, 0, a, 0, 0, 64, 8);
    from("to null", nullptr, 64, a, 0, 0, 64, 8);
    from("no array", host, 64, nullptr, 0, 0, 64, 8);
    from("the wrong way", host, 64, a, 0, 0, 64, 8, hipMemcpyHostToDevice);
    from("no width", host, 64, a, 0, 0, 0, 8);
    from("no height", host, 64, a, 0, 0, 64, 0);
    show("stream", hipStreamSynchronize(stream));
    NEED(hipFreeArray(a));
    NEED(hipFreeArray(row));
    NEED(hipStreamDestroy(stream));
}
