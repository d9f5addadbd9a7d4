// Each capture has an id of its own, which stays as long as it lasts.
#include "captured.h"

#include <set>

int main() {
    hipStream_t stream;
    char* data;
    NEED(hipStreamCreate(&stream));
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    std::set<unsigned long long> ids;
    bool constant = true;
    for (int round = 0; round < 5; ++round) {
        hipStreamCaptureStatus state;
        unsigned long long begun = 0, later = 0;
        NEED(hipStreamBeginCapture(stream, CAPTURE_MODES[round % 3].value));
        NEED(hipStreamGetCaptureInfo(stream, &state, &begun));
        for (int fill = 0; fill < 4; ++fill) {
            NEED(hipMemsetAsync(data, fill, 64, stream));
            NEED(hipStreamGetCaptureInfo(stream, &state, &later));
            constant = constant && later == begun;
        }
        ids.insert(begun);
        hipGraph_t graph;
        NEED(hipStreamEndCapture(stream, &graph));
        NEED(hipGraphDestroy(graph));
    }
    show("different ids", ids.size());
    show("constant while they last", constant);
    hipStreamCaptureStatus state;
    unsigned long long untouched = 77;
    show("asking a stream that does not capture", hipStreamGetCaptureInfo(stream, &state, &untouched));
    show("its state", state_name(state));
    show("without a place for the id", hipStreamGetCaptureInfo(stream, &state, nullptr));
    show("without a place for the state", hipStreamGetCaptureInfo(stream, nullptr, &untouched));
    return 0;
}
