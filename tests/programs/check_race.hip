// Accesses to LDS and memory that nothing orders: `aqlipse check race`.
#include "cases.h"
#include "direct.h"
#include "grid.h"

constexpr int T = 256;
// Elements of `out`.
constexpr int SIZE = 10 * T;
static int* out;

// A barrier that the defect leaves out.
__device__ static void barrier(bool left_out) {
  if (!left_out) __syncthreads();
}

__global__ void reverse(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  barrier(defect);
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

__global__ void reused_tile(int* to, bool defect) {
  to += T * blockIdx.x;
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
  to += T * blockIdx.x;
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
  to += T * blockIdx.x;
  __shared__ int value;
  if (threadIdx.x == 0) value = *to + 1;
  barrier(defect);
  to[threadIdx.x] = value;
}

__global__ void one_place(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int value;
  if (threadIdx.x % 64 == 0 && (defect || threadIdx.x == 0)) value = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = value;
}

__global__ void the_same_value(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int value;
  if (threadIdx.x == 0) value = 7;
  __syncthreads();
  if (threadIdx.x % 64 == 0) value = defect ? 7 + threadIdx.x : 7;
  __syncthreads();
  to[threadIdx.x] = value;
}

__global__ void lanes(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int value[2];
  if (threadIdx.x < 64) value[1] = 1;
  if (threadIdx.x < (defect ? 64 : 1)) value[0] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = value[0] + value[1];
}

__global__ void neighbour(int* to, bool defect) {
  to += T * blockIdx.x;
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
  to += T * blockIdx.x;
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[threadIdx.x % 16], 1u);
  barrier(defect);
  to[threadIdx.x] = counts[(threadIdx.x + 7) % 16];
}

__global__ void not_atomic(int* to, bool defect) {
  to += T * blockIdx.x;
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
  to += T * blockIdx.x;
  __shared__ unsigned char values[2 * T];
  // Waves have different bytes of one word.
  values[4 * (threadIdx.x % 64) + (defect ? 0 : threadIdx.x / 64)] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x];
}

__global__ void vectors(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int4 values[T];
  int* words = reinterpret_cast<int*>(values);
  values[threadIdx.x] = make_int4(1, 2, 3, threadIdx.x);
  barrier(defect);
  to[threadIdx.x] = words[(4 * (threadIdx.x + 64) + 3) % (4 * T)];
}

__global__ void doubled(int* to, bool defect) {
  to += T * blockIdx.x;
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
  to += T * blockIdx.x;
  extern __shared__ int memory[];
  int *first = memory, *second = memory + (defect ? T / 2 : T);
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = -threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

__device__ __attribute__((noinline)) void write_through(int* at, int value) { *at = value; }
__global__ void generic_pointers(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int tile[T];
  write_through(threadIdx.x < 1000 ? &tile[threadIdx.x] : to, threadIdx.x);
  barrier(defect);
  to[threadIdx.x] = tile[T - 1 - threadIdx.x];
}

// Within a wave all lanes go together; two waves do not.
__global__ void waves_in_step(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int values[T];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < (defect ? 128 : 64)) {
    values[threadIdx.x] = values[threadIdx.x + 64] + 1;
  }
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x];
}

// Memory: waves of a workgroup share a cache, workgroups do not. What follows is launched with 4 blocks, and all of `out` is 0.

