// Other streams work while one captures.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b;
    int* seen;
    NEED(hipMalloc(reinterpret_cast<void**>(&a), 64 * sizeof(int)));
    NEED(hipMalloc(reinterpret_cast<void**>(&b), 64 * sizeof(int)));
    NEED(hipHostMalloc(reinterpret_cast<void**>(&seen), 64 * sizeof(int), 0));
    NEED(hipMemset(a, 0, 64 * sizeof(int)));
    NEED(hipMemset(b, 0, 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t stream, other;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    set<<<1, 64, 0, stream>>>(a, 5);
    set<<<1, 64, 0, other>>>(b, 6);
    show("launch on the other stream", hipGetLastError());
    show("state of the other stream", state_of(other));
    show("copy there", hipMemcpyAsync(seen, b, 64 * sizeof(int), hipMemcpyDeviceToHost, other));
    show("synchronise it", hipStreamSynchronize(other));
    show_all("data there", seen, 64, 6);
    show("copy of the capture's data",
         hipMemcpyAsync(seen, a, 64 * sizeof(int), hipMemcpyDeviceToHost, other));
    show("synchronise it", hipStreamSynchronize(other));
    show_all("data of the capture", seen, 64, 0);
    show_end("the capture", stream);
    return 0;
}
