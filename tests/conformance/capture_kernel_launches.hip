// Every way to launch a kernel on a capturing stream records one kernel node.
// DIFFERS graph of hipExtLaunchKernel: 5.2.3 runs it at once; HIP documentation, stream capture
// DIFFERS before the launch of hipExtLaunchKernel: 5.2.3 runs it at once; HIP documentation, stream capture
#include "captured.h"
#include "hold.h"

#include <hip/hip_ext.h>

#include <functional>

static const int COUNT = 64;

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), COUNT * sizeof(int)));
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&launch));
    int value = 0;
    void* arguments[] = {&data, &value};
    const void* function = reinterpret_cast<const void*>(set);
    struct Way {
        const char* name;
        int value;
        std::function<hipError_t()> launch;
    };
    const Way ways[] = {
        {"triple brackets", 3,
         [&] {
             set<<<1, COUNT, 0, stream>>>(data, value);
             return hipGetLastError();
         }},
        {"hipLaunchKernel", 4, [&] { return hipLaunchKernel(function, 2, COUNT / 2, arguments, 0, stream); }},
        {"hipExtLaunchKernel", 5,
         [&] { return hipExtLaunchKernel(function, 1, COUNT, arguments, 0, stream, nullptr, nullptr, 0); }},
    };
    for (const Way& way : ways) {
        std::string name = way.name;
        NEED(hipMemset(data, 0, COUNT * sizeof(int)));
        NEED(hipDeviceSynchronize());
        value = way.value;
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        show(name, way.launch());
        // The node has arguments of its own.
        value = 99;
        hipGraph_t graph = nullptr;
        show("end of " + name, hipStreamEndCapture(stream, &graph));
        show("graph of " + name, shape_of(graph));
        int host[COUNT];
        NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
        show_all(("before the launch of " + name).c_str(), host, COUNT, 0);
        if (graph != nullptr) run_once(graph, launch);
        NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
        show_all(("after the launch of " + name).c_str(), host, COUNT, way.value);
    }
    return 0;
}
