// Every mistake gets its error code and leaves the process usable: each test ends with a kernel that must be right.
// MODULE names a bundle of module.hip, DAMAGED a file that this program may write.
#include "device_test.h"
#include <algorithm>
#include <fstream>
#include <thread>

// The call must fail with this code. Its trace in the last error goes, or the next launch would seem to have failed.
#define EXPECT(call, code)                                                                            \
  do {                                                                                                \
    hipError_t status_ = (call);                                                                      \
    if (status_ != (code)) FAIL("%d: %s: %s, not %s", __LINE__, #call, hipGetErrorName(status_), #code); \
    (void)hipGetLastError();                                                                          \
  } while (0)

__global__ void store(int* where, int value) { where[threadIdx.x + blockIdx.x * blockDim.x] = value; }
__global__ void increment(int* data) { data[threadIdx.x + blockIdx.x * blockDim.x] += 1; }

// Streams, copies and kernels still work.
static void usable() {
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  Buffer<int> data(std::vector<int>(256, 41));
  increment<<<dim3(4), dim3(64), 0, stream>>>(data);
  CHECK(hipGetLastError());
  CHECK(hipStreamSynchronize(stream));
  expect_equal("afterwards", data.host(), std::vector<int>(256, 42));
  CHECK(hipStreamDestroy(stream));
}

// An address that no allocation is near.
static int* nowhere() { return reinterpret_cast<int*>(uintptr_t{1} << 44); }

// proves: hipDeviceSynchronize
DEVICE_TEST(store_outside_every_allocation) {
  store<<<dim3(1), dim3(64)>>>(nowhere(), 1);
  CHECK(hipGetLastError());
  EXPECT(hipDeviceSynchronize(), hipErrorIllegalAddress);
  usable();
}
DEVICE_TEST(store_behind_an_allocation) {
  // Behind the last element of one lies what was a neighbour until it was freed: anything else there could be the
  // program's or the runtime's own.
  constexpr size_t count = size_t{1} << 20, bytes = count * sizeof(int);
  std::vector<char*> all(8);
  for (char*& each : all) CHECK(hipMalloc(reinterpret_cast<void**>(&each), bytes));
  std::sort(all.begin(), all.end());
  auto behind = all.begin() + 1;
  while (behind != all.end() && *behind != behind[-1] + bytes) ++behind;
  if (behind == all.end()) FAIL("no two of %zu allocations are neighbours", all.size());
  else {
    CHECK(hipFree(*behind));
    store<<<dim3(count / 1024 + 1), dim3(1024)>>>(reinterpret_cast<int*>(behind[-1]), 7);
    CHECK(hipGetLastError());
    EXPECT(hipDeviceSynchronize(), hipErrorIllegalAddress);
    all.erase(behind);
  }
  for (char* each : all) CHECK(hipFree(each));
  usable();
}
// proves: hipStreamSynchronize
DEVICE_TEST(fault_is_reported_by_the_next_synchronising_call_of_the_stream) {
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  store<<<dim3(1), dim3(64), 0, stream>>>(nowhere(), 1);
  CHECK(hipGetLastError());
  EXPECT(hipStreamSynchronize(stream), hipErrorIllegalAddress);
  CHECK(hipStreamDestroy(stream));
  usable();
}
// proves: hipGraphLaunch, hipGraphExecKernelNodeSetParams
DEVICE_TEST(fault_inside_a_graph) {
  Buffer<int> data(64);
  int *bad = nowhere(), *good = data, value = 3;
  void *bad_arguments[] = {&bad, &value}, *good_arguments[] = {&good, &value};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(store);
  params.gridDim = dim3(1);
  params.blockDim = dim3(64);
  params.kernelParams = bad_arguments;
  hipGraph_t graph;
  hipGraphNode_t node;
  hipGraphExec_t exec;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, stream));
  EXPECT(hipStreamSynchronize(stream), hipErrorIllegalAddress);
  params.kernelParams = good_arguments;
  CHECK(hipGraphExecKernelNodeSetParams(exec, node, &params));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  expect_equal("the same exec, mended", data.host(), std::vector<int>(64, 3));
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  usable();
}

