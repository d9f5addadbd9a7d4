// hipGetStreamDeviceId: the device that a stream works on.
#include "captured.h"

extern "C" int hipGetStreamDeviceId(hipStream_t stream);

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("of a stream", hipGetStreamDeviceId(stream));
    show("of the null stream", hipGetStreamDeviceId(nullptr));
    show("of the thread's own stream", hipGetStreamDeviceId(hipStreamPerThread));
    return 0;
}
