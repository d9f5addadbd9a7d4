// hipStreamWaitValue and hipStreamWriteValue: conditions, masks, order, and what memory they take.
#include "captured.h"
#include "hold.h"

int main() {
    int can = -1;
    NEED(hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
    show("the device can", can);
    uint64_t* signal = nullptr;
    show("signal memory", hipExtMallocWithFlags(reinterpret_cast<void**>(&signal), 8, hipMallocSignalMemory));
    uint32_t* device;
    NEED(hipMalloc(reinterpret_cast<void**>(&device), 64));
    NEED(hipMemset(device, 0, 64));
    NEED(hipDeviceSynchronize());
    hipStream_t stream, other;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));

    show("write 32 to device memory", hipStreamWriteValue32(stream, device, 0x12345678, 0));
    show("write 64 to device memory", hipStreamWriteValue64(stream, device + 2, 0x1122334455667788, 0));
    show("synchronise", hipStreamSynchronize(stream));
    uint32_t host[16];
    NEED(hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost));
    for (int i : {0, 1, 2, 3, 4}) line("word %d: %08x", i, host[i]);

    show("write 64 to the signal", hipStreamWriteValue64(stream, signal, 5, 0));
    show("synchronise", hipStreamSynchronize(stream));
    show("the signal", static_cast<unsigned long>(*signal));
    struct Condition {
        const char* name;
        unsigned flags;
        uint64_t wanted, mask, written;
    };
    const Condition conditions[] = {
        {"at least", hipStreamWaitValueGte, 100, ~0ull, 100},
        {"equal", hipStreamWaitValueEq, 7, ~0ull, 7},
        {"and", hipStreamWaitValueAnd, 0x100, ~0ull, 0x700},
        {"nor", hipStreamWaitValueNor, 0xff00, ~0ull, 0x00f0},
        {"equal under a mask", hipStreamWaitValueEq, 0x30, 0xff, 0x4430},
    };
    for (const Condition& c : conditions) {
        std::string name = c.name;
        // A value that does not meet the condition.
        *signal = c.flags == hipStreamWaitValueNor ? ~0ull : 0;
        show("wait, " + name, hipStreamWaitValue64(stream, signal, c.wanted, c.flags, c.mask));
        set<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(device), static_cast<int>(c.wanted));
        show("held, " + name, hipStreamQuery(stream));
        show("write, " + name, hipStreamWriteValue64(other, signal, c.written, 0));
        show("synchronise the writer, " + name, hipStreamSynchronize(other));
        show("synchronise, " + name, hipStreamSynchronize(stream));
        NEED(hipMemcpy(host, device, 4, hipMemcpyDeviceToHost));
        show("word, " + name, host[0]);
    }
    *signal = 3;
    show("wait 32", hipStreamWaitValue32(stream, signal, 3, hipStreamWaitValueEq, ~0u));
    show("synchronise", hipStreamSynchronize(stream));
    return 0;
}
