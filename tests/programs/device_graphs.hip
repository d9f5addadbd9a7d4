// Graphs over several devices: captured and built, with copies between devices, launched on any of them, updated.
#include "devices.h"

// What a graph needs on each device.
struct Fleet {
  std::vector<unsigned*> memory, other;
  std::vector<hipStream_t> streams;
  explicit Fleet(unsigned value = 0) {
    for (int device = 0; device < devices; ++device) {
      memory.push_back(on_device(device, value));
      other.push_back(on_device(device, 0));
      hipStream_t stream;
      CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
      streams.push_back(stream);
    }
    CHECK(hipSetDevice(0));
  }
  ~Fleet() {
    for (int device = 0; device < devices; ++device) {
      CHECK(hipSetDevice(device));
      CHECK(hipDeviceSynchronize());
      CHECK(hipStreamDestroy(streams[device]));
      CHECK(hipFree(memory[device]));
      CHECK(hipFree(other[device]));
    }
    CHECK(hipSetDevice(0));
  }
};

static void enable_all(bool enabled) {
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    for (int peer = 0; peer < devices; ++peer) {
      if (peer == device) continue;
      CHECK(enabled ? hipDeviceEnablePeerAccess(peer, 0) : hipDeviceDisablePeerAccess(peer));
    }
  }
  CHECK(hipSetDevice(0));
}

static hipGraphExec_t instantiated(hipGraph_t graph) {
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  return exec;
}

// A sum over all devices, in a ring: each device passes its neighbour what has gathered so far, all at a time; then
// every device has every part.
static hipGraph_t captured_all_reduce(const Fleet& fleet) {
  std::vector<hipEvent_t> events(devices);
  for (hipEvent_t& event : events) CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  const unsigned part = COUNT / devices;
  CHECK(hipStreamBeginCapture(fleet.streams[0], hipStreamCaptureModeGlobal));
  CHECK(hipEventRecord(events[0], fleet.streams[0]));
  for (int device = 1; device < devices; ++device) CHECK(hipStreamWaitEvent(fleet.streams[device], events[0], 0));
  for (int step = 0; step < 2 * (devices - 1); ++step) {
    // Each device's stream stands behind the two that touched its memory in the step before.
    for (int device = 0; device < devices; ++device) CHECK(hipEventRecord(events[device], fleet.streams[device]));
    for (int device = 0; device < devices; ++device)
      for (int other = 0; other < devices; ++other)
        if (other != device) CHECK(hipStreamWaitEvent(fleet.streams[device], events[other], 0));
    for (int device = 0; device < devices; ++device) {
      const int from = (device + devices - 1) % devices;
      const bool gathering = step < devices - 1;
      // While they gather, device d passes part d on first; then the part that it has completed, which is the next.
      const int passed = gathering ? from - step : from + 1 - (step - (devices - 1));
      const unsigned at = static_cast<unsigned>((passed + 2 * devices) % devices) * part;
      unsigned* target = gathering ? fleet.other[device] : fleet.memory[device];
      CHECK(hipMemcpyPeerAsync(target + at, device, fleet.memory[from] + at, from, part * sizeof(unsigned),
                               fleet.streams[device]));
      CHECK(hipSetDevice(device));
      if (gathering) add<<<2, 128, 0, fleet.streams[device]>>>(fleet.memory[device] + at, fleet.other[device] + at, part);
    }
  }
  for (int device = 1; device < devices; ++device) {
    CHECK(hipEventRecord(events[device], fleet.streams[device]));
    CHECK(hipStreamWaitEvent(fleet.streams[0], events[device], 0));
  }
  hipGraph_t graph;
  CHECK(hipStreamEndCapture(fleet.streams[0], &graph));
  for (hipEvent_t event : events) CHECK(hipEventDestroy(event));
  CHECK(hipSetDevice(0));
  return graph;
}

