// What copies refuse: null operands, ranges that leave their allocation, kinds; and copies of no bytes.
#include "observe.h"

// DIFFERS bad kind: 5.2.3 takes any number for a kind; hipErrorInvalidMemcpyDirection is for that
//     (cudaMemcpy)
int main() {
    const size_t bytes = 4096;
    char *device = nullptr, *other = nullptr, *pinned = nullptr;
    NEED(hipMalloc(&device, bytes));
    NEED(hipMalloc(&other, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    std::vector<char> host(2 * bytes);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));

    show("null destination", hipMemcpy(nullptr, device, 16, hipMemcpyDeviceToHost));
    show("null source", hipMemcpy(device, nullptr, 16, hipMemcpyHostToDevice));
    show("both null", hipMemcpy(nullptr, nullptr, 16, hipMemcpyDefault));
    show("both null, 0 bytes", hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
    show("0 bytes", hipMemcpy(device, host.data(), 0, hipMemcpyHostToDevice));
    show("0 bytes, null source", hipMemcpy(device, nullptr, 0, hipMemcpyHostToDevice));
    show("bad kind, 0 bytes", hipMemcpy(device, host.data(), 0, hipMemcpyKind(9)));
    show("bad kind", hipMemcpy(device, host.data(), 16, hipMemcpyKind(9)));
    show("bad kind, negative", hipMemcpy(device, host.data(), 16, hipMemcpyKind(-1)));

    show("one byte too many to the device", hipMemcpy(device, host.data(), bytes + 1, hipMemcpyHostToDevice));
    show("one byte too many from the device",
         hipMemcpy(host.data(), device, bytes + 1, hipMemcpyDeviceToHost));
    show("too far in", hipMemcpy(device + 1, host.data(), bytes, hipMemcpyHostToDevice));
    show("to the last byte", hipMemcpy(device + bytes - 1, host.data(), 1, hipMemcpyHostToDevice));
    show("one byte too many to pinned memory", hipMemcpy(pinned, device, bytes + 1, hipMemcpyDeviceToHost));
    show("same source and destination", hipMemcpy(device, device, bytes, hipMemcpyDeviceToDevice));

    show("async, null destination", hipMemcpyAsync(nullptr, device, 16, hipMemcpyDeviceToHost, stream));
    show("async, null source", hipMemcpyAsync(device, nullptr, 16, hipMemcpyHostToDevice, stream));
    show("async, 0 bytes", hipMemcpyAsync(device, host.data(), 0, hipMemcpyHostToDevice, stream));
    show("bad kind, async", hipMemcpyAsync(device, host.data(), 16, hipMemcpyKind(9), stream));
    show("async, too many bytes",
         hipMemcpyAsync(device, host.data(), bytes + 1, hipMemcpyHostToDevice, stream));
    show("with stream, null destination",
         hipMemcpyWithStream(nullptr, device, 16, hipMemcpyDeviceToHost, stream));
    show("with stream, 0 bytes", hipMemcpyWithStream(device, host.data(), 0, hipMemcpyHostToDevice, stream));
    show("with stream, too many bytes",
         hipMemcpyWithStream(host.data(), device, bytes + 1, hipMemcpyDefault, stream));

    show("HtoD, null destination", hipMemcpyHtoD(nullptr, host.data(), 16));
    show("HtoD, null source", hipMemcpyHtoD(device, nullptr, 16));
    show("HtoD, 0 bytes", hipMemcpyHtoD(device, host.data(), 0));
    show("HtoD, too many bytes", hipMemcpyHtoD(device, host.data(), bytes + 1));
    show("HtoD to the host", hipMemcpyHtoD(host.data(), host.data() + 64, 16));
    show("DtoH, null destination", hipMemcpyDtoH(nullptr, device, 16));
    show("DtoH, null source", hipMemcpyDtoH(host.data(), nullptr, 16));
    show("DtoH, 0 bytes", hipMemcpyDtoH(host.data(), device, 0));
    show("DtoH, too many bytes", hipMemcpyDtoH(host.data(), device, bytes + 1));
    show("DtoD, null destination", hipMemcpyDtoD(nullptr, device, 16));
    show("DtoD, null source", hipMemcpyDtoD(device, nullptr, 16));
    show("DtoD, 0 bytes", hipMemcpyDtoD(device, other, 0));
    show("DtoD, too many bytes", hipMemcpyDtoD(device, other, bytes + 1));
    show("HtoDAsync, null source", hipMemcpyHtoDAsync(device, nullptr, 16, stream));
    show("DtoHAsync, null destination", hipMemcpyDtoHAsync(nullptr, device, 16, stream));
    show("DtoDAsync, null source", hipMemcpyDtoDAsync(device, nullptr, 16, stream));

    show("the stream", hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
    NEED(hipFree(other));
    NEED(hipHostFree(pinned));
}
