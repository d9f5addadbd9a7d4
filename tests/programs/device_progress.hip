// Waits that only end if others run: waves of a block, blocks of a grid, kernels of other streams, and the host all make
// progress, whatever the number of threads that run them.
#include "device_test.h"
#include <atomic>
#include <thread>

#define LOAD(p, scope) __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_##scope)
#define STORE(p, v, scope) __hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_##scope)

// Waves of a block take turns through LDS, without a barrier; the last one begins.
__global__ void __launch_bounds__(1024) turns(unsigned* order) {
  __shared__ unsigned turn;
  if (threadIdx.x == 0) turn = blockDim.x / 64 - 1;
  __syncthreads();
  const unsigned wave = threadIdx.x / 64;
  if (threadIdx.x % 64 == 0) {
    while (LOAD(&turn, WORKGROUP) != wave) {
    }
    order[blockIdx.x * 16 + wave] = clock64() != 0 ? wave + 1 : 0;
    STORE(&turn, wave - 1, WORKGROUP);
  }
}
DEVICE_TEST(waves_of_a_block) {
  Buffer<unsigned> order(4 * 16);
  LAUNCH(turns, 4, 1024, 0, order);
  std::vector<unsigned> want(4 * 16);
  for (unsigned i = 0; i < want.size(); ++i) want[i] = i % 16 + 1;
  expect_equal("order", order.host(), want);
}

// A lock that one thread of each block takes; more blocks than can be resident.
__global__ void locked(unsigned* lock, unsigned* counter) {
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < 4; ++i) {
      while (atomicCAS(lock, 0u, 1u) != 0u) __builtin_amdgcn_s_sleep(1);
      __threadfence();
      unsigned value = LOAD(counter, AGENT);
      STORE(counter, value + 1, AGENT);
      __threadfence();
      atomicExch(lock, 0u);
    }
  }
}
DEVICE_TEST(spin_locks_between_blocks) {
  Buffer<unsigned> lock(1), counter(1);
  LAUNCH(locked, 300, 128, 0, lock, counter);
  expect_equal("counter", counter.host(), std::vector<unsigned>(1, 1200));
}

// A prefix sum in one pass: each block waits for what the blocks before it publish (Merrill and Garland, 2016).
__global__ void scan(const unsigned* in, unsigned* out, unsigned long long* state, unsigned* ticket) {
  __shared__ unsigned values[256], number, prefix;
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned block = number, i = block * 256 + threadIdx.x;
  values[threadIdx.x] = in[i];
  for (unsigned step = 1; step < 256; step *= 2) {
    __syncthreads();
    unsigned add = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
    __syncthreads();
    values[threadIdx.x] += add;
  }
  __syncthreads();
  constexpr unsigned long long PARTIAL = 1ull << 62, WHOLE = 2ull << 62, KINDS = 3ull << 62;
  if (threadIdx.x == 0) {
    const unsigned sum = values[255];
    STORE(&state[block], (block == 0 ? WHOLE : PARTIAL) | sum, AGENT);
    unsigned before = 0;
    for (int other = static_cast<int>(block) - 1; other >= 0;) {
      const unsigned long long seen = LOAD(&state[other], AGENT);
      if ((seen & KINDS) == 0) continue;
      before += static_cast<unsigned>(seen);
      if ((seen & KINDS) == WHOLE) break;
      --other;
    }
    if (block != 0) STORE(&state[block], WHOLE | (before + sum), AGENT);
    prefix = before;
  }
  __syncthreads();
  out[i] = values[threadIdx.x] + prefix;
}
DEVICE_TEST(decoupled_look_back) {
  constexpr unsigned blocks = 200, count = blocks * 256;
  std::vector<unsigned> in(count), want(count);
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) want[i] = sum += in[i] = i * 7919 % 13;
  Buffer<unsigned> device_in(in), out(count), ticket(1);
  Buffer<unsigned long long> state(blocks);
  LAUNCH(scan, blocks, 256, 0, device_in, out, state, ticket);
  expect_equal("prefix sums", out.host(), want);
}