static std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    std::fprintf(stderr, "%s is not set\n", name);
    std::exit(2);
  }
  return value;
}
static std::string module_bytes() {
  std::ifstream file(environment("MODULE"), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
static hipError_t load(const std::string& bytes, hipModule_t* module) {
  std::string path = environment("DAMAGED");
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  hipError_t status = hipModuleLoad(module, path.c_str());
  (void)hipGetLastError();
  return status;
}
// The undamaged module does what it should.
static void module_works() {
  hipModule_t module;
  hipFunction_t function;
  std::string bytes = module_bytes();
  CHECK(hipModuleLoadData(&module, bytes.data()));
  CHECK(hipModuleGetFunction(&function, module, "add_offset"));
  Buffer<int> data(std::vector<int>(64, 1));
  int* pointer = data;
  void* arguments[] = {&pointer};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  expect_equal("module", data.host(), std::vector<int>(64, 6));
  CHECK(hipModuleUnload(module));
}

// proves: hipModuleLoad, hipModuleLoadData, hipModuleGetFunction, hipModuleLaunchKernel, hipModuleUnload
DEVICE_TEST(truncated_modules) {
  module_works();
  const std::string whole = module_bytes();
  hipModule_t empty;
  EXPECT(hipModuleLoad(&empty, "/dev/null"), hipErrorInvalidValue);
  for (size_t size : {size_t{1}, size_t{23}, size_t{24}, size_t{100}, size_t{4096}, whole.size() / 2}) {
    hipModule_t module = nullptr;
    hipError_t status = load(whole.substr(0, size), &module);
    if (status != hipErrorInvalidImage && status != hipErrorNoBinaryForGpu && status != hipErrorInvalidKernelFile) {
      FAIL("%zu bytes: %s", size, hipGetErrorName(status));
    }
  }
  module_works();
  usable();
}
DEVICE_TEST(damaged_modules) {
  const std::string whole = module_bytes();
  Sequence sequence(9);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole;
    // Half of the rounds in the first bytes of the bundle, half in the code object's headers.
    size_t at = round % 2 == 0 ? sequence.next() % 200 : 4096 + sequence.next() % 0x240;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << sequence.next() % 8));
    hipModule_t module = nullptr;
    hipError_t status = load(damaged, &module);
    if (status == hipSuccess) {
      CHECK(hipModuleUnload(module));  // padding, or a byte that means nothing to us
    } else if (status == hipErrorInvalidImage || status == hipErrorNoBinaryForGpu ||
               status == hipErrorInvalidKernelFile || status == hipErrorOutOfMemory) {
      ++refused;
    } else {
      FAIL("bit of byte %zu: %s", at, hipGetErrorName(status));
    }
  }
  if (refused < 40) FAIL("only %d of 200 damaged modules were refused", refused);
  hipModule_t module;
  EXPECT(hipModuleLoad(&module, "/nowhere/at/all.hsaco"), hipErrorFileNotFound);
  EXPECT(hipModuleLoad(nullptr, environment("MODULE").c_str()), hipErrorInvalidValue);
  module_works();
  usable();
}

static int no_symbol;
// proves: hipModuleGetGlobal, hipGetSymbolAddress, hipMemcpyToSymbol, hipLaunchKernel
DEVICE_TEST(unknown_names_and_symbols) {
  hipModule_t module;
  hipFunction_t function;
  hipDeviceptr_t pointer;
  size_t bytes;
  CHECK(hipModuleLoad(&module, environment("MODULE").c_str()));
  EXPECT(hipModuleGetFunction(&function, module, "no_such_kernel"), hipErrorNotFound);
  EXPECT(hipModuleGetGlobal(&pointer, &bytes, module, "no_such_variable"), hipErrorNotFound);
  CHECK(hipModuleGetGlobal(&pointer, &bytes, module, "module_offset"));
  if (bytes != sizeof(int)) FAIL("the variable has %zu bytes", bytes);
  CHECK(hipModuleUnload(module));
  EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(no_symbol), &no_symbol, sizeof no_symbol), hipErrorInvalidSymbol);
  void* address;
  EXPECT(hipGetSymbolAddress(&address, &no_symbol), hipErrorInvalidSymbol);
  EXPECT(hipGetSymbolAddress(&address, nullptr), hipErrorInvalidSymbol);
  void* none[] = {nullptr};
  EXPECT(hipLaunchKernel(&no_symbol, dim3(1), dim3(1), none, 0, nullptr), hipErrorInvalidDeviceFunction);
  usable();
}

