// Barriers that lanes or waves go past, and values from lanes that are off: `aqlipse check sync`.
#include "grid.h"

#include <chrono>
#include <thread>

#include "cases.h"

constexpr int T = 256, WAVE = warpSize;
static int* out;

// ---- Barriers that lanes of a wave go past

__global__ void odd_lanes(int* to, bool defect) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  if (!defect || threadIdx.x % 2) __syncthreads();
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

// The condition of the reduction, around the barrier, too.
__global__ void reduction(int* to, bool defect) {
  __shared__ int values[WAVE];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
#pragma unroll 1
  for (unsigned stride = WAVE / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      values[threadIdx.x] += values[threadIdx.x + stride];
      if (defect) __syncthreads();
    }
    if (!defect) __syncthreads();
  }
  to[threadIdx.x] = values[0];
}

// Not all lanes take the last turn; without the defect they all do.
__global__ void last_turn(int* to, bool defect) {
  __shared__ int tile[WAVE];
  int sum = 0;
  for (int n = threadIdx.x; n < 2 * WAVE - (defect ? 28 : 0); n += WAVE) {
    tile[threadIdx.x] = n;
    __syncthreads();
    sum += tile[WAVE - 1 - threadIdx.x];
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  }
  to[threadIdx.x] = sum;
}

__device__ __attribute__((noinline)) void exchange(int* tile, int lanes) {
  if (int(threadIdx.x) >= lanes) return;
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  tile[threadIdx.x] += 1;
}
// Lanes leave a function before its barrier, and not the kernel.
__global__ void left_function(int* to, bool defect) {
  __shared__ int tile[WAVE];
  exchange(tile, defect ? 14 : WAVE);
  to[threadIdx.x] = tile[threadIdx.x];
}

__device__ __attribute__((noinline)) void meet(int* tile) {
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
}
__global__ void called_by_some(int* to, bool defect) {
  __shared__ int tile[WAVE];
  if (threadIdx.x < (defect ? 20 : WAVE)) meet(tile);
  to[threadIdx.x] = tile[WAVE - 1 - threadIdx.x];
}

// The compiler has lanes that skip the inner condition on again behind both: at the barrier one lane is on.
__global__ void two_conditions(int* to, bool defect) {
  __shared__ int value;
  int lanes = defect ? 20 : WAVE;
  if (int(threadIdx.x) < lanes) {
    if (threadIdx.x % WAVE == 0) value = lanes;
    __builtin_amdgcn_s_barrier();
  }
  to[threadIdx.x] = value;
}

__global__ void either_way(int* to, bool defect) {
  __shared__ int value;
  int lanes = defect ? 20 : WAVE;
  if (int(threadIdx.x) < lanes) {
    if (to[threadIdx.x] > 0) {
      atomicAdd(&value, 1);
    } else {
      atomicAdd(to + T, 2);
    }
    __builtin_amdgcn_s_barrier();
  }
  to[threadIdx.x] = value;
}

// Threads that return early need no barrier; the defect has them go on instead.
__global__ void returned_lanes(int* to, bool defect) {
  __shared__ int tile[WAVE];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 24) {
    atomicAdd(&tile[threadIdx.x], 1);
    if (!defect) return;
  } else {
    __syncthreads();
  }
  to[threadIdx.x] = tile[WAVE - 1 - threadIdx.x];
}

// ---- Barriers that waves go past

__global__ void first_wave(int* to, bool defect) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  if (!defect || threadIdx.x < WAVE) __syncthreads();
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

__global__ void returned_waves(int* to, bool defect) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 128) {
    if (!defect) return;
  } else {
    __syncthreads();
  }
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

__global__ void turns_of_each_wave(int* to, bool defect) {
  __shared__ int tile[T];
  int sum = 0, turns = defect ? 1 + threadIdx.x / 64 : 4;
  for (int n = 0; n < turns; n++) {
    tile[threadIdx.x] = n;
    __syncthreads();
    sum += tile[(threadIdx.x + n) % T];
  }
  to[threadIdx.x] = sum;
}

__global__ void left_loop(int* to, bool defect) {
  __shared__ int tile[T];
  int sum = 0;
  for (int n = 0; n < 4; n++) {
    tile[threadIdx.x] = n;
    if (defect && n == 2 && threadIdx.x >= 192) break;
    __syncthreads();
    sum += tile[(threadIdx.x + n) % T];
  }
  to[threadIdx.x] = sum;
}

// It meets the others' first barrier at its second.
__global__ void another_barrier(int* to, bool defect) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  if (!defect || threadIdx.x < 192) __syncthreads();
  int value = tile[T - 1 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = value;
  to[threadIdx.x] = value;
}

