// hipPointerGetAttribute: how many bytes each attribute has, and which attributes there are.
#include "observe.h"

static void ask(const char* of, void* pointer, int number) {
    unsigned char bytes[32];
    std::memset(bytes, 0xa5, sizeof bytes);
    hipError_t error = hipPointerGetAttribute(bytes, hipPointer_attribute(number), pointer);
    size_t written = sizeof bytes;
    while (written > 0 && bytes[written - 1] == 0xa5) --written;
    line("%s, attribute %d: %s, %zu bytes", of, number, observe::name_of(error).c_str(), written);
}

// DIFFERS device, attribute 4: 5.2.3 writes although it refuses; what is refused writes nothing; hipPointerGetAttribute
// DIFFERS device, attribute 10: newer runtimes say whether memory can be shared with other processes; HIP 6 header
// DIFFERS pinned, attribute 10: as for device memory; HIP 6 header
// DIFFERS managed, attribute 10: as for device memory; HIP 6 header
int main() {
    char *device = nullptr, *pinned = nullptr, *managed = nullptr;
    NEED(hipMalloc(&device, 4096));
    NEED(hipHostMalloc(&pinned, 4096, hipHostMallocDefault));
    NEED(hipMallocManaged(&managed, 4096));
    for (int number = 0; number <= 20; ++number) {
        // The context is a structure of the library's, whose address may end in anything.
        if (number == HIP_POINTER_ATTRIBUTE_CONTEXT) continue;
        ask("device", device, number);
        ask("pinned", pinned, number);
        ask("managed", managed, number);
    }
    ask("device", device, 99);
    unsigned long long ids[3] = {}, again = 0;
    NEED(hipPointerGetAttribute(&ids[0], HIP_POINTER_ATTRIBUTE_BUFFER_ID, device));
    NEED(hipPointerGetAttribute(&ids[1], HIP_POINTER_ATTRIBUTE_BUFFER_ID, pinned));
    NEED(hipPointerGetAttribute(&ids[2], HIP_POINTER_ATTRIBUTE_BUFFER_ID, managed));
    NEED(hipPointerGetAttribute(&again, HIP_POINTER_ATTRIBUTE_BUFFER_ID, device + 8));
    show("an allocation has one number", again == ids[0]);
    show("each has its own", ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
    NEED(hipFree(managed));
}
