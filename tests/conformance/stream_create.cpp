// Streams: how they are created, with which flags, and what is refused.
#include "captured.h"

int main() {
    hipStream_t stream = nullptr;
    unsigned flags = 99;
    show("create", hipStreamCreate(&stream));
    show("not null", stream != nullptr);
    show("flags", hipStreamGetFlags(stream, &flags));
    show("its flags", flags);
    show("null flags", hipStreamGetFlags(stream, nullptr));
    show("destroy", hipStreamDestroy(stream));
    show("create into null", hipStreamCreate(nullptr));
    show("with flags into null", hipStreamCreateWithFlags(nullptr, hipStreamDefault));
    show("with priority into null", hipStreamCreateWithPriority(nullptr, hipStreamDefault, 0));
    for (unsigned wanted : {0u, 1u, 2u, 3u, 4u, 0x80000000u}) {
        std::string name = "flags " + std::to_string(wanted);
        hipError_t error = hipStreamCreateWithFlags(&stream, wanted);
        show(name, error);
        error = error == hipSuccess ? hipStreamGetFlags(stream, &flags) : error;
        show(name + ", get", error);
        show(name + ", got", error == hipSuccess ? static_cast<int>(flags) : -1);
        if (error == hipSuccess) NEED(hipStreamDestroy(stream));
    }
    hipStream_t a, b;
    NEED(hipStreamCreate(&a));
    NEED(hipStreamCreate(&b));
    show("two streams differ", a != b);
    show("query of a new stream", hipStreamQuery(a));
    show("synchronise a new stream", hipStreamSynchronize(b));
    show("destroy null", hipStreamDestroy(nullptr));
    show("destroy the thread's own stream", hipStreamDestroy(hipStreamPerThread));
    NEED(hipStreamDestroy(a));
    NEED(hipStreamDestroy(b));
    return 0;
}
