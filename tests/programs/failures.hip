// Hardware that fails: AQLIPSE_EMULATE_HARDWARE says how and when. Each test is a process of its own, on two devices.
// IN_PROCESS is set where devices are emulated in the process: there a device that was lost can be reset.
#include "devices.h"
#include <chrono>
#include <thread>

struct Graph {
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipGraphNode_t node;
};
// A graph that fills the memory.
static Graph filling(unsigned* memory, unsigned value) {
  unsigned count = COUNT;
  void* arguments[] = {&memory, &count, &value};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(fill);
  params.gridDim = dim3(7);
  params.blockDim = dim3(128);
  params.kernelParams = arguments;
  Graph made{};
  CHECK(hipGraphCreate(&made.graph, 0));
  CHECK(hipGraphAddKernelNode(&made.node, made.graph, nullptr, 0, &params));
  CHECK(hipGraphInstantiate(&made.exec, made.graph, nullptr, nullptr, 0));
  return made;
}

// Launches the graph and waits, again and again: what the first failing wait returns.
static hipError_t first_failure(hipGraphExec_t exec, hipStream_t stream) {
  for (int launch = 0; launch < 1000; ++launch) {
    CHECK(hipGraphLaunch(exec, stream));
    hipError_t status = hipStreamSynchronize(stream);
    if (status != hipSuccess) {
      (void)hipGetLastError();
      return status;
    }
  }
  FAIL("nothing fails");
  return hipSuccess;
}

static void usable(int device, unsigned value) {
  unsigned* memory = on_device(device, value);
  expect_equal("usable", read(memory), counted(value));
  Graph graph = filling(memory, value + 1);
  CHECK(hipGraphLaunch(graph.exec, nullptr));
  CHECK(hipDeviceSynchronize());
  expect_equal("usable, by a graph", read(memory), counted(value + 1));
  CHECK(hipGraphExecDestroy(graph.exec));
  CHECK(hipGraphDestroy(graph.graph));
  CHECK(hipFree(memory));
}

// The first device is lost for good, with this error in every call that needs it. The second one goes on.
static void loses_the_first_device(hipError_t error) {
  unsigned* other = on_device(1, 5);
  unsigned* memory = on_device(0, 3);
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  Graph graph = filling(memory, 9);
  expect_status("the wait", first_failure(graph.exec, stream), error);
  expect_status("another wait", hipStreamSynchronize(stream), error);
  expect_status("a query", hipStreamQuery(stream), error);
  expect_status("the device", hipDeviceSynchronize(), error);
  expect_status("a launch", hipGraphLaunch(graph.exec, stream), error);
  fill<<<dim3(1), dim3(64), 0, stream>>>(memory, COUNT, 0u);
  expect_status("a kernel", hipGetLastError(), error);
  std::vector<unsigned> host(COUNT);
  expect_status("a copy", hipMemcpy(host.data(), memory, BYTES, hipMemcpyDeviceToHost), error);
  usable(1, 100);
  expect_equal("the other device's memory", read(other), counted(5));
  CHECK(hipSetDevice(0));
  if (std::getenv("IN_PROCESS") != nullptr) {
    CHECK(hipDeviceReset());
    usable(0, 200);
  } else {
    // ROCr tells a process of one loss only.
    expect_status("a reset", hipDeviceReset(), error);
  }
  usable(1, 300);
}

// proves: hipStreamSynchronize, hipDeviceReset, hipGraphLaunch
DEVICE_TEST(a_device_that_was_reset_is_lost) { loses_the_first_device(hipErrorLaunchFailure); }
// proves: hipStreamSynchronize, hipDeviceReset, hipGraphLaunch
DEVICE_TEST(a_device_with_damaged_memory_is_lost) { loses_the_first_device(hipErrorECCNotCorrectable); }

// Nothing is left of a device that was reset: more queues are made than it has.
DEVICE_TEST(a_device_is_reset_again_and_again) {
  for (int round = 0; round < 12; ++round) {
    CHECK(hipSetDevice(0));
    unsigned* memory = on_device(0, 3);
    Graph graph = filling(memory, 9);
    std::vector<hipStream_t> streams(12);
    for (hipStream_t& stream : streams) {
      CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
      fill<<<dim3(1), dim3(64), 0, stream>>>(memory, COUNT, 1u);
      CHECK(hipGetLastError());
      CHECK(hipStreamSynchronize(stream));
    }
    expect_status("the wait", first_failure(graph.exec, streams[round]), hipErrorLaunchFailure);
    CHECK(hipDeviceReset());
    CHECK(hipGraphExecDestroy(graph.exec));
    CHECK(hipGraphDestroy(graph.graph));
  }
  usable(0, 200);
}

// A queue that stops takes no more than what was submitted.
DEVICE_TEST(a_queue_that_stops_is_replaced) {
  unsigned* memory = on_device(0, 3);
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  Graph graph = filling(memory, 9);
  expect_status("the wait", first_failure(graph.exec, stream), hipErrorLaunchFailure);
  CHECK(hipGraphLaunch(graph.exec, stream));
  CHECK(hipStreamSynchronize(stream));
  expect_equal("the same graph", read(memory), counted(9));
  usable(0, 200);
  usable(1, 300);
}

// No error tells of a kernel that never ends: its stream is not ready, other devices go on, and the process can end.
DEVICE_TEST(a_kernel_that_never_ends_hangs_its_stream_alone) {
  unsigned* memory = on_device(0, 3);
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  Graph graph = filling(memory, 9);
  bool hangs = false;
  for (int launch = 0; launch < 1000 && !hangs; ++launch) {
    CHECK(hipGraphLaunch(graph.exec, stream));
    hipError_t status = hipErrorNotReady;
    for (int wait = 0; wait < 2000 && status == hipErrorNotReady; ++wait) {
      status = hipStreamQuery(stream);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    hangs = status == hipErrorNotReady;
  }
  if (!hangs) FAIL("nothing hangs");
  (void)hipGetLastError();
  usable(1, 300);
}

int main(int argc, char** argv) {
  int status = run_on_devices(argc, argv);
  std::fflush(nullptr);
  return status;
}
