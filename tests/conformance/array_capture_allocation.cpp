// Making and freeing arrays while a stream captures.
#include "array.h"

static void during(hipStreamCaptureMode mode, const char* name) {
    hipArray* kept = plane();
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamBeginCapture(stream, mode));
    hipArray* array = nullptr;
    line("%s, make: %s", name, observe::name_of(hipMallocArray(&array, &floats, 4, 4, hipArrayDefault)).c_str());
    hipStreamCaptureStatus status;
    NEED(hipStreamIsCapturing(stream, &status));
    line("%s, status: %d", name, static_cast<int>(status));
    hipGraph_t graph = nullptr;
    line("%s, end: %s", name, observe::name_of(hipStreamEndCapture(stream, &graph)).c_str());
    if (graph) NEED(hipGraphDestroy(graph));
    if (array) NEED(hipFreeArray(array));
    NEED(hipFreeArray(kept));
    (void)hipStreamDestroy(stream);
}

int main() {
    during(hipStreamCaptureModeRelaxed, "relaxed");
}