__device__ static void fence(bool left_out) {
  if (!left_out) __threadfence();
}
__device__ static int peek(int* at) { return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
__device__ static void poke(int* at, int value) {
  __hip_atomic_store(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__global__ void between_waves(int* out, bool defect) {
  int *mine = out + T * blockIdx.x, t = threadIdx.x;
  mine[t] = t;
  barrier(defect);
  int sum = mine[t] + mine[T - 1 - t];
  __syncthreads();
  mine[t] = sum;
}

__global__ void between_blocks(int* out, bool defect) {
  int t = threadIdx.x, mine = T * blockIdx.x + t;
  out[mine] = t;
  out[4 * T + mine] = out[defect ? (mine + T) % (4 * T) : mine];
}

__global__ void in_place(int* out, bool defect) {
  int mine = T * blockIdx.x + threadIdx.x;
  // The next block's first element, read from what no block writes or from where it is written.
  int next = out[mine + 1 + (defect ? 0 : 4 * T)];
  out[mine] = next + 1;
}

__global__ void plain_counter(int* out, bool defect) {
  if (threadIdx.x) return;
  if (defect) {
    *out += 1;
  } else {
    atomicAdd(out, 1);
  }
}

__global__ void zero_before_counting(int* out, bool defect) {
  int* counter = out + (defect ? 0 : blockIdx.x);
  if (threadIdx.x == 0) *counter = 0;
  __syncthreads();
  atomicAdd(counter, 1);
}

__global__ void count_read_plainly(int* out, bool defect) {
  int* counter = out + (defect ? 0 : blockIdx.x);
  atomicAdd(counter, 1);
  __syncthreads();
  out[T * (1 + blockIdx.x) + threadIdx.x] = *counter;
}

__global__ void one_result(int* out, bool defect) {
  if (threadIdx.x == 0) out[0] = defect ? blockIdx.x : 1;
}

__global__ void lanes_of_memory(int* out, bool defect) {
  if (blockIdx.x == 0 && threadIdx.x < 64) out[defect ? threadIdx.x / 2 : threadIdx.x] = threadIdx.x;
  if (blockIdx.x == 1 && threadIdx.x < 64) out[T + (defect ? 0 : threadIdx.x)] = threadIdx.x;
}

__global__ void wide_stores(int* out, bool defect) {
  int stride = defect ? 3 : 4, n = T * blockIdx.x + threadIdx.x;
  if (threadIdx.x % 64) return;
  *reinterpret_cast<int4*>(out + stride * (n / 64)) = make_int4(1 + n, 2, 3, 4 + n);
}

__global__ void bytes_of_memory(int* out, bool defect) {
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  if (threadIdx.x == 0) bytes[defect ? 1 : blockIdx.x] = 1 + blockIdx.x;
}

// Block 0 hands a value to block 1, which waits for a flag.
__device__ static void hand_over(int* out, bool no_release, bool no_acquire) {
  int *value = out + 64, *flag = out, t = threadIdx.x;
  if (blockIdx.x == 0) {
    value[t] = 7 + t;
    fence(no_release);
    __syncthreads();
    if (t == 0) poke(flag, 1);
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      while (!peek(flag)) __builtin_amdgcn_s_sleep(1);
      fence(no_acquire);
    }
    __syncthreads();
    out[4 * T + t] = value[t];
  }
}
__global__ void no_fence_of_the_writer(int* out, bool defect) { hand_over(out, defect, false); }
__global__ void no_fence_of_the_reader(int* out, bool defect) { hand_over(out, false, defect); }

__global__ void plain_flag(int* out, bool defect) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    out[1] = 7;
    __threadfence();
    poke(out, 1);
  } else if (blockIdx.x == 1) {
    // It may be set or not.
    out[2] = defect ? *out : peek(out);
  }
}

