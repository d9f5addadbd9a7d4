// Callbacks take part in the order between the legacy stream and blocking streams.
#include "captured.h"
#include "hold.h"

struct Step {
    int* pinned;
    int seen;
};
static void take(hipStream_t, hipError_t, void* data) {
    Step* step = static_cast<Step*>(data);
    step->seen = step->pinned[0];
    step->pinned[0] += 1;
}

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    std::memset(pinned, 0, 64 * sizeof(int));
    hipStream_t blocking;
    NEED(hipStreamCreate(&blocking));
    Step steps[4] = {{pinned, -1}, {pinned, -1}, {pinned, -1}, {pinned, -1}};
    set_slowly<<<1, 1, 0, blocking>>>(pinned, 10, 300);
    NEED(hipStreamAddCallback(nullptr, take, &steps[0], 0));
    multiply<<<1, 1, 0, blocking>>>(pinned, 2);
    NEED(hipStreamAddCallback(blocking, take, &steps[1], 0));
    multiply<<<1, 1>>>(pinned, 3);
    NEED(hipStreamAddCallback(blocking, take, &steps[2], 0));
    NEED(hipStreamAddCallback(nullptr, take, &steps[3], 0));
    show("synchronise", hipDeviceSynchronize());
    for (const Step& step : steps) show("saw", step.seen);
    show("in the end", pinned[0]);
    return 0;
}
