// rocRAND's generators give the integers that their papers say, for each width, and each call goes on where the last
// one ended.
#include "rocrand_engines.h"
#include "rocrand_generator.h"

constexpr uint64_t SEED = 0x123456789a;

// n values of type T from `numbers`, starting at `from`: small types are the parts of a number, the lowest first.
template <typename T>
static std::vector<T> parts(const std::vector<uint32_t>& numbers, size_t from, size_t n) {
  constexpr size_t PARTS = 4 / sizeof(T);
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = T(numbers[from + i / PARTS] >> i % PARTS * 8 * sizeof(T) % 32);
  return values;
}

// Calls end where every stream has given as many numbers as the others, but for the last.
static void every_width(rocrand_rng_type type, const std::vector<uint32_t>& numbers) {
  Generator generator(type);
  generator.seed(SEED);
  expect_equal("char", generator.integers<uint8_t>(4 * STREAMS), parts<uint8_t>(numbers, 0, 4 * STREAMS));
  expect_equal("short", generator.integers<uint16_t>(2 * STREAMS), parts<uint16_t>(numbers, STREAMS, 2 * STREAMS));
  constexpr size_t REST = STREAMS + 5003;
  expect_equal("int", generator.integers<uint32_t>(REST), parts<uint32_t>(numbers, 2 * STREAMS, REST));
}
// The tail of a longer run.
static void offset(rocrand_rng_type type, const std::vector<uint32_t>& numbers) {
  Generator generator(type);
  generator.seed(SEED);
  generator.offset(STREAMS + 1001);
  expect_equal("offset", generator.integers<uint32_t>(7001), parts<uint32_t>(numbers, STREAMS + 1001, 7001));
  expect_equal("next", generator.integers<uint32_t>(7001), parts<uint32_t>(numbers, STREAMS + 8002, 7001));
}

constexpr size_t N = 3 * STREAMS + 5003;

DEVICE_TEST(philox) {
  const auto numbers = philox_numbers(SEED, N);
  every_width(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, numbers);
  offset(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, numbers);
}
DEVICE_TEST(xorwow) {
  const auto numbers = xorwow_streams(SEED, N);
  every_width(ROCRAND_RNG_PSEUDO_XORWOW, numbers);
  offset(ROCRAND_RNG_PSEUDO_XORWOW, numbers);
}
DEVICE_TEST(mrg32k3a) {
  auto numbers = mrg32k3a_streams(SEED, N);
  for (uint32_t& number : numbers) number = mrg32k3a_bits(number);
  every_width(ROCRAND_RNG_PSEUDO_MRG32K3A, numbers);
  offset(ROCRAND_RNG_PSEUDO_MRG32K3A, numbers);
}
DEVICE_TEST(mtgp32) { every_width(ROCRAND_RNG_PSEUDO_MTGP32, mtgp32_streams(SEED, N)); }

// Dimension after dimension: of each element the upper bits.
template <typename T, typename Word>
static void sobol_integers(Generator& generator, uint64_t from) {
  constexpr size_t POINTS = 10000;
  std::vector<T> numbers;
  for (int dimension = 0; dimension < Sobol<Word>::DIMENSIONS; ++dimension) {
    const Sobol<Word> sequence(dimension);
    for (size_t i = 0; i < POINTS; ++i)
      numbers.push_back(T(sequence.at(from + i) >> 8 * (sizeof(Word) - sizeof(T))));
  }
  expect_equal("elements", generator.integers<T>(numbers.size()), numbers);
}
// Each call goes on where the last one ended, the first one behind an offset.
template <typename Word>
static void sobol(rocrand_rng_type type) {
  Generator generator(type);
  generator.dimensions(Sobol<Word>::DIMENSIONS);
  generator.offset(5001);
  sobol_integers<uint32_t, Word>(generator, 5001);
  sobol_integers<uint8_t, Word>(generator, 15001);
  sobol_integers<uint16_t, Word>(generator, 25001);
  sobol_integers<uint32_t, Word>(generator, 35001);
}
DEVICE_TEST(sobol32) { sobol<uint32_t>(ROCRAND_RNG_QUASI_SOBOL32); }
DEVICE_TEST(sobol64) { sobol<uint64_t>(ROCRAND_RNG_QUASI_SOBOL64); }

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
