// Questions that no capture mode forbids.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    const void* kernel = reinterpret_cast<const void*>(set);
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        hipStream_t stream;
        NEED(hipStreamCreate(&stream));
        size_t available, total;
        hipPointerAttribute_t pointer;
        hipFuncAttributes function;
        hipDeviceProp_t properties;
        int value, blocks;
        NEED(hipStreamBeginCapture(stream, mode.value));
        show("hipMemGetInfo, " + name, hipMemGetInfo(&available, &total));
        show("hipPointerGetAttributes, " + name, hipPointerGetAttributes(&pointer, data));
        show("hipFuncGetAttributes, " + name, hipFuncGetAttributes(&function, kernel));
        show("hipGetDeviceProperties, " + name, hipGetDeviceProperties(&properties, 0));
        show("hipDeviceGetAttribute, " + name, hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
        show("hipOccupancyMaxActiveBlocksPerMultiprocessor, " + name,
             hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 0));
        show("hipDriverGetVersion, " + name, hipDriverGetVersion(&value));
        show("hipPeekAtLastError, " + name, hipPeekAtLastError());
        show("state during them, " + name, state_of(stream));
        show_end("the capture, " + name, stream);
    }
    return 0;
}
