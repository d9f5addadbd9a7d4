// What a profiler is told of devices: which operations, on whose thread, with which records, and when.
// proves: hipInitActivityCallback, hipEnableActivityCallback
#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "profiler.h"

namespace {

// `activity_record_t`.
struct Record {
    uint32_t domain, kind, op;
    uint64_t correlation_id, begin_ns, end_ns;
    int device_id;
    uint64_t queue_id;
    size_t bytes;
};

std::thread::id caller;
uint64_t announced = 0;
// Records come on any thread and in any order.
std::mutex lock;
std::vector<std::pair<uint64_t, std::string>> ended;
size_t printed = 0;
bool has_times = true;

void on_id(uint64_t id) {
    bool here = std::this_thread::get_id() == caller;
    line("  number %llu%s", static_cast<unsigned long long>(id), here ? "" : " on another thread");
    ++announced;
}

void on_op(uint32_t op, void* given, void* arg) {
    auto* record = static_cast<const Record*>(given);
    char text[200];
    std::snprintf(text, sizeof text, "number %llu: %s, domain %u, operation %u %u, device %d, argument %s",
                  static_cast<unsigned long long>(record->correlation_id), hipGetCmdName(record->kind),
                  record->domain, op, record->op, record->device_id, static_cast<const char*>(arg));
    std::lock_guard<std::mutex> guard(lock);
    ended.emplace_back(record->correlation_id, text);
    has_times &= record->begin_ns != 0 && record->begin_ns <= record->end_ns;
}

void* on_activity(uint32_t, void*, const void*, void*) { return nullptr; }

// Waits until everything that was put on a stream is over, and the profiler knows.
void settle(hipStream_t stream) {
    NEED(hipStreamSynchronize(stream));
    for (int i = 0; i < 5000; ++i) {
        {
            std::lock_guard<std::mutex> guard(lock);
            if (ended.size() >= announced) break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        (void)hipPeekAtLastError();
    }
    std::lock_guard<std::mutex> guard(lock);
    std::sort(ended.begin() + printed, ended.end());
    for (; printed < ended.size(); ++printed) line("  %s", ended[printed].second.c_str());
    line("over: %zu of %llu", ended.size(), static_cast<unsigned long long>(announced));
}

__global__ void put(int* to, int value) { to[threadIdx.x] = value; }

void enable(unsigned op, bool is_on) {
    line("operation %u %s: %d", op, is_on ? "on" : "off", hipEnableActivityCallback(op, is_on));
}

}  // namespace

int main() {
    caller = std::this_thread::get_id();
    hipInitActivityCallback(reinterpret_cast<void*>(on_id), reinterpret_cast<void*>(on_op),
                            const_cast<char*>("one"));
    // Otherwise 5.2.3 has no times.
    NEED(profiler::on_activity(HIP_API_ID_hipArrayCreate, on_activity, ""));
    for (unsigned op : {3u, 4u, 1000u, ~0u}) enable(op, true);
    int *device, *other;
    static int host[64];
    hipStream_t stream;
    NEED(hipMalloc(&device, 4096));
    NEED(hipMalloc(&other, 4096));
    NEED(hipStreamCreate(&stream));

    line("nothing is on");
    put<<<1, 64, 0, stream>>>(device, 1);
    settle(stream);

    enable(0, true);
    line("kernels");
    put<<<1, 64, 0, stream>>>(device, 2);
    put<<<1, 64, 0, stream>>>(other, 2);
    settle(stream);
    line("copies are off");
    NEED(hipMemcpyAsync(other, device, 256, hipMemcpyDeviceToDevice, stream));
    settle(stream);

    enable(1, true);
    line("copies and fills");
    NEED(hipMemcpyAsync(host, device, 256, hipMemcpyDeviceToHost, stream));
    settle(stream);
    NEED(hipMemcpyAsync(device, host, 256, hipMemcpyHostToDevice, stream));
    settle(stream);
    NEED(hipMemcpyAsync(other, device, 256, hipMemcpyDeviceToDevice, stream));
    NEED(hipMemsetAsync(device, 1, 77, stream));
    settle(stream);
    NEED(hipMemcpy2DAsync(other, 64, device, 32, 16, 4, hipMemcpyDeviceToDevice, stream));
    NEED(hipMemset2DAsync(device, 64, 1, 32, 4, stream));
    settle(stream);
    NEED(hipMemcpy2DAsync(host, 64, device, 64, 32, 4, hipMemcpyDeviceToHost, stream));
    settle(stream);
    NEED(hipMemcpy2DAsync(device, 64, host, 64, 32, 4, hipMemcpyHostToDevice, stream));
    settle(stream);

    line("a graph");
    hipGraph_t graph;
    hipGraphExec_t exec;
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    put<<<1, 64, 0, stream>>>(device, 3);
    NEED(hipMemcpyAsync(other, device, 256, hipMemcpyDeviceToDevice, stream));
    put<<<1, 64, 0, stream>>>(other, 4);
    NEED(hipStreamEndCapture(stream, &graph));
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 2; ++i) {
        NEED(hipGraphLaunch(exec, stream));
        settle(stream);
    }

    line("another argument, and disabled in flight");
    hipInitActivityCallback(reinterpret_cast<void*>(on_id), reinterpret_cast<void*>(on_op),
                            const_cast<char*>("two"));
    enable(0, true);
    put<<<1, 64, 0, stream>>>(device, 5);
    enable(0, false);
    settle(stream);
    put<<<1, 64, 0, stream>>>(device, 6);
    settle(stream);
    show("times", has_times ? "given" : "missing");
}
