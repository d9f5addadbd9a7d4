// The null stream and the thread's own stream as arguments.
#include "captured.h"

int main() {
    hipEvent_t event;
    NEED(hipEventCreate(&event));
    struct Special {
        const char* name;
        hipStream_t stream;
    };
    for (const Special& special : {Special{"null", nullptr}, Special{"per-thread", hipStreamPerThread}}) {
        std::string name = special.name;
        unsigned flags = 99;
        int priority = 99;
        show(name + ", flags", hipStreamGetFlags(special.stream, &flags));
        show(name + ", its flags", flags);
        show(name + ", priority", hipStreamGetPriority(special.stream, &priority));
        show(name + ", its priority", priority);
        show(name + ", query", hipStreamQuery(special.stream));
        show(name + ", synchronise", hipStreamSynchronize(special.stream));
        show(name + ", record", hipEventRecord(event, special.stream));
        show(name + ", wait", hipStreamWaitEvent(special.stream, event, 0));
        show(name + ", capture state", state_of(special.stream));
        show(name + ", synchronise the event", hipEventSynchronize(event));
    }
    return 0;
}
