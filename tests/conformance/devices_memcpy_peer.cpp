// Two devices: hipMemcpyPeer and hipMemcpyPeerAsync between them, with and without access to each other.
// DEVICES: 2
// proves: hipMemcpyPeer, hipMemcpyPeerAsync
#include "observe.h"

const int count = 1000;
const size_t bytes = count * sizeof(int);

static int* on(int device) {
    int* memory = nullptr;
    NEED(hipSetDevice(device));
    NEED(hipMalloc(&memory, bytes));
    return memory;
}

static void put(int* memory, int seed) {
    std::vector<int> host(count);
    for (int i = 0; i < count; ++i) host[i] = i * seed;
    NEED(hipMemcpy(memory, host.data(), bytes, hipMemcpyHostToDevice));
}

static void show_times(const char* label, const int* memory, int seed) {
    std::vector<int> host(count, -1);
    NEED(hipMemcpy(host.data(), memory, bytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (host[i] != i * seed) return line("%s: element %d is %d", label, i, host[i]);
    }
    line("%s: %d times the index", label, seed);
}

int main() {
    int *a = on(0), *b = on(1);
    put(a, 3);
    for (int current : {0, 1}) {
        std::string at = current == 0 ? "the source current" : "the destination current";
        NEED(hipSetDevice(current));
        put(b, 0);
        show(at.c_str(), hipMemcpyPeer(b, 1, a, 0, bytes));
        show_times(at.c_str(), b, 3);

        hipStream_t stream;
        NEED(hipStreamCreate(&stream));
        put(b, 0);
        show((at + ", on its stream").c_str(), hipMemcpyPeerAsync(b, 1, a, 0, bytes, stream));
        NEED(hipStreamSynchronize(stream));
        show_times((at + ", on its stream").c_str(), b, 3);
        put(b, 0);
        show((at + ", on its default stream").c_str(), hipMemcpyPeerAsync(b, 1, a, 0, bytes, nullptr));
        NEED(hipDeviceSynchronize());
        show_times((at + ", on its default stream").c_str(), b, 3);

        // Without naming the devices.
        put(b, 0);
        show((at + ", hipMemcpyDefault").c_str(), hipMemcpy(b, a, bytes, hipMemcpyDefault));
        NEED(hipDeviceSynchronize());
        show_times((at + ", hipMemcpyDefault").c_str(), b, 3);
        put(b, 0);
        show((at + ", hipMemcpyDeviceToDevice").c_str(),
             hipMemcpyAsync(b, a, bytes, hipMemcpyDeviceToDevice, stream));
        NEED(hipStreamSynchronize(stream));
        show_times((at + ", hipMemcpyDeviceToDevice").c_str(), b, 3);
        NEED(hipStreamDestroy(stream));
    }

    NEED(hipSetDevice(0));
    NEED(hipDeviceEnablePeerAccess(1, 0));
    put(a, 5);
    show("with access", hipMemcpyPeer(b, 1, a, 0, bytes));
    show_times("with access", b, 5);
    put(b, 7);
    show("back", hipMemcpyPeer(a, 0, b, 1, bytes));
    show_times("back", a, 7);

    show("no bytes", hipMemcpyPeer(b, 1, a, 0, 0));
    show("null destination", hipMemcpyPeer(nullptr, 1, a, 0, bytes));
    show("null source", hipMemcpyPeer(b, 1, nullptr, 0, bytes));
    show("to device 2", hipMemcpyPeer(b, 2, a, 0, bytes));
    show("from device -1", hipMemcpyPeer(b, 1, a, -1, bytes));
    show("too many bytes", hipMemcpyPeer(b, 1, a, 0, bytes + 4));
    show("asynchronously to device 2", hipMemcpyPeerAsync(b, 2, a, 0, bytes, nullptr));
    NEED(hipDeviceSynchronize());
    show_times("what the refused ones left", a, 7);
    NEED(hipFree(a));
    NEED(hipFree(b));
}
