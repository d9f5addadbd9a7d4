// hipStreamAttachMemAsync: managed memory bound to a stream, and what cannot be.
// DIFFERS no length: 5.2.3 takes the default length for none; HIP documentation, hipStreamAttachMemAsync
// DIFFERS flags: 5.2.3 does not look at the flags; HIP documentation, hipStreamAttachMemAsync
// DIFFERS too long: 5.2.3 does not look at the allocation; CUDA Runtime API, cudaStreamAttachMemAsync
#include "captured.h"

int main() {
    const size_t BYTES = 4096;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    char *managed, *device, *pinned;
    NEED(hipMallocManaged(reinterpret_cast<void**>(&managed), BYTES, hipMemAttachGlobal));
    NEED(hipMalloc(reinterpret_cast<void**>(&device), BYTES));
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), BYTES, 0));
    show("single", hipStreamAttachMemAsync(stream, managed, BYTES, hipMemAttachSingle));
    show("global", hipStreamAttachMemAsync(stream, managed, BYTES, hipMemAttachGlobal));
    show("host", hipStreamAttachMemAsync(stream, managed, BYTES, hipMemAttachHost));
    show("a part", hipStreamAttachMemAsync(stream, managed + 64, 100, hipMemAttachSingle));
    show("no length", hipStreamAttachMemAsync(stream, managed, 0, hipMemAttachSingle));
    show("too long", hipStreamAttachMemAsync(stream, managed, 2 * BYTES, hipMemAttachSingle));
    show("on the null stream", hipStreamAttachMemAsync(nullptr, managed, BYTES, hipMemAttachGlobal));
    show("null", hipStreamAttachMemAsync(stream, nullptr, BYTES, hipMemAttachSingle));
    for (unsigned flags : {0u, 3u, 8u}) {
        show("flags " + std::to_string(flags), hipStreamAttachMemAsync(stream, managed, BYTES, flags));
    }
    show("memory of the device", hipStreamAttachMemAsync(stream, device, BYTES, hipMemAttachSingle));
    show("pinned memory", hipStreamAttachMemAsync(stream, pinned, BYTES, hipMemAttachSingle));
    show("synchronise", hipStreamSynchronize(stream));
    return 0;
}
