// hipStreamWaitValue and hipStreamWriteValue: what is refused.
// DIFFERS wait 32, flags: 5.2.3 waits for something; HIP documentation, hipStreamWaitValue32
// DIFFERS wait 64, flags: 5.2.3 waits for something; HIP documentation, hipStreamWaitValue32
#include "captured.h"

int main() {
    uint64_t* signal = nullptr;
    NEED(hipExtMallocWithFlags(reinterpret_cast<void**>(&signal), 8, hipMallocSignalMemory));
    *signal = 5;
    uint64_t* device;
    NEED(hipMalloc(reinterpret_cast<void**>(&device), 64));
    uint64_t stack = 0;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("wait 32, null", hipStreamWaitValue32(stream, nullptr, 0, hipStreamWaitValueEq, ~0u));
    show("wait 64, null", hipStreamWaitValue64(stream, nullptr, 0, hipStreamWaitValueEq, ~0ull));
    show("write 32, null", hipStreamWriteValue32(stream, nullptr, 0, 0));
    show("write 64, null", hipStreamWriteValue64(stream, nullptr, 0, 0));
    for (unsigned flags : {4u, 99u}) {
        show("wait 32, flags " + std::to_string(flags), hipStreamWaitValue32(stream, signal, 5, flags, ~0u));
        show("wait 64, flags " + std::to_string(flags),
             hipStreamWaitValue64(stream, signal, 5, flags, ~0ull));
    }
    show("wait 32, device memory", hipStreamWaitValue32(stream, device, 0, hipStreamWaitValueGte, ~0u));
    show("wait 64, device memory", hipStreamWaitValue64(stream, device, 0, hipStreamWaitValueGte, ~0ull));
    show("wait 64, memory of the host",
         hipStreamWaitValue64(stream, &stack, 0, hipStreamWaitValueGte, ~0ull));
    show("write 64, memory of the host", hipStreamWriteValue64(stream, &stack, 0, 0));
    show("wait 64 with a mask of 0", hipStreamWaitValue64(stream, signal, 0, hipStreamWaitValueEq, 0));
    show("write with flags", hipStreamWriteValue64(stream, signal, 6, 1));
    show("synchronise", hipStreamSynchronize(stream));
    void* odd = nullptr;
    show("signal memory of 4 bytes", hipExtMallocWithFlags(&odd, 4, hipMallocSignalMemory));
    show("signal memory of 16 bytes", hipExtMallocWithFlags(&odd, 16, hipMallocSignalMemory));
    show("free the signal", hipFree(signal));
    return 0;
}
