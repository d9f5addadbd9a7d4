// Two devices: each computes on memory of its own, and one copies from the other.
#include "check.h"

__global__ void number(int* data, int base) { data[threadIdx.x] = base + static_cast<int>(threadIdx.x); }

int main() {
  int count = 0;
  CHECK(hipGetDeviceCount(&count));
  std::printf("devices: %d\n", count);
  if (count < 2) return 1;
  int* data[2];
  int host[2][256];
  for (int device = 0; device < 2; ++device) {
    CHECK(hipSetDevice(device));
    CHECK(hipMalloc(reinterpret_cast<void**>(&data[device]), sizeof host[0]));
    number<<<1, 256>>>(data[device], 1000 * (device + 1));
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
  }
  for (int device = 0; device < 2; ++device) {
    CHECK(hipMemcpy(host[device], data[device], sizeof host[0], hipMemcpyDeviceToHost));
    for (int i = 0; i < 256; ++i) {
      if (host[device][i] != 1000 * (device + 1) + i) return 1;
    }
  }
  CHECK(hipMemcpyPeer(data[0], 0, data[1], 1, sizeof host[0]));
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(host[0], data[0], sizeof host[0], hipMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) {
    if (host[0][i] != 2000 + i) return 1;
  }
  std::puts("Validation passed.");
  return 0;
}
