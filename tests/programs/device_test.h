// Frame of the device tests: each test computes something on the device and the same on the host, and compares.
// The program runs the tests that its arguments name, or all.
#pragma once
#include "check.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

struct DeviceTest {
  const char* name;
  void (*run)();
};

inline std::vector<DeviceTest>& device_tests() {
  static std::vector<DeviceTest> tests;
  return tests;
}
inline const char*& running_test() {
  static const char* name = "";
  return name;
}
inline int& failures() {
  static int count = 0;
  return count;
}

struct Registered {
  Registered(const char* name, void (*run)()) { device_tests().push_back({name, run}); }
};
#define DEVICE_TEST(name)                          \
  static void name();                              \
  static const Registered registered_##name(#name, name); \
  static void name()

// Reports a failure; only the first few of a test are worth reading.
#define FAIL(...)                                       \
  do {                                                  \
    if (++failures() <= 20) {                           \
      std::fprintf(stderr, "%s: ", running_test());     \
      std::fprintf(stderr, __VA_ARGS__);                \
      std::fprintf(stderr, "\n");                       \
    }                                                   \
  } while (0)

// Device memory that starts as a copy of host memory.
template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    CHECK(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
    CHECK(hipMemset(data_, 0, count * sizeof(T)));
  }
  explicit Buffer(const std::vector<T>& host) : count_(host.size()) {
    CHECK(hipMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(T)));
    CHECK(hipMemcpy(data_, host.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { CHECK(hipFree(data_)); }
  operator T*() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> host(count_);
    CHECK(hipMemcpy(host.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return host;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

// The launch itself must have been accepted; its errors come with the copy back.
#define LAUNCH(kernel, grid, block, shared, ...)              \
  do {                                                        \
    kernel<<<dim3(grid), dim3(block), shared>>>(__VA_ARGS__); \
    CHECK(hipGetLastError());                                 \
  } while (0)

inline std::string show(float value) { return std::to_string(value) + " (" + [&] {
  char text[32];
  std::snprintf(text, sizeof text, "%a", static_cast<double>(value));
  return std::string(text);
}() + ")"; }
inline std::string show(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}
template <typename T>
std::string show(T value) {
  return std::to_string(value);
}

template <typename T>
bool same(T x, T y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}
// The payload of a NaN is the processor's own affair.
inline bool same(float x, float y) { return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0; }
inline bool same(double x, double y) { return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0; }

// Every element has the same bits.
template <typename T>
void expect_equal(const char* what, const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size()) {
    FAIL("%s: %zu elements, not %zu", what, got.size(), want.size());
    return;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (!same(got[i], want[i])) {
      FAIL("%s: element %zu is %s, not %s", what, i, show(got[i]).c_str(), show(want[i]).c_str());
      return;
    }
  }
}

// Every element is within `ulps` units in the last place of T of the true value, which is given in more precision.
template <typename T, typename Wide>
void expect_close(const char* what, const std::vector<T>& got, const std::vector<Wide>& want, double ulps) {
  for (size_t i = 0; i < got.size(); ++i) {
    const T nearest = static_cast<T>(want[i]);
    if (same(got[i], nearest)) continue;
    const Wide distance = std::fabs(static_cast<Wide>(got[i]) - want[i]);
    const T unit = std::nextafter(std::fabs(nearest), static_cast<T>(INFINITY)) - std::fabs(nearest);
    if (!(distance <= static_cast<Wide>(ulps) * static_cast<Wide>(unit))) {
      FAIL("%s: element %zu is %s, not %s", what, i, show(got[i]).c_str(), show(nearest).c_str());
      return;
    }
  }
}

// Numbers that look random and are the same everywhere.
class Sequence {
 public:
  explicit Sequence(uint64_t seed) : state_(seed) {}
  uint64_t next() {  // xorshift64*, Vigna 2016
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717ull;
  }
  // In [low, high).
  double between(double low, double high) {
    return low + static_cast<double>(next() >> 11) * 0x1p-53 * (high - low);
  }

 private:
  uint64_t state_;
};

// Runs the tests that are named; all of them without arguments; all but some with `-name` for each of those.
inline int run_device_tests(int argc, char** argv) {
  int ran = 0;
  for (const DeviceTest& test : device_tests()) {
    bool wanted = argc == 1 || argv[1][0] == '-';
    for (int i = 1; i < argc; ++i) {
      wanted |= std::strcmp(argv[i], test.name) == 0;
      wanted &= argv[i][0] != '-' || std::strcmp(argv[i] + 1, test.name) != 0;
    }
    if (!wanted) continue;
    running_test() = test.name;
    const int before = failures();
    test.run();
    CHECK(hipDeviceSynchronize());
    ++ran;
    std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", test.name);
    std::fflush(stdout);
  }
  if (failures() != 0 || ran == 0) return 1;
  std::puts("Validation passed.");
  return 0;
}
