// Stream priorities: the range, and values inside and outside of it.
#include "captured.h"

int main() {
    int least = 99, greatest = 99;
    show("range", hipDeviceGetStreamPriorityRange(&least, &greatest));
    show("least", least);
    show("greatest", greatest);
    int one = 99;
    show("range, least only", hipDeviceGetStreamPriorityRange(&one, nullptr));
    show("range, greatest only", hipDeviceGetStreamPriorityRange(nullptr, &one));
    show("range, neither", hipDeviceGetStreamPriorityRange(nullptr, nullptr));
    for (int wanted = -3; wanted <= 3; ++wanted) {
        std::string name = "priority " + std::to_string(wanted);
        hipStream_t stream;
        int priority = 99;
        unsigned flags = 99;
        show(name + ", create", hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, wanted));
        show(name + ", get", hipStreamGetPriority(stream, &priority));
        show(name + ", is", priority);
        NEED(hipStreamGetFlags(stream, &flags));
        show(name + ", flags", flags);
        NEED(hipStreamDestroy(stream));
    }
    hipStream_t stream;
    show("bad flags", hipStreamCreateWithPriority(&stream, 7, 0));
    NEED(hipStreamCreate(&stream));
    int priority = 99;
    show("default", hipStreamGetPriority(stream, &priority));
    show("default is", priority);
    show("null priority", hipStreamGetPriority(stream, nullptr));
    show("null stream", hipStreamGetPriority(nullptr, &priority));
    show("null stream is", priority);
    return 0;
}
