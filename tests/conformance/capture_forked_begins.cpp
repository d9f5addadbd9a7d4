// A stream that took part in a capture can begin one itself when that is over.
// DIFFERS begin on the forked stream: 5.2.3 leaves forked streams in the capture; CUDA Programming Guide,
//     stream capture
#include "captured.h"

int main() {
    void* data;
    NEED(hipMalloc(&data, 64));
    Fork s;
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    s.fork();
    NEED(hipMemsetAsync(data, 2, 64, s.other));
    s.join();
    show_end("the fork", s.origin);
    hipError_t begun = hipStreamBeginCapture(s.other, hipStreamCaptureModeGlobal);
    show("begin on the forked stream", begun);
    // HIP: 5.2.3 crashes on work on a stream that it has left in a capture.
    if (begun == hipSuccess) {
        hipGraph_t graph;
        NEED(hipMemsetAsync(data, 2, 64, s.other));
        NEED(hipStreamEndCapture(s.other, &graph));
    }
    return 0;
}
