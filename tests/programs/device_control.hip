// Control flow: lanes of one wavefront take different ways, and each must end with what it would compute alone.
#include "device_test.h"

constexpr unsigned COUNT = 2048, BLOCK = 256;

// Every kernel here is "out[i] = f(i, in[i])": f runs on the host too.
template <typename F>
__global__ void each(uint32_t* out, const uint32_t* in, unsigned count) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= count) return;  // the last block is not full
  out[i] = F::of(i, in[i]);
}
template <typename F>
static void compare(const char* what, unsigned count = COUNT) {
  std::vector<uint32_t> in(count), want(count);
  Sequence sequence(17);
  for (uint32_t& value : in) value = static_cast<uint32_t>(sequence.next());
  Buffer<uint32_t> device_in(in), out(count);
  LAUNCH((each<F>), (count + BLOCK - 1) / BLOCK, BLOCK, 0, (uint32_t*)out, (const uint32_t*)device_in, count);
  for (unsigned i = 0; i < count; ++i) want[i] = F::of(i, in[i]);
  expect_equal(what, out.host(), want);
}

struct Counted {
  static __host__ __device__ uint32_t of(unsigned i, uint32_t x) {
    uint32_t sum = 0;
    for (unsigned k = 0; k < 20; ++k) sum += (x >> k) * (i + k);
    return sum;
  }
};
DEVICE_TEST(loop_with_constant_count) { compare<Counted>("sum"); }

struct Collatz {
  static __host__ __device__ uint32_t of(unsigned i, uint32_t) {
    uint32_t steps = 0;
    for (uint64_t n = i + 1; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
  }
};
DEVICE_TEST(loop_with_a_count_per_lane) { compare<Collatz>("Collatz"); }

struct Breaks {
  static __host__ __device__ uint32_t of(unsigned i, uint32_t x) {
    uint32_t result = 0;
    for (unsigned outer = 0; outer < 8; ++outer) {
      if ((x >> outer & 3) == 3) continue;
      unsigned k = 0;
      while (true) {
        result = result * 31 + k;
        if (++k > (i & 7) + outer) break;
        if ((result & 0x1f) == 5) return result;
      }
    }
    return result;
  }
};
DEVICE_TEST(break_continue_and_early_return) { compare<Breaks>("nested loops"); }
DEVICE_TEST(partial_last_block) {
  compare<Breaks>("1 thread", 1);
  compare<Breaks>("63 threads", 63);
  compare<Breaks>("65 threads", 65);
  compare<Breaks>("1000 threads", 1000);
}

struct Diverges {
  static __host__ __device__ uint32_t of(unsigned i, uint32_t x) {
    if (i & 1) {
      if (x & 2) x = x * 3 + 1;
      else if (x & 4) x ^= 0x55555555;
      else x -= i;
    } else if (i & 2) {
      x = (x & 8) ? x + 100 : x / 3;
    } else {
      x = ~x;
    }
    return x;
  }
};
DEVICE_TEST(nested_branches) { compare<Diverges>("branches"); }

struct Switches {
  static __host__ __device__ uint32_t of(unsigned i, uint32_t x) {
    switch (x % 13) {
      case 0: return i;
      case 1: x += 7; break;
      case 2: x *= 5; [[fallthrough]];
      case 3: x ^= i; break;
      case 4: x = x << 3 | x >> 29; break;
      case 5: case 6: x -= 1000; break;
      case 7: x = x / 11; break;
      case 8: x = x % 11; break;
      case 9: for (unsigned k = 0; k < i % 4; ++k) x += k; break;
      case 11: x = ~x; break;
      default: x = 42; break;
    }
    return x + 1;
  }
};
DEVICE_TEST(switch_with_fall_through) { compare<Switches>("switch"); }

struct Recurses {
  static __host__ __device__ __attribute__((noinline)) uint32_t ackermann_like(uint32_t m, uint32_t n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann_like(m - 1, 1);
    return ackermann_like(m - 1, n - 1) + m;
  }
  static __host__ __device__ __attribute__((noinline)) uint32_t fibonacci(uint32_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  }
  static __host__ __device__ uint32_t of(unsigned i, uint32_t x) {
    return fibonacci(i % 9) * 1000 + ackermann_like(x % 4, i % 5);
  }
};
// The compiler cannot bound the stack of a recursive kernel: its code object says that the runtime must choose.
DEVICE_TEST(recursion) { compare<Recurses>("recursion", 512); }

using Operation = uint32_t (*)(uint32_t, uint32_t);
__device__ __attribute__((noinline)) uint32_t op_add(uint32_t x, uint32_t y) { return x + y; }
__device__ __attribute__((noinline)) uint32_t op_mul(uint32_t x, uint32_t y) { return x * y; }
__device__ __attribute__((noinline)) uint32_t op_xor(uint32_t x, uint32_t y) { return x ^ y; }
__device__ Operation operations[] = {op_add, op_mul, op_xor};
__global__ void call_pointers(uint32_t* out, const uint32_t* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = operations[in[i] % 3](in[i], i);
}
DEVICE_TEST(function_pointers_that_differ_by_lane) {
  std::vector<uint32_t> in(COUNT), want(COUNT);
  Sequence sequence(19);
  for (uint32_t& value : in) value = static_cast<uint32_t>(sequence.next());
  Buffer<uint32_t> device_in(in), out(COUNT);
  LAUNCH(call_pointers, COUNT / BLOCK, BLOCK, 0, out, device_in);
  for (unsigned i = 0; i < COUNT; ++i) {
    want[i] = in[i] % 3 == 0 ? in[i] + i : in[i] % 3 == 1 ? in[i] * i : in[i] ^ i;
  }
  expect_equal("calls", out.host(), want);
}

struct Shape {
  __device__ virtual uint32_t area() const { return 0; }

