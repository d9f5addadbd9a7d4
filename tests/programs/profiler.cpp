// A profiler as the public headers have it: it is told of every call, and ties what devices do to the calls by their numbers.
#include "check.h"
extern "C" {
#include <hip/amd_detail/hip_runtime_prof.h>
}
#include <hip/amd_detail/hip_prof_str.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include LAYOUT

#define EXPECT(what)                                                          \
  do {                                                                        \
    if (!(what)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

namespace {

// `activity_record_t` of roctracer's ext/prof_protocol.h.
struct Record {
  uint32_t domain, kind, op;
  uint64_t correlation_id, begin_ns, end_ns;
  int device_id;
  uint64_t queue_id;
  size_t bytes;
};

// What the profiler knows of a call.
struct Call {
  uint32_t id;
  unsigned begun, ended;
};

std::mutex lock;
std::map<uint64_t, Call> calls;             // by the profiler's number
std::map<uint64_t, uint64_t> call_of;       // a call's number, by a record's
std::vector<std::pair<uint64_t, Record>> records;
std::atomic<uint64_t> next{1};
thread_local std::vector<uint64_t> stack;
// One structure for each call that the thread is in.
thread_local unsigned char data[8][sizeof(hip_api_data_t)];

void* on_activity(uint32_t id, void*, const void*, void* arg) {
  if (arg) {
    stack.pop_back();
    return nullptr;
  }
  auto* call = reinterpret_cast<hip_api_data_t*>(data[stack.size()]);
  call->correlation_id = next++;
  call->phase = 0;
  stack.push_back(call->correlation_id);
  std::lock_guard<std::mutex> guard(lock);
  calls[call->correlation_id] = Call{id, 0, 0};
  return call;
}

// What the last call of the thread was given.
thread_local union {
  size_t bytes;
  unsigned flags;
  float clamp;
} given;

void on_api(uint32_t domain, uint32_t id, const void* told, void*) {
  auto* call = static_cast<const hip_api_data_t*>(told);
  EXPECT(domain == 3 && call->correlation_id == stack.back());
  if (id == HIP_API_ID_hipMalloc) given.bytes = call->args.hipMalloc.size;
  if (id == HIP_API_ID_hipGraphicsGLRegisterBuffer) given.flags = call->args.hipGraphicsGLRegisterBuffer.flags;
  if (id == HIP_API_ID_hipTexRefSetMipmapLevelClamp) {
    given.clamp = call->args.hipTexRefSetMipmapLevelClamp.maxMipMapLevelClamp;
  }
  std::lock_guard<std::mutex> guard(lock);
  Call& known = calls.at(call->correlation_id);
  EXPECT(known.id == id);
  ++(call->phase == 0 ? known.begun : known.ended);
}

void on_id(uint64_t number) {
  std::lock_guard<std::mutex> guard(lock);
  call_of[number] = stack.empty() ? 0 : stack.back();
}

void on_op(uint32_t op, void* told, void*) {
  // It may call.
  (void)hipStreamQuery(nullptr);
  auto* record = static_cast<const Record*>(told);
  std::lock_guard<std::mutex> guard(lock);
  EXPECT(record->op == op && record->domain == 2 && record->device_id == 0);
  EXPECT(record->begin_ns != 0 && record->begin_ns <= record->end_ns);
  records.emplace_back(call_of.at(record->correlation_id), *record);
}

// The records that came since the last time, once there are so many, with the functions that caused them and the bytes, in the
// order of the calls. A record comes at the end of any call, and not in the order of others.
std::string settled(size_t count) {
  for (int tries = 0; tries < 5000; ++tries) {
    {
      std::lock_guard<std::mutex> guard(lock);
      if (records.size() >= count) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)hipStreamQuery(nullptr);
  }
  std::lock_guard<std::mutex> guard(lock);
  std::sort(records.begin(), records.end(),
            [](auto& one, auto& other) { return one.second.correlation_id < other.second.correlation_id; });
  std::string text;
  for (auto& [call, record] : records) {
    auto name = call ? hip_api_name(calls.at(call).id) : "nobody";
    text += std::string(name) + " " + hipGetCmdName(record.kind) + " " + std::to_string(record.bytes) + "\n";
  }
  records.clear();
  return text;
}

void watch(bool on) {
  for (uint32_t id = 1; id <= HIP_API_ID_LAST; ++id) {
    if (on) {
      CHECK(hipRegisterApiCallback(id, reinterpret_cast<void*>(on_api), nullptr));
      CHECK(hipRegisterActivityCallback(id, reinterpret_cast<void*>(on_activity), data));
    } else {
      CHECK(hipRemoveActivityCallback(id));
      CHECK(hipRemoveApiCallback(id));
    }
  }
}

// Calls of several threads, while another registers and removes what they tell.
void many_threads() {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 2000; ++j) {
        int device;
        CHECK(hipGetDevice(&device));
        (void)hipStreamQuery(nullptr);
      }
      EXPECT(stack.empty());
    });
  }
  std::thread other([&] {
    while (!over) {
      watch(false);
      watch(true);
    }
  });
  for (auto& thread : threads) thread.join();
  over = true;
  other.join();
}

}  // namespace

