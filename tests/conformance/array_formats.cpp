// hipMallocArray: which channel formats elements may have, and what the header shows of each array.
#include "array.h"

int main() {
    const hipChannelFormatKind kinds[] = {hipChannelFormatKindSigned, hipChannelFormatKindUnsigned,
                                          hipChannelFormatKindFloat, hipChannelFormatKindNone};
    for (auto kind : kinds)
        for (int bits : {8, 16, 32, 64, 7})
            for (int channels = 0; channels <= 4; ++channels) {
                int given[4] = {0, 0, 0, 0};
                for (int i = 0; i < channels; ++i) given[i] = bits;
                hipChannelFormatDesc desc = hipCreateChannelDesc(given[0], given[1], given[2], given[3], kind);
                hipArray* array = nullptr;
                hipError_t error = hipMallocArray(&array, &desc, 4, 4, hipArrayDefault);
                char label[64];
                std::snprintf(label, sizeof label, "kind %d, %d of %d bits", static_cast<int>(kind), channels, bits);
                made(label, error, array);
            }
}
