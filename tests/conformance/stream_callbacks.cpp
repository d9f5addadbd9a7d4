// Callbacks of a stream: arguments, order, other threads, what is refused.
#include "captured.h"

#include <mutex>
#include <thread>

struct Seen {
    hipStream_t expected;
    std::vector<int> order;
    bool stream_right = true, success = true, other_thread = true;
    std::thread::id caller = std::this_thread::get_id();
    std::mutex lock;
};
struct Call {
    Seen* seen;
    int number;
};

static void called(hipStream_t stream, hipError_t status, void* data) {
    Call* call = static_cast<Call*>(data);
    std::lock_guard<std::mutex> guard(call->seen->lock);
    call->seen->order.push_back(call->number);
    call->seen->stream_right &= stream == call->seen->expected;
    call->seen->success &= status == hipSuccess;
    call->seen->other_thread &= std::this_thread::get_id() != call->seen->caller;
}

int main() {
    hipStream_t stream, non_blocking;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreateWithFlags(&non_blocking, hipStreamNonBlocking));
    struct Target {
        const char* name;
        hipStream_t stream;
    };
    for (const Target& target : {Target{"blocking", stream}, Target{"non-blocking", non_blocking},
                                 Target{"null", nullptr}}) {
        std::string name = target.name;
        Seen seen;
        seen.expected = target.stream;
        std::vector<Call> calls(50);
        for (int i = 0; i < 50; ++i) {
            calls[i] = {&seen, i};
            NEED(hipStreamAddCallback(target.stream, called, &calls[i], 0));
        }
        show("synchronise, " + name, hipStreamSynchronize(target.stream));
        show("calls, " + name, seen.order.size());
        show("in order, " + name, std::is_sorted(seen.order.begin(), seen.order.end()));
        show("with the stream, " + name, seen.stream_right);
        show("with success, " + name, seen.success);
        show("on another thread, " + name, seen.other_thread);
    }
    show("null callback", hipStreamAddCallback(stream, nullptr, nullptr, 0));
    show("flags 1", hipStreamAddCallback(stream, called, nullptr, 1));
    show("query afterwards", hipStreamQuery(stream));
    return 0;
}
