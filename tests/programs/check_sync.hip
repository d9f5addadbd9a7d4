// Barriers that lanes or waves go past, and values from lanes that are off: `aqlipse check sync`.
#include <hip/hip_cooperative_groups.h>

#include "cases.h"

constexpr int T = 256;
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
  __shared__ int values[64];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
#pragma unroll 1
  for (unsigned stride = 32; stride > 0; stride /= 2) {
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
  __shared__ int tile[64];
  int sum = 0;
  for (int n = threadIdx.x; n < (defect ? 100 : 128); n += 64) {
    tile[threadIdx.x] = n;
    __syncthreads();
    sum += tile[63 - threadIdx.x];
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
  __shared__ int tile[64];
  exchange(tile, defect ? 30 : 64);
  to[threadIdx.x] = tile[threadIdx.x];
}

__device__ __attribute__((noinline)) void meet(int* tile) {
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
}
__global__ void called_by_some(int* to, bool defect) {
  __shared__ int tile[64];
  if (threadIdx.x < (defect ? 20 : 64)) meet(tile);
  to[threadIdx.x] = tile[63 - threadIdx.x];
}

// The compiler has lanes that skip the inner condition on again behind both: at the barrier one lane is on.
__global__ void two_conditions(int* to, bool defect) {
  __shared__ int value;
  int lanes = defect ? 50 : 64;
  if (int(threadIdx.x) < lanes) {
    if (threadIdx.x % 64 == 0) value = lanes;
    __builtin_amdgcn_s_barrier();
  }
  to[threadIdx.x] = value;
}

__global__ void either_way(int* to, bool defect) {
  __shared__ int value;
  int lanes = defect ? 50 : 64;
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
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 40) {
    atomicAdd(&tile[threadIdx.x], 1);
    if (!defect) return;
  } else {
    __syncthreads();
  }
  to[threadIdx.x] = tile[63 - threadIdx.x];
}

// ---- Barriers that waves go past

__global__ void first_wave(int* to, bool defect) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  if (!defect || threadIdx.x < 64) __syncthreads();
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
  if (threadIdx.x < (defect ? 32 : 64)) value = __shfl(value, threadIdx.x ^ 32);
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
  if (threadIdx.x < (defect ? 40 : 64)) {
    for (int offset = 32; offset > 0; offset /= 2) value += __shfl_down(value, offset);
    if (threadIdx.x == 0) *to = value;
  }
}

// The upper lanes read from lanes that are off, and no lane uses their sums.
__global__ void half_a_reduction(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < 32) {
    for (int offset = defect ? 32 : 16; offset > 0; offset /= 2) value += __shfl_down(value, offset);
    if (threadIdx.x == 0) *to = value;
  }
}

__global__ void width(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) {
    for (int mask = 8; mask > 0; mask /= 2) value += __shfl_xor(value, mask, 16);
    value += __shfl_down(value, 4, defect ? 64 : 16);
    to[threadIdx.x] = value;
  }
}

__global__ void selected(int* to, bool defect) {
  int value = threadIdx.x;
  if (threadIdx.x < 48) {
    int other = __shfl_down(value, 16);
    to[threadIdx.x] = defect || threadIdx.x < 32 ? other : value;
  }
}

__global__ void scan(int* to, bool defect) {
  int value = 1;
  if (threadIdx.x >= (defect ? 8 : 0)) {
    for (unsigned delta = 1; delta < 64; delta *= 2) {
      int other = __shfl_up(value, delta);
      if (threadIdx.x >= delta) value += other;
    }
    to[threadIdx.x] = value;
  }
}

__global__ void doubles(int* to, bool defect) {
  double value = threadIdx.x;
  if (threadIdx.x < (defect ? 60 : 64)) {
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
  __shared__ float sums[64];
  sums[threadIdx.x] = 0;
  if (threadIdx.x < 63) {
    float value = __shfl_down(float(threadIdx.x), 1u);
    if (defect || threadIdx.x < 62) sums[threadIdx.x] = value;
  }
  __syncthreads();
  to[threadIdx.x] = int(sums[63 - threadIdx.x]);
}

__global__ void tiles(int* to, bool defect) {
  auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  int value = threadIdx.x;
  if (threadIdx.x / 16 != 1 && (!defect || threadIdx.x != 47)) {
    for (int offset = 8; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    if (tile.thread_rank() == 0) to[threadIdx.x / 16] = value;
  }
}

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

static const Case CASES[] = {
    {"odd_lanes", launch<odd_lanes, T>},
    {"reduction", launch<reduction, 64>},
    {"last_turn", launch<last_turn, 64>},
    {"left_function", launch<left_function, 64>},
    {"called_by_some", launch<called_by_some, 64>},
    {"two_conditions", launch<two_conditions, 64>},
    {"either_way", launch<either_way, 64>},
    {"returned_lanes", launch<returned_lanes, 64>},
    {"first_wave", launch<first_wave, T>},
    {"returned_waves", launch<returned_waves, T>},
    {"turns_of_each_wave", launch<turns_of_each_wave, T>},
    {"left_loop", launch<left_loop, T>},
    {"another_barrier", launch<another_barrier, T>},
    {"divided_work", launch<divided_work, T>},
    {"half_a_wave", launch<half_a_wave, 64>},
    {"broadcast", launch<broadcast, 64>},
    {"tail", launch<tail, 64>},
    {"half_a_reduction", launch<half_a_reduction, 64>},
    {"width", launch<width, 64>},
    {"selected", launch<selected, 64>},
    {"scan", launch<scan, 64>},
    {"doubles", launch<doubles, 64>},
    {"looked_up", launch<looked_up, 64>},
    {"to_lds", launch<to_lds, 64>},
    {"tiles", launch<tiles, 64>},
    {"node", node},
    {"cooperative", cooperative},
};

int main(int argc, char** argv) {
  if (argc > 1) CHECK(hipMalloc(reinterpret_cast<void**>(&out), (T + 1) * sizeof(int)));
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
