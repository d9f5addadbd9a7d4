// Contexts: created, pushed, popped, set, destroyed, and what is current after each.
#include "observe.h"

static void current(const char* when, hipCtx_t expected) {
    hipCtx_t now = nullptr;
    hipError_t result = hipCtxGetCurrent(&now);
    line("current %s: %s, %s, %s", when, observe::name_of(result).c_str(), now ? "some" : "none",
         now == expected ? "as expected" : "another");
}

int main() {
    NEED(hipInit(0));
    current("at first", nullptr);
    hipDevice_t device = -1;
    show("device at first", hipCtxGetDevice(&device));

    hipCtx_t first = nullptr, second = nullptr;
    show("create", hipCtxCreate(&first, 0, 0));
    show("a context", first != nullptr);
    current("after create", first);
    show("create another", hipCtxCreate(&second, hipDeviceScheduleYield, 0));
    current("after another", second);
    show("create for device 1", hipCtxCreate(&second, 0, 1));
    show("create for device -1", hipCtxCreate(&second, 0, -1));
    // 5.2.3 crashes on a null pointer to the context.
    current("after failures", second);

    hipCtx_t popped = nullptr;
    show("pop", hipCtxPopCurrent(&popped));
    show("popped the latest", popped == second);
    current("after a pop", first);
    show("push", hipCtxPushCurrent(second));
    current("after a push", second);
    show("push null", hipCtxPushCurrent(nullptr));
    show("set the first", hipCtxSetCurrent(first));
    current("after set", first);
    show("pop to null", hipCtxPopCurrent(nullptr));
    current("after a pop to null", first);

    NEED(hipCtxSetCurrent(first));
    show("device", hipCtxGetDevice(&device));
    show("device is", device);
    show("device to null", hipCtxGetDevice(nullptr));
    // DIFFERS flags: AMD's refuses and offers no other way; hip_runtime_api.h names hipSuccess only
    // DIFFERS version: AMD's refuses and offers no other way; hip_runtime_api.h names hipSuccess only
    // DIFFERS synchronize: AMD's refuses and offers no other way; hip_runtime_api.h names hipSuccess only
    unsigned flags = ~0u;
    show("flags", hipCtxGetFlags(&flags));
    int version = -1;
    show("version", hipCtxGetApiVersion(first, &version));
    show("synchronize", hipCtxSynchronize());
    // 5.2.3 crashes on hipCtxGetCurrent(nullptr).

    show("cache", hipCtxSetCacheConfig(hipFuncCachePreferL1));
    hipFuncCache_t cache;
    show("get cache", hipCtxGetCacheConfig(&cache));
    show("banks", hipCtxSetSharedMemConfig(hipSharedMemBankSizeEightByte));
    hipSharedMemConfig banks;
    show("get banks", hipCtxGetSharedMemConfig(&banks));
    show("banks are", static_cast<int>(banks));

    // A context that is not current can be destroyed as well.
    show("destroy", hipCtxDestroy(second));
    show("destroy the first", hipCtxDestroy(first));
    show("destroy null", hipCtxDestroy(nullptr));
}
