// A stream with work is not ready; with the work done it is.
// proves: hipStreamQuery
#include "captured.h"
#include "hold.h"

int main() {
    Hold hold;
    hipStream_t stream, other;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    show("new", hipStreamQuery(stream));
    wait_until_open<<<1, 1, 0, stream>>>(hold.flag);
    show("launch", hipGetLastError());
    show("held", hipStreamQuery(stream));
    show("held, still", hipStreamQuery(stream));
    show("last error after it", hipGetLastError());
    show("the other stream", hipStreamQuery(other));
    hold.open();
    show("synchronise", hipStreamSynchronize(stream));
    show("done", hipStreamQuery(stream));
    return 0;
}
