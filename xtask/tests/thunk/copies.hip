// Copies, fills and memsets of AMD's HIP runtime, most of which are kernels that it compiles when it starts.
#include "check.h"
#include <cstring>
#include <vector>

using Bytes = std::vector<unsigned char>;
constexpr size_t SIZE = 3 << 20;

static int failures;

static void expect(bool right, const char* what, size_t size = 0, size_t from = 0, size_t to = 0) {
  if (right) return;
  std::printf("%s is wrong: %zu bytes from %zu to %zu\n", what, size, from, to);
  ++failures;
}

int main() {
  const size_t sizes[] = {1, 3, 4, 7, 8, 16, 63, 64, 65, 256, 1000, 4095, 4096, 65537, (1 << 20) + 3};
  const size_t offsets[] = {0, 1, 4};
  Bytes source(SIZE), model(SIZE, 0), back(SIZE);
  for (size_t i = 0; i < SIZE; ++i) source[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  unsigned char *a, *b;
  CHECK(hipMalloc(reinterpret_cast<void**>(&a), SIZE));
  CHECK(hipMalloc(reinterpret_cast<void**>(&b), SIZE));
  CHECK(hipMemcpy(a, source.data(), SIZE, hipMemcpyHostToDevice));
  CHECK(hipMemset(b, 0, SIZE));
  int copies = 0;
  for (size_t size : sizes) {
    for (size_t from : offsets) {
      for (size_t to : offsets) {
        CHECK(hipMemcpy(b + to, a + from, size, hipMemcpyDeviceToDevice));
        std::memcpy(&model[to], &source[from], size);
        // HIP: hipMemset of 5.2.3 goes astray for a few bytes at an odd address: its head, body and tail underflow.
        size_t start = (to + size + 15) / 16 * 16, length = size / 16 * 16 + 16;
        CHECK(hipMemset(b + start, static_cast<int>(size + to), length));
        std::memset(&model[start], static_cast<int>(size + to), length);
        CHECK(hipMemcpy(back.data(), b, start + length + 64, hipMemcpyDeviceToHost));
        const bool same = std::memcmp(back.data(), model.data(), start + length + 64) == 0;
        expect(same, "a copy on the device", size, from, to);
        ++copies;
      }
      CHECK(hipMemcpy(a + from, &source[from], size, hipMemcpyHostToDevice));
      CHECK(hipMemcpy(&back[from + 3], a + from, size, hipMemcpyDeviceToHost));
      expect(std::memcmp(&back[from + 3], &source[from], size) == 0, "a copy there and back", size, from);
    }
  }
  std::printf("%d copies\n", copies);

  // Two dimensions, and words.
  CHECK(hipMemcpy2D(a, 1000, source.data(), 777, 700, 100, hipMemcpyHostToDevice));
  CHECK(hipMemcpy2D(b, 513, a, 1000, 500, 100, hipMemcpyDeviceToDevice));
  CHECK(hipMemcpy2D(back.data(), 600, b, 513, 500, 100, hipMemcpyDeviceToHost));
  for (size_t row = 0; row < 100; ++row) {
    expect(std::memcmp(&back[row * 600], &source[row * 777], 500) == 0, "a row", 500, row);
  }
  CHECK(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(a), 0x12345678, 1000));
  CHECK(hipMemcpy(back.data(), a, 4000, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < 1000; ++i) {
    expect(reinterpret_cast<unsigned*>(back.data())[i] == 0x12345678, "a word", 4, i);
  }

  // Memory of the host that the device sees: pinned, registered, managed.
  unsigned char *pinned, *managed, *seen;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 1 << 20, hipHostMallocDefault));
  CHECK(hipMemcpyAsync(pinned, a, 4000, hipMemcpyDeviceToHost, nullptr));
  CHECK(hipDeviceSynchronize());
  expect(std::memcmp(pinned, back.data(), 4000) == 0, "a copy to pinned memory", 4000);
  CHECK(hipHostRegister(source.data(), SIZE, hipHostRegisterMapped));
  CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), source.data(), 0));
  CHECK(hipMemset(seen + 4096, 0x5a, 8192));
  CHECK(hipDeviceSynchronize());
  for (size_t i = 4096; i < 4096 + 8192; ++i) expect(source[i] == 0x5a, "registered memory", 1, i);
  // HIP: hipHostUnregister of 5.2.3 aborts where the device's address of the memory is the host's, as it is here.
  CHECK(hipMallocManaged(reinterpret_cast<void**>(&managed), 1 << 16));
  managed[0] = 1;
  CHECK(hipMemset(managed, 3, 1 << 16));
  CHECK(hipDeviceSynchronize());
  expect(managed[0] == 3 && managed[65535] == 3, "managed memory");
  CHECK(hipFree(managed));
  CHECK(hipHostFree(pinned));
  CHECK(hipFree(a));
  CHECK(hipFree(b));
  if (failures != 0) return 1;
  std::puts("Validation passed.");
  return 0;
}
