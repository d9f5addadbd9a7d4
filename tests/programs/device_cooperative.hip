// Grids whose blocks wait for each other: all of them make progress, launches that cannot be resident are refused, and
// the occupancy functions say how many blocks can be.
#include "device_test.h"
#include <hip/hip_cooperative_groups.h>
#include <chrono>
#include <thread>

namespace cg = cooperative_groups;

// Every round each block reads what its neighbour wrote in the round before.
__global__ void ring(unsigned* values, unsigned rounds, unsigned* wrong) {
  cg::grid_group grid = cg::this_grid();
  if (!grid.is_valid()) {
    atomicAdd(wrong, 1000u);
    return;
  }
  const unsigned blocks = gridDim.x, me = blockIdx.x;
  for (unsigned round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) values[me] = round * 1000 + me;
    grid.sync();
    const unsigned neighbour = (me + 1) % blocks;
    if (threadIdx.x == blockDim.x - 1 && __hip_atomic_load(&values[neighbour], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != round * 1000 + neighbour)
      atomicAdd(wrong, 1u);
    grid.sync();
  }
}

static hipError_t launch_ring(unsigned* values, unsigned rounds, unsigned* wrong, unsigned blocks, unsigned threads, hipStream_t stream) {
  void* arguments[] = {&values, &rounds, &wrong};
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(ring), dim3(blocks), dim3(threads), arguments, 0, stream);
}

static unsigned resident(const void* kernel, unsigned threads) {
  int per_unit = 0;
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, static_cast<int>(threads), 0));
  return static_cast<unsigned>(per_unit * properties.multiProcessorCount);
}

DEVICE_TEST(devices_can) {
  int can = 0;
  CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeCooperativeLaunch, 0));
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  if (!can || !properties.cooperativeLaunch || !properties.cooperativeMultiDeviceLaunch) FAIL("no cooperative launches");
}

DEVICE_TEST(blocks_wait_for_each_other) {
  Buffer<unsigned> wrong(1);
  const unsigned shapes[][2] = {{1, 1}, {2, 64}, {7, 100}, {16, 256}, {4, 1024}};
  for (const auto& shape : shapes) {
    Buffer<unsigned> values(shape[0]);
    CHECK(launch_ring(values, 5, wrong, shape[0], shape[1], nullptr));
    expect_equal("wrong", wrong.host(), std::vector<unsigned>(1, 0));
  }
}

DEVICE_TEST(as_many_blocks_as_are_resident) {
  for (unsigned threads : {64u, 256u, 1024u}) {
    const unsigned blocks = resident(reinterpret_cast<const void*>(ring), threads);
    Buffer<unsigned> values(blocks + 1), wrong(1);
    CHECK(launch_ring(values, 2, wrong, blocks, threads, nullptr));
    expect_equal("wrong", wrong.host(), std::vector<unsigned>(1, 0));
    hipError_t status = launch_ring(values, 2, wrong, blocks + 1, threads, nullptr);
    if (status != hipErrorCooperativeLaunchTooLarge) FAIL("%u blocks: %s", blocks + 1, hipGetErrorName(status));
    (void)hipGetLastError();
  }
}

// A launch behind other work on its stream, and other work behind it; two streams at once.
__global__ void set(unsigned* values, unsigned count, unsigned value) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) values[i] = value;
}
__global__ void sum_all(unsigned* values, unsigned count, unsigned* sum) {
  cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 1; step < count; step *= 2) {
    if (i % (2 * step) == 0 && i + step < count) values[i] += values[i + step];
    grid.sync();
  }
  if (i == 0) *sum = values[0];
}
static void reduce(hipStream_t stream, unsigned* values, unsigned count, unsigned value, unsigned* sum) {
  set<<<1, 256, 0, stream>>>(values, count, value);
  CHECK(hipGetLastError());
  void* arguments[] = {&values, &count, &sum};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(sum_all), dim3(8), dim3(128), arguments, 0, stream));
}
DEVICE_TEST(streams_keep_their_order) {
  constexpr unsigned count = 1000;
  Buffer<unsigned> a(1024), b(1024), sums(2);
  hipStream_t streams[2];
  for (auto& stream : streams) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  // The buffers are filled on the null stream, which these streams do not follow.
  CHECK(hipDeviceSynchronize());
  for (unsigned round = 1; round < 6; ++round) {
    reduce(streams[0], a, count, round, sums);
    reduce(streams[1], b, count, round + 10, sums + 1);
    for (auto stream : streams) CHECK(hipStreamSynchronize(stream));
    expect_equal("sums", sums.host(), std::vector<unsigned>{count * round, count * (round + 10)});
  }
  for (auto stream : streams) CHECK(hipStreamDestroy(stream));
}

