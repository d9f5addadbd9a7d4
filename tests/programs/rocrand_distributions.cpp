// rocRAND's uniform, normal, log-normal and Poisson numbers are what its documentation makes of the generators'
// integers. Transcendental functions are approximate: each check says how far from the true value a result may be.
#include "rocrand_engines.h"
#include "rocrand_generator.h"

constexpr uint64_t SEED = 20261121;
// Exact in every type.
constexpr double MEAN = -1.5, DEVIATION = 0.75;
constexpr double TAU = 6.283185307179586477;

static double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31) return mantissa == 0 ? INFINITY : NAN;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}
static __half half_of(uint16_t bits) {
  __half value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof bits);
  return value;
}
const __half HALF_MEAN = half_of(0xbe00), HALF_DEVIATION = half_of(0x3a00);

// rocRAND's functions for half precision, for memory that holds their bits.
using HalfFunction = rocrand_status(rocrand_generator, half*, size_t, half, half);
template <HalfFunction* function>
static rocrand_status half_bits(rocrand_generator generator, uint16_t* memory, size_t n) {
  return function(generator, reinterpret_cast<half*>(memory), n, HALF_MEAN, HALF_DEVIATION);
}
static rocrand_status uniform_half_bits(rocrand_generator generator, uint16_t* memory, size_t n) {
  return rocrand_generate_uniform_half(generator, reinterpret_cast<half*>(memory), n);
}

static void expect_near(const char* what, size_t i, double got, double want, double bound) {
  if (!(std::fabs(got - want) <= bound)) FAIL("%s[%zu]: %.17g, not %.17g (allowed %g)", what, i, got, want, bound);
}

static double scaled(double gauss) { return MEAN + DEVIATION * gauss; }

// A generator of pseudorandom numbers, and the integers that its work-items consume.
class Distributions {
 public:
  // `counted`: a work-item takes neighbours. Otherwise it takes the next numbers of a stream of its own.
  // `mrg`: the integers are not 32 random bits but reach from 1 to M1.
  Distributions(rocrand_rng_type type, std::vector<uint32_t> numbers, bool counted, bool mrg)
      : generator_(type), numbers_(std::move(numbers)), counted_(counted), mrg_(mrg) {
    generator_.seed(SEED);
  }
  static constexpr size_t ROUNDS = 19;  // Numbers of each stream that all checks together consume.

  void check() {
    uniform();
    normal();
    log_normal();
    poisson();
  }

 private:
  void uniform() {
    const auto single = generator_.generate<float>(rocrand_generate_uniform, STREAMS);
    // Two roundings at most: of the integer and of the result.
    for (size_t i = 0; i < STREAMS; ++i) expect_near("uniform", i, single[i], unit(draw(i, 1, 0)), 0x1p-24);
    rounds_ += 1;

    const auto wide = generator_.generate<double>(rocrand_generate_uniform_double, STREAMS);
    for (size_t i = 0; i < STREAMS; ++i) {
      // 53 bits of two integers, or the one of MRG32k3a.
      const double want = mrg_ ? unit(draw(i, 1, 0)) : unit53(draw(i, 2, 0), draw(i, 2, 1) >> 11);
      expect_near("uniform double", i, wide[i], want, mrg_ ? 0x1p-53 : 0);
    }
    rounds_ += mrg_ ? 1 : 2;

    const auto narrow = generator_.generate<uint16_t>(uniform_half_bits, 2 * STREAMS);
    for (size_t i = 0; i < narrow.size(); ++i)
      expect_near("uniform half", i, half_value(narrow[i]), unit16(i), 0x1p-12);
    rounds_ += 1;
  }

