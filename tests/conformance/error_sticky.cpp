// The last error of a thread: which calls set it, which read it, which forget it.
#include "observe.h"

static void after(const char* what) {
    line("after %s: peek %s, peek %s, get %s, get %s", what, observe::name_of(hipPeekAtLastError()).c_str(),
         observe::name_of(hipPeekAtLastError()).c_str(), observe::name_of(hipGetLastError()).c_str(),
         observe::name_of(hipGetLastError()).c_str());
}

int main() {
    after("nothing");
    int device = 0;
    show("a null pointer", hipGetDevice(nullptr));
    after("a null pointer");
    show("a wrong device", hipSetDevice(99));
    after("a wrong device");
    void* memory = nullptr;
    show("too much memory", hipMalloc(&memory, ~size_t{0} / 2));
    after("too much memory");
    show("a null address", hipMemset(nullptr, 0, 4));
    after("a null address");
    show("a null event", hipEventRecord(nullptr, nullptr));
    after("a null event");
    show("null to free", hipFree(nullptr));
    after("null to free");
    show("a pointer that is none", hipFree(&device));
    after("a pointer that is none");
    show("a module that is none", hipModuleLoad(reinterpret_cast<hipModule_t*>(&memory), "/nonexistent"));
    after("a module that is none");
    show("a graph to null", hipGraphCreate(nullptr, 0));
    after("a graph to null");
    show("a graph with flags", hipGraphCreate(reinterpret_cast<hipGraph_t*>(&memory), 1));
    after("a graph with flags");

    // The first of two failures, or the second?
    show("a null pointer", hipGetDevice(nullptr));
    show("then a wrong device", hipSetDevice(99));
    after("two failures");

    // A success in between.
    show("a null pointer", hipGetDevice(nullptr));
    show("then a success", hipGetDevice(&device));
    after("a failure and a success");

    // Not ready is no error.
    hipEvent_t event;
    hipStream_t stream;
    NEED(hipEventCreate(&event));
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamSynchronize(stream));
    show("query of an idle stream", hipStreamQuery(stream));
    after("a query of an idle stream");
    float elapsed = 0;
    show("time between events never recorded", hipEventElapsedTime(&elapsed, event, event));
    after("time between events never recorded");
    NEED(hipEventDestroy(event));
    NEED(hipStreamDestroy(stream));

    // Names and texts are no calls that succeed or fail.
    show("a null pointer", hipGetDevice(nullptr));
    hipGetErrorName(hipSuccess);
    hipGetErrorString(hipSuccess);
    after("a failure and a name");
}
