// What is not given back: `aqlipse check leak`.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "cases.h"

// Later than HIP 5.2.3.
struct UserObject;
extern "C" hipError_t hipUserObjectCreate(UserObject** object, void* resource, void (*destroy)(void*), unsigned count,
                                          unsigned flags);
extern "C" hipError_t hipUserObjectRelease(UserObject* object, unsigned count);

constexpr size_t BYTES = 4096;

__global__ void put(int* to) { to[threadIdx.x] = 1; }

__attribute__((noinline)) static void* allocate(size_t bytes) {
  void* memory;
  CHECK(hipMalloc(&memory, bytes));
  return memory;
}

static void device_memory() {
  void* memory = allocate(BYTES);
  if (!defect) CHECK(hipFree(memory));
}

// Three of the same place are one finding.
static void in_a_loop() {
  std::vector<void*> all;
  for (int n = 0; n < 4; n++) all.push_back(allocate(BYTES));
  for (int n = 0; n < (defect ? 1 : 4); n++) CHECK(hipFree(all[n]));
}

static void pooled_memory() {
  void* memory;
  for (int n = 0; n < 3; n++) {
    CHECK(hipMallocAsync(&memory, BYTES, nullptr));
    if (n < 2 || !defect) CHECK(hipFreeAsync(memory, nullptr));
  }
  CHECK(hipDeviceSynchronize());
}

static void host_memory() {
  void* memory;
  CHECK(hipHostMalloc(&memory, BYTES, 0));
  if (!defect) CHECK(hipHostFree(memory));
}

static void registered_memory() {
  static char memory[BYTES];
  CHECK(hipHostRegister(memory, BYTES, 0));
  if (!defect) CHECK(hipHostUnregister(memory));
}

static void managed_memory() {
  void* memory;
  CHECK(hipMallocManaged(&memory, BYTES, hipMemAttachGlobal));
  if (!defect) CHECK(hipFree(memory));
}

static void array() {
  hipArray* made;
  hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  CHECK(hipMallocArray(&made, &format, 64, 64, hipArrayDefault));
  if (!defect) CHECK(hipFreeArray(made));
}

static void mapped_memory() {
  // As later headers have it.
  struct {
    hipMemAllocationType type = hipMemAllocationTypePinned;
    int handles = 0;
    hipMemLocation location{hipMemLocationTypeDevice, 0};
    char rest[32]{};
  } wanted;
  const auto* properties = reinterpret_cast<hipMemAllocationProp*>(&wanted);
  size_t granule;
  CHECK(hipMemGetAllocationGranularity(&granule, properties, hipMemAllocationGranularityMinimum));
  void* at;
  hipMemGenericAllocationHandle_t physical;
  CHECK(hipMemAddressReserve(&at, granule, 0, nullptr, 0));
  CHECK(hipMemCreate(&physical, granule, properties, 0));
  CHECK(hipMemMap(at, granule, 0, physical, 0));
  CHECK(hipMemRelease(physical));
  if (!defect) {
    CHECK(hipMemUnmap(at, granule));
    CHECK(hipMemAddressFree(at, granule));
  }
}

static void stream() {
  hipStream_t made;
  CHECK(hipStreamCreateWithFlags(&made, hipStreamNonBlocking));
  if (!defect) CHECK(hipStreamDestroy(made));
}

static void event() {
  hipEvent_t made;
  CHECK(hipEventCreate(&made));
  CHECK(hipEventRecord(made, nullptr));
  if (!defect) CHECK(hipEventDestroy(made));
}

static void graph() {
  hipGraph_t made, child;
  CHECK(hipGraphCreate(&made, 0));
  CHECK(hipGraphCreate(&child, 0));
  hipGraphNode_t node;
  CHECK(hipGraphAddChildGraphNode(&node, made, nullptr, 0, child));
  // The child's handle is the node's.
  hipGraph_t inner;
  CHECK(hipGraphChildGraphNodeGetGraph(node, &inner));
  CHECK(hipGraphDestroy(child));
  if (!defect) CHECK(hipGraphDestroy(made));
}

