// Events: which flags they take.
// DIFFERS interprocess: hipEventDisableTiming must be set as well; HIP 7 header, hipEventCreateWithFlags
// DIFFERS 0x20000000: hipEventDisableSystemFence came after 5.2.3; HIP 7 header
#include "captured.h"

int main() {
    hipEvent_t event = nullptr;
    show("create", hipEventCreate(&event));
    show("not null", event != nullptr);
    show("destroy", hipEventDestroy(event));
    show("into null", hipEventCreate(nullptr));
    show("with flags into null", hipEventCreateWithFlags(nullptr, 0));
    struct Flags {
        const char* name;
        unsigned value;
    };
    const Flags all[] = {
        {"default", hipEventDefault},
        {"blocking sync", hipEventBlockingSync},
        {"disable timing", hipEventDisableTiming},
        {"blocking sync and disable timing", hipEventBlockingSync | hipEventDisableTiming},
        {"release to device", hipEventReleaseToDevice},
        {"release to system", hipEventReleaseToSystem},
        {"release to both", hipEventReleaseToDevice | hipEventReleaseToSystem},
        {"interprocess", hipEventInterprocess},
        {"interprocess and disable timing", hipEventInterprocess | hipEventDisableTiming},
        {"8", 8},
        {"16", 16},
        {"0x20000000", 0x20000000},
        {"all", 0xffffffff},
    };
    for (const Flags& flags : all) {
        std::string name = flags.name;
        hipError_t error = hipEventCreateWithFlags(&event, flags.value);
        show(name, error);
        if (error == hipSuccess) NEED(hipEventDestroy(event));
    }
    return 0;
}
