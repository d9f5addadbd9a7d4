// The current device belongs to a thread; a bad one leaves it alone.
#include "captured.h"

#include <thread>

int main() {
    int count = 0, device = -1;
    NEED(hipGetDeviceCount(&count));
    show("device at first", (NEED(hipGetDevice(&device)), device));
    show("set one too far", hipSetDevice(count));
    show("set -1", hipSetDevice(-1));
    show("device still", (NEED(hipGetDevice(&device)), device));
    show("set the last", hipSetDevice(count - 1));
    int there = -1;
    hipError_t error = hipErrorUnknown;
    std::thread([&] { error = hipGetDevice(&there); }).join();
    show("in a new thread", error);
    show("device of a new thread", there);
    show("get into null", hipGetDevice(nullptr));
    return 0;
}
