// Correct kernels, of each of which one barrier is left out: `aqlipse check race` must say so.
//
//     PROGRAM N      without the barrier with number N
//     PROGRAM -1     all of them
//     PROGRAM        how many there are
#include <cstdlib>

#include "check.h"

constexpr int T = 256;

struct Barriers {
  int next, without;
  // The one that comes next in the program.
  __device__ void operator()() {
    if (next++ != without) __syncthreads();
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
    for (int lane = 32; lane; lane /= 2) value += __shfl_xor(value, lane);
    if (n) barrier();
    if (threadIdx.x % 64 == 0) of_waves[threadIdx.x / 64] = value;
    barrier();
    value = 0;
    for (int wave = 0; wave < T / 64; wave++) value += of_waves[wave];
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

struct Mutant {
  void (*kernel)(int*, Barriers);
  int barriers;
};
static const Mutant MUTANTS[] = {{scan, 9}, {transpose, 5}, {broadcast, 7}, {histogram, 2}, {sum, 3}, {stencil, 7}};

int main(int argc, char** argv) {
  int count = 0;
  for (const auto& mutant : MUTANTS) count += mutant.barriers;
  if (argc < 2) {
    std::printf("%d\n", count);
    return 0;
  }
  int without = std::atoi(argv[1]);
  int* memory;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), T * sizeof *memory));
  CHECK(hipMemset(memory, 1, T * sizeof *memory));
  for (const auto& mutant : MUTANTS) {
    mutant.kernel<<<1, T, T / 64 * sizeof *memory>>>(memory, Barriers{0, without});
    CHECK(hipDeviceSynchronize());
    without -= mutant.barriers;
    if (without < 0) without = -1;
  }
  CHECK(hipFree(memory));
}
