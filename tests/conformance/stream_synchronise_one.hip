// hipStreamSynchronize waits for its stream only, hipDeviceSynchronize for all.
#include "captured.h"
#include "hold.h"

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    std::memset(pinned, 0, 64 * sizeof(int));
    hipStream_t held, free_one;
    NEED(hipStreamCreateWithFlags(&held, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&free_one, hipStreamNonBlocking));
    Hold hold;
    wait_until_open<<<1, 1, 0, held>>>(hold.flag);
    set<<<1, 32, 0, held>>>(pinned, 1);
    set<<<1, 32, 0, free_one>>>(pinned + 32, 2);
    show("synchronise the free one", hipStreamSynchronize(free_one));
    show_all("its data", pinned + 32, 32, 2);
    show("the held one", hipStreamQuery(held));
    show_all("its data so far", pinned, 32, 0);
    hold.open();
    show("synchronise the device", hipDeviceSynchronize());
    show_all("its data", pinned, 32, 1);
    show("the held one", hipStreamQuery(held));
    return 0;
}