static void all_reduce() {
  Fleet fleet(5);
  hipGraph_t graph = captured_all_reduce(fleet);
  hipGraphExec_t exec = instantiated(graph);
  CHECK(hipGraphDestroy(graph));
  unsigned factor = 1;
  const unsigned whole = COUNT / devices * devices;
  for (int launch = 0; launch < devices; ++launch) {
    CHECK(hipGraphLaunch(exec, fleet.streams[launch]));
    CHECK(hipStreamSynchronize(fleet.streams[launch]));
    factor *= devices;
    std::vector<unsigned> want = counted(5 * factor, factor);
    for (unsigned i = whole; i < COUNT; ++i) want[i] = 5 + i;
    for (int device = 0; device < devices; ++device) expect_equal("sum", read(fleet.memory[device]), want);
  }
  CHECK(hipGraphExecDestroy(exec));
}
DEVICE_TEST(devices_sum_in_a_ring) { all_reduce(); }
DEVICE_TEST(devices_sum_in_a_ring_with_access) {
  enable_all(true);
  all_reduce();
  enable_all(false);
}

static hipGraphNode_t add_kernel(hipGraph_t graph, hipGraphNode_t after, void* kernel, void** arguments) {
  hipKernelNodeParams params = {};
  params.func = kernel;
  params.gridDim = dim3(3);
  params.blockDim = dim3(128);
  params.kernelParams = arguments;
  hipGraphNode_t node;
  CHECK(hipGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
  return node;
}

// Fills on each device in turn, and copies what it filled to the next.
static hipGraph_t built(const Fleet& fleet, unsigned value, std::vector<hipGraphNode_t>& kernels, int shift = 0) {
  hipGraph_t graph;
  CHECK(hipSetDevice(0));
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t last = nullptr;
  unsigned count = COUNT;
  kernels.clear();
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice((device + shift) % devices));
    unsigned mine = value + device;
    unsigned* memory = fleet.memory[(device + shift) % devices];
    void* arguments[] = {&memory, &count, &mine};
    last = add_kernel(graph, last, reinterpret_cast<void*>(fill), arguments);
    kernels.push_back(last);
    hipGraphNode_t copy;
    CHECK(hipGraphAddMemcpyNode1D(&copy, graph, &last, 1, fleet.other[(device + 1) % devices], fleet.memory[device], BYTES,
                                  hipMemcpyDeviceToDevice));
    last = copy;
  }
  CHECK(hipSetDevice(0));
  return graph;
}
static void expect_built(const Fleet& fleet, unsigned value) {
  for (int device = 0; device < devices; ++device) {
    expect_equal("filled", read(fleet.memory[device]), counted(value + device));
    expect_equal("copied", read(fleet.other[(device + 1) % devices]), counted(value + device));
  }
}
static void expect_update(const char* what, hipGraphExec_t exec, hipGraph_t graph, hipError_t code,
                          hipGraphExecUpdateResult want, hipGraphNode_t node) {
  hipGraphNode_t found = nullptr;
  hipGraphExecUpdateResult result;
  expect_status(what, hipGraphExecUpdate(exec, graph, &found, &result), code);
  if (result != want || found != node) FAIL("%s: result %d", what, static_cast<int>(result));
}

