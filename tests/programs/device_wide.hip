// Blocks of one kernel that depend on each other through memory: a reduction whose last block adds up what the others
// left, and scans in which each block looks back at the blocks before it. Launched one by one, then captured and replayed
// with other input.
//
// Sizes of the grid are read on the device: where the arguments do not hold them, they come from the dispatch packet.
#include "check.h"
#include <cstdint>
#include <vector>

constexpr unsigned BLOCK = 256;

// The sum of a block's values, in every thread.
__device__ uint32_t block_sum(uint32_t value) {
  __shared__ uint32_t values[BLOCK];
  values[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  uint32_t sum = values[0];
  __syncthreads();
  return sum;
}

// The sum of the values of a block's threads up to this one.
__device__ uint32_t block_scan(uint32_t value) {
  __shared__ uint32_t values[BLOCK];
  values[threadIdx.x] = value;
  __syncthreads();
  for (unsigned reach = 1; reach < blockDim.x; reach *= 2) {
    uint32_t before = threadIdx.x >= reach ? values[threadIdx.x - reach] : 0;
    __syncthreads();
    values[threadIdx.x] += before;
    __syncthreads();
  }
  uint32_t sum = values[threadIdx.x];
  __syncthreads();
  return sum;
}

// The last block that is done adds up what all have stored, and leaves the count as it was. It sees the other blocks'
// sums behind a fence of its own, or by loads that are volatile.
template <bool Volatile>
__global__ void reduce(const uint32_t* in, uint32_t count, uint32_t* partial, uint32_t* done, uint32_t* sum) {
  uint32_t mine = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += in[i];
  mine = block_sum(mine);
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (!Volatile) __threadfence();
  uint32_t all = 0;
  for (uint32_t i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
    all += Volatile ? static_cast<volatile uint32_t*>(partial)[i] : partial[i];
  }
  all = block_sum(all);
  if (threadIdx.x == 0) {
    *sum = all;
    *done = 0;
  }
}

enum Flag : uint32_t { NOTHING, OWN, ALL };

// Looks back: flag and value share a word, so that no fence is needed.
struct Packed {
  uint64_t* words;
  __device__ void put(uint32_t block, Flag flag, uint32_t value) {
    __atomic_store_n(&words[block], uint64_t{flag} << 32 | value, __ATOMIC_RELAXED);
  }
  __device__ Flag get(uint32_t block, uint32_t* value) {
    uint64_t word = __atomic_load_n(&words[block], __ATOMIC_RELAXED);
    *value = static_cast<uint32_t>(word);
    return static_cast<Flag>(word >> 32);
  }
};

// Looks back: flag, own sum and sum of all up to a block are words by themselves.
struct Apart {
  uint64_t* words;
  __device__ uint32_t* flag(uint32_t block) { return reinterpret_cast<uint32_t*>(&words[2 * block]); }
  __device__ uint32_t* value(uint32_t block, Flag flag) {
    return reinterpret_cast<uint32_t*>(&words[2 * block + 1]) + (flag == ALL);
  }
  __device__ void put(uint32_t block, Flag what, uint32_t sum) {
    *value(block, what) = sum;
    __threadfence();
    atomicExch(flag(block), static_cast<uint32_t>(what));
  }
  __device__ Flag get(uint32_t block, uint32_t* sum) {
    Flag what = static_cast<Flag>(*static_cast<volatile uint32_t*>(flag(block)));
    __threadfence();
    if (what != NOTHING) *sum = *value(block, what);
    return what;
  }
};

// Blocks take their places in the order in which they begin: one never waits for a block that has not begun.
template <typename State>
__global__ void scan(const uint32_t* in, uint32_t* out, uint32_t count, uint32_t* begun, State state) {
  __shared__ uint32_t place, before;
  if (threadIdx.x == 0) place = atomicAdd(begun, 1u);
  __syncthreads();
  const uint32_t i = place * blockDim.x + threadIdx.x;
  const uint32_t upto = block_scan(i < count ? in[i] : 0);
  if (threadIdx.x == blockDim.x - 1) {
    uint32_t sum = 0;
    if (place != 0) {
      state.put(place, OWN, upto);
      for (uint32_t at = place - 1;;) {
        uint32_t value = 0;
        const Flag flag = state.get(at, &value);
        if (flag == NOTHING) continue;
        sum += value;
        if (flag == ALL) break;
        --at;
      }
    }
    state.put(place, ALL, sum + upto);
    before = sum;
  }
  __syncthreads();
  if (i < count) out[i] = before + upto;
}

struct Results {
  uint32_t fenced, by_volatile, last_packed, last_apart;
};

// Brings the scans' last elements to one place, with the grid's size read on the device.
__global__ void collect(const uint32_t* packed, const uint32_t* apart, uint32_t count, const uint32_t* sums, Results* results) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0 && gridDim.x == 2) {
    *results = {sums[0], sums[1], packed[count - 1], apart[count - 1]};
  }
}

