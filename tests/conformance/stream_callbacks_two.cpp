// Callbacks of two streams: each stream keeps its own order, and an event orders them across.
#include "captured.h"

#include <mutex>

static std::mutex lock;
static std::vector<int> order;
static void note(hipStream_t, hipError_t, void* number) {
    std::lock_guard<std::mutex> guard(lock);
    order.push_back(static_cast<int>(reinterpret_cast<intptr_t>(number)));
}

int main() {
    hipStream_t a, b;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    auto add = [](hipStream_t stream, intptr_t number) {
        NEED(hipStreamAddCallback(stream, note, reinterpret_cast<void*>(number), 0));
    };
    for (int i = 0; i < 5; ++i) {
        add(a, i);
        add(b, 100 + i);
    }
    NEED(hipStreamSynchronize(a));
    NEED(hipStreamSynchronize(b));
    std::vector<int> mine, other;
    for (int number : order) (number < 100 ? mine : other).push_back(number);
    show("calls", order.size());
    show("the first stream's in order", std::is_sorted(mine.begin(), mine.end()));
    show("the second stream's in order", std::is_sorted(other.begin(), other.end()));
    order.clear();
    for (int i = 0; i < 6; ++i) {
        hipStream_t here = i % 2 ? b : a, there = i % 2 ? a : b;
        add(here, i);
        NEED(hipEventRecord(event, here));
        NEED(hipStreamWaitEvent(there, event, 0));
    }
    NEED(hipDeviceSynchronize());
    for (int number : order) show("by turns", number);
    return 0;
}
