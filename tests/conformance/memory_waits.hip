// Which fills and copies of the null stream return while earlier work of it still runs.
#include "hold.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

static Hold* hold;

// Whether a call returns while the null stream is held. One that waits is let go after a second.
static void ask(const char* label, const std::function<hipError_t()>& call) {
    hold->close();
    wait_until_open<<<1, 1>>>(hold->flag);
    std::atomic<bool> returned{false};
    std::thread opener([&] {
        for (int i = 0; i < 1000 && !returned; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        hold->open();
    });
    hipError_t error = call();
    const bool waited = __atomic_load_n(hold->flag, __ATOMIC_SEQ_CST) != 0;
    returned = true;
    opener.join();
    NEED(hipDeviceSynchronize());
    line("%s: %s, %s", label, observe::name_of(error).c_str(), waited ? "waits" : "returns");
}

// DIFFERS hipMemset: 5.2.3 waits; newer runtimes return at once for device memory, as CUDA does; CUDA Driver API,
//     API synchronization behavior
// DIFFERS hipMemcpyParam2D between devices: 5.2.3 waits; newer runtimes return at once; CUDA Driver API, API
//     synchronization behavior
int main() {
    const size_t bytes = 4096;
    hold = new Hold;
    char *a, *b, *pinned, *other;
    NEED(hipMalloc(&a, bytes));
    NEED(hipMalloc(&b, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    NEED(hipHostMalloc(&other, bytes, 0));
    hipDeviceptr_t device = a;
    ask("hipMemset", [&] { return hipMemset(a, 1, bytes); });
    ask("hipMemsetD32", [&] { return hipMemsetD32(device, 1, bytes / 4); });
    ask("hipMemset2D", [&] { return hipMemset2D(a, 64, 1, 64, 64); });
    ask("hipMemset3D", [&] {
        return hipMemset3D(make_hipPitchedPtr(a, 64, 64, 8), 1, make_hipExtent(64, 8, 8));
    });
    ask("hipMemset of pinned memory", [&] { return hipMemset(pinned, 1, bytes); });
    ask("hipMemcpy to the host", [&] { return hipMemcpy(pinned, a, bytes, hipMemcpyDeviceToHost); });
    hip_Memcpy2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = hipMemoryTypeDevice;
    copy.srcDevice = a;
    copy.dstDevice = b;
    copy.srcPitch = copy.dstPitch = 64;
    copy.WidthInBytes = 64;
    copy.Height = 64;
    ask("hipMemcpyParam2D between devices", [&] { return hipMemcpyParam2D(&copy); });
    ask("hipMemcpyAsync from pinned to pinned memory",
        [&] { return hipMemcpyAsync(other, pinned, bytes, hipMemcpyHostToHost, nullptr); });
    NEED(hipFree(a));
    NEED(hipFree(b));
    NEED(hipHostFree(pinned));
    NEED(hipHostFree(other));
    delete hold;
    return 0;
}
