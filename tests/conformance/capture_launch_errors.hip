// Launches that cannot work, on a capturing stream.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    set<<<1, 64, 0, stream>>>(data, 1);
    show("good", hipGetLastError());
    set<<<1, 2048, 0, stream>>>(data, 1);
    show("a block too large", hipGetLastError());
    show("state after it", state_of(stream));
    set<<<1, 64, 0, stream>>>(data, 2);
    show("good again", hipGetLastError());
    show_end("the capture", stream);
    return 0;
}
