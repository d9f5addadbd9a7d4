// A rocRAND generator whose output arrives in host memory.
#pragma once
#include "device_test.h"
#include <rocrand/rocrand.h>

#define CHECK_RAND(call)                                                                             \
  do {                                                                                               \
    const rocrand_status status_ = (call);                                                           \
    if (status_ != ROCRAND_STATUS_SUCCESS) {                                                         \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, static_cast<int>(status_)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (0)

class Generator {
 public:
  explicit Generator(rocrand_rng_type type) { CHECK_RAND(rocrand_create_generator(&generator_, type)); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  ~Generator() { CHECK_RAND(rocrand_destroy_generator(generator_)); }

  void seed(uint64_t seed) { CHECK_RAND(rocrand_set_seed(generator_, seed)); }
  void offset(uint64_t offset) { CHECK_RAND(rocrand_set_offset(generator_, offset)); }
  void dimensions(unsigned n) { CHECK_RAND(rocrand_set_quasi_random_generator_dimensions(generator_, n)); }

  // Calls a function rocrand_generate_*(generator, memory, n, parameters) and returns the n values.
  template <typename T, typename Function, typename... Parameters>
  std::vector<T> generate(Function function, size_t n, Parameters... parameters) {
    Buffer<T> memory(n);
    CHECK_RAND(function(generator_, memory, n, parameters...));
    return memory.host();
  }
  template <typename T>
  std::vector<T> integers(size_t n) {
    if constexpr (sizeof(T) == 1) return generate<T>(rocrand_generate_char, n);
    else if constexpr (sizeof(T) == 2) return generate<T>(rocrand_generate_short, n);
    else return generate<T>(rocrand_generate, n);
  }

 private:
  rocrand_generator generator_;
};