static hipGraphNode_t empty_node(hipGraph_t graph, std::vector<hipGraphNode_t> after = {}) {
  hipGraphNode_t node;
  CHECK(hipGraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

// proves: hipGraphDestroy, hipGraphExecDestroy, hipGraphDestroyNode, hipGraphGetNodes, hipGraphNodeGetType
DEVICE_TEST(destroyed_graph_exec_and_node) {
  hipGraph_t graph;
  hipGraphExec_t exec, second;
  size_t count;
  hipGraphNodeType type;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t node = empty_node(graph), other = empty_node(graph, {node});
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphDestroyNode(node));
  EXPECT(hipGraphNodeGetType(node, &type), hipErrorInvalidValue);
  EXPECT(hipGraphDestroyNode(node), hipErrorInvalidValue);
  EXPECT(hipGraphAddDependencies(graph, &node, &other, 1), hipErrorInvalidValue);
  CHECK(hipGraphDestroy(graph));
  EXPECT(hipGraphDestroy(graph), hipErrorIllegalState);
  EXPECT(hipGraphGetNodes(graph, nullptr, &count), hipErrorInvalidValue);
  EXPECT(hipGraphNodeGetType(other, &type), hipErrorInvalidValue);
  EXPECT(hipGraphAddEmptyNode(&node, graph, nullptr, 0), hipErrorInvalidValue);
  EXPECT(hipGraphInstantiate(&second, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  // The exec has its own copy.
  CHECK(hipGraphLaunch(exec, nullptr));
  CHECK(hipDeviceSynchronize());
  CHECK(hipGraphExecDestroy(exec));
  EXPECT(hipGraphLaunch(exec, nullptr), hipErrorInvalidValue);
  EXPECT(hipGraphExecDestroy(exec), hipErrorInvalidValue);
  EXPECT(hipGraphLaunch(reinterpret_cast<hipGraphExec_t>(0x1234), nullptr), hipErrorInvalidValue);
  usable();
}
// proves: hipStreamDestroy, hipEventDestroy, hipStreamCreate, hipEventCreate
DEVICE_TEST(destroyed_stream_and_event) {
  hipStream_t stream, live;
  hipEvent_t event;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamCreate(&live));
  CHECK(hipStreamDestroy(stream));
  EXPECT(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorContextIsDestroyed);
  EXPECT(hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
  EXPECT(hipStreamDestroy(stream), hipErrorContextIsDestroyed);
  EXPECT(hipLaunchHostFunc(stream, [](void*) {}, nullptr), hipErrorContextIsDestroyed);
  CHECK(hipEventCreate(&event));
  CHECK(hipEventDestroy(event));
  EXPECT(hipEventRecord(event, live), hipErrorInvalidHandle);
  EXPECT(hipEventSynchronize(event), hipErrorInvalidHandle);
  EXPECT(hipStreamWaitEvent(live, event, 0), hipErrorInvalidHandle);
  CHECK(hipStreamDestroy(live));
  usable();
}

// proves: hipGraphAddDependencies, hipGraphRemoveDependencies, hipGraphInstantiate
DEVICE_TEST(cycle) {
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t a = empty_node(graph), b = empty_node(graph, {a}), c = empty_node(graph, {b});
  EXPECT(hipGraphAddDependencies(graph, &a, &a, 1), hipErrorInvalidValue);
  EXPECT(hipGraphAddDependencies(graph, &a, &b, 1), hipErrorInvalidValue);
  CHECK(hipGraphAddDependencies(graph, &c, &a, 1));
  EXPECT(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  CHECK(hipGraphRemoveDependencies(graph, &c, &a, 1));
  EXPECT(hipGraphRemoveDependencies(graph, &c, &a, 1), hipErrorInvalidValue);
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, nullptr));
  CHECK(hipDeviceSynchronize());
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  usable();
}

// proves: hipStreamBeginCapture, hipStreamEndCapture, hipStreamIsCapturing, hipEventRecord, hipStreamWaitEvent
DEVICE_TEST(unjoined_capture) {
  Buffer<int> data(64);
  hipStream_t origin, forked;
  hipEvent_t fork;
  CHECK(hipStreamCreate(&origin));
  CHECK(hipStreamCreate(&forked));
  CHECK(hipEventCreate(&fork));
  CHECK(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
  CHECK(hipEventRecord(fork, origin));
  CHECK(hipStreamWaitEvent(forked, fork, 0));
  increment<<<dim3(1), dim3(64), 0, forked>>>(data);
  CHECK(hipGetLastError());
  hipGraph_t graph;
  EXPECT(hipStreamEndCapture(forked, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT(hipStreamEndCapture(origin, &graph), hipErrorStreamCaptureUnjoined);
  hipStreamCaptureStatus status;
  for (hipStream_t stream : {origin, forked}) {
    CHECK(hipStreamIsCapturing(stream, &status));
    if (status != hipStreamCaptureStatusNone) FAIL("a stream is still capturing");
  }
  CHECK(hipStreamSynchronize(forked));
  expect_equal("nothing ran", data.host(), std::vector<int>(64, 0));
  CHECK(hipEventDestroy(fork));
  CHECK(hipStreamDestroy(origin));
  CHECK(hipStreamDestroy(forked));
  usable();
}
// proves: hipThreadExchangeStreamCaptureMode, hipEventQuery, hipEventSynchronize
DEVICE_TEST(illegal_calls_during_capture) {
  hipStream_t stream, other;
  hipEvent_t event;
  hipGraph_t graph = nullptr;
  hipStreamCaptureStatus status;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamCreate(&other));
  CHECK(hipEventCreate(&event));
  void* memory = nullptr;
  int word = 0;
  Buffer<int> data(64);
  auto begin = [&](hipStreamCaptureMode mode) {
    CHECK(hipStreamBeginCapture(stream, mode));
    increment<<<dim3(1), dim3(64), 0, stream>>>(data);
    CHECK(hipGetLastError());
  };
  auto broken = [&](const char* by) {
    CHECK(hipStreamIsCapturing(stream, &status));
    if (status != hipStreamCaptureStatusInvalidated) FAIL("capture status is %d after %s", static_cast<int>(status), by);
    EXPECT(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    if (graph != nullptr) FAIL("an invalidated capture gave a graph");
    CHECK(hipStreamIsCapturing(stream, &status));
    if (status != hipStreamCaptureStatusNone) FAIL("still capturing after the end");
  };

  EXPECT(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
  EXPECT(hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(3)), hipErrorInvalidValue);
  EXPECT(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);

  begin(hipStreamCaptureModeGlobal);
  EXPECT(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphDestroy(graph));

  begin(hipStreamCaptureModeGlobal);
  EXPECT(hipMalloc(&memory, 64), hipErrorStreamCaptureUnsupported);
  broken("hipMalloc");
  begin(hipStreamCaptureModeGlobal);
  EXPECT(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
  broken("hipStreamSynchronize");
  begin(hipStreamCaptureModeThreadLocal);
  EXPECT(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
  broken("hipDeviceSynchronize");
  begin(hipStreamCaptureModeRelaxed);
  EXPECT(hipMemcpy(data, &word, sizeof word, hipMemcpyHostToDevice), hipErrorStreamCaptureImplicit);
  broken("hipMemcpy");

  begin(hipStreamCaptureModeRelaxed);
  CHECK(hipMalloc(&memory, 64));
  CHECK(hipEventRecord(event, stream));
  EXPECT(hipEventQuery(event), hipErrorCapturedEvent);
  EXPECT(hipEventSynchronize(event), hipErrorCapturedEvent);
  broken("hipEventQuery of a captured event");
  CHECK(hipFree(memory));

  // Another thread, while a global capture is open.
  begin(hipStreamCaptureModeGlobal);
  std::thread([&] { EXPECT(hipMalloc(&memory, 64), hipErrorStreamCaptureUnsupported); }).join();
  broken("hipMalloc in another thread");
  begin(hipStreamCaptureModeThreadLocal);
  std::thread([&] {
    CHECK(hipMalloc(&memory, 64));
    CHECK(hipFree(memory));
    hipGraph_t none;
    EXPECT(hipStreamEndCapture(stream, &none), hipErrorStreamCaptureWrongThread);
  }).join();
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphDestroy(graph));

  hipStreamCaptureMode mode = static_cast<hipStreamCaptureMode>(7);
  EXPECT(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
  EXPECT(hipThreadExchangeStreamCaptureMode(nullptr), hipErrorInvalidValue);
  CHECK(hipEventDestroy(event));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipStreamDestroy(other));
  usable();
}

// proves: hipMemcpy, hipMemset, hipFree, hipSetDevice, hipEventElapsedTime, hipGraphAddKernelNode
DEVICE_TEST(wrong_arguments) {
  int word = 0;
  Buffer<int> data(64);
  EXPECT(hipMalloc(static_cast<void**>(nullptr), 4), hipErrorInvalidValue);
  EXPECT(hipMemcpy(nullptr, &word, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT(hipMemcpy(data, &word, 4, static_cast<hipMemcpyKind>(77)), hipErrorInvalidMemcpyDirection);
  EXPECT(hipMemset(nullptr, 0, 4), hipErrorInvalidValue);
  EXPECT(hipFree(&word), hipErrorInvalidValue);
  EXPECT(hipFree(nullptr), hipSuccess);
  EXPECT(hipSetDevice(1000), hipErrorInvalidDevice);
  EXPECT(hipSetDevice(-1), hipErrorInvalidDevice);
  hipEvent_t start, stop;
  float elapsed;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreateWithFlags(&stop, hipEventDisableTiming));
  EXPECT(hipEventElapsedTime(&elapsed, start, start), hipErrorInvalidHandle);  // never recorded
  EXPECT(hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);
  CHECK(hipEventRecord(start, nullptr));
  CHECK(hipEventRecord(stop, nullptr));
  CHECK(hipDeviceSynchronize());
  EXPECT(hipEventElapsedTime(&elapsed, start, stop), hipErrorInvalidHandle);  // no time kept
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));

  hipGraph_t graph, foreign;
  hipGraphNode_t node;
  EXPECT(hipGraphCreate(nullptr, 0), hipErrorInvalidValue);
  EXPECT(hipGraphCreate(&graph, 1), hipErrorInvalidValue);
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphCreate(&foreign, 0));
  hipGraphNode_t elsewhere = empty_node(foreign);
  hipKernelNodeParams params{};
  EXPECT(hipGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
  EXPECT(hipGraphAddEmptyNode(&node, graph, nullptr, 1), hipErrorInvalidValue);
  EXPECT(hipGraphAddEmptyNode(&node, graph, &elsewhere, 1), hipErrorInvalidValue);
  EXPECT(hipGraphAddEmptyNode(nullptr, graph, nullptr, 0), hipErrorInvalidValue);
  hipMemsetParams set{};
  set.dst = data;
  set.elementSize = 3;
  set.width = set.height = 1;
  EXPECT(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &set), hipErrorInvalidValue);
  EXPECT(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, nullptr, &word, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  size_t count = 99;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  if (count != 0) FAIL("refused nodes were added: %zu", count);
  CHECK(hipGraphDestroy(graph));
  CHECK(hipGraphDestroy(foreign));
  usable();
}
// proves: hipPeekAtLastError, hipGetLastError
DEVICE_TEST(last_error_is_kept_per_thread_until_it_is_read) {
  auto is = [](hipError_t got, hipError_t want) {
    if (got != want) FAIL("%s, not %s", hipGetErrorName(got), hipGetErrorName(want));
  };
  is(hipSetDevice(1000), hipErrorInvalidDevice);
  std::thread([&] { is(hipGetLastError(), hipSuccess); }).join();
  is(hipPeekAtLastError(), hipErrorInvalidDevice);
  is(hipGetLastError(), hipErrorInvalidDevice);
  is(hipGetLastError(), hipSuccess);
  usable();
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
