// The math library: each function within a bound of ours, in units in the last place, that is loose enough for the
// approximate instructions (about one unit each) and tight enough to show a wrong one; the true value comes from the
// host in the next wider format.
#include "device_test.h"
#include <hip/hip_fp16.h>

constexpr unsigned COUNT = 4096, BLOCK = 256;

template <typename F, typename T>
__global__ void apply(T* out, const T* x, const T* y) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = F::of(x[i], y[i]);
}

#define FUNCTION(name, expression)           \
  struct name {                              \
    template <typename T>                    \
    static __host__ __device__ T of(T x, T y) { \
      (void)y;                               \
      return expression;                     \
    }                                        \
  };

FUNCTION(Sin, std::sin(x))
FUNCTION(Cos, std::cos(x))
FUNCTION(Tan, std::tan(x))
FUNCTION(Asin, std::asin(x))
FUNCTION(Acos, std::acos(x))
FUNCTION(Atan, std::atan(x))
FUNCTION(Atan2, std::atan2(x, y))
FUNCTION(Sinh, std::sinh(x))
FUNCTION(Tanh, std::tanh(x))
FUNCTION(Exp, std::exp(x))
FUNCTION(Exp2, std::exp2(x))
FUNCTION(Expm1, std::expm1(x))
FUNCTION(Log, std::log(x))
FUNCTION(Log2, std::log2(x))
FUNCTION(Log10, std::log10(x))
FUNCTION(Log1p, std::log1p(x))
FUNCTION(Pow, std::pow(x, y))
FUNCTION(Cbrt, std::cbrt(x))
FUNCTION(Hypot, std::hypot(x, y))
FUNCTION(Erf, std::erf(x))
FUNCTION(Gamma, std::tgamma(x))
FUNCTION(Remainder, std::fmod(x, y))
FUNCTION(Scale, std::ldexp(x, 5) + static_cast<T>(std::ilogb(x)))

struct Range {
  double low, high;
};

template <typename F, typename T, typename Wide>
static void within(const char* what, double ulps, Range range, Range second = {1, 2}) {
  Sequence sequence(static_cast<uint64_t>(ulps * 1000) + what[0] * 31u + what[1]);
  std::vector<T> x(COUNT), y(COUNT);
  for (T& value : x) value = static_cast<T>(sequence.between(range.low, range.high));
  for (T& value : y) value = static_cast<T>(sequence.between(second.low, second.high));
  Buffer<T> device_x(x), device_y(y), out(COUNT);
  LAUNCH((apply<F, T>), COUNT / BLOCK, BLOCK, 0, (T*)out, (const T*)device_x, (const T*)device_y);
  std::vector<Wide> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) want[i] = F::of(static_cast<Wide>(x[i]), static_cast<Wide>(y[i]));
  expect_close(what, out.host(), want, ulps);
}

DEVICE_TEST(single_precision_trigonometry) {
  within<Sin, float, double>("sinf", 2, {-100, 100});
  within<Sin, float, double>("sinf of large arguments", 2, {1e6, 1e9});
  within<Cos, float, double>("cosf", 2, {-100, 100});
  within<Tan, float, double>("tanf", 3, {-10, 10});
  within<Asin, float, double>("asinf", 3, {-1, 1});
  within<Acos, float, double>("acosf", 3, {-1, 1});
  within<Atan, float, double>("atanf", 3, {-50, 50});
  within<Atan2, float, double>("atan2f", 4, {-5, 5}, {-5, 5});
}
DEVICE_TEST(single_precision_exponentials) {
  within<Exp, float, double>("expf", 2, {-80, 80});
  within<Exp2, float, double>("exp2f", 2, {-120, 120});
  within<Expm1, float, double>("expm1f", 2, {-2, 2});
  within<Log, float, double>("logf", 2, {1e-6, 1e6});
  within<Log2, float, double>("log2f", 2, {1e-6, 1e6});
  within<Log10, float, double>("log10f", 3, {1e-6, 1e6});
  within<Log1p, float, double>("log1pf", 2, {-0.9, 10});
  within<Pow, float, double>("powf", 2, {0.01, 100}, {-8, 8});
  within<Sinh, float, double>("sinhf", 3, {-10, 10});
  within<Tanh, float, double>("tanhf", 3, {-5, 5});
}
DEVICE_TEST(single_precision_special_functions) {
  within<Cbrt, float, double>("cbrtf", 2, {-1000, 1000});
  within<Hypot, float, double>("hypotf", 3, {-1000, 1000}, {-1000, 1000});
  within<Erf, float, double>("erff", 4, {-3, 3});
  within<Gamma, float, double>("tgammaf", 8, {0.5, 20});
  within<Remainder, float, double>("fmodf", 0, {-1e6, 1e6}, {0.5, 20});
  within<Scale, float, double>("ldexpf, ilogbf", 1, {0.001, 1000});
}
DEVICE_TEST(double_precision_functions) {
  within<Sin, double, long double>("sin", 2, {-100, 100});
  within<Cos, double, long double>("cos", 2, {1e5, 1e7});
  within<Tan, double, long double>("tan", 2, {-10, 10});
  within<Atan2, double, long double>("atan2", 3, {-5, 5}, {-5, 5});
  within<Exp, double, long double>("exp", 2, {-700, 700});
  within<Log, double, long double>("log", 2, {1e-6, 1e6});
  within<Pow, double, long double>("pow", 2, {0.01, 100}, {-8, 8});
  within<Cbrt, double, long double>("cbrt", 2, {-1000, 1000});
  within<Erf, double, long double>("erf", 4, {-3, 3});
  within<Tanh, double, long double>("tanh", 3, {-5, 5});
  within<Remainder, double, long double>("fmod", 0, {-1e6, 1e6}, {0.5, 20});
}