  void normal() {
    const auto single =
        generator_.generate<float>(rocrand_generate_normal, 2 * STREAMS, float(MEAN), float(DEVIATION));
    for (size_t i = 0; i < single.size(); ++i)
      expect_near("normal", i, single[i], scaled(gauss(i)), 2e-6 * (1 + radius(i)));
    rounds_ += 2;

    const auto wide = generator_.generate<double>(rocrand_generate_normal_double, 2 * STREAMS, MEAN, DEVIATION);
    for (size_t i = 0; i < wide.size(); ++i)
      expect_near("normal double", i, wide[i], scaled(gauss_double(i)), 1e-15 * (2 + std::fabs(gauss_double(i))));
    rounds_ += mrg_ ? 2 : 4;

    const auto narrow = generator_.generate<uint16_t>(half_bits<rocrand_generate_normal_half>, 2 * STREAMS);
    for (size_t i = 0; i < narrow.size(); ++i) half_result("normal half", i, narrow[i], scaled(gauss16(i)), 0x1p-9);
    rounds_ += 1;
  }

  void log_normal() {
    const auto single =
        generator_.generate<float>(rocrand_generate_log_normal, 2 * STREAMS, float(MEAN), float(DEVIATION));
    for (size_t i = 0; i < single.size(); ++i) {
      const double want = std::exp(scaled(gauss(i)));
      expect_near("log-normal", i, single[i], want, want * 3e-6 * (1 + radius(i)));
    }
    rounds_ += 2;

    const auto wide = generator_.generate<double>(rocrand_generate_log_normal_double, 2 * STREAMS, MEAN, DEVIATION);
    for (size_t i = 0; i < wide.size(); ++i) {
      const double want = std::exp(scaled(gauss_double(i)));
      expect_near("log-normal double", i, wide[i], want, want * 2e-15 * (2 + std::fabs(gauss_double(i))));
    }
    rounds_ += mrg_ ? 2 : 4;

    const auto narrow = generator_.generate<uint16_t>(half_bits<rocrand_generate_log_normal_half>, 2 * STREAMS);
    for (size_t i = 0; i < narrow.size(); ++i) {
      const double want = std::exp(scaled(gauss16(i)));
      half_result("log-normal half", i, narrow[i], want, want * 0x1p-8);
    }
    rounds_ += 1;
  }

  // Counts of each value against the distribution: chi-square, five standard deviations above its mean at most.
  void poisson() {
    constexpr double LAMBDA = 6.5;
    const auto values = generator_.generate<uint32_t>(rocrand_generate_poisson, 2 * STREAMS, LAMBDA);
    std::vector<size_t> counts(20);  // The last one is of all values from 19 up.
    for (uint32_t value : values) ++counts[std::min<size_t>(value, counts.size() - 1)];
    double chi_square = 0, probability = std::exp(-LAMBDA), rest = 1;
    for (size_t k = 0; k < counts.size(); ++k) {
      const double expected = double(values.size()) * (k + 1 == counts.size() ? rest : probability);
      chi_square += (double(counts[k]) - expected) * (double(counts[k]) - expected) / expected;
      rest -= probability;
      probability *= LAMBDA / double(k + 1);
    }
    const double freedom = double(counts.size() - 1);
    expect_near("Poisson's chi-square", 0, chi_square, freedom, 5 * std::sqrt(2 * freedom));
  }

  // Number i of the `width` that make the results of `group`.
  uint32_t draw(size_t group, size_t width, size_t i) const {
    if (counted_) return numbers_.at(rounds_ * STREAMS + group * width + i);
    return numbers_.at((rounds_ + group / STREAMS * width + i) * STREAMS + group % STREAMS);
  }
  // Of (0, 1].
  double unit(uint32_t x) const { return mrg_ ? x / double(Mrg32k3a::M1) : (x + 1.0) * 0x1p-32; }
  static double unit53(uint64_t low, uint64_t high) { return double((low | high << 32) + 1) * 0x1p-53; }
  // Of the half i % 2 of a number.
  double unit16(size_t i) const {
    const uint32_t bits = mrg_ ? mrg32k3a_bits(draw(i / 2, 1, 0)) : draw(i / 2, 1, 0);
    return ((bits >> i % 2 * 16 & 0xffff) + 1) * 0x1p-16;
  }