__device__ __attribute__((noinline)) void store(int* to, const int* tile) { to[threadIdx.x] = tile[threadIdx.x]; }
// Waves that do different things and meet as often are well.
__global__ void divided_work(int* to, bool defect) {
  __shared__ int tile[T];
  if (threadIdx.x < 128) {
    for (int n = 0; n < 4; n++) {
      tile[threadIdx.x] = n;
      __syncthreads();
      __syncthreads();
    }
  } else {
    int sum = 0;
    for (int n = 0; n < (defect ? 3 : 4); n++) {
      __syncthreads();
      sum += tile[threadIdx.x - 128];
      __syncthreads();
    }
    tile[threadIdx.x] = sum;
  }
  store(to, tile);
}

// ---- Values from lanes that are off

__global__ void half_a_wave(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < (defect ? WAVE / 2 : WAVE)) value = __shfl(value, threadIdx.x ^ WAVE / 2);
  to[threadIdx.x] = value;
}

// Lane 0 is off.
__global__ void broadcast(int* to, bool defect) {
  int value = to[threadIdx.x];
  if (!defect || threadIdx.x != 0) value += __shfl(value, 0);
  to[threadIdx.x] = value;
}

__global__ void tail(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < (defect ? 24 : WAVE)) {
    for (int offset = WAVE / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
    if (threadIdx.x == 0) *to = value;
  }
}

// The upper lanes read from lanes that are off, and no lane uses their sums.
__global__ void half_a_reduction(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < WAVE / 2) {
    for (int offset = defect ? WAVE / 2 : WAVE / 4; offset > 0; offset /= 2) value += __shfl_down(value, offset);
    if (threadIdx.x == 0) *to = value;
  }
}

__global__ void width(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) {
    for (int mask = 8; mask > 0; mask /= 2) value += __shfl_xor(value, mask, 16);
    value += __shfl_down(value, 4, defect ? WAVE : 16);
    to[threadIdx.x] = value;
  }
}

__global__ void selected(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < 3 * WAVE / 4) {
    int other = __shfl_down(value, WAVE / 4);
    to[threadIdx.x] = defect || threadIdx.x < WAVE / 2 ? other : value;
  }
}

__global__ void scan(int* to, bool defect) {
  int value = 1;
  if (threadIdx.x >= (defect ? 8 : 0)) {
    for (unsigned delta = 1; delta < WAVE; delta *= 2) {
      int other = __shfl_up(value, delta);
      if (threadIdx.x >= delta) value += other;
    }
    to[threadIdx.x] = value;
  }
}

__global__ void doubles(int* to, bool defect) {
  double value = threadIdx.x;
  if (threadIdx.x < (defect ? WAVE - 4 : WAVE)) {
    value *= __shfl_xor(value, 4);
    to[threadIdx.x] = int(value);
  }
}

__global__ void looked_up(int* to, bool defect) {
  int place = threadIdx.x;
  if (threadIdx.x % 8 < (defect ? 7 : 8)) place = __shfl(place, threadIdx.x | 7);
  to[place] = 1;
}

__global__ void to_lds(int* to, bool defect) {
  __shared__ float sums[WAVE];
  sums[threadIdx.x] = 0;
  if (threadIdx.x < WAVE - 1) {
    float value = __shfl_down(float(threadIdx.x), 1u);
    if (defect || threadIdx.x < WAVE - 2) sums[threadIdx.x] = value;
  }
  __syncthreads();
  to[threadIdx.x] = int(sums[WAVE - 1 - threadIdx.x]);
}

__global__ void tiles(int* to, bool defect) {
  auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  int value = threadIdx.x;
  if (threadIdx.x / 16 != 1 && (!defect || threadIdx.x != 47)) {
    for (int offset = 8; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    if (tile.thread_rank() == 0) to[threadIdx.x / 16] = value;
  }
}

// ---- LDS of waves that share none

__device__ __forceinline__ void reverse(int* to) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}
#if defined(__HIP_DEVICE_COMPILE__) && __AMDGCN_WAVEFRONT_SIZE == 64
__attribute__((target("tgsplit")))
#endif
__global__ void split(int* to) { reverse(to); }
__global__ void whole(int* to) { reverse(to); }

// ---- Waits for what does not come

__device__ int load(const int* from) { return __hip_atomic_load(from, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); }
__device__ void store(int* to, int value) { __hip_atomic_store(to, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); }

__global__ void flag_of_another_block(int* flag, bool defect) {
  if (blockIdx.x == 1 && !defect) store(flag, 1);
  if (blockIdx.x == 0) {
    while (load(flag) == 0) {
    }
    flag[1] = 1;
  }
}

