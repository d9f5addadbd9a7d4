// Frees of pinned host memory: by each function, twice, of other kinds of memory, of interior pointers.
#include "observe.h"

// DIFFERS hipHostFree of an interior pointer: 5.2.3 frees the whole allocation; the pointer must be
//     hipHostMalloc's
// DIFFERS hipHostFree at last: 5.2.3 has freed it already by an interior pointer; hipHostFree
int main() {
    char* p = nullptr;
    show("hipHostFree of null", hipHostFree(nullptr));
    show("hipFreeHost of null", hipFreeHost(nullptr));
    NEED(hipHostMalloc(&p, 4096, 0));
    show("hipHostFree of an interior pointer", hipHostFree(p + 64));
    show("hipHostFree at last", hipHostFree(p));
    show("hipHostFree twice", hipHostFree(p));
    NEED(hipHostMalloc(&p, 4096, 0));
    show("hipFreeHost", hipFreeHost(p));
    show("hipFreeHost twice", hipFreeHost(p));
    NEED(hipHostMalloc(&p, 4096, 0));
    show("hipFree of pinned memory", hipFree(p));
    show("hipHostFree behind it", hipHostFree(p));

    char* device = nullptr;
    NEED(hipMalloc(&device, 4096));
    show("hipHostFree of device memory", hipHostFree(device));
    show("hipFree of it", hipFree(device));

    char* managed = nullptr;
    NEED(hipMallocManaged(&managed, 4096));
    show("hipHostFree of managed memory", hipHostFree(managed));
    show("hipFree behind it", hipFree(managed));

    std::vector<char> pageable(8192);
    show("hipHostFree of pageable memory", hipHostFree(pageable.data()));
    // HIP: 5.2.3 aborts the process where registered memory is freed.
    show("hipHostFree of a small number", hipHostFree(reinterpret_cast<void*>(0x100)));
}