struct Captured {
  hipStream_t stream;
  hipGraph_t graph;
  explicit Captured(int* memory) {
    CHECK(hipStreamCreate(&stream));
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    put<<<1, 64, 0, stream>>>(memory);
    CHECK(hipStreamEndCapture(stream, &graph));
  }
  ~Captured() { CHECK(hipStreamDestroy(stream)); }
};

static void captured_graph() {
  int* memory = static_cast<int*>(allocate(BYTES));
  Captured captured(memory);
  if (!defect) CHECK(hipGraphDestroy(captured.graph));
  CHECK(hipFree(memory));
}

static void executable() {
  int* memory = static_cast<int*>(allocate(BYTES));
  Captured captured(memory);
  hipGraphExec_t made;
  CHECK(hipGraphInstantiate(&made, captured.graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(made, captured.stream));
  CHECK(hipStreamSynchronize(captured.stream));
  CHECK(hipGraphDestroy(captured.graph));
  if (!defect) CHECK(hipGraphExecDestroy(made));
  CHECK(hipFree(memory));
}

// What a launch has allocated and no node frees.
static void memory_of_a_graph() {
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.bytesize = BYTES;
  hipGraphNode_t node;
  CHECK(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, nullptr));
  CHECK(hipDeviceSynchronize());
  if (!defect) CHECK(hipFree(params.dptr));
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

static void pool() {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  hipMemPool_t made, known;
  CHECK(hipMemPoolCreate(&made, &properties));
  // The device's own are not the program's.
  CHECK(hipDeviceGetDefaultMemPool(&known, 0));
  if (!defect) CHECK(hipMemPoolDestroy(made));
}

static void user_object() {
  UserObject* made;
  constexpr unsigned NO_DESTRUCTOR_SYNC = 1;
  CHECK(hipUserObjectCreate(&made, nullptr, [](void*) {}, 1, NO_DESTRUCTOR_SYNC));
  if (!defect) CHECK(hipUserObjectRelease(made, 1));
}

static void in_a_thread() {
  std::thread([] {
    hipEvent_t made;
    CHECK(hipEventCreateWithFlags(&made, hipEventDisableTiming));
    if (!defect) CHECK(hipEventDestroy(made));
  }).join();
}

// A child that was forked has none of what its parent has.
static void forked() {
  void* memory = allocate(BYTES);
  if (fork() == 0) std::exit(0);
  wait(nullptr);
  if (!defect) CHECK(hipFree(memory));
}

// Objects with static storage are destroyed when the process ends.
struct Free {
  void operator()(void* memory) const {
    if (!defect) CHECK(hipFree(memory));
  }
};
static std::unique_ptr<void, Free> kept;

static void static_object() { kept.reset(allocate(BYTES)); }

// A reset frees all that the device had.
static void device_reset() {
  allocate(BYTES);
  if (!defect) CHECK(hipDeviceReset());
}

static const Case CASES[] = {
    {"device_memory", device_memory},
    {"in_a_loop", in_a_loop},
    {"pooled_memory", pooled_memory},
    {"host_memory", host_memory},
    {"registered_memory", registered_memory},
    {"managed_memory", managed_memory},
    {"array", array},
    {"mapped_memory", mapped_memory},
    {"stream", stream},
    {"event", event},
    {"graph", graph},
    {"captured_graph", captured_graph},
    {"executable", executable},
    {"memory_of_a_graph", memory_of_a_graph},
    {"pool", pool},
    {"user_object", user_object},
    {"in_a_thread", in_a_thread},
    {"forked", forked},
    {"static_object", static_object},
    {"device_reset", device_reset},
};

int main(int argc, char** argv) { return run_case(CASES, argc, argv); }
