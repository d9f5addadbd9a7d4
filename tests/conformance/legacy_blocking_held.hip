// What is held back when a blocking stream is, and when the legacy stream is.
#include "captured.h"
#include "hold.h"

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    std::memset(pinned, 0, 64 * sizeof(int));
    hipStream_t blocking, other;
    NEED(hipStreamCreate(&blocking));
    NEED(hipStreamCreate(&other));
    {
        Hold hold;
        wait_until_open<<<1, 1, 0, blocking>>>(hold.flag);
        set<<<1, 64, 0, other>>>(pinned, 1);
        show("a second blocking stream is not held", hipStreamSynchronize(other));
        show_all("its data", pinned, 64, 1);
        set<<<1, 64>>>(pinned, 2);
        show("the legacy stream is held", hipStreamQuery(nullptr));
        set<<<1, 64, 0, other>>>(pinned, 3);
        show("what comes behind the legacy stream is held", hipStreamQuery(other));
        show_all("data so far", pinned, 64, 1);
        hold.open();
        show("released", hipDeviceSynchronize());
        show_all("data", pinned, 64, 3);
    }
    {
        Hold hold;
        wait_until_open<<<1, 1>>>(hold.flag);
        set<<<1, 64, 0, blocking>>>(pinned, 4);
        show("a blocking stream behind the legacy stream is held", hipStreamQuery(blocking));
        show_all("data so far", pinned, 64, 3);
        hold.open();
        show("released", hipStreamSynchronize(blocking));
        show_all("data", pinned, 64, 4);
    }
    return 0;
}
