// Streams that were destroyed, as arguments.
// DIFFERS begin capture: 5.2.3 answers unlike its other functions, later ones alike;
//     hipErrorContextIsDestroyed of hipStreamQuery
// DIFFERS is capturing: 5.2.3 answers unlike its other functions, later ones alike;
//     hipErrorContextIsDestroyed of hipStreamQuery
// DIFFERS capture info: 5.2.3 answers unlike its other functions, later ones alike;
//     hipErrorContextIsDestroyed of hipStreamQuery
// DIFFERS end capture: 5.2.3 answers unlike its other functions, later ones alike; hipErrorContextIsDestroyed
//     of hipStreamQuery
#include "captured.h"

int main() {
    hipStream_t stream;
    hipEvent_t event;
    unsigned flags;
    int priority;
    NEED(hipEventCreate(&event));
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamDestroy(stream));
    show("query", hipStreamQuery(stream));
    show("synchronise", hipStreamSynchronize(stream));
    show("flags", hipStreamGetFlags(stream, &flags));
    show("priority", hipStreamGetPriority(stream, &priority));
    show("wait", hipStreamWaitEvent(stream, event, 0));
    show("record", hipEventRecord(event, stream));
    show("destroy", hipStreamDestroy(stream));
    show("begin capture", hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    hipStreamCaptureStatus state;
    show("is capturing", hipStreamIsCapturing(stream, &state));
    unsigned long long id;
    show("capture info", hipStreamGetCaptureInfo(stream, &state, &id));
    hipGraph_t graph;
    show("end capture", hipStreamEndCapture(stream, &graph));
    return 0;
}
