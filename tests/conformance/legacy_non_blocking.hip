// A non-blocking stream neither waits for the legacy stream nor does that wait for it.
#include "captured.h"
#include "hold.h"

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    std::memset(pinned, 0, 64 * sizeof(int));
    hipStream_t apart;
    NEED(hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
    {
        Hold hold;
        wait_until_open<<<1, 1, 0, apart>>>(hold.flag);
        set<<<1, 64>>>(pinned, 3);
        show("legacy beside a held stream", hipStreamSynchronize(nullptr));
        show_all("its data", pinned, 64, 3);
        show("the held stream", hipStreamQuery(apart));
        hold.open();
        show("released", hipStreamSynchronize(apart));
    }
    {
        Hold hold;
        wait_until_open<<<1, 1>>>(hold.flag);
        set<<<1, 64, 0, apart>>>(pinned, 4);
        show("non-blocking beside the held legacy stream", hipStreamSynchronize(apart));
        show_all("its data", pinned, 64, 4);
        show("the legacy stream", hipStreamQuery(nullptr));
        hold.open();
        show("released", hipStreamSynchronize(nullptr));
    }
    return 0;
}
