// Compute units of streams: which a plain stream may use, and streams that are given some.
// CARD: how many bits of a mask a unit has
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
    void* data;
    NEED(hipMalloc(&data, 64));
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
    struct Given {
        const char* name;
        uint32_t bits;
    };
    for (const Given& given : {Given{"the first unit", 1}, Given{"two units", 6}, Given{"units beyond", 0xffffffff},
                               Given{"no unit", 0}}) {
        std::string name = given.name;
        std::vector<uint32_t> mask(words, 0), got(words, 0x12345678);
        mask[0] = given.bits;
        hipError_t error;
        hipStream_t stream = stream_with(words, mask.data(), error);
        show("create, " + name, error);
        if (stream == nullptr) continue;
        show("get, " + name, hipExtStreamGetCUMask(stream, words, got.data()));
        int set = 0;
        for (int unit = 0; unit < units; ++unit) set += got[unit / 32] >> unit % 32 & 1;
        show("all units, " + name, set == units);
        if (given.bits == 1 || given.bits == 6) show("as given, " + name, got == mask);
        unsigned flags = 99;
        int priority = 99;
        NEED(hipStreamGetFlags(stream, &flags));
        NEED(hipStreamGetPriority(stream, &priority));
        show("flags, " + name, flags);
        show("priority, " + name, priority);
        show("work, " + name, hipMemsetAsync(data, 1, 64, stream));
        show("synchronise, " + name, hipStreamSynchronize(stream));
        show("destroy, " + name, hipStreamDestroy(stream));
    }
    hipError_t error;
    const uint32_t one = 1;
    show("create without words", (stream_with(0, &one, error), error));
    show("create with a null mask", (stream_with(words, nullptr, error), error));
    show("create into null", hipExtStreamCreateWithCUMask(nullptr, 1, &one));
    return 0;
}