__global__ void flag_in_lds(int* to, bool defect) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == WAVE && !defect) __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
  if (threadIdx.x < WAVE) {
    while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) {
    }
  }
  to[threadIdx.x] = flag;
}

// The defect: a block does not give the lock back.
__global__ void lock(int* to, bool defect) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(to, 0, 1) != 0) __builtin_amdgcn_s_sleep(2);
  __threadfence();
  to[1] += 1;
  __threadfence();
  if (!defect || blockIdx.x % 2) atomicExch(to, 0);
}

// The lane that has the lock waits for those that have not.
__global__ void lock_of_a_lane(int* to, bool defect) {
  if (defect) {
    while (atomicCAS(to, 0, 1) != 0) {
    }
    to[1] += 1;
    __threadfence();
    atomicExch(to, 0);
  } else {
    for (unsigned lane = 0; lane < WAVE; lane++) {
      if (lane != threadIdx.x) continue;
      while (atomicCAS(to, 0, 1) != 0) __builtin_amdgcn_s_sleep(1);
      to[1] += 1;
      __threadfence();
      atomicExch(to, 0);
    }
  }
}

__global__ void tickets(int* to, bool defect) {
  if (threadIdx.x != 0) return;
  int mine = atomicAdd(to, 1);
  while (load(to + 1) != mine) __builtin_amdgcn_s_sleep(1);
  if (!defect || mine != 2) store(to + 1, mine + 1);
}

// It waits longer each time, up to a limit.
__global__ void longer_waits(int* flag, bool defect) {
  if (blockIdx.x == 1 && !defect) store(flag, 1);
  if (blockIdx.x != 0) return;
  for (int turns = 1; load(flag) == 0; turns = min(2 * turns, 64)) {
    for (int n = 0; n < turns; n++) __builtin_amdgcn_s_sleep(1);
  }
}

// Locals are in scratch.
__global__ __attribute__((optnone)) void not_optimized(int* flag, bool defect) {
  int block = blockIdx.x;
  if (block == 1 && !defect) store(flag, 1);
  while (block == 0 && load(flag) == 0) {
  }
}

__global__ void no_way_out(int* to, bool defect) {
  while (defect) __builtin_amdgcn_s_sleep(1);
  *to = 1;
}

// More blocks than the device has room for: those that wait keep the others out.
__global__ void own_grid_barrier(int* to, bool) {
  if (threadIdx.x == 0) {
    atomicAdd(to, 1);
    while (load(to) != int(gridDim.x)) {
    }
  }
  __syncthreads();
}

__global__ void skipped_by_a_block(int* to, bool defect) {
  if (!defect || blockIdx.x != 1) sync_grid();
  to[threadIdx.x] = 1;
}

__global__ void wait_for(int* flag) {
  while (load(flag) == 0) {
  }
}
__global__ void set(int* flag) { store(flag, 1); }

// ---- Launches

template <void (*KERNEL)(int*, bool), int THREADS>
static void launch() {
  KERNEL<<<4, THREADS>>>(out, defect);
}

static void node() {
  hipGraph_t graph;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  odd_lanes<<<4, T, 0, stream>>>(out, defect);
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int n = 0; n < 3; n++) CHECK(hipGraphLaunch(exec, stream));
}

static void cooperative() {
  void* arguments[] = {&out, &defect};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(first_wave), dim3(2), dim3(T), arguments, 0, nullptr));
}

[[maybe_unused]] static void split_workgroup() {
  if (defect) {
    split<<<4, T>>>(out);
  } else {
    whole<<<4, T>>>(out);
  }
}

template <void (*KERNEL)(int*, bool), int BLOCKS, int THREADS>
static void waits() {
  CHECK(hipMemset(out, 0, 4 * sizeof(int)));
  KERNEL<<<BLOCKS, THREADS>>>(out, defect);
}

static void too_many_blocks() {
  CHECK(hipMemset(out, 0, sizeof(int)));
  int room, units;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&room, own_grid_barrier, 1024, 0));
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  own_grid_barrier<<<room * units + (defect ? 1 : 0), 1024>>>(out, defect);
}

static void grid_of_a_cooperative_kernel() {
  void* arguments[] = {&out, &defect};
  auto kernel = reinterpret_cast<void*>(skipped_by_a_block);
  CHECK(hipLaunchCooperativeKernel(kernel, dim3(4), dim3(T), arguments, 0, nullptr));
}