struct Work {
  uint32_t count, blocks;
  uint32_t *host, *in, *packed, *apart, *partial, *counters, *sums;
  uint64_t* states;
  Results *results, *found;

  void submit(hipStream_t stream) const {
    CHECK(hipMemcpyAsync(in, host, count * sizeof *in, hipMemcpyHostToDevice, stream));
    // The counters of the scans, which do not set them back, and the states; the reductions' stay as they are.
    CHECK(hipMemsetAsync(counters + 2, 0, 2 * sizeof *counters, stream));
    CHECK(hipMemsetAsync(states, 0, 3 * blocks * sizeof *states, stream));
    // Of different sizes, one behind the other.
    reduce<false><<<blocks / 2, BLOCK, 0, stream>>>(in, count, partial, counters, sums);
    reduce<true><<<blocks / 4, BLOCK / 2, 0, stream>>>(in, count, partial, counters + 1, sums + 1);
    scan<<<blocks, BLOCK, 0, stream>>>(in, packed, count, counters + 2, Packed{states});
    scan<<<blocks, BLOCK, 0, stream>>>(in, apart, count, counters + 3, Apart{states + blocks});
    collect<<<2, 64, 0, stream>>>(packed, apart, count, sums, results);
    CHECK(hipGetLastError());
    CHECK(hipMemcpyAsync(found, results, sizeof *found, hipMemcpyDeviceToHost, stream));
  }

  void fill(uint32_t launch) const {
    for (uint32_t i = 0; i < count; ++i) host[i] = (i + launch) * 2654435761u >> 7;
  }

  bool check(const char* how, uint32_t launch) const {
    std::vector<uint32_t> scans[2] = {std::vector<uint32_t>(count), std::vector<uint32_t>(count)};
    CHECK(hipMemcpy(scans[0].data(), packed, count * sizeof(uint32_t), hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(scans[1].data(), apart, count * sizeof(uint32_t), hipMemcpyDeviceToHost));
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
      sum += host[i];
      for (int kind = 0; kind < 2; ++kind) {
        if (scans[kind][i] != sum) {
          std::fprintf(stderr, "%s %u: scan %d has %u in place %u, not %u\n", how, launch, kind, scans[kind][i], i, sum);
          return false;
        }
      }
    }
    const uint32_t sums[] = {found->fenced, found->by_volatile, found->last_packed, found->last_apart};
    for (int kind = 0; kind < 4; ++kind) {
      if (sums[kind] != sum) {
        std::fprintf(stderr, "%s %u: sum %d is %u, not %u\n", how, launch, kind, sums[kind], sum);
        return false;
      }
    }
    return true;
  }
};

template <typename T>
void allocate(T** pointer, size_t count) {
  CHECK(hipMalloc(reinterpret_cast<void**>(pointer), count * sizeof(T)));
}

int main(int argc, char** argv) {
  Work work{};
  work.count = static_cast<uint32_t>(problem_size(argc, argv));
  work.blocks = work.count / BLOCK;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&work.host), work.count * sizeof *work.host));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&work.found), sizeof *work.found));
  for (uint32_t** buffer : {&work.in, &work.packed, &work.apart}) allocate(buffer, work.count);
  allocate(&work.partial, work.blocks);
  allocate(&work.counters, 4);
  allocate(&work.sums, 2);
  allocate(&work.states, 3 * size_t{work.blocks});
  allocate(&work.results, 1);
  CHECK(hipMemset(work.counters, 0, 4 * sizeof *work.counters));

  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  const uint32_t count = static_cast<uint32_t>(launches(argc, argv));
  for (uint32_t launch = 0; launch < count; ++launch) {
    work.fill(launch);
    work.submit(stream);
    CHECK(hipStreamSynchronize(stream));
    if (!work.check("launch", launch)) return 1;
  }
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  work.submit(stream);
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (uint32_t launch = count; launch < 2 * count; ++launch) {
    work.fill(launch);
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    if (!work.check("replay", launch)) return 1;
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  std::puts("Validation passed.");
  return 0;
}
