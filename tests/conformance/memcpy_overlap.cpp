// Copies of a range onto a part of itself on the host, and of neighbouring ranges on the device.
#include "observe.h"

int main() {
    // What a copy between overlapping ranges of a device leaves there is not defined: only host memory overlaps.
    std::vector<unsigned char> host(4096), expected;
    for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 3);
    expected = host;
    std::memmove(expected.data(), expected.data() + 100, 1000);
    show("down", hipMemcpy(host.data(), host.data() + 100, 1000, hipMemcpyHostToHost));
    show("down, right", host == expected);

    unsigned char *device = nullptr, *pinned = nullptr;
    NEED(hipMalloc(&device, 8192));
    NEED(hipHostMalloc(&pinned, 8192, 0));
    for (int i = 0; i < 8192; ++i) pinned[i] = static_cast<unsigned char>(i ^ (i >> 5));
    std::vector<unsigned char> back(8192), image(pinned, pinned + 8192);
    NEED(hipMemcpy(device, pinned, 8192, hipMemcpyHostToDevice));
    struct {
        size_t to, from, bytes;
    } moves[] = {{0, 1000, 1000}, {1000, 0, 1000}, {4096, 0, 4096},
                 {1, 100, 99},    {8191, 0, 1},    {4097, 4001, 96}};
    for (const auto& move : moves) {
        std::memmove(image.data() + move.to, image.data() + move.from, move.bytes);
        hipError_t error =
            hipMemcpy(device + move.to, device + move.from, move.bytes, hipMemcpyDeviceToDevice);
        NEED(hipMemcpy(back.data(), device, 8192, hipMemcpyDeviceToHost));
        line("%zu bytes from %zu to %zu: %s, right %d", move.bytes, move.from, move.to,
             observe::name_of(error).c_str(), back == image);
    }
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
}
