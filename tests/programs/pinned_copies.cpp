// Large copies of pinned memory on a stream, to the device and back.
#include "check.h"

int main() {
  const size_t n = 4 << 20, bytes = n * sizeof(int);
  int *from, *device, *to;
  hipStream_t stream;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&from), bytes, hipHostMallocDefault));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&to), bytes, hipHostMallocDefault));
  CHECK(hipMalloc(reinterpret_cast<void**>(&device), bytes));
  CHECK(hipStreamCreate(&stream));
  for (size_t i = 0; i < n; ++i) from[i] = static_cast<int>(i), to[i] = 0;
  CHECK(hipMemcpyAsync(device, from, bytes, hipMemcpyHostToDevice, stream));
  CHECK(hipMemcpyAsync(to, device, bytes, hipMemcpyDeviceToHost, stream));
  CHECK(hipStreamSynchronize(stream));
  size_t wrong = 0;
  for (size_t i = 0; i < n; ++i) wrong += to[i] != from[i];
  if (wrong == 0) std::puts("Validation passed.");
  return wrong != 0;
}
