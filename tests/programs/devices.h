// Memory on several devices, and kernels that fill it and add to it.
// The first argument of the program says how many devices there are; the others choose tests.
#pragma once
#include "device_test.h"

inline int devices = 0;

__global__ void fill(unsigned* out, unsigned count, unsigned value) {
  for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += blockDim.x * gridDim.x) out[i] = value + i;
}
__global__ void add(unsigned* out, const unsigned* in, unsigned count) {
  for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += blockDim.x * gridDim.x) out[i] += in[i];
}

constexpr unsigned COUNT = 50000;
constexpr size_t BYTES = COUNT * sizeof(unsigned);

inline unsigned* on_device(int device, unsigned value) {
  unsigned* memory;
  CHECK(hipSetDevice(device));
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), BYTES));
  LAUNCH(fill, 7, 128, 0, memory, COUNT, value);
  CHECK(hipDeviceSynchronize());
  return memory;
}
inline std::vector<unsigned> counted(unsigned value, unsigned factor = 1) {
  std::vector<unsigned> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) want[i] = value + factor * i;
  return want;
}
inline std::vector<unsigned> read(const unsigned* memory) {
  std::vector<unsigned> host(COUNT);
  CHECK(hipMemcpy(host.data(), memory, BYTES, hipMemcpyDeviceToHost));
  return host;
}
inline void expect_status(const char* what, hipError_t got, hipError_t want) {
  if (got != want) FAIL("%s: %s", what, hipGetErrorName(got));
  (void)hipGetLastError();
}

inline int run_on_devices(int argc, char** argv) {
  if (argc < 2) return 2;
  devices = std::atoi(argv[1]);
  return run_device_tests(argc - 1, argv + 1);
}
