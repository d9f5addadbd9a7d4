// What the streams of a capture answer once it is invalid, and that they can capture again after its end.
// DIFFERS after it, state of the forked: 6.3 invalidates the stream, not its capture; CUDA Programming
//     Guide, invalidation of captures
// DIFFERS after it, memset on the forked: as its state; CUDA Programming Guide, invalidation of captures
// DIFFERS after it, begin: 6.3 begins another capture on a stream whose capture has not ended; HIP header,
//     hipStreamBeginCapture
// DIFFERS ended, state: 6.3 leaves the streams of a capture that has ended in it; HIP header,
//     hipStreamCaptureStatusInvalidated; HIP 7.14 changes, hipStreamEndCapture
#include "captured.h"

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    Fork s;
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    s.fork();
    show("the call that spoils it", hipStreamSynchronize(s.origin));
    show("after it, state of the origin", state_of(s.origin));
    show("after it, state of the forked stream", state_of(s.other));
    show("after it, memset on the origin", hipMemsetAsync(data, 1, 64, s.origin));
    show("after it, memset on the forked stream", hipMemsetAsync(data, 1, 64, s.other));
    show("after it, copy on the origin",
         hipMemcpyAsync(data, data + 32, 32, hipMemcpyDeviceToDevice, s.origin));
    show("after it, record on the origin", hipEventRecord(s.joined, s.origin));
    show("after it, wait on the origin", hipStreamWaitEvent(s.origin, s.forked, 0));
    show("after it, begin on the origin", hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    show("after it, query of the origin", hipStreamQuery(s.origin));
    hipStreamCaptureStatus state = static_cast<hipStreamCaptureStatus>(7);
    unsigned long long id = 0;
    show("after it, info", hipStreamGetCaptureInfo(s.origin, &state, &id));
    show("after it, info, state", state_name(state));
    hipGraph_t graph = reinterpret_cast<hipGraph_t>(8);
    show("ended", hipStreamEndCapture(s.origin, &graph));
    show("ended, graph is null", graph == nullptr);
    show("ended, state of the origin after", state_of(s.origin));
    show("ended, state of the forked stream after", state_of(s.other));
    show("ended, begin again", hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    show("ended, memset again", hipMemsetAsync(data, 1, 64, s.origin));
    show_end("the next one", s.origin);
    return 0;
}
