// Events that were destroyed, as arguments.
#include "observe.h"

int main() {
    hipEvent_t event;
    NEED(hipEventCreate(&event));
    show("destroy", hipEventDestroy(event));
    show("destroy again", hipEventDestroy(event));
    show("record", hipEventRecord(event, nullptr));
    show("query", hipEventQuery(event));
    show("synchronise", hipEventSynchronize(event));
    show("wait", hipStreamWaitEvent(nullptr, event, 0));
    return 0;
}
