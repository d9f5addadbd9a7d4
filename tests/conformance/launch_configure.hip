// The oldest way to launch: hipConfigureCall, hipSetupArgument, hipLaunchByPtr.
// proves: hipConfigureCall, hipSetupArgument, hipLaunchByPtr
#include "observe.h"

__global__ void write(int* out, int a, double b, short c) {
    out[threadIdx.x] = a + int(b) + c + int(threadIdx.x);
}

int main() {
    int* device = nullptr;
    NEED(hipMalloc(&device, 64 * sizeof(int)));
    std::vector<int> back(64, -1);
    const void* f = reinterpret_cast<const void*>(write);
    int a = 100;
    double b = 20;
    short c = 3;
    show("configure", hipConfigureCall(dim3(1), dim3(64), 0, nullptr));
    show("argument 0", hipSetupArgument(&device, sizeof device, 0));
    show("argument 1", hipSetupArgument(&a, sizeof a, 8));
    show("argument 2", hipSetupArgument(&b, sizeof b, 16));
    show("argument 3", hipSetupArgument(&c, sizeof c, 24));
    show("launch", hipLaunchByPtr(f));
    NEED(hipMemcpy(back.data(), device, 64 * sizeof(int), hipMemcpyDeviceToHost));
    line("gives: %d %d", back[0], back[63]);

    // The last argument may come first, and configurations nest.
    a = 1000;
    show("outer", hipConfigureCall(dim3(1), dim3(32), 0, nullptr));
    show("outer argument", hipSetupArgument(&c, sizeof c, 24));
    show("inner", hipConfigureCall(dim3(1), dim3(64), 0, nullptr));
    b = 50;
    show("inner argument 2", hipSetupArgument(&b, sizeof b, 16));
    show("inner argument 0", hipSetupArgument(&device, sizeof device, 0));
    show("inner argument 1", hipSetupArgument(&a, sizeof a, 8));
    c = 5;
    show("inner argument 3", hipSetupArgument(&c, sizeof c, 24));
    show("inner launch", hipLaunchByPtr(f));
    NEED(hipMemcpy(back.data(), device, 64 * sizeof(int), hipMemcpyDeviceToHost));
    line("inner gives: %d %d", back[0], back[63]);
    a = 0;
    show("outer argument 1", hipSetupArgument(&a, sizeof a, 8));
    show("outer argument 2", hipSetupArgument(&b, sizeof b, 16));
    show("outer argument 0", hipSetupArgument(&device, sizeof device, 0));
    show("outer launch", hipLaunchByPtr(f));
    NEED(hipMemcpy(back.data(), device, 64 * sizeof(int), hipMemcpyDeviceToHost));
    line("outer gives: %d %d %d", back[0], back[31], back[32]);
    show("synchronize", hipDeviceSynchronize());
    NEED(hipFree(device));
}
