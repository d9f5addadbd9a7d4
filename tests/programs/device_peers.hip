// Several devices: access to each other's memory, copies between them, events across them, a graph on each.
#include "devices.h"
#include <hip/hip_cooperative_groups.h>

DEVICE_TEST(there_are_as_many_as_expected) {
  int count = 0;
  CHECK(hipGetDeviceCount(&count));
  if (count != devices) FAIL("%d devices", count);
}

DEVICE_TEST(each_device_has_its_own_memory) {
  std::vector<unsigned*> memory;
  for (int device = 0; device < devices; ++device) memory.push_back(on_device(device, 1000u * device));
  CHECK(hipSetDevice(0));
  for (int device = 0; device < devices; ++device) {
    hipPointerAttribute_t attributes;
    CHECK(hipPointerGetAttributes(&attributes, memory[device]));
    if (attributes.device != device) FAIL("memory of device %d is on %d", device, attributes.device);
    // Read while another device is current.
    expect_equal("memory", read(memory[device]), counted(1000u * device));
    CHECK(hipFree(memory[device]));
  }
}

DEVICE_TEST(access_is_enabled_once_and_in_one_direction) {
  for (int device = 0; device < devices; ++device) {
    for (int peer = 0; peer < devices; ++peer) {
      int can = -1;
      CHECK(hipDeviceCanAccessPeer(&can, device, peer));
      if (can != (device != peer)) FAIL("%d to %d: %d", device, peer, can);
    }
  }
  CHECK(hipSetDevice(0));
  expect_status("before", hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  expect_status("itself", hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
  expect_status("flags", hipDeviceEnablePeerAccess(1, 1), hipErrorInvalidValue);
  expect_status("once", hipDeviceEnablePeerAccess(1, 0), hipSuccess);
  expect_status("twice", hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  CHECK(hipSetDevice(1));
  expect_status("the other way", hipDeviceDisablePeerAccess(0), hipErrorPeerAccessNotEnabled);
  CHECK(hipSetDevice(0));
  CHECK(hipDeviceDisablePeerAccess(1));
}

DEVICE_TEST(kernels_reach_what_is_enabled) {
  unsigned* before = on_device(1, 5);
  unsigned* mine = on_device(0, 100);
  CHECK(hipDeviceEnablePeerAccess(1, 0));
  unsigned* after = on_device(1, 7);
  CHECK(hipSetDevice(0));
  LAUNCH(add, 5, 64, 0, mine, before, COUNT);
  LAUNCH(add, 5, 64, 0, mine, after, COUNT);
  expect_equal("sum", read(mine), counted(112, 3));
  LAUNCH(fill, 5, 64, 0, before, COUNT, 77);
  CHECK(hipDeviceSynchronize());
  expect_equal("written", read(before), counted(77));
  CHECK(hipDeviceDisablePeerAccess(1));
  for (unsigned* memory : {before, mine, after}) CHECK(hipFree(memory));
}

// And both devices live on.
DEVICE_TEST(access_that_is_not_enabled_is_a_fault) {
  unsigned* theirs = on_device(1, 77);
  unsigned* mine = on_device(0, 100);
  CHECK(hipDeviceEnablePeerAccess(1, 0));
  CHECK(hipDeviceDisablePeerAccess(1));
  LAUNCH(add, 1, 64, 0, mine, theirs, COUNT);
  expect_status("without access", hipDeviceSynchronize(), hipErrorIllegalAddress);
  expect_equal("mine", read(mine), counted(100));
  expect_equal("the peer's", read(theirs), counted(77));
  for (unsigned* memory : {theirs, mine}) CHECK(hipFree(memory));
}

static void copies(bool enabled) {
  unsigned* source = on_device(1, 30);
  unsigned* target = on_device(0, 0);
  if (enabled) CHECK(hipDeviceEnablePeerAccess(1, 0));
  CHECK(hipMemcpyPeer(target, 0, source, 1, BYTES));
  expect_equal("peer copy", read(target), counted(30));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  fill<<<2, 64, 0, stream>>>(target, COUNT, 90);
  CHECK(hipMemcpyPeerAsync(source, 1, target, 0, BYTES, stream));
  fill<<<2, 64, 0, stream>>>(target, COUNT, 91);
  CHECK(hipStreamSynchronize(stream));
  expect_equal("asynchronous peer copy", read(source), counted(90));
  expect_equal("what follows it", read(target), counted(91));
  CHECK(hipMemcpy(source, target, BYTES, hipMemcpyDefault));
  expect_equal("ordinary copy", read(source), counted(91));
  // A box, and a fill, of memory that the current device does not own.
  CHECK(hipMemset(source, 0, BYTES));
  CHECK(hipMemcpy2D(source, 400, target, 800, 400, 50, hipMemcpyDeviceToDevice));
  std::vector<unsigned> want(COUNT, 0);
  for (unsigned row = 0; row < 50; ++row)
    for (unsigned i = 0; i < 100; ++i) want[row * 100 + i] = 91 + row * 200 + i;
  expect_equal("box", read(source), want);
  std::vector<unsigned> host = counted(3);
  CHECK(hipMemcpy(source, host.data(), BYTES, hipMemcpyHostToDevice));
  expect_equal("from the host", read(source), counted(3));
  if (enabled) CHECK(hipDeviceDisablePeerAccess(1));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipFree(source));
  CHECK(hipFree(target));
}
DEVICE_TEST(copies_need_no_access) { copies(false); }
DEVICE_TEST(copies_with_access) { copies(true); }

// A ring of devices: each waits for the event of the one before, and adds what that has made.
DEVICE_TEST(events_order_work_across_devices) {
  std::vector<unsigned*> memory;
  std::vector<hipStream_t> streams;
  std::vector<hipEvent_t> events;
  for (int device = 0; device < devices; ++device) {
    memory.push_back(on_device(device, 0));
    hipStream_t stream;
    hipEvent_t event;
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    CHECK(hipEventCreate(&event));
    streams.push_back(stream);
    events.push_back(event);
  }
  for (int round = 0; round < 5; ++round) {
    for (int device = 0; device < devices; ++device) {
      CHECK(hipSetDevice(device));
      if (device > 0) {
        CHECK(hipStreamWaitEvent(streams[device], events[device - 1], 0));
        CHECK(hipMemcpyPeerAsync(memory[device], device, memory[device - 1], device - 1, BYTES, streams[device]));
        add<<<3, 128, 0, streams[device]>>>(memory[device], memory[device], COUNT);
      } else {
        fill<<<3, 128, 0, streams[device]>>>(memory[device], COUNT, static_cast<unsigned>(round));
      }
      CHECK(hipEventRecord(events[device], streams[device]));
    }
    CHECK(hipSetDevice(0));
    CHECK(hipStreamWaitEvent(streams[0], events[devices - 1], 0));
  }
  CHECK(hipEventSynchronize(events[devices - 1]));
  const unsigned factor = 1u << (devices - 1);
  expect_equal("end of the ring", read(memory[devices - 1]), counted(4 * factor, factor));
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    CHECK(hipStreamSynchronize(streams[device]));
    CHECK(hipStreamDestroy(streams[device]));
    CHECK(hipEventDestroy(events[device]));
    CHECK(hipFree(memory[device]));
  }
  CHECK(hipSetDevice(0));
}

DEVICE_TEST(each_device_launches_its_graph) {
  std::vector<hipGraphExec_t> execs;
  std::vector<unsigned*> memory;
  std::vector<hipStream_t> streams;
  for (int device = 0; device < devices; ++device) {
    memory.push_back(on_device(device, 0));
    unsigned* other = memory[0];
    hipStream_t stream;
    CHECK(hipStreamCreate(&stream));
    hipGraph_t graph;
    hipGraphExec_t exec;
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    fill<<<4, 64, 0, stream>>>(memory[device], COUNT, 10u * device);
    // A copy from another device in the middle.
    if (device > 0) CHECK(hipMemcpyAsync(memory[device], other, BYTES / 2, hipMemcpyDeviceToDevice, stream));
    add<<<4, 64, 0, stream>>>(memory[device], memory[device], COUNT);
    CHECK(hipStreamEndCapture(stream, &graph));
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(hipGraphDestroy(graph));
    execs.push_back(exec);
    streams.push_back(stream);
  }
  for (int launch = 0; launch < 2; ++launch) {
    for (int device = 0; device < devices; ++device) {
      CHECK(hipSetDevice(device));
      CHECK(hipGraphLaunch(execs[device], streams[device]));
      CHECK(hipStreamSynchronize(streams[device]));
      std::vector<unsigned> want = counted(20u * device, 2);
      if (device > 0)
        for (unsigned i = 0; i < COUNT / 2; ++i) want[i] = 2 * (2 * i);
      expect_equal("graph", read(memory[device]), want);
    }
  }
  // Its nodes run on their device, whatever the stream's.
  CHECK(hipGraphLaunch(execs[0], streams[1]));
  CHECK(hipStreamSynchronize(streams[1]));
  expect_equal("graph on another's stream", read(memory[0]), counted(0, 2));
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    CHECK(hipGraphExecDestroy(execs[device]));
    CHECK(hipStreamDestroy(streams[device]));
    CHECK(hipFree(memory[device]));
  }
  CHECK(hipSetDevice(0));
}

