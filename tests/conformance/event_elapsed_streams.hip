// Times between events of different streams.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    hipStream_t first, second;
    hipEvent_t start, middle, stop;
    NEED(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    for (hipEvent_t* event : {&start, &middle, &stop}) NEED(hipEventCreate(event));
    set_slowly<<<1, 64, 0, first>>>(data, 1, 10);
    NEED(hipEventRecord(start, first));
    NEED(hipStreamWaitEvent(second, start, 0));
    set_slowly<<<1, 64, 0, second>>>(data, 2, 1000);
    NEED(hipEventRecord(middle, second));
    NEED(hipStreamWaitEvent(first, middle, 0));
    set_slowly<<<1, 64, 0, first>>>(data, 3, 1000);
    NEED(hipEventRecord(stop, first));
    NEED(hipEventSynchronize(stop));
    float to_middle = -1, to_stop = -1, all = -1;
    show("to the middle", hipEventElapsedTime(&to_middle, start, middle));
    show("to the end", hipEventElapsedTime(&to_stop, middle, stop));
    show("in all", hipEventElapsedTime(&all, start, stop));
    show("the middle is later", to_middle > 0);
    show("the end is later", to_stop > 0);
    show("all is more than each", all > to_middle && all > to_stop);
    return 0;
}
