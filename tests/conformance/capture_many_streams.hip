// Eight branches of different length, forked from one another and joined in an order of their own.
#include "captured.h"
#include "hold.h"

static const int BRANCHES = 8;

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), BRANCHES * 64 * sizeof(int)));
    NEED(hipMemset(data, 0, BRANCHES * 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t stream[BRANCHES], launch;
    hipEvent_t fork[BRANCHES], join[BRANCHES];
    NEED(hipStreamCreate(&launch));
    for (int i = 0; i < BRANCHES; ++i) {
        NEED(hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));
        NEED(hipEventCreate(&fork[i]));
        NEED(hipEventCreate(&join[i]));
    }
    NEED(hipStreamBeginCapture(stream[0], hipStreamCaptureModeGlobal));
    set<<<BRANCHES, 64, 0, stream[0]>>>(data, 1);
    // Branch i forks from branch (i - 1) / 2 and multiplies its part i + 1 times by 2.
    for (int i = 0; i < BRANCHES; ++i) {
        if (i > 0) NEED(hipStreamWaitEvent(stream[i], fork[(i - 1) / 2], 0));
        NEED(hipEventRecord(fork[i], stream[i]));
        for (int j = 0; j <= i; ++j) multiply<<<1, 64, 0, stream[i]>>>(data + 64 * i, 2);
    }
    for (int i : {3, 7, 1, 5, 2, 6, 4}) {
        NEED(hipEventRecord(join[i], stream[i]));
        NEED(hipStreamWaitEvent(stream[0], join[i], 0));
    }
    add<<<BRANCHES, 64, 0, stream[0]>>>(data, data, 1);
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(stream[0], &graph));
    show("graph", shape_of(graph));
    run_once(graph, launch);
    int host[BRANCHES * 64];
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    for (int i = 0; i < BRANCHES; ++i) {
        show_all(("branch " + std::to_string(i)).c_str(), host + 64 * i, 64, (2 << i) + 1);
    }
    return 0;
}