// Each stream waits for what is on all of them before the kernels, and for all kernels behind them.
DEVICE_TEST(kernels_are_launched_on_all_devices_at_once) {
  std::vector<unsigned*> memory(devices), sources(devices);
  std::vector<hipStream_t> streams(devices);
  std::vector<hipLaunchParams> launches(devices);
  std::vector<std::vector<void*>> arguments(devices);
  unsigned count = COUNT;
  for (int device = 0; device < devices; ++device) {
    memory[device] = on_device(device, 1);
    sources[device] = on_device(device, 100u * device);
    CHECK(hipStreamCreateWithFlags(&streams[device], hipStreamNonBlocking));
    arguments[device] = {&memory[device], &sources[device], &count};
    launches[device] = {reinterpret_cast<void*>(add), dim3(3), dim3(64), arguments[device].data(), 0, streams[device]};
  }
  CHECK(hipExtLaunchMultiKernelMultiDevice(launches.data(), devices, 0));
  CHECK(hipStreamSynchronize(streams[0]));
  for (int device = 0; device < devices; ++device) {
    expect_equal("sum", read(memory[device]), counted(1 + 100u * device, 2));
    CHECK(hipSetDevice(device));
    CHECK(hipStreamSynchronize(streams[device]));
    CHECK(hipStreamDestroy(streams[device]));
    CHECK(hipFree(memory[device]));
    CHECK(hipFree(sources[device]));
  }
  CHECK(hipSetDevice(0));
}

// A fault on one device is that device's alone.
__global__ void trap() { __builtin_trap(); }
DEVICE_TEST(a_fault_stays_on_its_device) {
  unsigned* memory = on_device(0, 1);
  CHECK(hipSetDevice(1));
  trap<<<1, 64>>>();
  expect_status("trap", hipDeviceSynchronize(), hipErrorLaunchFailure);
  CHECK(hipSetDevice(0));
  LAUNCH(fill, 1, 64, 0, memory, COUNT, 2);
  expect_equal("memory", read(memory), counted(2));
  CHECK(hipFree(memory));
}

// Kernels that call the host do so on every device.
__global__ void hello(int device) { printf("hello from %d\n", device); }
DEVICE_TEST(kernels_print_on_every_device) {
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    LAUNCH(hello, 1, 1, 0, device);
    CHECK(hipDeviceSynchronize());
  }
  CHECK(hipSetDevice(0));
}

int main(int argc, char** argv) { return run_on_devices(argc, argv); }
