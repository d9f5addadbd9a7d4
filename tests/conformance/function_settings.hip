// hipFuncSetAttribute, hipFuncSetCacheConfig, hipFuncSetSharedMemConfig: values that are taken and refused.
#include "resources.h"

// DIFFERS bad value: 5.2.3 checks nothing; hipErrorInvalidValue is documented (hipFuncSetAttribute)
// DIFFERS bad kernel: 5.2.3 checks nothing; hipErrorInvalidDeviceFunction is documented (hipFuncSetAttribute)
int main() {
    const void* k = reinterpret_cast<const void*>(lds1k);
    int host = 0;
    const hipFuncAttribute dynamic = hipFuncAttributeMaxDynamicSharedMemorySize;
    const hipFuncAttribute carveout = hipFuncAttributePreferredSharedMemoryCarveout;
    show("dynamic shared 1024", hipFuncSetAttribute(k, dynamic, 1024));
    show("dynamic shared 63 KiB", hipFuncSetAttribute(k, dynamic, 63 * 1024));
    show("bad value, dynamic shared beyond what is left", hipFuncSetAttribute(k, dynamic, 160 * 1024));
    show("bad value, dynamic shared -1", hipFuncSetAttribute(k, dynamic, -1));
    show("carve-out 50", hipFuncSetAttribute(k, carveout, 50));
    show("bad value, carve-out 101", hipFuncSetAttribute(k, carveout, 101));
    show("bad value, unknown attribute", hipFuncSetAttribute(k, hipFuncAttribute(77), 0));
    show("bad kernel, attribute of null", hipFuncSetAttribute(nullptr, dynamic, 1024));
    show("bad kernel, attribute", hipFuncSetAttribute(&host, dynamic, 1024));
    for (int config : {0, 1, 2, 3}) show("cache config", hipFuncSetCacheConfig(k, hipFuncCache_t(config)));
    show("bad value, cache config 9", hipFuncSetCacheConfig(k, hipFuncCache_t(9)));
    show("bad kernel, cache config of null", hipFuncSetCacheConfig(nullptr, hipFuncCachePreferL1));
    show("bad kernel, cache config", hipFuncSetCacheConfig(&host, hipFuncCachePreferL1));
    for (int config : {0, 1, 2}) show("banks", hipFuncSetSharedMemConfig(k, hipSharedMemConfig(config)));
    show("bad value, banks 9", hipFuncSetSharedMemConfig(k, hipSharedMemConfig(9)));
    show("bad kernel, banks of null", hipFuncSetSharedMemConfig(nullptr, hipSharedMemBankSizeFourByte));
    show("bad kernel, banks", hipFuncSetSharedMemConfig(&host, hipSharedMemBankSizeFourByte));
}
