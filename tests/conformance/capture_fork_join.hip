// A fork by event record and wait, and the join back: shape, and data equal to the eager run's.
// DIFFERS state of a forked stream after: 5.2.3 leaves forked streams in the capture; CUDA Programming Guide,
//     stream capture
#include "captured.h"
#include "hold.h"

static const int COUNT = 256;

struct Work {
    hipStream_t stream[3];
    hipEvent_t fork, join[2];
    int *a, *b, *c;

    Work() {
        for (hipStream_t& s : stream) NEED(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
        for (hipEvent_t* event : {&fork, &join[0], &join[1]}) NEED(hipEventCreate(event));
        for (int** data : {&a, &b, &c}) NEED(hipMalloc(reinterpret_cast<void**>(data), COUNT * sizeof(int)));
    }

    // a = 5; b = 10 (a + 1) and c = 10 (a + 2) beside each other; a = b + c + 1000.
    void enqueue() {
        set_slowly<<<4, 64, 0, stream[0]>>>(a, 5, 20);
        NEED(hipGetLastError());
        NEED(hipEventRecord(fork, stream[0]));
        int* target[2] = {b, c};
        for (int i = 0; i < 2; ++i) {
            NEED(hipStreamWaitEvent(stream[1 + i], fork, 0));
            add<<<4, 64, 0, stream[1 + i]>>>(target[i], a, i + 1);
            multiply<<<4, 64, 0, stream[1 + i]>>>(target[i], 10);
            NEED(hipEventRecord(join[i], stream[1 + i]));
        }
        NEED(hipStreamWaitEvent(stream[0], join[0], 0));
        NEED(hipStreamWaitEvent(stream[0], join[1], 0));
        sum<<<4, 64, 0, stream[0]>>>(a, b, c);
        NEED(hipGetLastError());
    }

    void result(const std::string& label) {
        const char* names[] = {", a", ", b", ", c"};
        const int expected[] = {130, 60, 70};
        int* data[] = {a, b, c};
        for (int i = 0; i < 3; ++i) {
            int host[COUNT];
            NEED(hipMemcpy(host, data[i], sizeof host, hipMemcpyDeviceToHost));
            show_all((label + names[i]).c_str(), host, COUNT, expected[i]);
            NEED(hipMemset(data[i], 0, sizeof host));
        }
        NEED(hipDeviceSynchronize());
    }
};

int main() {
    Work eager;
    eager.enqueue();
    NEED(hipStreamSynchronize(eager.stream[0]));
    eager.result("eager");
    hipStream_t launch;
    NEED(hipStreamCreate(&launch));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        Work work;
        NEED(hipStreamBeginCapture(work.stream[0], mode.value));
        work.enqueue();
        show("state of a forked stream, " + name, state_of(work.stream[1]));
        hipGraph_t graph;
        NEED(hipStreamEndCapture(work.stream[0], &graph));
        show("state of a forked stream after, " + name, state_of(work.stream[1]));
        show("graph, " + name, shape_of(graph));
        for (int round = 0; round < 2; ++round) {
            run_once(graph, launch);
            work.result(name);
        }
        NEED(hipGraphDestroy(graph));
    }
    return 0;
}
