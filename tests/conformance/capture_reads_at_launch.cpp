// A captured copy from the host reads what is there at the launch, from pinned and from pageable memory.
#include "captured.h"

int main() {
    hipStream_t stream;
    char *data, *pinned, pageable[64] = {}, host[64];
    NEED(hipStreamCreate(&stream));
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64, 0));
    for (char* source : {pinned, pageable}) {
        std::string name = source == pinned ? "pinned" : "pageable";
        memset(source, 1, 64);
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        show("copy, " + name, hipMemcpyAsync(data, source, 64, hipMemcpyHostToDevice, stream));
        hipGraph_t graph;
        show("end, " + name, hipStreamEndCapture(stream, &graph));
        hipGraphExec_t exec;
        NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
        for (char value : {2, 3}) {
            memset(source, value, 64);
            NEED(hipGraphLaunch(exec, stream));
            NEED(hipStreamSynchronize(stream));
            NEED(hipMemcpy(host, data, 64, hipMemcpyDeviceToHost));
            std::string label = "data, " + name;
            show_all(label.c_str(), host, 64, value);
        }
        NEED(hipGraphExecDestroy(exec));
        NEED(hipGraphDestroy(graph));
    }
    return 0;
}
