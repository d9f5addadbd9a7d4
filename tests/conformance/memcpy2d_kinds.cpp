// hipMemcpy2D between every pair of memories: rows arrive, gaps between rows stay.
#include "observe.h"

static const size_t width = 40, height = 9, from_pitch = 64, to_pitch = 48;

static void one(const char* label, unsigned char* to, unsigned char* from, bool to_device, bool from_device,
                hipMemcpyKind kind) {
    std::vector<unsigned char> source(from_pitch * height), target(to_pitch * height, 0xcc),
        expected = target;
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i + 1);
    for (size_t y = 0; y < height; ++y) {
        std::memcpy(expected.data() + y * to_pitch, source.data() + y * from_pitch, width);
    }
    if (from_device)
        NEED(hipMemcpy(from, source.data(), source.size(), hipMemcpyHostToDevice));
    else
        std::memcpy(from, source.data(), source.size());
    if (to_device)
        NEED(hipMemcpy(to, target.data(), target.size(), hipMemcpyHostToDevice));
    else
        std::memcpy(to, target.data(), target.size());
    hipError_t error = hipMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
    NEED(hipDeviceSynchronize());
    if (to_device)
        NEED(hipMemcpy(target.data(), to, target.size(), hipMemcpyDeviceToHost));
    else
        std::memcpy(target.data(), to, target.size());
    line("%s: %s, right %d", label, observe::name_of(error).c_str(), target == expected);
}

int main() {
    unsigned char *d1 = nullptr, *d2 = nullptr, *p1 = nullptr, *p2 = nullptr;
    NEED(hipMalloc(&d1, 4096));
    NEED(hipMalloc(&d2, 4096));
    NEED(hipHostMalloc(&p1, 4096, 0));
    NEED(hipHostMalloc(&p2, 4096, 0));
    std::vector<unsigned char> h1(4096), h2(4096);
    one("pageable to device", d1, h1.data(), true, false, hipMemcpyHostToDevice);
    one("device to pageable", h1.data(), d1, false, true, hipMemcpyDeviceToHost);
    one("device to device", d2, d1, true, true, hipMemcpyDeviceToDevice);
    one("pinned to device", d1, p1, true, false, hipMemcpyHostToDevice);
    one("device to pinned", p1, d1, false, true, hipMemcpyDeviceToHost);
    one("pageable to pageable", h2.data(), h1.data(), false, false, hipMemcpyHostToHost);
    one("pinned to pinned", p2, p1, false, false, hipMemcpyHostToHost);
    one("pageable to pinned", p2, h1.data(), false, false, hipMemcpyHostToHost);
    one("default, pageable to device", d1, h1.data(), true, false, hipMemcpyDefault);
    one("default, device to pageable", h1.data(), d1, false, true, hipMemcpyDefault);
    one("default, device to device", d2, d1, true, true, hipMemcpyDefault);
    one("default, pageable to pageable", h2.data(), h1.data(), false, false, hipMemcpyDefault);
    one("wrong kind HtoD, device to device", d2, d1, true, true, hipMemcpyHostToDevice);
    one("wrong kind DtoH, pinned to device", d1, p1, true, false, hipMemcpyDeviceToHost);
    one("wrong kind DtoD, pinned to pinned", p2, p1, false, false, hipMemcpyDeviceToDevice);
    NEED(hipFree(d1));
    NEED(hipFree(d2));
    NEED(hipHostFree(p1));
    NEED(hipHostFree(p2));
}
