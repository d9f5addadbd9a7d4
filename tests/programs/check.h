// Every HIP call of the test programs goes through CHECK: the first error ends the program with its name.
#pragma once
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    hipError_t status_ = (call);                                                                 \
    if (status_ != hipSuccess) {                                                                 \
      std::fprintf(stderr, "%s:%d: %s: %s (%d)\n", __FILE__, __LINE__, #call,                    \
                   hipGetErrorName(status_), static_cast<int>(status_));                         \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

// Size of the problem: SIZE elements in blocks of 1024, 2^20 unless the first argument says otherwise.
inline size_t problem_size(int argc, char** argv) {
  size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : (size_t{1} << 20);
  if (n == 0 || n % 1024 != 0) {
    std::fprintf(stderr, "the size must be a multiple of 1024\n");
    std::exit(2);
  }
  return n;
}
// Launches of the same executable graph: 101 unless the second argument says otherwise.
inline int launches(int argc, char** argv) { return argc > 2 ? std::atoi(argv[2]) : 101; }
