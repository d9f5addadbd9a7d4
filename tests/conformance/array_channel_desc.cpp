// hipGetChannelDesc and hipCreateChannelDesc.
#include "array.h"

static void see(const char* label, const hipChannelFormatDesc& d) {
    line("%s: %d %d %d %d, kind %d", label, d.x, d.y, d.z, d.w, static_cast<int>(d.f));
}

int main() {
    see("made", hipCreateChannelDesc(8, 16, 32, 64, hipChannelFormatKindUnsigned));
    see("of anything", hipCreateChannelDesc(-1, 0, 1000, 3, static_cast<hipChannelFormatKind>(2)));
    const hipChannelFormatDesc descs[] = {
        {8, 0, 0, 0, hipChannelFormatKindSigned},    {8, 8, 0, 0, hipChannelFormatKindUnsigned},
        {16, 16, 16, 16, hipChannelFormatKindFloat}, {32, 32, 0, 0, hipChannelFormatKindSigned},
        {32, 32, 32, 32, hipChannelFormatKindFloat},
    };
    for (auto& desc : descs) {
        hipArray* array = nullptr;
        NEED(hipMallocArray(&array, &desc, 3, 0, hipArrayDefault));
        hipChannelFormatDesc found{};
        show("asked", hipGetChannelDesc(&found, array));
        see("found", found);
        NEED(hipFreeArray(array));
    }
    hipArray* array = plane();
    hipChannelFormatDesc found{};
    show("for nobody", hipGetChannelDesc(nullptr, array));
    show("of nothing", hipGetChannelDesc(&found, nullptr));
    NEED(hipFreeArray(array));
}
