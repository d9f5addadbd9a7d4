// hipEventElapsedTime: what it refuses.
#include "captured.h"
#include "hold.h"

int main() {
    Hold hold;
    hipStream_t stream;
    hipEvent_t fresh, start, stop, untimed;
    float time = -1;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipEventCreate(&fresh));
    NEED(hipEventCreate(&start));
    NEED(hipEventCreate(&stop));
    NEED(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    NEED(hipEventRecord(start, stream));
    NEED(hipEventRecord(untimed, stream));
    NEED(hipEventRecord(stop, stream));
    NEED(hipEventSynchronize(stop));
    show("both recorded", hipEventElapsedTime(&time, start, stop));
    show("not negative", time >= 0);
    show("null time", hipEventElapsedTime(nullptr, start, stop));
    show("null start", hipEventElapsedTime(&time, nullptr, stop));
    show("null stop", hipEventElapsedTime(&time, start, nullptr));
    show("start never recorded", hipEventElapsedTime(&time, fresh, stop));
    show("stop never recorded", hipEventElapsedTime(&time, start, fresh));
    show("neither recorded", hipEventElapsedTime(&time, fresh, fresh));
    show("start without timing", hipEventElapsedTime(&time, untimed, stop));
    show("stop without timing", hipEventElapsedTime(&time, start, untimed));
    show("the same twice", hipEventElapsedTime(&time, start, start));
    show("is zero", time == 0);
    wait_until_open<<<1, 1, 0, stream>>>(hold.flag);
    NEED(hipEventRecord(stop, stream));
    show("stop not reached", hipEventElapsedTime(&time, start, stop));
    show("start not reached", hipEventElapsedTime(&time, stop, start));
    hold.open();
    NEED(hipEventSynchronize(stop));
    show("reached", hipEventElapsedTime(&time, start, stop));
    return 0;
}
