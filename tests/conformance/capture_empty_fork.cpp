// Forks without work of their own: joined and not joined.
#include "captured.h"

int main() {
    void* data;
    NEED(hipMalloc(&data, 64));

    Fork nothing;
    NEED(hipStreamBeginCapture(nothing.origin, hipStreamCaptureModeGlobal));
    nothing.fork();
    show("nothing at all, forked stream", state_of(nothing.other));
    nothing.join();
    show_end("nothing at all", nothing.origin);

    Fork loose;
    NEED(hipStreamBeginCapture(loose.origin, hipStreamCaptureModeGlobal));
    loose.fork();
    show_end("nothing at all, not joined", loose.origin);

    Fork origin_only;
    NEED(hipStreamBeginCapture(origin_only.origin, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 1, 64, origin_only.origin));
    origin_only.fork();
    NEED(hipMemsetAsync(data, 2, 64, origin_only.origin));
    show_end("work on the origin only, not joined", origin_only.origin);

    Fork other_only;
    NEED(hipStreamBeginCapture(other_only.origin, hipStreamCaptureModeGlobal));
    other_only.fork();
    NEED(hipMemsetAsync(data, 2, 64, other_only.other));
    other_only.join();
    show_end("work on the forked stream only", other_only.origin);
    return 0;
}
