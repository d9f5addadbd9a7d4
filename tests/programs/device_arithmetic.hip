// Arithmetic whose result the language or IEEE 754 defines to the bit: the device must agree with the host.
// proves: hipMalloc, hipFree, hipMemcpy, hipMemset, hipLaunchKernel, hipGetLastError, hipDeviceSynchronize
#include "device_test.h"
#include <limits>

// A product and a sum stay two operations, or the host, which has no fused one, would differ.
#pragma clang fp contract(off)

constexpr unsigned COUNT = 4096, BLOCK = 256;

// Operands with the corners in front.
template <typename T>
static std::vector<T> integers(uint64_t seed) {
  using limits = std::numeric_limits<T>;
  std::vector<T> values = {0, 1, static_cast<T>(-1), limits::min(), limits::max(), 2, 3, 7, 10,
                           static_cast<T>(limits::max() / 2), static_cast<T>(limits::min() + 1)};
  Sequence sequence(seed);
  while (values.size() < COUNT) {
    // Of every magnitude.
    values.push_back(static_cast<T>(sequence.next() >> (sequence.next() % (8 * sizeof(T)) + 64 - 8 * sizeof(T))));
  }
  return values;
}

template <typename T, typename Bits>
static std::vector<T> reals(uint64_t seed) {
  using limits = std::numeric_limits<T>;
  std::vector<T> values = {T(0), T(-0.0), T(1), T(-1), limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                           limits::denorm_min(), -limits::denorm_min(), limits::min(), limits::max(), -limits::max(),
                           limits::epsilon(), T(3), T(10), T(0.1), limits::min() / 2};
  Sequence sequence(seed);
  while (values.size() < COUNT / 2) {  // of every exponent
    Bits bits = static_cast<Bits>(sequence.next());
    T value;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  while (values.size() < COUNT) values.push_back(static_cast<T>(sequence.between(-1000, 1000)));
  return values;
}

// One functor per rule; F::of runs on both sides.
template <typename F, typename R, typename T>
__global__ void apply(R* out, const T* x, const T* y) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = F::of(x[i], y[i]);
}

template <typename F, typename R, typename T>
static void compare(const char* what, const std::vector<T>& x, const std::vector<T>& y) {
  Buffer<T> device_x(x), device_y(y);
  Buffer<R> out(COUNT);
  LAUNCH((apply<F, R, T>), COUNT / BLOCK, BLOCK, 0, (R*)out, (const T*)device_x, (const T*)device_y);
  std::vector<R> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) want[i] = F::of(x[i], y[i]);
  expect_equal(what, out.host(), want);
}

#define RULE(name, expression)                          \
  struct name {                                         \
    template <typename T>                               \
    static __host__ __device__ auto of(T x, T y) {      \
      (void)x, (void)y;                                 \
      return expression;                                \
    }                                                   \
  };

