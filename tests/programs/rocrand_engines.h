// The generators of rocRAND once more, one number after the other, from their papers. What rocRAND adds is how it
// seeds them and which number of which stream stands where in the output; its headers document both.
#pragma once
#include <array>
#include <cstdint>
#include <vector>
#include <rocrand/rocrand_mtgp32_11213.h>  // Tables of parameters; the papers' authors found them by search.

// Streams of XORWOW and MRG32k3a, and work-items of MTGP32: 512 blocks of 256.
constexpr size_t STREAMS = 512 * 256;

// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
class Philox {
 public:
  explicit Philox(uint64_t seed) : key_{uint32_t(seed), uint32_t(seed >> 32)} {}
  // Number n of a stream: four come from each count.
  uint32_t at(uint64_t n, uint64_t stream = 0) const {
    std::array<uint32_t, 4> c{uint32_t(n / 4), uint32_t(n / 4 >> 32), uint32_t(stream), uint32_t(stream >> 32)};
    std::array<uint32_t, 2> k = key_;
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
      c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
      k[0] += 0x9E3779B9;
      k[1] += 0xBB67AE85;
    }
    return c[n % 4];
  }

 private:
  std::array<uint32_t, 2> key_;
};

// Marsaglia: Xorshift RNGs (2003), the generator that the paper calls xorwow.
struct Xorwow {
  std::array<uint32_t, 5> x{123456789, 362436069, 521288629, 88675123, 5783321};
  uint32_t d = 6615241;

  explicit Xorwow(uint64_t seed) {
    const uint32_t t0 = 1228688033u * (uint32_t(seed) ^ 0x2c7f967f);
    const uint32_t t1 = 2073658381u * (uint32_t(seed >> 32) ^ 0xa03697cb);
    x = {x[0] + t0, x[1] ^ t0, x[2] + t1, x[3] ^ t1, x[4] + t0};
    d += t0 + t1;
  }
  static std::array<uint32_t, 5> step(const std::array<uint32_t, 5>& x) {
    const uint32_t t = x[0] ^ (x[0] >> 2);
    return {x[1], x[2], x[3], x[4], (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1))};
  }
  uint32_t next() {
    x = step(x);
    d += 362437;
    return x[4] + d;
  }
};

// 160 by 160 bits: what steps of xorwow's xorshift part do to its state, which is linear.
class XorwowJump {
 public:
  // 2^log2 steps.
  explicit XorwowJump(int log2) : columns_(160) {
    for (int bit = 0; bit < 160; ++bit) {
      std::array<uint32_t, 5> unit{};
      unit[bit / 32] = 1u << bit % 32;
      columns_[bit] = Xorwow::step(unit);
    }
    for (int i = 0; i < log2; ++i) {
      std::vector<std::array<uint32_t, 5>> square;
      for (const auto& column : columns_) square.push_back(*this * column);
      columns_ = square;
    }
  }
  std::array<uint32_t, 5> operator*(const std::array<uint32_t, 5>& x) const {
    std::array<uint32_t, 5> sum{};
    for (int bit = 0; bit < 160; ++bit) {
      const uint32_t mask = 0u - (x[bit / 32] >> bit % 32 & 1);
      for (int word = 0; word < 5; ++word) sum[word] ^= columns_[bit][word] & mask;
    }
    return sum;
  }

 private:
  std::vector<std::array<uint32_t, 5>> columns_;
};

// L'Ecuyer: Good parameters and implementations for combined multiple recursive random number generators (1999).
using Vector3 = std::array<uint64_t, 3>;
using Matrix3 = std::array<Vector3, 3>;

inline Vector3 times(const Matrix3& a, const Vector3& x, uint64_t m) {
  Vector3 y{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) y[i] = (y[i] + a[i][j] * x[j] % m) % m;
  return y;
}
inline Matrix3 power_of_two(Matrix3 a, int log2, uint64_t m) {
  for (int n = 0; n < log2; ++n) {
    Matrix3 square{};
    for (int j = 0; j < 3; ++j) {
      const Vector3 column = times(a, {a[0][j], a[1][j], a[2][j]}, m);
      for (int i = 0; i < 3; ++i) square[i][j] = column[i];
    }
    a = square;
  }
  return a;
}

struct Mrg32k3a {
  static constexpr uint64_t M1 = 4294967087, M2 = 4294944443;
  static constexpr Matrix3 A1{{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}};
  static constexpr Matrix3 A2{{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}};
  Vector3 s1, s2;

  // Seeds below 2^39: rocRAND does not reduce products with larger ones completely.
  explicit Mrg32k3a(uint64_t seed) {
    if (seed == 0) seed = 12345;
    const uint64_t x = uint32_t(seed) ^ 0x55555555, y = uint32_t(seed >> 32) ^ 0xAAAAAAAA;
    const uint64_t seed1 = seed % M1, seed2 = seed % M2;
    s1 = {x * seed1 % M1, y * seed1 % M1, x * seed1 % M1};
    s2 = {y * seed2 % M2, x * seed2 % M2, y * seed2 % M2};
  }
  // From 1 to M1.
  uint32_t next() {
    s1 = times(A1, s1, M1);
    s2 = times(A2, s2, M2);
    return uint32_t(s1[2] > s2[2] ? s1[2] - s2[2] : s1[2] + M1 - s2[2]);
  }
};

// What rocRAND makes integers of any width from: MRG32k3a's numbers, stretched to all 32 bits.
inline uint32_t mrg32k3a_bits(uint32_t number) {
  return uint32_t((number - 1) * (4294967295.0 / double(Mrg32k3a::M1 - 1)));
}