  // Box and Muller, 1958: sine and cosine of one angle make two results.
  static double box_muller(double u, double v, size_t i) {
    return std::sqrt(-2 * std::log(u)) * (i % 2 == 0 ? std::sin(TAU * v) : std::cos(TAU * v));
  }
  double radius(size_t i) const { return std::sqrt(-2 * std::log(float(unit(draw(i / 2, 2, 0))))); }
  // Both arguments are single numbers: what they are rounded by, close to one, is not the device's error.
  double gauss(size_t i) const {
    return box_muller(float(unit(draw(i / 2, 2, 0))), float(unit(draw(i / 2, 2, 1))), i);
  }
  double gauss_double(size_t i) const {
    if (mrg_) return gauss(i);
    const size_t group = i / 2;
    const auto unit53 = [&](size_t first) {
      const uint64_t low = draw(group, 4, first), high = draw(group, 4, first + 1);
      return double((low ^ high << 21) + 1) * 0x1p-53;
    };
    return box_muller(unit53(0), unit53(2), i);
  }
  double gauss16(size_t i) const { return box_muller(unit16(i & ~size_t{1}), unit16(i | 1), i); }

  // The half-precision sine of AMD's device libraries 5.2.3, which Debian's rocRAND was compiled with, is NaN for
  // every finite angle (it takes the NaN where its class test says finite), and so is every first result of a pair.
  static void half_result(const char* what, size_t i, uint16_t got, double want, double bound) {
    if (i % 2 == 0) {
      if (!std::isnan(half_value(got))) FAIL("%s[%zu]: %g, not NaN", what, i, half_value(got));
    } else {
      // Each of five steps rounds to eleven bits.
      expect_near(what, i, half_value(got), want, 5 * bound * (1 + std::fabs(want)));
    }
  }

  Generator generator_;
  std::vector<uint32_t> numbers_;
  bool counted_, mrg_;
  size_t rounds_ = 0;
};

constexpr size_t N = Distributions::ROUNDS * STREAMS;
DEVICE_TEST(philox) {
  Distributions(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, philox_numbers(SEED, N), true, false).check();
}
DEVICE_TEST(xorwow) { Distributions(ROCRAND_RNG_PSEUDO_XORWOW, xorwow_streams(SEED, N), false, false).check(); }
DEVICE_TEST(mrg32k3a) { Distributions(ROCRAND_RNG_PSEUDO_MRG32K3A, mrg32k3a_streams(SEED, N), false, true).check(); }
DEVICE_TEST(mtgp32) { Distributions(ROCRAND_RNG_PSEUDO_MTGP32, mtgp32_streams(SEED, N), false, false).check(); }

// The upper 16 bits of p, as a number of (0, 1].
static double upper16(double p) { return std::ceil(p * 0x1p16) * 0x1p-16; }

// rocRAND's approximation of the normal quantile (Winitzki: A handy approximation for the error function, 2008), with
// a = 0.147, of p = (1 + x) / 2: up to 2e-3 from the true one, the same on every processor. rocRAND's root of two is a
// single number.
static double winitzki(double x) {
  const double log = std::log((1 - x) * (1 + x));
  const double t = 2 / (M_PI * 0.147) + log / 2;
  return std::copysign(double(std::sqrt(2.0f)) * std::sqrt(std::sqrt(t * t - log / 0.147) - t), x);
}

