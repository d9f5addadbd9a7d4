// Accesses to LDS that nothing orders: `aqlipse check race`.
#include <vector>

#include "cases.h"

constexpr int T = 256;
static int* out;

// A barrier that the defect leaves out.
__device__ static void barrier(bool left_out) {
  if (!left_out) __syncthreads();
}

__global__ void reverse(int* to, bool defect) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  barrier(defect);
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

__global__ void reused_tile(int* to, bool defect) {
  __shared__ int tile[T];
  int sum = 0;
  for (int n = 0; n < 4; n++) {
    tile[threadIdx.x] = threadIdx.x + n;
    __syncthreads();
    sum += tile[T - 1 - threadIdx.x];
    barrier(defect);
  }
  to[threadIdx.x] = sum;
}

__global__ void sum(int* to, bool defect) {
  __shared__ int values[T];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (unsigned stride = T / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) values[threadIdx.x] += values[threadIdx.x + stride];
    barrier(defect && stride == T / 2);
  }
  if (threadIdx.x == 0) *to = values[0];
}

__global__ void broadcast(int* to, bool defect) {
  __shared__ int value;
  if (threadIdx.x == 0) value = *to + 1;
  barrier(defect);
  to[threadIdx.x] = value;
}

__global__ void one_place(int* to, bool defect) {
  __shared__ int value;
  if (threadIdx.x % 64 == 0 && (defect || threadIdx.x == 0)) value = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = value;
}

__global__ void the_same_value(int* to, bool defect) {
  __shared__ int value;
  if (threadIdx.x == 0) value = 7;
  __syncthreads();
  if (threadIdx.x % 64 == 0) value = defect ? 7 + threadIdx.x : 7;
  __syncthreads();
  to[threadIdx.x] = value;
}

__global__ void lanes(int* to, bool defect) {
  __shared__ int value[2];
  if (threadIdx.x < 64) value[1] = 1;
  if (threadIdx.x < (defect ? 64 : 1)) value[0] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = value[0] + value[1];
}

__global__ void neighbour(int* to, bool defect) {
  __shared__ int values[T + 1];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int mine = values[threadIdx.x + 1 - 1];
  barrier(!defect);
  if (defect) mine = values[(threadIdx.x + 1) % T];
  values[threadIdx.x] = mine + 1;
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x];
}

__global__ void counters(int* to, bool defect) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[threadIdx.x % 16], 1u);
  barrier(defect);
  to[threadIdx.x] = counts[(threadIdx.x + 7) % 16];
}

__global__ void not_atomic(int* to, bool defect) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 64 == 0) {
    if (defect) {
      count += 1;
    } else {
      atomicAdd(&count, 1u);
    }
  }
  __syncthreads();
  to[threadIdx.x] = count;
}

__global__ void bytes(int* to, bool defect) {
  __shared__ unsigned char values[2 * T];
  // Waves have different bytes of one word.
  values[4 * (threadIdx.x % 64) + (defect ? 0 : threadIdx.x / 64)] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x];
}

__global__ void vectors(int* to, bool defect) {
  __shared__ int4 values[T];
  int* words = reinterpret_cast<int*>(values);
  values[threadIdx.x] = make_int4(1, 2, 3, threadIdx.x);
  barrier(defect);
  to[threadIdx.x] = words[(4 * (threadIdx.x + 64) + 3) % (4 * T)];
}

__global__ void doubled(int* to, bool defect) {
  __shared__ int tiles[2][T];
  int sum = 0;
  for (int n = 0; n < 4; n++) {
    int* tile = tiles[defect ? 0 : n % 2];
    tile[threadIdx.x] = n + threadIdx.x;
    __syncthreads();
    sum += tile[T - 1 - threadIdx.x];
  }
  to[threadIdx.x] = sum;
}

__global__ void parts(int* to, bool defect) {
  extern __shared__ int memory[];
  int *first = memory, *second = memory + (defect ? T / 2 : T);
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = -threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

__device__ __attribute__((noinline)) void write_through(int* at, int value) { *at = value; }
__global__ void generic_pointers(int* to, bool defect) {
  __shared__ int tile[T];
  write_through(threadIdx.x < 1000 ? &tile[threadIdx.x] : to, threadIdx.x);
  barrier(defect);
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

// Within a wave all lanes go together; two waves do not.
__global__ void waves_in_step(int* to, bool defect) {
  __shared__ int values[T];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < (defect ? 128 : 64)) {
    values[threadIdx.x] = values[threadIdx.x + 64] + 1;
  }
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x];
}

template <void (*KERNEL)(int*, bool)>
static void launch() {
  KERNEL<<<4, T, 2 * T * sizeof(int)>>>(out, defect);
}

static void node() {
  hipGraph_t graph;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  reverse<<<4, T, 0, stream>>>(out, defect);
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int n = 0; n < 3; n++) CHECK(hipGraphLaunch(exec, stream));
}

__global__ void without_arguments() {
  __shared__ volatile int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  tile[threadIdx.x] = tile[T - 1 - threadIdx.x];
}
__global__ void of_each_wave() {
  __shared__ volatile int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  tile[threadIdx.x] = tile[threadIdx.x ^ 1];
}
static void no_arguments() {
  if (defect) {
    without_arguments<<<1, T>>>();
  } else {
    of_each_wave<<<1, T>>>();
  }
}

static void cooperative() {
  void* arguments[] = {&out, &defect};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(reverse), dim3(2), dim3(T), arguments, 0, nullptr));
}

static const Case CASES[] = {
    {"reverse", launch<reverse>},
    {"reused_tile", launch<reused_tile>},
    {"sum", launch<sum>},
    {"broadcast", launch<broadcast>},
    {"one_place", launch<one_place>},
    {"the_same_value", launch<the_same_value>},
    {"lanes", launch<lanes>},
    {"neighbour", launch<neighbour>},
    {"counters", launch<counters>},
    {"not_atomic", launch<not_atomic>},
    {"bytes", launch<bytes>},
    {"vectors", launch<vectors>},
    {"doubled", launch<doubled>},
    {"parts", launch<parts>},
    {"generic_pointers", launch<generic_pointers>},
    {"waves_in_step", launch<waves_in_step>},
    {"node", node},
    {"no_arguments", no_arguments},
    {"cooperative", cooperative},
};

int main(int argc, char** argv) {
  if (argc > 1) CHECK(hipMalloc(reinterpret_cast<void**>(&out), T * sizeof(int)));
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
