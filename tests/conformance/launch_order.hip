// Kernels on one stream and on the default stream run in order; hipMemcpy and hipFree wait for them.
#include "observe.h"

__global__ void slow_write(int* out, int value, int rounds) {
    int x = value;
    for (int i = 0; i < rounds; ++i) x = x * 1103515245 + 12345;
    *out = x == 123456789 ? 0 : value;
}

__global__ void append(int* list, int value) {
    int at = list[0]++;
    list[1 + at] = value;
}

int main() {
    int *list = nullptr, *other = nullptr;
    NEED(hipMalloc(&list, 256 * sizeof(int)));
    NEED(hipMalloc(&other, sizeof(int)));
    NEED(hipMemset(list, 0, 256 * sizeof(int)));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    for (int i = 0; i < 20; ++i) append<<<1, 1, 0, stream>>>(list, i);
    NEED(hipStreamSynchronize(stream));
    for (int i = 20; i < 40; ++i) append<<<1, 1, 0, i % 2 ? stream : nullptr>>>(list, i);
    int back[256] = {};
    show("copy", hipMemcpy(back, list, sizeof back, hipMemcpyDeviceToHost));
    bool ascending = true;
    for (int i = 0; i < 40; ++i) ascending = ascending && back[1 + i] == i;
    line("appended: %d, in order %d", back[0], ascending);

    slow_write<<<1, 1, 0, stream>>>(other, 77, 20000);
    int value = 0;
    show("copy behind a kernel of a blocking stream",
         hipMemcpy(&value, other, sizeof value, hipMemcpyDeviceToHost));
    show("value", value);
    slow_write<<<1, 1>>>(other, 78, 20000);
    show("copy behind a kernel of the default stream",
         hipMemcpy(&value, other, sizeof value, hipMemcpyDeviceToHost));
    show("value", value);
    slow_write<<<1, 1, 0, stream>>>(other, 79, 20000);
    show("free", hipFree(list));
    show("the stream behind a free", hipStreamQuery(stream));
    NEED(hipMemcpy(&value, other, sizeof value, hipMemcpyDeviceToHost));
    show("value", value);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(other));
}
