// hipPointerGetAttribute: each attribute of each kind of pointer.
#include "observe.h"

static const struct {
    const char* name;
    hipPointer_attribute attribute;
    size_t bytes;
} attributes[] = {
    {"memory type", HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, 4},
    {"device pointer", HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, 8},
    {"host pointer", HIP_POINTER_ATTRIBUTE_HOST_POINTER, 8},
    {"managed", HIP_POINTER_ATTRIBUTE_IS_MANAGED, 1},
    {"ordinal", HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 4},
    {"range start", HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, 8},
    {"range size", HIP_POINTER_ATTRIBUTE_RANGE_SIZE, 8},
    {"mapped", HIP_POINTER_ATTRIBUTE_MAPPED, 1},
};

static void ask(const char* label, char* pointer, char* start) {
    for (const auto& one : attributes) {
        unsigned long long got = 0;
        hipError_t error = hipPointerGetAttribute(&got, one.attribute, pointer);
        if (error != hipSuccess) {
            line("%s, %s: %s", label, one.name, observe::name_of(error).c_str());
            continue;
        }
        const char* where = !got                                          ? "null"
                            : got == reinterpret_cast<uintptr_t>(pointer) ? "the pointer"
                            : got == reinterpret_cast<uintptr_t>(start)   ? "the start"
                                                                          : "elsewhere";
        bool is_pointer = one.bytes == 8 && one.attribute != HIP_POINTER_ATTRIBUTE_RANGE_SIZE;
        if (is_pointer) {
            line("%s, %s: %s", label, one.name, where);
        } else {
            line("%s, %s: %llu", label, one.name, got);
        }
    }
}

int main() {
    char *device = nullptr, *pinned = nullptr, *managed = nullptr;
    NEED(hipMalloc(&device, 4096));
    NEED(hipHostMalloc(&pinned, 4096, hipHostMallocDefault));
    NEED(hipMallocManaged(&managed, 4096));
    std::vector<char> pageable(8192), registered(8192);
    NEED(hipHostRegister(registered.data(), registered.size(), 0));
    ask("device", device, device);
    ask("device interior", device + 64, device);
    ask("pinned", pinned, pinned);
    ask("pinned interior", pinned + 64, pinned);
    ask("managed", managed, managed);
    ask("registered", registered.data(), registered.data());
    ask("pageable", pageable.data(), pageable.data());
    unsigned long long out = 0;
    show("null pointer", hipPointerGetAttribute(&out, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, nullptr));
    show("into null", hipPointerGetAttribute(nullptr, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device));
    show("attribute 0", hipPointerGetAttribute(&out, hipPointer_attribute(0), device));
    show("attribute 99", hipPointerGetAttribute(&out, hipPointer_attribute(99), device));
    show("peer tokens", hipPointerGetAttribute(&out, HIP_POINTER_ATTRIBUTE_P2P_TOKENS, device));
    show("synchronous operations", hipPointerGetAttribute(&out, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    show("handle types", hipPointerGetAttribute(&out, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, device));
    show("access flags", hipPointerGetAttribute(&out, HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, device));
    show("pool", hipPointerGetAttribute(&out, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, device));

    unsigned kind = 99;
    int ordinal = 99;
    void* start = nullptr;
    hipPointer_attribute wanted[3] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                      HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void* outs[3] = {&kind, &ordinal, &start};
    show("three at once", hipDrvPointerGetAttributes(3, wanted, outs, device + 8));
    line("three at once give: %u, %d, %d", kind, ordinal, start == device);
    show("three of pageable memory", hipDrvPointerGetAttributes(3, wanted, outs, pageable.data()));
    line("three of pageable memory give: %u, %d, %d", kind, ordinal, start == nullptr);
    show("none", hipDrvPointerGetAttributes(0, wanted, outs, device));
    show("no list", hipDrvPointerGetAttributes(3, nullptr, outs, device));
    show("no results", hipDrvPointerGetAttributes(3, wanted, nullptr, device));
    show("several of null", hipDrvPointerGetAttributes(3, wanted, outs, nullptr));
    // HIP: 5.2.3 aborts in hipHostUnregister where the device's address of the memory is the host's.
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
    NEED(hipFree(managed));
}