int main() {
  hipInitActivityCallback(reinterpret_cast<void*>(on_id), reinterpret_cast<void*>(on_op), nullptr);
  for (unsigned op = 0; op < kHipVdiOpIdNumber; ++op) EXPECT(hipEnableActivityCallback(op, true));
  watch(true);

  static_assert(HIP_API_ID_LAST == 333, "the table has the functions of 5.2.3");
  size_t functions = 0;
#define F(id, name) EXPECT(std::string(hip_api_name(id)) == name); ++functions;
  FUNCTIONS
#undef F
  // Four numbers are reserved.
  EXPECT(functions + 4 == HIP_API_ID_LAST);

  void *device, *other;
  static char host[4096];
  hipStream_t stream;
  CHECK(hipMalloc(&device, 4096));
  EXPECT(given.bytes == 4096);
  CHECK(hipMalloc(&other, 4096));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMemsetAsync(device, 5, 100, stream));
  CHECK(hipMemcpyAsync(other, device, 64, hipMemcpyDeviceToDevice, stream));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(settled(2) == "hipMemsetAsync FillBuffer 100\nhipMemcpyAsync CopyDeviceToDevice 64\n");
  CHECK(hipMemcpy2DAsync(other, 64, device, 32, 16, 3, hipMemcpyDeviceToDevice, stream));
  CHECK(hipMemset2DAsync(device, 64, 1, 10, 3, stream));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(settled(2) == "hipMemcpy2DAsync CopyDeviceToDevice2D 48\nhipMemset2DAsync FillBuffer 30\n");
  CHECK(hipMemcpy(host, device, 10, hipMemcpyDeviceToHost));
  EXPECT(host[0] == 1 && settled(1) == "hipMemcpy CopyDeviceToHost 10\n");

  // Large enough for a copy engine, which says nothing of its times.
  constexpr size_t large = size_t{32} << 20;
  void *pinned, *memory;
  CHECK(hipHostMalloc(&pinned, large, 0));
  CHECK(hipMalloc(&memory, large));
  CHECK(hipMemcpyAsync(memory, pinned, large, hipMemcpyHostToDevice, stream));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(settled(1) == "hipMemcpyAsync CopyHostToDevice 33554432\n");

  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipMemsetAsync(device, 2, 7, stream));
  CHECK(hipMemcpyAsync(other, device, 7, hipMemcpyDeviceToDevice, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 2; ++i) {
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    EXPECT(settled(2) == "hipGraphLaunch FillBuffer 7\nhipGraphLaunch CopyDeviceToDevice 7\n");
  }

  // The profiler is told of functions that are refused, too.
  hipGraphicsResource* resource;
  EXPECT(hipGraphicsGLRegisterBuffer(&resource, 1, 77) == hipErrorNotSupported && given.flags == 77);
  EXPECT(hipTexRefSetMipmapLevelClamp(nullptr, 0.5f, 2.5f) == hipErrorNotSupported && given.clamp == 2.5f);

  many_threads();
  watch(false);
  for (unsigned op = 0; op < kHipVdiOpIdNumber; ++op) EXPECT(hipEnableActivityCallback(op, false));
  size_t known = calls.size();
  CHECK(hipMemset(device, 0, 4096));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(calls.size() == known && settled(0).empty());
  for (auto& [number, call] : calls) EXPECT(call.begun <= 1 && call.begun == call.ended);
  std::puts("Validation passed.");
}
