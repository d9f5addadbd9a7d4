// hipMemcpy3D between pitched memory of other pitches and heights than the box: every byte is checked.
#include "observe.h"

static unsigned next_random(unsigned& state) { return state = state * 1664525u + 1013904223u, state >> 16; }

int main() {
    const size_t room = 64 * 1024;
    unsigned char *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, room));
    NEED(hipMalloc(&b, room));
    std::vector<unsigned char> source(room), before(room, 0x5a), found(room), expected;
    for (size_t i = 0; i < room; ++i) source[i] = static_cast<unsigned char>(i * 31 + (i >> 8));
    NEED(hipMemcpy(a, source.data(), room, hipMemcpyHostToDevice));
    unsigned state = 7, wrong = 0;
    for (int round = 0; round < 60; ++round) {
        auto upto = [&](size_t n) { return next_random(state) % n; };
        hipExtent box = make_hipExtent(1 + upto(40), 1 + upto(8), 1 + upto(6));
        hipMemcpy3DParms p;
        std::memset(&p, 0, sizeof p);
        p.srcPos = make_hipPos(upto(20), upto(3), upto(2));
        p.dstPos = make_hipPos(upto(20), upto(3), upto(2));
        const bool from_device = upto(2), to_device = upto(2);
        p.srcPtr = make_hipPitchedPtr(from_device ? a : source.data(), 64 + upto(30), 64, 12 + upto(4));
        p.dstPtr = make_hipPitchedPtr(to_device ? b : found.data(), 64 + upto(30), 64, 12 + upto(4));
        p.extent = box;
        p.kind = from_device ? (to_device ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost)
                             : (to_device ? hipMemcpyHostToDevice : hipMemcpyHostToHost);
        found = before;
        NEED(hipMemcpy(b, before.data(), room, hipMemcpyHostToDevice));
        NEED(hipMemcpy3D(&p));
        NEED(hipDeviceSynchronize());
        if (to_device) NEED(hipMemcpy(found.data(), b, room, hipMemcpyDeviceToHost));
        expected = before;
        for (size_t z = 0; z < box.depth; ++z)
            for (size_t y = 0; y < box.height; ++y) {
                auto row = [&](const hipPitchedPtr& m, const hipPos& at) {
                    return ((z + at.z) * m.ysize + y + at.y) * m.pitch + at.x;
                };
                std::memcpy(&expected[row(p.dstPtr, p.dstPos)], &source[row(p.srcPtr, p.srcPos)], box.width);
            }
        wrong += found != expected;
        if (round % 10 == 0) show_sum("bytes", found.data(), room);
    }
    show("wrong copies", wrong);
    NEED(hipFree(a));
    NEED(hipFree(b));
}