__global__ void ordered_by_atomics(int* out, bool defect) {
  if (threadIdx.x) return;
  int* value = out + 1;
  if (blockIdx.x == 0) {
    *value = 7;
    if (defect) {
      __hip_atomic_fetch_add(out, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else {
      __hip_atomic_fetch_add(out, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
  } else if (blockIdx.x == 1) {
    while (!__hip_atomic_load(out, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) __builtin_amdgcn_s_sleep(1);
    out[2] = *value;
  }
}

// The block that comes last sums what all have written.
__device__ static void last_block(int* out, bool no_release, bool no_acquire) {
  __shared__ bool last;
  int *parts = out + T, t = threadIdx.x;
  parts[4 * t + blockIdx.x] = t;
  fence(no_release);
  __syncthreads();
  if (t == 0) {
    last = atomicAdd(out, 1) == 3;
    fence(no_acquire);
  }
  __syncthreads();
  if (last) out[6 * T + t] = parts[4 * t] + parts[4 * t + 1] + parts[4 * t + 2] + parts[4 * t + 3];
}
__global__ void last_block_without_release(int* out, bool defect) { last_block(out, defect, false); }
__global__ void last_block_without_acquire(int* out, bool defect) { last_block(out, false, defect); }

__device__ static void locked(int* out, bool no_acquire, bool no_release) {
  if (threadIdx.x) return;
  while (atomicCAS(out, 0, 1)) __builtin_amdgcn_s_sleep(1);
  fence(no_acquire);
  out[1] += 1;
  fence(no_release);
  atomicExch(out, 0);
}
__global__ void lock_without_acquire(int* out, bool defect) { locked(out, defect, false); }
__global__ void lock_without_release(int* out, bool defect) { locked(out, false, defect); }

__global__ void unlocked_by_a_store(int* out, bool defect) {
  if (threadIdx.x) return;
  if (!defect) {
    while (atomicCAS(out, 0, 1)) __builtin_amdgcn_s_sleep(1);
    __threadfence();
  }
  out[1] += 1;
  __threadfence();
  if (!defect) __hip_atomic_store(out, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// A barrier waits for what a wave has stored to LDS, by `s_waitcnt`; this one does not.
template <bool DEFECT>
__global__ void no_wait(int* to) {
  __shared__ int tile[T];
  tile[threadIdx.x] = threadIdx.x;
  if constexpr (DEFECT) {
    __builtin_amdgcn_s_barrier();
  } else {
    __syncthreads();
  }
  to[T * blockIdx.x + threadIdx.x] = tile[T - 1 - threadIdx.x];
}

static void barrier_without_wait() {
  if (defect) {
    no_wait<true><<<4, T>>>(out);
  } else {
    no_wait<false><<<4, T>>>(out);
  }
}

__global__ void grid_sync(int* out, bool defect) {
  int t = threadIdx.x, mine = T * blockIdx.x + t;
  out[mine] = t;
  if (!defect) sync_grid();
  out[4 * T + mine] = out[(mine + T) % (4 * T)];
}

static void of_a_grid() {
  void* arguments[] = {&out, &defect};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sync), dim3(4), dim3(T), arguments, 0, nullptr));
}

__global__ void one_for_all(int* to, bool defect) {
  to += T * blockIdx.x;
  __shared__ int value;
  if (threadIdx.x == T - 1) value = 7;
  barrier(defect);
  to[threadIdx.x] = loaded_for_all(&value);
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
    {"one_for_all", launch<one_for_all>},
    {"node", node},
    {"no_arguments", no_arguments},
    {"cooperative", cooperative},
    {"between_waves", launch<between_waves>},
    {"between_blocks", launch<between_blocks>},
    {"in_place", launch<in_place>},
    {"plain_counter", launch<plain_counter>},
    {"zero_before_counting", launch<zero_before_counting>},
    {"count_read_plainly", launch<count_read_plainly>},
    {"one_result", launch<one_result>},
    {"lanes_of_memory", launch<lanes_of_memory>},
    {"wide_stores", launch<wide_stores>},
    {"bytes_of_memory", launch<bytes_of_memory>},
    {"no_fence_of_the_writer", launch<no_fence_of_the_writer>},
    {"no_fence_of_the_reader", launch<no_fence_of_the_reader>},
    {"plain_flag", launch<plain_flag>},
    {"ordered_by_atomics", launch<ordered_by_atomics>},
    {"last_block_without_release", launch<last_block_without_release>},
    {"last_block_without_acquire", launch<last_block_without_acquire>},
    {"lock_without_acquire", launch<lock_without_acquire>},
    {"lock_without_release", launch<lock_without_release>},
    {"unlocked_by_a_store", launch<unlocked_by_a_store>},
    {"barrier_without_wait", barrier_without_wait},
    {"grid_sync", of_a_grid},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    CHECK(hipMalloc(reinterpret_cast<void**>(&out), SIZE * sizeof(int)));
    CHECK(hipMemset(out, 0, SIZE * sizeof(int)));
  }
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
