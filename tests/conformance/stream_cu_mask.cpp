// Compute units of streams: which a plain stream may use, and streams that are given some.
// DIFFERS create: not implemented here; COMPAT.md
// DIFFERS the masked: as its creation; COMPAT.md
#include "captured.h"

static hipStream_t stream_with(uint32_t words, const uint32_t* mask, hipError_t& error) {
    hipStream_t stream = nullptr;
    error = hipExtStreamCreateWithCUMask(&stream, words, mask);
    return error == hipSuccess ? stream : nullptr;
}

int main() {
    hipDeviceProp_t properties;
    NEED(hipGetDeviceProperties(&properties, 0));
    const int units = properties.multiProcessorCount;
    const uint32_t words = (units + 31) / 32;
    hipStream_t plain;
    NEED(hipStreamCreate(&plain));
    for (hipStream_t stream : {plain, hipStream_t(nullptr)}) {
        std::string name = stream == nullptr ? "null" : "plain";
        std::vector<uint32_t> mask(words + 2, 0x12345678);
        show("get, " + name, hipExtStreamGetCUMask(stream, words + 2, mask.data()));
        int set = 0;
        for (int unit = 0; unit < units; ++unit) set += mask[unit / 32] >> unit % 32 & 1;
        show("all units, " + name, set == units);
        show("no others, " + name, units % 32 == 0 || mask[words - 1] >> units % 32 == 0);
        show("words beyond, " + name, mask[words] == 0x12345678 ? "left alone" : "written");
        show("as many words as needed, " + name, hipExtStreamGetCUMask(stream, words, mask.data()));
        show("one word too few, " + name, hipExtStreamGetCUMask(stream, words - 1, mask.data()));
        show("into null, " + name, hipExtStreamGetCUMask(stream, words, nullptr));
    }
    std::vector<uint32_t> one(words, 0), got(words, 0);
    one[0] = 1;
    hipError_t error;
    hipStream_t masked = stream_with(words, one.data(), error);
    show("create", error);
    if (masked != nullptr) NEED(hipExtStreamGetCUMask(masked, words, got.data()));
    show("the masked stream's mask", got == one);
    show("the masked stream works", masked != nullptr && hipStreamSynchronize(masked) == hipSuccess);
    show("create without words", (stream_with(0, one.data(), error), error));
    show("create with a null mask", (stream_with(words, nullptr, error), error));
    show("create into null", hipExtStreamCreateWithCUMask(nullptr, words, one.data()));
    return 0;
}
