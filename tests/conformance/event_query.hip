// An event before it is recorded, while the work before it runs, and afterwards.
#include "captured.h"
#include "hold.h"

int main() {
    Hold hold;
    hipStream_t stream;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (unsigned flags : {hipEventDefault, hipEventDisableTiming, hipEventBlockingSync}) {
        std::string name = "flags " + std::to_string(flags);
        hipEvent_t event;
        NEED(hipEventCreateWithFlags(&event, flags));
        show("never recorded, query, " + name, hipEventQuery(event));
        show("never recorded, synchronise, " + name, hipEventSynchronize(event));
        NEED(hipEventRecord(event, stream));
        show("on an idle stream, synchronise, " + name, hipEventSynchronize(event));
        show("on an idle stream, query, " + name, hipEventQuery(event));
        hold.close();
        wait_until_open<<<1, 1, 0, stream>>>(hold.flag);
        show("recorded ahead of a kernel, " + name, hipEventQuery(event));
        NEED(hipEventRecord(event, stream));
        show("held, query, " + name, hipEventQuery(event));
        hold.open();
        show("released, synchronise, " + name, hipEventSynchronize(event));
        show("released, query, " + name, hipEventQuery(event));
        NEED(hipEventDestroy(event));
    }
    return 0;
}
