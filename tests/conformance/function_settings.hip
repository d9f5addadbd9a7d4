// hipFuncSetAttribute, hipFuncSetCacheConfig, hipFuncSetSharedMemConfig: values that are taken and refused.
#include "kernels.h"

int main() {
    const void* k = reinterpret_cast<const void*>(lds1k);
    int host = 0;
    const hipFuncAttribute dynamic = hipFuncAttributeMaxDynamicSharedMemorySize;
    const hipFuncAttribute carveout = hipFuncAttributePreferredSharedMemoryCarveout;
    show("dynamic shared 1024", hipFuncSetAttribute(k, dynamic, 1024));
    show("dynamic shared 63 KiB", hipFuncSetAttribute(k, dynamic, 63 * 1024));
    show("dynamic shared beyond what is left", hipFuncSetAttribute(k, dynamic, 64 * 1024));
    show("dynamic shared -1", hipFuncSetAttribute(k, dynamic, -1));
    show("carve-out 50", hipFuncSetAttribute(k, carveout, 50));
    show("carve-out 101", hipFuncSetAttribute(k, carveout, 101));
    show("unknown attribute", hipFuncSetAttribute(k, hipFuncAttribute(77), 0));
    show("attribute of null", hipFuncSetAttribute(nullptr, dynamic, 1024));
    show("attribute of no kernel", hipFuncSetAttribute(&host, dynamic, 1024));
    for (int config : {0, 1, 2, 3}) show("cache config", hipFuncSetCacheConfig(k, hipFuncCache_t(config)));
    show("cache config 9", hipFuncSetCacheConfig(k, hipFuncCache_t(9)));
    show("cache config of null", hipFuncSetCacheConfig(nullptr, hipFuncCachePreferL1));
    show("cache config of no kernel", hipFuncSetCacheConfig(&host, hipFuncCachePreferL1));
    for (int config : {0, 1, 2}) show("banks", hipFuncSetSharedMemConfig(k, hipSharedMemConfig(config)));
    show("banks 9", hipFuncSetSharedMemConfig(k, hipSharedMemConfig(9)));
    show("banks of null", hipFuncSetSharedMemConfig(nullptr, hipSharedMemBankSizeFourByte));
    show("banks of no kernel", hipFuncSetSharedMemConfig(&host, hipSharedMemBankSizeFourByte));
}
