// Two devices: events order streams of different devices.
// DEVICES: 2
#include "hold.h"

int main() {
    const int count = 256;
    int *memory[2];
    hipStream_t stream[2];
    hipEvent_t event[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], count * sizeof(int)));
        NEED(hipStreamCreateWithFlags(&stream[device], hipStreamNonBlocking));
        NEED(hipEventCreate(&event[device]));
        NEED(hipDeviceEnablePeerAccess(1 - device, 0));
    }
    std::vector<int> host(count);

    // Device 1 adds to what device 0 makes, and would overtake it if it did not wait.
    NEED(hipSetDevice(0));
    set_slowly<<<count / 64, 64, 0, stream[0]>>>(memory[0], 20, 2000);
    show("record on the first", hipEventRecord(event[0], stream[0]));
    NEED(hipSetDevice(1));
    show("wait on the second", hipStreamWaitEvent(stream[1], event[0], 0));
    add<<<count / 64, 64, 0, stream[1]>>>(memory[1], memory[0], 1);
    // And back.
    show("record on the second", hipEventRecord(event[1], stream[1]));
    NEED(hipSetDevice(0));
    show("wait on the first", hipStreamWaitEvent(stream[0], event[1], 0));
    add<<<count / 64, 64, 0, stream[0]>>>(memory[0], memory[1], 1);
    NEED(hipStreamSynchronize(stream[0]));
    NEED(hipMemcpy(host.data(), memory[0], count * sizeof(int), hipMemcpyDeviceToHost));
    show_all("there and back", host.data(), count, 22);

    // The host asks from another device.
    Hold hold;
    NEED(hipSetDevice(1));
    wait_until_open<<<1, 1, 0, stream[1]>>>(hold.flag);
    NEED(hipEventRecord(event[1], stream[1]));
    NEED(hipSetDevice(0));
    show("query of the second's event while it is held", hipEventQuery(event[1]));
    show("query of the second's stream while it is held", hipStreamQuery(stream[1]));
    show("query of the first's stream", hipStreamQuery(stream[0]));
    hold.open();
    show("synchronize with the second's event", hipEventSynchronize(event[1]));
    show("query of the second's event", hipEventQuery(event[1]));
    show("synchronize with the second's stream", hipStreamSynchronize(stream[1]));

    float time = -1;
    show("time between events of two devices", hipEventElapsedTime(&time, event[0], event[1]));

    // An event of one device on a stream of the other.
    show("record of the first's event on the second's stream", hipEventRecord(event[0], stream[1]));
    show("synchronize afterwards", hipEventSynchronize(event[0]));
    NEED(hipSetDevice(1));
    show("record of the first's event on the second's default stream", hipEventRecord(event[0], nullptr));
    show("record of the first's event on its own stream", hipEventRecord(event[0], stream[0]));
    show("synchronize with it", hipEventSynchronize(event[0]));
    NEED(hipSetDevice(0));

    // In a capture an event is a place in a graph.
    show("begin", hipStreamBeginCapture(stream[0], hipStreamCaptureModeRelaxed));
    show("record of the second's event on the first's stream", hipEventRecord(event[1], stream[0]));
    show("wait on the second's stream", hipStreamWaitEvent(stream[1], event[1], 0));
    show("record of the first's event on the second's", hipEventRecord(event[0], stream[1]));
    show("wait on the first's stream", hipStreamWaitEvent(stream[0], event[0], 0));
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(stream[0], &graph));
    if (graph) NEED(hipGraphDestroy(graph));

    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipEventDestroy(event[device]));
        NEED(hipStreamDestroy(stream[device]));
        NEED(hipFree(memory[device]));
    }
}
