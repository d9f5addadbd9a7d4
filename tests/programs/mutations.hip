// Correct kernels, of each of which one barrier or fence is left out: `aqlipse check race` must say so.
//
//     PROGRAM N      without the barrier or fence with number N
//     PROGRAM N wait with the barrier, without what it waits for before
//     PROGRAM -1     all of them
//     PROGRAM        how many there are, and how many of these are barriers of LDS, which come first
#include <cstdlib>

#include "check.h"

constexpr int T = 256, WAVE = warpSize;

struct Barriers {
  int next, without;
  bool only_wait;
  // The one that comes next in the program.
  __device__ void operator()() {
    if (next++ != without) {
      __syncthreads();
    } else if (only_wait) {
      __builtin_amdgcn_s_barrier();
    }
  }
  __device__ void fence() {
    if (next++ != without) __threadfence();
  }
};

// A sum of all elements before each, from one of two buffers to the other.
__global__ void scan(int* to, Barriers barrier) {
  __shared__ int sums[2][T];
  int t = threadIdx.x, from = 0;
  sums[0][t] = to[t];
  for (int stride = 1; stride < T; stride *= 2, from ^= 1) {
    barrier();
    sums[from ^ 1][t] = sums[from][t] + (t >= stride ? sums[from][t - stride] : 0);
  }
  barrier();
  to[t] = sums[from][T - 1 - t];
}

// Tiles that are turned around, one behind the other in the same place.
__global__ void transpose(int* to, Barriers barrier) {
  __shared__ int tile[16][16];
  int x = threadIdx.x % 16, y = threadIdx.x / 16, sum = 0;
  for (int n = 0; n < 3; n++) {
    if (n) barrier();
    tile[y][x] = to[threadIdx.x] + n;
    barrier();
    sum += tile[x][y];
  }
  to[threadIdx.x] = sum;
}

// A value that one thread has for all.
__global__ void broadcast(int* to, Barriers barrier) {
  __shared__ int value;
  int sum = 0;
  for (int n = 0; n < 4; n++) {
    if (n) barrier();
    if (static_cast<int>(threadIdx.x) == 64 * n) value = to[threadIdx.x];
    barrier();
    sum += value;
  }
  to[threadIdx.x] = sum;
}

__global__ void histogram(int* to, Barriers barrier) {
  __shared__ int counts[T];
  counts[T - 1 - threadIdx.x] = 0;
  barrier();
  atomicAdd(&counts[to[threadIdx.x] & (T - 1)], 1);
  barrier();
  to[threadIdx.x] = counts[T - 1 - threadIdx.x];
}

// Sums of waves, and of those; in memory that the launch gives.
__global__ void sum(int* to, Barriers barrier) {
  extern __shared__ int of_waves[];
  int value = to[threadIdx.x];
  for (int n = 0; n < 2; n++) {
    for (int lane = WAVE / 2; lane; lane /= 2) value += __shfl_xor(value, lane);
    if (n) barrier();
    if (threadIdx.x % WAVE == 0) of_waves[threadIdx.x / WAVE] = value;
    barrier();
    value = 0;
    for (int wave = 0; wave < T / WAVE; wave++) value += of_waves[wave];
  }
  to[threadIdx.x] = value;
}

// Neighbours' mean, over and over.
__global__ void stencil(int* to, Barriers barrier) {
  __shared__ int cells[T + 2];
  int t = threadIdx.x + 1;
  if (t == 1) cells[0] = cells[T + 1] = 0;
  cells[t] = to[threadIdx.x];
  for (int n = 0; n < 3; n++) {
    barrier();
    int mean = (cells[t - 1] + cells[t] + cells[t + 1]) / 3;
    barrier();
    cells[t] = mean;
  }
  barrier();
  to[threadIdx.x] = cells[T + 1 - t];
}

__device__ static int peek(int* at) { return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
__device__ static void poke(int* at, int value) {
  __hip_atomic_store(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// Each block adds to what the one before it has left.
__global__ void chain(int* to, Barriers barrier) {
  int *flags = to, *values = to + 64;
  if (threadIdx.x) return;
  int before = 0;
  if (blockIdx.x) {
    while (!peek(flags + blockIdx.x - 1)) __builtin_amdgcn_s_sleep(1);
  }
  barrier.fence();
  if (blockIdx.x) before = values[blockIdx.x - 1];
  values[blockIdx.x] = before + 1;
  barrier.fence();
  poke(flags + blockIdx.x, 1);
}

// The block that comes last sums what all have left.
__global__ void last_block(int* to, Barriers barrier) {
  __shared__ bool last;
  int *parts = to + 64, t = threadIdx.x;
  parts[4 * t + blockIdx.x] = t;
  barrier.fence();
  barrier();
  if (t == 0) {
    last = atomicAdd(to, 1) == 3;
    barrier.fence();
  } else {
    barrier.next++;
  }
  barrier();
  if (last) parts[4 * T + t] = parts[4 * t] + parts[4 * t + 1] + parts[4 * t + 2] + parts[4 * t + 3];
}

__global__ void locked(int* to, Barriers barrier) {
  if (threadIdx.x) return;
  while (atomicCAS(to, 0, 1)) __builtin_amdgcn_s_sleep(1);
  barrier.fence();
  to[64] += 1;
  barrier.fence();
  atomicExch(to, 0);
}

// Waves of a block, by memory.
__global__ void turned(int* to, Barriers barrier) {
  int *mine = to + T * blockIdx.x, t = threadIdx.x;
  for (int n = 0; n < 2; n++) {
    if (n) barrier();
    mine[t] = t + n;
    barrier();
    mine[4 * T + t] = mine[T - 1 - t];
  }
}

struct Mutant {
  void (*kernel)(int*, Barriers);
  int barriers, blocks;
};
static const Mutant MUTANTS[] = {{scan, 9, 1},   {transpose, 5, 1}, {broadcast, 7, 1},  {histogram, 2, 1}, {sum, 3, 1},
                                 {stencil, 7, 1}, {chain, 2, 4},     {last_block, 4, 4}, {locked, 2, 4},    {turned, 3, 4}};
constexpr int SIZE = 16 * T;

int main(int argc, char** argv) {
  int count = 0, in_lds = 0;
  for (const auto& mutant : MUTANTS) {
    count += mutant.barriers;
    if (mutant.blocks == 1) in_lds += mutant.barriers;
  }
  if (argc < 2) {
    std::printf("%d %d\n", count, in_lds);
    return 0;
  }
  int without = std::atoi(argv[1]);
  int* memory;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), SIZE * sizeof *memory));
  for (const auto& mutant : MUTANTS) {
    CHECK(hipMemset(memory, mutant.blocks == 1, SIZE * sizeof *memory));
    mutant.kernel<<<mutant.blocks, T, T / WAVE * sizeof *memory>>>(memory, Barriers{0, without, argc > 2});
    CHECK(hipDeviceSynchronize());
    without -= mutant.barriers;
    if (without < 0) without = -1;
  }
  CHECK(hipFree(memory));
}