// A stream waits for what comes behind it.
static void behind_the_wait() {
  CHECK(hipMemset(out, 0, sizeof(int)));
  hipStream_t one, other;
  CHECK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  wait_for<<<1, 64, 0, one>>>(out);
  set<<<1, 1, 0, defect ? one : other>>>(out);
}

// A stream may wait for a value as long as it likes.
static void late_value() {
  CHECK(hipMemset(out, 0, 2 * sizeof(int)));
  hipStream_t one, other;
  CHECK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  CHECK(hipStreamWaitValue32(one, out, 1, hipStreamWaitValueEq, ~0u));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  CHECK(hipStreamWriteValue32(other, out, 1, 0));
  if (defect) wait_for<<<1, 64, 0, one>>>(out + 1);
}

// What another process may write may come late.
static void shared_memory() {
  CHECK(hipMemset(out, 0, sizeof(int)));
  hipIpcMemHandle_t handle;
  if (!defect) CHECK(hipIpcGetMemHandle(&handle, out));
  hipStream_t one, other;
  CHECK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  wait_for<<<1, 64, 0, one>>>(out);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  if (!defect) set<<<1, 1, 0, other>>>(out);
}

// A node waits for the one that its edge leads to.
static void edge_the_wrong_way() {
  CHECK(hipMemset(out, 0, sizeof(int)));
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  void* arguments[] = {&out};
  hipKernelNodeParams waits{};
  waits.func = reinterpret_cast<void*>(wait_for);
  waits.gridDim = waits.blockDim = dim3(1);
  waits.kernelParams = arguments;
  hipKernelNodeParams sets = waits;
  sets.func = reinterpret_cast<void*>(set);
  hipGraphNode_t first, second;
  CHECK(hipGraphAddKernelNode(&first, graph, nullptr, 0, defect ? &waits : &sets));
  CHECK(hipGraphAddKernelNode(&second, graph, &first, 1, defect ? &sets : &waits));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, nullptr));
}

static const Case CASES[] = {
    {"odd_lanes", launch<odd_lanes, T>},
    {"reduction", launch<reduction, WAVE>},
    {"last_turn", launch<last_turn, WAVE>},
    {"left_function", launch<left_function, WAVE>},
    {"called_by_some", launch<called_by_some, WAVE>},
    {"two_conditions", launch<two_conditions, WAVE>},
    {"either_way", launch<either_way, WAVE>},
    {"returned_lanes", launch<returned_lanes, WAVE>},
    {"first_wave", launch<first_wave, T>},
    {"returned_waves", launch<returned_waves, T>},
    {"turns_of_each_wave", launch<turns_of_each_wave, T>},
    {"left_loop", launch<left_loop, T>},
    {"another_barrier", launch<another_barrier, T>},
    {"divided_work", launch<divided_work, T>},
    {"half_a_wave", launch<half_a_wave, WAVE>},
    {"broadcast", launch<broadcast, WAVE>},
    {"tail", launch<tail, WAVE>},
    {"half_a_reduction", launch<half_a_reduction, WAVE>},
    {"width", launch<width, WAVE>},
    {"selected", launch<selected, WAVE>},
    {"scan", launch<scan, WAVE>},
    {"doubles", launch<doubles, WAVE>},
    {"looked_up", launch<looked_up, WAVE>},
    {"to_lds", launch<to_lds, WAVE>},
    {"tiles", launch<tiles, 64>},
    {"node", node},
    {"cooperative", cooperative},
    {"flag_of_another_block", waits<flag_of_another_block, 2, WAVE>},
    {"flag_in_lds", waits<flag_in_lds, 2, 2 * WAVE>},
    {"lock", waits<lock, 8, WAVE>},
    {"lock_of_a_lane", waits<lock_of_a_lane, 2, WAVE>},
    {"tickets", waits<tickets, 8, WAVE>},
    {"longer_waits", waits<longer_waits, 2, WAVE>},
    {"not_optimized", waits<not_optimized, 2, WAVE>},
    {"no_way_out", waits<no_way_out, 2, WAVE>},
    {"too_many_blocks", too_many_blocks},
    {"grid_of_a_cooperative_kernel", grid_of_a_cooperative_kernel},
    {"behind_the_wait", behind_the_wait},
    {"late_value", late_value},
    {"shared_memory", shared_memory},
    {"edge_the_wrong_way", edge_the_wrong_way},
#if __AMDGCN_WAVEFRONT_SIZE == 64
    {"split_workgroup", split_workgroup},
#endif
};

int main(int argc, char** argv) {
  if (argc > 1) CHECK(hipMalloc(reinterpret_cast<void**>(&out), (T + 1) * sizeof(int)));
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
