// Kernels read and write pinned and registered host memory, at every kind of flag, from offsets inside it.
#include "observe.h"

__global__ void triple(const int* in, int* out, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) out[at] = in[at] * 3;
}

constexpr int COUNT = 1000;

static void run(const char* label, int* in, int* out) {
    for (int i = 0; i < COUNT; ++i) {
        in[i] = i - 500;
        out[i] = 0;
    }
    int *device_in = nullptr, *device_out = nullptr;
    NEED(hipHostGetDevicePointer(reinterpret_cast<void**>(&device_in), in, 0));
    NEED(hipHostGetDevicePointer(reinterpret_cast<void**>(&device_out), out, 0));
    triple<<<4, 256>>>(device_in, device_out, COUNT);
    hipError_t launched = hipGetLastError(), done = hipDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) wrong += out[i] != (i - 500) * 3;
    line("%s: %s, %s, %d wrong", label, observe::name_of(launched).c_str(), observe::name_of(done).c_str(), wrong);
}

int main() {
    struct {
        const char* name;
        unsigned flags;
    } kinds[] = {{"default", hipHostMallocDefault},
                 {"portable", hipHostMallocPortable},
                 {"mapped", hipHostMallocMapped},
                 {"write-combined", hipHostMallocWriteCombined},
                 {"coherent", hipHostMallocCoherent},
                 {"not coherent", hipHostMallocNonCoherent},
                 {"NUMA by user", hipHostMallocNumaUser},
                 {"portable and mapped", hipHostMallocPortable | hipHostMallocMapped}};
    for (const auto& kind : kinds) {
        int* memory = nullptr;
        NEED(hipHostMalloc(reinterpret_cast<void**>(&memory), COUNT * 2 * sizeof(int) + 64, kind.flags));
        run(kind.name, memory + 8, memory + 16 + COUNT - 8);
        NEED(hipHostFree(memory));
    }
    // HIP: 5.2.3 aborts in hipHostUnregister where the device's address of the memory is the host's, so nothing
    // that is registered here is unregistered.
    static std::vector<int> own[3];
    unsigned flags[] = {hipHostRegisterDefault, hipHostRegisterPortable, hipHostRegisterMapped};
    for (int i = 0; i < 3; ++i) {
        own[i].resize(COUNT * 2 + 100);
        NEED(hipHostRegister(own[i].data(), own[i].size() * sizeof(int), flags[i]));
        run("registered", own[i].data() + 3, own[i].data() + 50 + COUNT);
    }
}