 protected:
  ~Shape() = default;  // no deleting destructor: it would want a device heap
};
struct Square : Shape {
  uint32_t side;
  __device__ explicit Square(uint32_t s) : side(s) {}
  __device__ uint32_t area() const override { return side * side; }
};
struct Strip : Shape {
  uint32_t length;
  __device__ explicit Strip(uint32_t l) : length(l) {}
  __device__ uint32_t area() const override { return length * 3; }
};
__device__ __attribute__((noinline)) uint32_t measure(const Shape& shape) { return shape.area(); }
__global__ void virtual_calls(uint32_t* out) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  Square square(i);
  Strip strip(i);
  out[i] = i % 3 == 0 ? measure(square) : measure(strip);
}
DEVICE_TEST(virtual_functions) {
  Buffer<uint32_t> out(COUNT);
  LAUNCH(virtual_calls, COUNT / BLOCK, BLOCK, 0, out);
  std::vector<uint32_t> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) want[i] = i % 3 == 0 ? i * i : i * 3;
  expect_equal("areas", out.host(), want);
}

// Wavefronts of one block wait for each other: they must all make progress.
__global__ void relay(volatile uint32_t* flags, uint32_t* out) {
  unsigned wave = threadIdx.x / 64;
  if (wave > 0) {
    while (flags[wave - 1] == 0) {
    }
  }
  __threadfence();
  if (threadIdx.x % 64 == 0) {
    out[wave] = wave == 0 ? 1 : out[wave - 1] * 3 + wave;
    __threadfence();
    flags[wave] = 1;
  }
}
DEVICE_TEST(wavefronts_that_spin_on_flags) {
  Buffer<uint32_t> flags(16), out(16);
  LAUNCH(relay, 1, 1024, 0, (volatile uint32_t*)flags, out);
  std::vector<uint32_t> want(16);
  for (uint32_t i = 0; i < 16; ++i) want[i] = i == 0 ? 1 : want[i - 1] * 3 + i;
  expect_equal("relay", out.host(), want);
}

// A lock that blocks pass around: progress between blocks that are resident at the same time.
__global__ void locked(int* lock, uint32_t* counter, uint32_t* log) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  uint32_t ticket = *reinterpret_cast<volatile uint32_t*>(counter);
  log[ticket] = blockIdx.x;
  *reinterpret_cast<volatile uint32_t*>(counter) = ticket + 1;
  __threadfence();
  atomicExch(lock, 0);
}
DEVICE_TEST(blocks_that_take_turns_with_a_lock) {
  constexpr uint32_t blocks = 64;
  Buffer<int> lock(1);
  Buffer<uint32_t> counter(1), log(blocks);
  LAUNCH(locked, blocks, 64, 0, lock, counter, log);
  auto order = log.host();
  std::vector<uint32_t> seen(blocks), once(blocks, 1);
  for (uint32_t block : order) {
    if (block < blocks) ++seen[block];
  }
  expect_equal("turns", seen, once);
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