RULE(Add, static_cast<T>(x + y))
RULE(Sub, static_cast<T>(x - y))
RULE(Mul, static_cast<T>(x * y))
// No trap on the host, no undefined result on the device: zero and the overflowing quotient are left out.
template <typename T>
static __host__ __device__ bool divides(T x, T y) {
  return y != 0 && !(std::numeric_limits<T>::is_signed && y == static_cast<T>(-1) &&
                     x == std::numeric_limits<T>::min());
}
RULE(Div, static_cast<T>(divides(x, y) ? x / y : 0))
RULE(Mod, static_cast<T>(divides(x, y) ? x % y : 0))
RULE(DivBySeven, static_cast<T>(x / 7))
RULE(ModByTen, static_cast<T>(x % 10))
RULE(Bitwise, static_cast<T>((x & ~y) ^ (x | y)))
RULE(ShiftLeft, static_cast<T>(x << (y & static_cast<T>(sizeof(T) * 8 - 1))))
RULE(ShiftRight, static_cast<T>(x >> (y & static_cast<T>(sizeof(T) * 8 - 1))))
RULE(Less, static_cast<int>((x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4))
RULE(Minimum, static_cast<T>(x < y ? x : y))
RULE(Chosen, static_cast<T>((x & 1) != 0 ? x + y : x - y))

// Signed overflow is undefined, so sums and products of signed numbers are formed of small operands.
template <typename T>
static void wrapping(const std::vector<T>& x, const std::vector<T>& y) {
  compare<Add, T>("add", x, y);
  compare<Sub, T>("sub", x, y);
  compare<Mul, T>("mul", x, y);
  compare<ShiftLeft, T>("shift left", x, y);
  compare<Chosen, T>("select", x, y);
}
template <typename T>
static void whole(const std::vector<T>& x, const std::vector<T>& y) {
  compare<Div, T>("div", x, y);
  compare<Mod, T>("mod", x, y);
  compare<DivBySeven, T>("div by 7", x, y);
  compare<ModByTen, T>("mod by 10", x, y);
  compare<Bitwise, T>("bitwise", x, y);
  compare<ShiftRight, T>("shift right", x, y);
  compare<Less, int>("compare", x, y);
  compare<Minimum, T>("minimum", x, y);
}

DEVICE_TEST(unsigned_32_bit) {
  auto x = integers<uint32_t>(1), y = integers<uint32_t>(2);
  wrapping(x, y);
  whole(x, y);
}
DEVICE_TEST(signed_32_bit) { whole(integers<int32_t>(3), integers<int32_t>(4)); }
DEVICE_TEST(unsigned_64_bit) {
  auto x = integers<uint64_t>(5), y = integers<uint64_t>(6);
  wrapping(x, y);
  whole(x, y);
}
DEVICE_TEST(signed_64_bit) { whole(integers<int64_t>(7), integers<int64_t>(8)); }
DEVICE_TEST(unsigned_16_bit) {
  auto x = integers<uint16_t>(9), y = integers<uint16_t>(10);
  compare<Add, uint16_t>("add", x, y);
  compare<Sub, uint16_t>("sub", x, y);
  whole(x, y);
}
DEVICE_TEST(signed_8_bit) { whole(integers<int8_t>(11), integers<int8_t>(12)); }

RULE(High32, static_cast<uint32_t>(static_cast<uint64_t>(x) * y >> 32))
RULE(High64, static_cast<uint64_t>(static_cast<unsigned __int128>(x) * y >> 64))
RULE(HighSigned, static_cast<int32_t>(static_cast<int64_t>(x) * y >> 32))
DEVICE_TEST(high_half_of_product) {
  compare<High32, uint32_t>("u32", integers<uint32_t>(13), integers<uint32_t>(14));
  compare<HighSigned, int32_t>("i32", integers<int32_t>(15), integers<int32_t>(16));
  compare<High64, uint64_t>("u64", integers<uint64_t>(17), integers<uint64_t>(18));
}

RULE(RealDiv, x / y)
RULE(RealMixed, x * y + (x - y) * T(0.5))
RULE(Fused, std::fma(x, y, x))
RULE(Root, std::sqrt(x))
RULE(Smaller, std::fmin(x, y))
RULE(Larger, std::fmax(x, y))
RULE(Floor, std::floor(x))
RULE(Ceil, std::ceil(x))
RULE(Trunc, std::trunc(x))
RULE(Nearest, std::rint(x))
RULE(Magnitude, std::fabs(x))
RULE(Signed, std::copysign(x, y))

template <typename T, typename Bits>
static void real(uint64_t seed) {
  auto x = reals<T, Bits>(seed), y = reals<T, Bits>(seed + 1);
  std::swap(y[2], y[40]);  // corners meet other corners
  compare<Add, T>("add", x, y);
  compare<Sub, T>("sub", x, y);
  compare<Mul, T>("mul", x, y);
  compare<RealMixed, T>("mixed", x, y);
  compare<Less, int>("compare", x, y);
  compare<Floor, T>("floor", x, y);
  compare<Ceil, T>("ceil", x, y);
  compare<Trunc, T>("trunc", x, y);
  compare<Nearest, T>("rint", x, y);
  compare<Magnitude, T>("fabs", x, y);
  compare<Signed, T>("copysign", x, y);
}
DEVICE_TEST(single_precision) { real<float, uint32_t>(20); }
DEVICE_TEST(double_precision) { real<double, uint64_t>(30); }

template <typename T, typename Bits>
static void rounded_once(uint64_t seed) {
  auto x = reals<T, Bits>(seed), y = reals<T, Bits>(seed + 1);
  compare<RealDiv, T>("div", x, y);
  compare<Fused, T>("fma", x, y);
  compare<Root, T>("sqrt", x, y);
}
DEVICE_TEST(single_division_fma_and_root_round_correctly) { rounded_once<float, uint32_t>(40); }
DEVICE_TEST(double_division_fma_and_root_round_correctly) { rounded_once<double, uint64_t>(50); }

// Of +0 and -0 either may be the smaller: the pairs have no zero.
DEVICE_TEST(minimum_and_maximum_prefer_the_number) {
  auto x = reals<float, uint32_t>(60), y = reals<float, uint32_t>(61);
  for (auto* values : {&x, &y}) {
    for (float& value : *values) value = value == 0 ? 1 : value;
  }
  y[6] = 5;
  compare<Smaller, float>("fmin", x, y);
  compare<Larger, float>("fmax", x, y);
  auto u = reals<double, uint64_t>(62), v = reals<double, uint64_t>(63);
  for (auto* values : {&u, &v}) {
    for (double& value : *values) value = value == 0 ? 1 : value;
  }
  compare<Smaller, double>("fmin", u, v);
  compare<Larger, double>("fmax", u, v);
}

struct Converted {
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  uint64_t u64;
  float from_i32, from_u32, from_i64, from_u64, from_f64;
  double wide_i32, wide_u32, wide_i64, wide_u64, wide_f32;
};
static __host__ __device__ Converted convert(double x, uint64_t bits) {
  Converted c;
  // In range of every target: what is out of range has no defined result.
  double positive = x < 0 ? -x : x;
  c.i32 = static_cast<int32_t>(x);
  c.u32 = static_cast<uint32_t>(positive * 4);
  c.i64 = static_cast<int64_t>(x * 1e9);
  c.u64 = static_cast<uint64_t>(positive * 1.5e10);
  c.from_i32 = static_cast<float>(static_cast<int32_t>(bits));
  c.from_u32 = static_cast<float>(static_cast<uint32_t>(bits));
  c.from_i64 = static_cast<float>(static_cast<int64_t>(bits));
  c.from_u64 = static_cast<float>(bits);
  c.from_f64 = static_cast<float>(x / 3);
  c.wide_i32 = static_cast<int32_t>(bits);
  c.wide_u32 = static_cast<uint32_t>(bits);
  c.wide_i64 = static_cast<double>(static_cast<int64_t>(bits));
  c.wide_u64 = static_cast<double>(bits);
  c.wide_f32 = static_cast<float>(x);
  return c;
}
__global__ void convert_all(Converted* out, const double* x, const uint64_t* bits) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = convert(x[i], bits[i]);
}
DEVICE_TEST(conversions) {
  Sequence sequence(70);
  std::vector<double> x(COUNT);
  for (double& value : x) value = sequence.between(-1e9, 1e9);
  auto bits = integers<uint64_t>(71);
  Buffer<double> device_x(x);
  Buffer<uint64_t> device_bits(bits);
  Buffer<Converted> out(COUNT);
  LAUNCH(convert_all, COUNT / BLOCK, BLOCK, 0, out, device_x, device_bits);
  auto got = out.host();
  for (unsigned i = 0; i < COUNT; ++i) {
    Converted want = convert(x[i], bits[i]);
#define FIELD(name) \
  if (!same(got[i].name, want.name)) { FAIL(#name " of element %u is %s, not %s", i, show(got[i].name).c_str(), show(want.name).c_str()); return; }
    FIELD(i32) FIELD(u32) FIELD(i64) FIELD(u64)
    FIELD(from_i32) FIELD(from_u32) FIELD(from_i64) FIELD(from_u64) FIELD(from_f64)
    FIELD(wide_i32) FIELD(wide_u32) FIELD(wide_i64) FIELD(wide_u64) FIELD(wide_f32)
#undef FIELD
  }
}

RULE(Bits32, static_cast<uint32_t>(__builtin_popcount(x) + 100 * (x == 0 ? 32 : __builtin_clz(x)) +
                                   10000 * (x == 0 ? 32 : __builtin_ctz(x)) + 1000000 * __builtin_parity(x)))
RULE(Bits64, static_cast<uint64_t>(__builtin_popcountll(x) + 100 * (x == 0 ? 64 : __builtin_clzll(x)) +
                                   10000 * (x == 0 ? 64 : __builtin_ctzll(x))))
RULE(Reversed, static_cast<T>(sizeof(T) == 4 ? __builtin_bitreverse32(static_cast<uint32_t>(x))
                                             : __builtin_bitreverse64(x)))
RULE(Swapped, static_cast<T>(sizeof(T) == 4 ? __builtin_bswap32(static_cast<uint32_t>(x)) : __builtin_bswap64(x)))
RULE(Funnel, static_cast<T>((x << (y & (sizeof(T) * 8 - 1))) | (x >> (-y & (sizeof(T) * 8 - 1)))))
RULE(Field, static_cast<T>((x >> (y & 15)) & 0x3ff))
RULE(SignedField, static_cast<int32_t>(static_cast<int32_t>(x << 9) >> 20))
DEVICE_TEST(bit_operations) {
  auto x = integers<uint32_t>(80), y = integers<uint32_t>(81);
  compare<Bits32, uint32_t>("counts", x, y);
  compare<Reversed, uint32_t>("reverse", x, y);
  compare<Swapped, uint32_t>("byte swap", x, y);
  compare<Funnel, uint32_t>("rotate", x, y);
  compare<Field, uint32_t>("bit field", x, y);
  compare<SignedField, int32_t>("signed bit field", x, y);
  auto u = integers<uint64_t>(82), v = integers<uint64_t>(83);
  compare<Bits64, uint64_t>("counts 64", u, v);
  compare<Reversed, uint64_t>("reverse 64", u, v);
  compare<Swapped, uint64_t>("byte swap 64", u, v);
  compare<Funnel, uint64_t>("rotate 64", u, v);
}

// The header's own names for the same.
__global__ void intrinsics(uint32_t* out, const uint32_t* x) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  uint32_t v = x[i];
  out[i] = static_cast<uint32_t>(__popc(v)) + 100u * static_cast<uint32_t>(__clz(static_cast<int>(v))) + 10000u * (__brev(v) >> 24) +
           static_cast<uint32_t>(__ffs(static_cast<int>(v))) * 7u + __umulhi(v, 0x9e3779b9u);
}
DEVICE_TEST(bit_intrinsics) {
  auto x = integers<uint32_t>(90);
  Buffer<uint32_t> device_x(x), out(COUNT);
  LAUNCH(intrinsics, COUNT / BLOCK, BLOCK, 0, out, device_x);
  std::vector<uint32_t> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) {
    uint32_t v = x[i];
    want[i] = static_cast<uint32_t>(__builtin_popcount(v)) + 100u * (v == 0 ? 32u : static_cast<uint32_t>(__builtin_clz(v))) +
              10000u * (__builtin_bitreverse32(v) >> 24) + (v == 0 ? 0u : static_cast<uint32_t>(__builtin_ctz(v)) + 1) * 7u +
              static_cast<uint32_t>(uint64_t{v} * 0x9e3779b9u >> 32);
  }
  expect_equal("intrinsics", out.host(), want);
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