template <typename Word>
static void sobol(rocrand_rng_type type) {
  constexpr int DIMENSIONS = 3;
  constexpr size_t POINTS = 20000;
  constexpr bool WIDE = sizeof(Word) == 8;
  Generator generator(type);
  generator.dimensions(DIMENSIONS);
  uint64_t from = 0;
  // Calls `check` with each result and with the element of the sequence that it was made from.
  const auto each = [&](const auto& results, auto check) {
    for (int dimension = 0; dimension < DIMENSIONS; ++dimension) {
      const Sobol<Word> sequence(dimension);
      for (size_t i = 0; i < POINTS; ++i) {
        const Word x = sequence.at(from + i);
        const double p = WIDE ? double((uint64_t{x} >> 11) + 1) * 0x1p-53 : double(uint64_t{x} + 1) * 0x1p-32;
        check(dimension * POINTS + i, double(results[dimension * POINTS + i]), p);
      }
    }
    from += POINTS;
  };
  // The square of a quantile is a difference of numbers up to 20; its root is uncertain where it is small.
  const auto near_quantile = [](const char* what, size_t i, double z, double x, double error) {
    const double want = winitzki(x);
    expect_near(what, i, z, want, error / std::max(std::fabs(want), std::sqrt(error)));
  };
  constexpr size_t N = DIMENSIONS * POINTS;
  // Of an element the upper 16 bits, rounded to eleven.
  each(generator.generate<uint16_t>(uniform_half_bits, N), [](size_t i, double got, double p) {
    expect_near("uniform half", i, half_value(uint16_t(got)), upper16(p), 0x1p-12);
  });
  if (!WIDE) {
    // rocRAND 5.3.3 makes these of the lower half of 64 bits too, which stays zero for 2^32 elements.
    each(generator.generate<float>(rocrand_generate_uniform, N),
         [](size_t i, double got, double p) { expect_near("uniform", i, got, p, 0x1p-24); });
    each(generator.generate<float>(rocrand_generate_normal, N, float(MEAN), float(DEVIATION)),
         [&](size_t i, double got, double p) {
           near_quantile("normal", i, (got - MEAN) / DEVIATION, 2 * float(p) - 1, 1e-5);
         });
    each(generator.generate<float>(rocrand_generate_log_normal, N, float(MEAN), float(DEVIATION)),
         [&](size_t i, double got, double p) {
           near_quantile("log-normal", i, (std::log(got) - MEAN) / DEVIATION, 2 * float(p) - 1, 2e-5);
         });
    each(generator.generate<uint16_t>(half_bits<rocrand_generate_normal_half>, N), [](size_t i, double got, double p) {
      const double want = scaled(winitzki(2 * float(p) - 1));
      expect_near("normal half", i, half_value(uint16_t(got)), want, 0x1p-9 * (1 + std::fabs(want)));
    });
    each(generator.generate<uint16_t>(half_bits<rocrand_generate_log_normal_half>, N), [](size_t i, double got, double p) {
      const double want = std::exp(scaled(winitzki(2 * float(p) - 1)));
      expect_near("log-normal half", i, half_value(uint16_t(got)), want, 0x1p-8 * want);
    });
    each(generator.generate<double>(rocrand_generate_log_normal_double, N, MEAN, DEVIATION),
         [&](size_t i, double got, double p) {
           near_quantile("log-normal double", i, (std::log(got) - MEAN) / DEVIATION, 2 * p - 1, 1e-13);
         });
  }
  each(generator.generate<double>(rocrand_generate_uniform_double, N),
       [](size_t i, double got, double p) { expect_near("uniform double", i, got, p, 0x1p-53); });
  each(generator.generate<double>(rocrand_generate_normal_double, N, MEAN, DEVIATION),
       [&](size_t i, double got, double p) {
         near_quantile("normal double", i, (got - MEAN) / DEVIATION, 2 * p - 1, 1e-13);
       });
  // The smallest k with P(X <= k) >= p, but for rounding of the sum.
  constexpr double LAMBDA = 6.5;
  each(generator.generate<uint32_t>(rocrand_generate_poisson, N, LAMBDA), [](size_t i, double got, double p) {
    double below = 0, term = std::exp(-LAMBDA);
    for (int k = 0; k < int(got); term *= LAMBDA / ++k) below += term;
    const bool quantile = below - 1e-9 <= p && p <= below + term + 1e-9;
    if (!quantile) FAIL("Poisson[%zu]: %g is not the quantile of %.12g", i, got, p);
  });
}
DEVICE_TEST(sobol32) { sobol<uint32_t>(ROCRAND_RNG_QUASI_SOBOL32); }
DEVICE_TEST(sobol64) { sobol<uint64_t>(ROCRAND_RNG_QUASI_SOBOL64); }

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