DEVICE_TEST(graphs_launch_them) {
  constexpr unsigned count = 1000;
  Buffer<unsigned> values(1024), sum(1), wrong(1);
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  reduce(stream, values, count, 3, sum);
  CHECK(launch_ring(values, 2, wrong, 4, 64, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 3; ++launch) {
    CHECK(hipMemset(sum, 0, sizeof(unsigned)));
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    expect_equal("sum", sum.host(), std::vector<unsigned>(1, count * 3));
    expect_equal("wrong", wrong.host(), std::vector<unsigned>(1, 0));
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
}

// An ordinary launch has no grid to wait for.
__global__ void valid(unsigned* out) { *out = cg::this_grid().is_valid(); }
DEVICE_TEST(ordinary_launches_are_not_cooperative) {
  Buffer<unsigned> out(1);
  LAUNCH(valid, 1, 1, 0, out);
  expect_equal("valid", out.host(), std::vector<unsigned>(1, 0));
}

// Kernels that meet at global wave sync and kernels that meet in memory are on queues of their own, and must not run at
// the same time: each might hold what the other needs.
__device__ void turn(unsigned* running, unsigned kind, unsigned* wrong) {
  atomicAdd(&running[kind], 1u);
  for (int look = 0; look < 50; ++look) {
    if (__hip_atomic_load(&running[1 - kind], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != 0) atomicAdd(wrong, 1u);
    __builtin_amdgcn_s_sleep(8);
  }
  atomicSub(&running[kind], 1u);
}
__global__ void meet_at_wave_sync(unsigned* running, unsigned*, unsigned* wrong) {
  cg::this_grid().sync();
  if (threadIdx.x == 0) turn(running, 0, wrong);
  cg::this_grid().sync();
}
__global__ void meet_in_memory(unsigned* running, unsigned* arrived, unsigned* wrong) {
  atomicAdd(arrived, 1u);
  while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) % gridDim.x != 0) __builtin_amdgcn_s_sleep(8);
  turn(running, 1, wrong);
}
DEVICE_TEST(kernels_that_meet_in_different_ways_take_turns) {
  Buffer<unsigned> running(2), arrived(1), wrong(1);
  unsigned *runs = running, *meets = arrived, *counts = wrong;
  void* arguments[] = {&runs, &meets, &counts};
  hipStream_t streams[2];
  for (auto& stream : streams) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  CHECK(hipDeviceSynchronize());
  for (int round = 0; round < 10; ++round) {
    CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_at_wave_sync), dim3(4), dim3(64), arguments, 0, streams[0]));
    CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_in_memory), dim3(4), dim3(1), arguments, 0, streams[1]));
  }
  for (auto stream : streams) {
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
  }
  expect_equal("wrong", wrong.host(), std::vector<unsigned>(1, 0));
}

// Semaphores of global wave sync: units that are raised may be taken, whoever comes first.
__global__ void semaphores(unsigned* passed) {
  cg::grid_group grid = cg::this_grid();
  const bool first = blockIdx.x == 0;
  if (threadIdx.x == 0 && first) __builtin_amdgcn_ds_gws_init(0, 1);
  grid.sync();
  if (threadIdx.x == 0) {
    if (first) {
      __builtin_amdgcn_ds_gws_sema_v(1);
      __builtin_amdgcn_ds_gws_sema_br(gridDim.x - 2, 1);
    } else {
      __builtin_amdgcn_ds_gws_sema_p(1);
      atomicAdd(passed, 1u);
    }
  }
  grid.sync();
}
DEVICE_TEST(semaphores_let_as_many_pass_as_have_units) {
  Buffer<unsigned> passed(1);
  unsigned* pointer = passed;
  void* arguments[] = {&pointer};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(semaphores), dim3(6), dim3(64), arguments, 0, nullptr));
  expect_equal("passed", passed.host(), std::vector<unsigned>(1, 5));
}