DEVICE_TEST(nodes_run_on_the_device_that_was_current) {
  Fleet fleet;
  std::vector<hipGraphNode_t> kernels;
  hipGraph_t graph = built(fleet, 100, kernels);
  hipGraphExec_t exec = instantiated(graph);
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    CHECK(hipGraphLaunch(exec, fleet.streams[device]));
    CHECK(hipGraphLaunch(exec, nullptr));
    CHECK(hipDeviceSynchronize());
    expect_built(fleet, 100);
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

DEVICE_TEST(parameters_of_kernels_are_those_of_their_device) {
  Fleet fleet;
  std::vector<hipGraphNode_t> kernels;
  hipGraph_t graph = built(fleet, 10, kernels);
  CHECK(hipSetDevice(0));
  for (int device = 0; device < devices; ++device) {
    hipKernelNodeParams params;
    CHECK(hipGraphKernelNodeGetParams(kernels[device], &params));
    if (params.func != reinterpret_cast<void*>(fill)) FAIL("another function");
    if (*static_cast<unsigned**>(params.kernelParams[0]) != fleet.memory[device]) FAIL("another argument");
  }
  CHECK(hipGraphDestroy(graph));
}

DEVICE_TEST(updates_do_not_move_kernels) {
  Fleet fleet;
  std::vector<hipGraphNode_t> kernels;
  hipGraph_t graph = built(fleet, 10, kernels);
  hipGraphExec_t exec = instantiated(graph);
  const hipGraphNode_t first = kernels[0];
  hipGraph_t moved = built(fleet, 20, kernels, 1);
  expect_update("moved", exec, moved, hipErrorGraphExecUpdateFailure, hipGraphExecUpdateErrorUnsupportedFunctionChange,
                kernels[0]);
  CHECK(hipGraphDestroy(moved));
  // One at a time: the function must be the one of the node's device.
  unsigned value = 90, count = COUNT;
  unsigned* memory = fleet.memory[0];
  void* arguments[] = {&memory, &count, &value};
  hipKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(fill);
  params.gridDim = dim3(1);
  params.blockDim = dim3(64);
  params.kernelParams = arguments;
  CHECK(hipSetDevice(1));
  expect_status("set on another device", hipGraphExecKernelNodeSetParams(exec, first, &params), hipErrorInvalidValue);
  CHECK(hipSetDevice(0));
  CHECK(hipGraphLaunch(exec, fleet.streams[0]));
  CHECK(hipStreamSynchronize(fleet.streams[0]));
  expect_built(fleet, 10);
  hipGraph_t other = built(fleet, 30, kernels);
  expect_update("same devices", exec, other, hipSuccess, hipGraphExecUpdateSuccess, nullptr);
  CHECK(hipGraphLaunch(exec, fleet.streams[1]));
  CHECK(hipStreamSynchronize(fleet.streams[1]));
  expect_built(fleet, 30);
  CHECK(hipGraphDestroy(other));
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

DEVICE_TEST(operands_do_not_move_to_another_device) {
  Fleet fleet;
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t copy, set;
  CHECK(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, fleet.other[0], fleet.memory[1], BYTES, hipMemcpyDeviceToDevice));
  hipMemsetParams params = {};
  params.dst = fleet.memory[0];
  params.elementSize = 4;
  params.width = COUNT;
  params.height = 1;
  params.value = 3;
  CHECK(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &params));
  hipGraphExec_t exec = instantiated(graph);
  expect_status("copy", hipGraphExecMemcpyNodeSetParams1D(exec, copy, fleet.other[0], fleet.memory[0], BYTES,
                                                          hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  expect_status("copy", hipGraphExecMemcpyNodeSetParams1D(exec, copy, fleet.other[1], fleet.memory[1], BYTES,
                                                          hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  params.dst = fleet.memory[1];
  expect_status("fill", hipGraphExecMemsetNodeSetParams(exec, set, &params), hipErrorInvalidValue);
  params.dst = fleet.memory[0];
  params.value = 4;
  CHECK(hipGraphExecMemsetNodeSetParams(exec, set, &params));
  CHECK(hipGraphExecMemcpyNodeSetParams1D(exec, copy, fleet.other[0], fleet.memory[1], BYTES / 2, hipMemcpyDeviceToDevice));
  CHECK(hipGraphLaunch(exec, fleet.streams[0]));
  CHECK(hipStreamSynchronize(fleet.streams[0]));
  expect_equal("filled", read(fleet.memory[0]), std::vector<unsigned>(COUNT, 4));
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

// Memory of one device that a kernel of another fills and a third copies.
DEVICE_TEST(allocations_let_the_peers_in_that_they_name) {
  Fleet fleet;
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipMemAllocNodeParams params = {};
  hipMemAccessDesc access[2] = {};
  access[0].location.type = access[1].location.type = hipMemLocationTypeDevice;
  access[0].location.id = 0;
  access[1].location.id = 1;
  access[0].flags = access[1].flags = hipMemAccessFlagsProtReadWrite;
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.poolProps.location.id = 0;
  params.bytesize = BYTES;
  params.accessDescs = access;
  hipGraphNode_t node;
  params.accessDescCount = static_cast<size_t>(devices) + 1;
  expect_status("too many", hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
  params.accessDescCount = 2;
  access[1].location.id = devices;
  expect_status("no device", hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
  access[1].location.id = 1;
  CHECK(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  hipMemAllocNodeParams found = {};
  CHECK(hipGraphMemAllocNodeGetParams(node, &found));
  if (found.dptr != params.dptr || found.poolProps.location.id != 0) FAIL("other parameters");
  if (found.accessDescCount != 2 || found.accessDescs[1].location.id != 1) FAIL("other peers");
  unsigned* memory = static_cast<unsigned*>(params.dptr);
  unsigned count = COUNT, value = 70;
  void* arguments[] = {&memory, &count, &value};
  CHECK(hipSetDevice(1));
  node = add_kernel(graph, node, reinterpret_cast<void*>(fill), arguments);
  hipGraphNode_t copy, freed;
  CHECK(hipGraphAddMemcpyNode1D(&copy, graph, &node, 1, fleet.memory[devices - 1], memory, BYTES, hipMemcpyDeviceToDevice));
  CHECK(hipGraphAddMemFreeNode(&freed, graph, &copy, 1, memory));
  CHECK(hipSetDevice(0));
  hipGraphExec_t exec = instantiated(graph);
  for (int launch = 0; launch < 2; ++launch) {
    CHECK(hipGraphLaunch(exec, fleet.streams[launch]));
    CHECK(hipStreamSynchronize(fleet.streams[launch]));
    expect_equal("copied", read(fleet.memory[devices - 1]), counted(70));
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

DEVICE_TEST(a_child_graph_keeps_its_devices) {
  Fleet fleet;
  std::vector<hipGraphNode_t> kernels;
  hipGraph_t inner = built(fleet, 40, kernels), clone, outer;
  CHECK(hipGraphClone(&clone, inner));
  CHECK(hipSetDevice(1));
  CHECK(hipGraphCreate(&outer, 0));
  hipGraphNode_t first, second;
  CHECK(hipGraphAddChildGraphNode(&first, outer, nullptr, 0, inner));
  CHECK(hipGraphAddChildGraphNode(&second, outer, &first, 1, clone));
  hipGraphExec_t exec = instantiated(outer);
  for (hipGraph_t graph : {inner, clone, outer}) CHECK(hipGraphDestroy(graph));
  CHECK(hipGraphLaunch(exec, fleet.streams[devices - 1]));
  CHECK(hipStreamSynchronize(fleet.streams[devices - 1]));
  expect_built(fleet, 40);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipSetDevice(0));
}

// A trap on one device ends the launch on all of them; the stream hears of it, and everything works again.
__global__ void trap() { __builtin_trap(); }
DEVICE_TEST(a_trap_on_one_device_ends_the_launch) {
  Fleet fleet;
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  unsigned count = COUNT, value = 1;
  unsigned* memory = fleet.memory[0];
  void* arguments[] = {&memory, &count, &value};
  hipGraphNode_t node = add_kernel(graph, nullptr, reinterpret_cast<void*>(fill), arguments);
  CHECK(hipSetDevice(1));
  node = add_kernel(graph, node, reinterpret_cast<void*>(trap), nullptr);
  CHECK(hipSetDevice(0));
  value = 2;
  add_kernel(graph, node, reinterpret_cast<void*>(fill), arguments);
  hipGraphExec_t exec = instantiated(graph);
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    hipError_t code = hipGraphLaunch(exec, fleet.streams[device]);
    if (code == hipSuccess) code = hipStreamSynchronize(fleet.streams[device]);
    expect_status("trap", code, hipErrorLaunchFailure);
    for (int each = 0; each < devices; ++each) {
      CHECK(hipSetDevice(each));
      (void)hipDeviceSynchronize();
      (void)hipGetLastError();
    }
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  std::vector<hipGraphNode_t> kernels;
  graph = built(fleet, 60, kernels);
  exec = instantiated(graph);
  CHECK(hipGraphLaunch(exec, fleet.streams[0]));
  CHECK(hipStreamSynchronize(fleet.streams[0]));
  expect_built(fleet, 60);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

int main(int argc, char** argv) { return run_on_devices(argc, argv); }
