// Limits and preferences of a device: stack, heap, cache, banks.
#include "observe.h"

int main() {
    size_t bytes = 0;
    // DIFFERS heap bytes: 5.2.3 gives the size of the device's memory, ours what kernels can allocate;
    //     hip_runtime_api.h (hipLimitMallocHeapSize)
    show("heap", hipDeviceGetLimit(&bytes, hipLimitMallocHeapSize));
    // The device's memory is as large as the machine's.
    size_t all = 0;
    NEED(hipDeviceTotalMem(&all, 0));
    line("heap bytes: %s", bytes == all ? "all" : std::to_string(bytes).c_str());
    // DIFFERS limit 0: 5.2.3 knows the heap only; HIP 7 documentation (hipLimit_t)
    // DIFFERS limit 1: AMD's does not know it; ours has such a buffer; HIP 7 documentation (hipLimitPrintfFifoSize)
    for (int limit : {0, 1, 3, 4, 255, -1}) {
        bytes = 0;
        hipError_t result = hipDeviceGetLimit(&bytes, static_cast<hipLimit_t>(limit));
        line("limit %d: %s, %zu bytes", limit, observe::name_of(result).c_str(), bytes);
    }
    show("limit to null", hipDeviceGetLimit(nullptr, hipLimitMallocHeapSize));
    // 5.2.3 exports no hipDeviceSetLimit.

    hipFuncCache_t cache = static_cast<hipFuncCache_t>(9);
    show("cache", hipDeviceGetCacheConfig(&cache));
    show("cache is", static_cast<int>(cache));
    show("cache to null", hipDeviceGetCacheConfig(nullptr));
    // DIFFERS prefer 4: 5.2.3 accepts any number; CUDA Runtime API (cudaDeviceSetCacheConfig)
    // DIFFERS prefer -1: 5.2.3 accepts any number; CUDA Runtime API (cudaDeviceSetCacheConfig)
    for (int wish : {0, 1, 2, 3, 4, -1}) {
        hipError_t result = hipDeviceSetCacheConfig(static_cast<hipFuncCache_t>(wish));
        line("prefer %d: %s", wish, observe::name_of(result).c_str());
        NEED(hipDeviceGetCacheConfig(&cache));
        line("cache after %d: %d", wish, static_cast<int>(cache));
    }

    hipSharedMemConfig banks = static_cast<hipSharedMemConfig>(9);
    show("banks", hipDeviceGetSharedMemConfig(&banks));
    show("banks are", static_cast<int>(banks));
    show("banks to null", hipDeviceGetSharedMemConfig(nullptr));
    // DIFFERS banks wish 3: 5.2.3 accepts any number; CUDA Runtime API (cudaDeviceSetSharedMemConfig)
    // DIFFERS banks wish -1: 5.2.3 accepts any number; CUDA Runtime API (cudaDeviceSetSharedMemConfig)
    for (int wish : {0, 1, 2, 3, -1}) {
        hipError_t result = hipDeviceSetSharedMemConfig(static_cast<hipSharedMemConfig>(wish));
        line("banks wish %d: %s", wish, observe::name_of(result).c_str());
        NEED(hipDeviceGetSharedMemConfig(&banks));
        line("banks after %d: %d", wish, static_cast<int>(banks));
    }

    int least = 9, greatest = 9;
    show("priorities", hipDeviceGetStreamPriorityRange(&least, &greatest));
    line("priorities: %d to %d", least, greatest);
    show("priorities without least", hipDeviceGetStreamPriorityRange(nullptr, &greatest));
    show("priorities without greatest", hipDeviceGetStreamPriorityRange(&least, nullptr));
    show("priorities to null", hipDeviceGetStreamPriorityRange(nullptr, nullptr));
}