// Grids of several devices meet.
struct Meeting {
  unsigned arrived[4];
  unsigned wrong, size, ranks[4];
};
__global__ void meet(Meeting* meeting, unsigned rounds) {
  cg::multi_grid_group all = cg::this_multi_grid();
  if (!all.is_valid()) {
    atomicAdd_system(&meeting->wrong, 1000u);
    return;
  }
  const unsigned grids = all.num_grids(), grid = all.grid_rank();
  for (unsigned round = 1; round <= rounds; ++round) {
    if (threadIdx.x == 0) atomicAdd_system(&meeting->arrived[grid], 1u);
    all.sync();
    for (unsigned other = 0; other < grids; ++other)
      if (__hip_atomic_load(&meeting->arrived[other], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) != round * gridDim.x)
        atomicAdd_system(&meeting->wrong, 1u);
    all.sync();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    meeting->ranks[grid] = all.thread_rank();
    if (grid == 0) meeting->size = all.size();
  }
}
DEVICE_TEST(grids_of_several_devices_wait_for_each_other) {
  int count = 0;
  CHECK(hipGetDeviceCount(&count));
  count = std::min(count, 4);
  Meeting* meeting;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&meeting), sizeof *meeting, hipHostMallocPortable));
  std::memset(meeting, 0, sizeof *meeting);
  constexpr unsigned blocks = 3, threads = 64;
  unsigned rounds = 4;
  void* arguments[] = {&meeting, &rounds};
  std::vector<hipLaunchParams> launches(static_cast<size_t>(count));
  std::vector<hipStream_t> streams(static_cast<size_t>(count));
  for (int device = 0; device < count; ++device) {
    CHECK(hipSetDevice(device));
    CHECK(hipStreamCreate(&streams[device]));
    launches[device] = {reinterpret_cast<void*>(meet), dim3(blocks), dim3(threads), arguments, 0, streams[device]};
  }
  CHECK(hipLaunchCooperativeKernelMultiDevice(launches.data(), count, 0));
  // Each stream waits for all grids.
  CHECK(hipStreamSynchronize(streams[0]));
  for (int device = 0; device < count; ++device) {
    if (meeting->arrived[device] != rounds * blocks) FAIL("device %d arrived %u times", device, meeting->arrived[device]);
    if (meeting->ranks[device] != device * blocks * threads) FAIL("device %d has rank %u", device, meeting->ranks[device]);
  }
  if (meeting->wrong != 0 || meeting->size != count * blocks * threads) FAIL("%u wrong, size %u", meeting->wrong, meeting->size);
  hipLaunchParams twice[] = {launches[0], launches[0]};
  hipError_t status = hipLaunchCooperativeKernelMultiDevice(twice, 2, 0);
  if (status != hipErrorInvalidDevice) FAIL("two grids on a device: %s", hipGetErrorName(status));
  (void)hipGetLastError();
  for (auto stream : streams) {
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
  }
  CHECK(hipHostFree(meeting));
  CHECK(hipSetDevice(0));
}

// Without a common end, one device may be done and go on to other work while another has not begun: what that waits for
// must not be used again meanwhile.
__global__ void hold(unsigned* open) {
  while (__hip_atomic_load(open, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == 0) __builtin_amdgcn_s_sleep(8);
}
static void hold_host(void* open) {
  while (__atomic_load_n(static_cast<unsigned*>(open), __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
}
DEVICE_TEST(a_device_that_is_late_begins_when_it_can) {
  int count = 0;
  CHECK(hipGetDeviceCount(&count));
  if (count < 2) return;
  unsigned* open;  // for the kernel, for the host functions
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&open), 2 * sizeof *open, hipHostMallocPortable));
  open[0] = open[1] = 0;
  unsigned *memory[2], one = 1, value = 5;
  hipStream_t streams[2], held;
  hipLaunchParams launches[2];
  void* arguments[2][3];
  for (int device : {1, 0}) {
    CHECK(hipSetDevice(device));
    CHECK(hipMalloc(reinterpret_cast<void**>(&memory[device]), sizeof(unsigned)));
    CHECK(hipStreamCreateWithFlags(&streams[device], hipStreamNonBlocking));
    arguments[device][0] = &memory[device], arguments[device][1] = &one, arguments[device][2] = &value;
    launches[device] = {reinterpret_cast<void*>(set), dim3(1), dim3(64), arguments[device], 0, streams[device]};
  }
  CHECK(hipStreamCreateWithFlags(&held, hipStreamNonBlocking));
  void* holding[] = {&open};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(hold), dim3(1), dim3(1), holding, 0, held));
  CHECK(hipLaunchCooperativeKernelMultiDevice(launches, 2, hipCooperativeLaunchMultiDeviceNoPostSync));
  CHECK(hipStreamSynchronize(streams[1]));

  // Much that has not happened yet on the device that is done.
  CHECK(hipSetDevice(1));
  std::vector<hipStream_t> waiting(8);
  std::vector<hipEvent_t> events;
  for (hipStream_t& stream : waiting) {
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    CHECK(hipLaunchHostFunc(stream, hold_host, &open[1]));
    for (int n = 0; n < 16; ++n) {
      set<<<dim3(1), dim3(64), 0, stream>>>(memory[1], 1, 7);
      events.emplace_back();
      CHECK(hipEventCreate(&events.back()));
      CHECK(hipEventRecord(events.back(), stream));
    }
  }
  __atomic_store_n(&open[0], 1u, __ATOMIC_RELEASE);
  hipError_t status = hipErrorNotReady;
  for (int wait = 0; wait < 5000 && status == hipErrorNotReady; ++wait) {
    status = hipStreamQuery(streams[0]);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (status != hipSuccess) FAIL("the late device: %s", hipGetErrorName(status));
  (void)hipGetLastError();
  __atomic_store_n(&open[1], 1u, __ATOMIC_RELEASE);
  for (hipEvent_t event : events) CHECK(hipEventDestroy(event));
  for (hipStream_t stream : waiting) {
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
  }
  CHECK(hipSetDevice(0));
  for (int device : {0, 1}) {
    CHECK(hipStreamSynchronize(streams[device]));
    CHECK(hipStreamDestroy(streams[device]));
    CHECK(hipFree(memory[device]));
  }
  CHECK(hipStreamSynchronize(held));
  CHECK(hipStreamDestroy(held));
  CHECK(hipHostFree(open));
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