__global__ void approximate(float* out, const float* x) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[4 * i] = rsqrtf(x[i]);
  out[4 * i + 1] = __expf(x[i] * 0.125f);
  out[4 * i + 2] = __logf(x[i]);
  out[4 * i + 3] = __fdividef(x[i], 3.0f);
}
DEVICE_TEST(fast_functions) {
  Sequence sequence(5);
  std::vector<float> x(COUNT);
  for (float& value : x) value = static_cast<float>(sequence.between(2, 100));
  Buffer<float> device_x(x), out(COUNT * 4);
  LAUNCH(approximate, COUNT / BLOCK, BLOCK, 0, out, device_x);
  std::vector<double> want;
  for (float value : x) {
    double v = value;
    want.insert(want.end(), {1 / std::sqrt(v), std::exp(v * 0.125), std::log(v), v / 3});
  }
  // The exponential multiplies by a rounded log2(e) first: an error that grows with the argument.
  expect_close("rsqrtf, __expf, __logf, __fdividef", out.host(), want, 24);
}

// Half precision: addition, multiplication and fused multiply-add of small whole numbers are exact.
__global__ void halves(__half* out, const __half* x, const __half* y) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[4 * i] = __hadd(x[i], y[i]);
  out[4 * i + 1] = __hmul(x[i], y[i]);
  out[4 * i + 2] = __hfma(x[i], y[i], x[i]);
  out[4 * i + 3] = __hgt(x[i], y[i]) ? __hsub(x[i], y[i]) : __float2half(__half2float(x[i]) * 0.5f);
}
__global__ void half_pairs(__half2* out, const __half2* x, const __half2* y) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = __hfma2(x[i], y[i], __hadd2(x[i], y[i]));
}
DEVICE_TEST(half_precision) {
  Sequence sequence(6);
  std::vector<__half> x(COUNT), y(COUNT);
  std::vector<float> u(COUNT), v(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) {
    u[i] = static_cast<float>(static_cast<int>(sequence.between(-30, 30)));
    v[i] = static_cast<float>(static_cast<int>(sequence.between(-30, 30)));
    x[i] = __float2half(u[i]);
    y[i] = __float2half(v[i]);
  }
  Buffer<__half> device_x(x), device_y(y), out(COUNT * 4), pairs(COUNT);
  LAUNCH(halves, COUNT / BLOCK, BLOCK, 0, out, device_x, device_y);
  LAUNCH(half_pairs, COUNT / 2 / BLOCK, BLOCK, 0, reinterpret_cast<__half2*>((__half*)pairs),
         reinterpret_cast<__half2*>((__half*)device_x), reinterpret_cast<__half2*>((__half*)device_y));
  auto got = out.host(), got_pairs = pairs.host();
  for (unsigned i = 0; i < COUNT; ++i) {
    const float want[] = {u[i] + v[i], u[i] * v[i], u[i] * v[i] + u[i], u[i] > v[i] ? u[i] - v[i] : u[i] * 0.5f};
    for (int j = 0; j < 4; ++j) {
      float value = __half2float(got[4 * i + static_cast<unsigned>(j)]);
      if (value != want[j]) { FAIL("operation %d on %g and %g gives %g", j, static_cast<double>(u[i]), static_cast<double>(v[i]), static_cast<double>(value)); return; }
    }
    float pair = __half2float(got_pairs[i]);
    if (pair != u[i] * v[i] + (u[i] + v[i])) { FAIL("pair %u is %g", i, static_cast<double>(pair)); return; }
  }
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
