// A fork with work that nobody joined back spoils the capture.
// DIFFERS state after: 6.3 leaves the streams of a capture that has ended in it; HIP header,
//     hipErrorStreamCaptureUnjoined
// DIFFERS forked stream,: 6.3 leaves the streams of a capture that has ended in it; HIP header,
//     hipErrorStreamCaptureUnjoined
#include "captured.h"

static void* data;

static void begin(Fork& s) {
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeRelaxed));
    NEED(hipMemsetAsync(data, 1, 64, s.origin));
    s.fork();
}

static void end(Fork& s, const std::string& label) {
    show_end(label, s.origin);
    show("forked stream, " + label, state_of(s.other));
}

int main() {
    NEED(hipMalloc(&data, 64));

    Fork never;
    begin(never);
    NEED(hipMemsetAsync(data, 2, 64, never.other));
    end(never, "never joined");

    Fork behind;
    begin(behind);
    NEED(hipMemsetAsync(data, 2, 64, behind.other));
    behind.join();
    NEED(hipMemsetAsync(data, 3, 64, behind.other));
    end(behind, "work behind the join");

    Fork early;
    begin(early);
    NEED(hipEventRecord(early.joined, early.other));
    NEED(hipMemsetAsync(data, 2, 64, early.other));
    NEED(hipStreamWaitEvent(early.origin, early.joined, 0));
    end(early, "recorded before the work");

    Fork joined;
    begin(joined);
    NEED(hipMemsetAsync(data, 2, 64, joined.other));
    joined.join();
    end(joined, "joined, nothing behind");

    Fork more;
    begin(more);
    NEED(hipMemsetAsync(data, 2, 64, more.other));
    more.join();
    NEED(hipMemsetAsync(data, 3, 64, more.origin));
    end(more, "joined, work behind");

    Fork both;
    begin(both);
    NEED(hipMemsetAsync(data, 2, 64, both.other));
    NEED(hipMemsetAsync(data, 3, 64, both.origin));
    both.join();
    end(both, "work on both, joined, nothing behind");

    Fork twice;
    begin(twice);
    NEED(hipMemsetAsync(data, 2, 64, twice.other));
    twice.join();
    NEED(hipMemsetAsync(data, 3, 64, twice.other));
    twice.join();
    NEED(hipMemsetAsync(data, 4, 64, twice.origin));
    end(twice, "joined twice");
    return 0;
}