// The same the other way round: early blocks wait for the last one.
__global__ void countdown(unsigned* next, unsigned* order) {
  if (threadIdx.x == 0) {
    const unsigned me = blockIdx.x;
    while (LOAD(next, AGENT) != me) {
    }
    order[me] = gridDim.x - me;
    STORE(next, me - 1, AGENT);
  }
}
DEVICE_TEST(early_blocks_wait_for_late_ones) {
  constexpr unsigned blocks = 24;
  Buffer<unsigned> next(std::vector<unsigned>(1, blocks - 1)), order(blocks);
  LAUNCH(countdown, blocks, 64, 0, next, order);
  std::vector<unsigned> want(blocks);
  for (unsigned i = 0; i < blocks; ++i) want[i] = blocks - i;
  expect_equal("order", order.host(), want);
}

// Kernels on two streams hand values to each other; the consumer is launched first.
__global__ void consume(unsigned* mailbox, unsigned* taken, unsigned count) {
  for (unsigned i = 1; i <= count; ++i) {
    while (LOAD(mailbox, AGENT) != i) __builtin_amdgcn_s_sleep(2);
    taken[i - 1] = i * 3;
    STORE(mailbox, 0u, AGENT);
  }
}
__global__ void produce(unsigned* mailbox, unsigned count) {
  for (unsigned i = 1; i <= count; ++i) {
    STORE(mailbox, i, AGENT);
    while (LOAD(mailbox, AGENT) != 0) {
    }
  }
}
DEVICE_TEST(kernels_of_two_streams) {
  constexpr unsigned count = 50;
  Buffer<unsigned> mailbox(1), taken(count);
  hipStream_t streams[2];
  for (auto& stream : streams) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  CHECK(hipDeviceSynchronize());
  consume<<<1, 1, 0, streams[0]>>>(mailbox, taken, count);
  produce<<<1, 1, 0, streams[1]>>>(mailbox, count);
  for (auto stream : streams) {
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
  }
  std::vector<unsigned> want(count);
  for (unsigned i = 0; i < count; ++i) want[i] = 3 * (i + 1);
  expect_equal("taken", taken.host(), want);
}

// A kernel and the host answer each other while the kernel runs.
__global__ void answers(unsigned* mail, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    while (LOAD(&mail[0], SYSTEM) != 2 * i + 1) __builtin_amdgcn_s_sleep(1);
    STORE(&mail[0], 2 * i + 2, SYSTEM);
  }
}
DEVICE_TEST(the_host_and_a_kernel) {
  unsigned* mail;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&mail), 64));
  *mail = 0;
  constexpr unsigned count = 20;
  LAUNCH(answers, 1, 1, 0, mail, count);
  for (unsigned i = 0; i < count; ++i) {
    __atomic_store_n(mail, 2 * i + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(mail, __ATOMIC_ACQUIRE) != 2 * i + 2) std::this_thread::yield();
  }
  CHECK(hipDeviceSynchronize());
  CHECK(hipHostFree(mail));
}

// Waves that have ended do not count at a barrier, whichever they are.
__global__ void __launch_bounds__(512) leave(unsigned* out) {
  const unsigned wave = threadIdx.x / 64;
  __shared__ unsigned arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (wave % 3 == blockIdx.x % 3) return;
  atomicAdd(&arrived, 1u);
  __syncthreads();
  if (threadIdx.x % 64 == 0) out[blockIdx.x * 8 + wave] = arrived;
}
DEVICE_TEST(barriers_without_the_waves_that_left) {
  Buffer<unsigned> out(3 * 8);
  LAUNCH(leave, 3, 512, 0, out);
  std::vector<unsigned> want(3 * 8, 0);
  for (unsigned block = 0; block < 3; ++block) {
    unsigned stay = 0;
    for (unsigned wave = 0; wave < 8; ++wave) stay += wave % 3 != block;
    for (unsigned wave = 0; wave < 8; ++wave)
      if (wave % 3 != block) want[block * 8 + wave] = stay * 64;
  }
  expect_equal("arrived", out.host(), want);
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
