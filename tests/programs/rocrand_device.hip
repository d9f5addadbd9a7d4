// rocRAND's functions for kernels, compiled for the card: threads that each draw from a stream of their own get the integers
// of the papers, and uniform numbers of them.
#include "device_test.h"
// The headers are older than the compiler.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include "rocrand_engines.h"
#include <rocrand/rocrand_kernel.h>
#pragma clang diagnostic pop

constexpr uint64_t SEED = 0x123456789a;
constexpr unsigned THREADS = 320, DRAWS = 24, SKIPPED = 5;

template <typename State>
__global__ void draw(uint32_t* integers, float* uniform) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  rocrand_init(SEED, thread, SKIPPED, &state);
  for (unsigned i = 0; i < DRAWS; ++i) integers[thread * DRAWS + i] = rocrand(&state);
  uniform[thread] = rocrand_uniform(&state);
}

// `next` gives the next integer of a stream, stream after stream.
template <typename State, typename Next>
static void check(Next next) {
  Buffer<uint32_t> integers(THREADS * DRAWS);
  Buffer<float> uniform(THREADS);
  LAUNCH(draw<State>, THREADS / 64, 64, 0, integers, uniform);
  std::vector<uint32_t> want;
  const std::vector<float> got = uniform.host();
  for (unsigned stream = 0; stream < THREADS; ++stream) {
    for (unsigned i = 0; i < SKIPPED; ++i) next(stream);
    for (unsigned i = 0; i < DRAWS; ++i) want.push_back(next(stream));
    // In (0, 1], with two roundings at most.
    const double unit = (double(next(stream)) + 1) * 0x1p-32;
    if (!(std::fabs(got[stream] - unit) <= 0x1p-24)) FAIL("uniform[%u]: %a, not %a", stream, double(got[stream]), unit);
  }
  expect_equal("integers", integers.host(), want);
}

DEVICE_TEST(xorwow) {
  const XorwowJump jump(67);
  Xorwow first(SEED), engine = first;
  unsigned current = 0;
  check<rocrand_state_xorwow>([&](unsigned stream) {
    if (stream != current) {
      first.x = jump * first.x;
      engine = first;
      current = stream;
    }
    return engine.next();
  });
}
DEVICE_TEST(mrg32k3a) {
  const Matrix3 jump1 = power_of_two(Mrg32k3a::A1, 76, Mrg32k3a::M1);
  const Matrix3 jump2 = power_of_two(Mrg32k3a::A2, 76, Mrg32k3a::M2);
  Mrg32k3a first(SEED), engine = first;
  unsigned current = 0;
  check<rocrand_state_mrg32k3a>([&](unsigned stream) {
    if (stream != current) {
      first.s1 = times(jump1, first.s1, Mrg32k3a::M1);
      first.s2 = times(jump2, first.s2, Mrg32k3a::M2);
      engine = first;
      current = stream;
    }
    return mrg32k3a_bits(engine.next());
  });
}
DEVICE_TEST(philox) {
  const Philox philox(SEED);
  unsigned current = 0;
  uint64_t drawn = 0;
  check<rocrand_state_philox4x32_10>([&](unsigned stream) {
    if (stream != current) drawn = 0;
    current = stream;
    return philox.at(drawn++, stream);
  });
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