// Saito, Matsumoto: Variants of Mersenne Twister suitable for graphic processors (2010), of exponent 11213.
class Mtgp32 {
 public:
  Mtgp32(uint64_t seed, size_t stream) : p_(mtgp32dc_params_fast_11213[stream]) {
    const uint32_t hidden = p_.tbl[4] ^ (p_.tbl[8] << 16);
    uint32_t fill = hidden;
    fill += fill >> 16;
    fill += fill >> 8;
    state_.assign(351, (fill & 0xff) * 0x01010101u);
    state_[0] = uint32_t(seed ^ (seed >> 32)) + uint32_t(stream) + 1;
    state_[1] = hidden;
    for (uint32_t i = 1; i < 351; ++i) state_[i] ^= 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  uint32_t next() {
    uint32_t* s = &state_[state_.size() - 351];
    uint32_t x = (s[0] & p_.mask) ^ s[1];
    x ^= x << p_.sh1;
    const uint32_t y = x ^ (s[p_.pos] >> p_.sh2), r = y ^ p_.tbl[y & 15];
    uint32_t t = s[p_.pos - 1];
    t ^= t >> 16;
    t ^= t >> 8;
    state_.push_back(r);
    return r ^ p_.tmp_tbl[t & 15];
  }

 private:
  const rocrand_device::mtgp32_fast_params& p_;
  std::vector<uint32_t> state_;  // All of them, the newest last.
};

// Sobol's sequence by Gray code (Antonov, Saleev), with the first direction numbers of Joe and Kuo,
// "Constructing Sobol sequences with better two-dimensional projections" (2008), file new-joe-kuo-6.21201.
template <typename Word>
class Sobol {
 public:
  static constexpr int BITS = 8 * sizeof(Word), DIMENSIONS = 8;
  explicit Sobol(int dimension) {
    struct Polynomial {
      int degree;
      unsigned inner;  // Coefficients but the first and the last.
      std::array<unsigned, 5> first;
    };
    static constexpr Polynomial POLYNOMIALS[DIMENSIONS - 1] = {
        {1, 0, {1}},          {2, 1, {1, 3}},       {3, 1, {1, 3, 1}},       {3, 2, {1, 1, 1}},
        {4, 1, {1, 1, 3, 3}}, {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}},
    };
    for (int i = 0; i < BITS; ++i) {
      if (dimension == 0) {
        v_[i] = Word{1} << (BITS - 1 - i);
        continue;
      }
      const Polynomial& p = POLYNOMIALS[dimension - 1];
      if (i < p.degree) {
        v_[i] = Word{p.first[i]} << (BITS - 1 - i);
        continue;
      }
      v_[i] = v_[i - p.degree] ^ (v_[i - p.degree] >> p.degree);
      for (int k = 1; k < p.degree; ++k)
        if (p.inner >> (p.degree - 1 - k) & 1) v_[i] ^= v_[i - k];
    }
  }
  Word at(uint64_t n) const {
    const uint64_t gray = n ^ (n >> 1);
    Word sum = 0;
    for (int i = 0; i < BITS; ++i)
      if (gray >> i & 1) sum ^= v_[i];
    return sum;
  }

 private:
  std::array<Word, BITS> v_;
};

// The numbers of rocRAND's streams, one of each in turn: number n is the (n / STREAMS)th of stream n % STREAMS.
// Streams of XORWOW are 2^67 numbers apart and those of MRG32k3a 2^76 (rocRAND's header says 2^67, its tables are the
// paper's).
inline std::vector<uint32_t> philox_numbers(uint64_t seed, size_t n) {
  const Philox philox(seed);
  std::vector<uint32_t> numbers(n);
  for (size_t i = 0; i < n; ++i) numbers[i] = philox.at(i);
  return numbers;
}
inline std::vector<uint32_t> xorwow_streams(uint64_t seed, size_t n) {
  const XorwowJump jump(67);  // d returns to where it was.
  std::vector<uint32_t> numbers(n);
  Xorwow first(seed);
  for (size_t stream = 0; stream < STREAMS; ++stream, first.x = jump * first.x) {
    Xorwow engine = first;
    for (size_t i = stream; i < n; i += STREAMS) numbers[i] = engine.next();
  }
  return numbers;
}
inline std::vector<uint32_t> mrg32k3a_streams(uint64_t seed, size_t n) {
  const Matrix3 jump1 = power_of_two(Mrg32k3a::A1, 76, Mrg32k3a::M1);
  const Matrix3 jump2 = power_of_two(Mrg32k3a::A2, 76, Mrg32k3a::M2);
  std::vector<uint32_t> numbers(n);
  Mrg32k3a first(seed);
  for (size_t stream = 0; stream < STREAMS; ++stream) {
    Mrg32k3a engine = first;
    for (size_t i = stream; i < n; i += STREAMS) numbers[i] = engine.next();
    first.s1 = times(jump1, first.s1, Mrg32k3a::M1);
    first.s2 = times(jump2, first.s2, Mrg32k3a::M2);
  }
  return numbers;
}
// Each block of 256 work-items takes the next 256 numbers of its stream.
inline std::vector<uint32_t> mtgp32_streams(uint64_t seed, size_t n) {
  std::vector<uint32_t> numbers(n);
  for (size_t stream = 0; stream < STREAMS / 256; ++stream) {
    Mtgp32 engine(seed, stream);
    for (size_t start = 256 * stream; start < n; start += STREAMS)
      for (size_t i = start; i < start + 256; ++i) {
        const uint32_t number = engine.next();
        if (i < n) numbers[i] = number;
      }
  }
  return numbers;
}
