// Registers many fat binaries the way that clang's static constructors do, and uses some kernels of some of them.
// The first argument says how many, a second one that starting is all: prints the microseconds that the registration took.
#include "check.h"
#include <chrono>
#include <string>
#include <vector>

constexpr int BINARIES = 111, KERNELS = 108;  // 11,988 kernels

// The same bundle 111 times, each copy on a page of its own as the linker would place it.
asm(".pushsection .hip_fatbin, \"a\"\n"
    ".p2align 12\n"
    "binaries_start:\n"
    ".rept 111\n"
    ".incbin \"" BUNDLE "\"\n"
    ".p2align 12\n"
    ".endr\n"
    "binaries_end:\n"
    ".popsection\n");
extern "C" const char binaries_start[], binaries_end[];

struct Wrapper {
  unsigned magic, version;
  const void* binary;
  void* unused;
};
static Wrapper wrappers[BINARIES];
// Their addresses are what the program calls the kernels and variables by.
static char kernels[BINARIES][KERNELS];
static int variables[BINARIES];

extern "C" {
void** __hipRegisterFatBinary(const void* wrapper);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterFunction(void** handle, const void* host, char* device_name, const char* name, unsigned limit,
                           void* tid, void* bid, dim3* block, dim3* grid, int* wave);
void __hipRegisterVar(void** handle, void* host, char* device_name, const char* name, int external, size_t bytes,
                      int constant, int global);
}

static int use(int binary, int kernel, int* out, std::vector<int>& host) {
  void* arguments[] = {&out};
  CHECK(hipLaunchKernel(&kernels[binary][kernel], dim3(1), dim3(64), arguments, 0, nullptr));
  CHECK(hipMemcpy(host.data(), out, host.size() * sizeof(int), hipMemcpyDeviceToHost));
  for (int value : host) {
    if (value != binary * 1000 + kernel) {
      std::fprintf(stderr, "kernel %d of binary %d gives %d\n", kernel, binary, value);
      return 1;
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : BINARIES;
  if (count < 0 || count > BINARIES) return 2;
  std::vector<std::string> names;
  for (int k = 0; k < KERNELS; ++k) {
    names.push_back("kernel_" + std::to_string(k / 36) + std::to_string(k / 6 % 6) + std::to_string(k % 6));
  }
  const size_t stride = static_cast<size_t>(binaries_end - binaries_start) / BINARIES;

  const auto start = std::chrono::steady_clock::now();
  std::vector<void**> handles;
  for (int b = 0; b < count; ++b) {
    wrappers[b] = {0x48495046, 1, binaries_start + static_cast<size_t>(b) * stride, nullptr};
    void** handle = __hipRegisterFatBinary(&wrappers[b]);
    for (int k = 0; k < KERNELS; ++k) {
      char* name = names[static_cast<size_t>(k)].data();
      __hipRegisterFunction(handle, &kernels[b][k], name, name, ~0u, nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    static char variable[] = "base";  // the library may keep the pointer, as it may those of the compiler's constants
    __hipRegisterVar(handle, &variables[b], variable, variable, 0, sizeof(int), 0, 0);
    handles.push_back(handle);
  }
  const auto registered = std::chrono::steady_clock::now() - start;
  std::printf("%lld us\n", static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(registered).count()));

  if (argc > 2) {
    std::puts("Validation passed.");
    return 0;
  }
  int* out;
  CHECK(hipMalloc(reinterpret_cast<void**>(&out), 64 * sizeof(int)));
  std::vector<int> host(64);
  const int chosen[][2] = {{0, 0}, {0, 107}, {1, 50}, {57, 36}, {110, 0}, {110, 107}};
  for (auto [b, k] : chosen) {
    if (b >= count) continue;
    const int base = b * 1000;
    CHECK(hipMemcpyToSymbol(variables[b], &base, sizeof base, 0, hipMemcpyHostToDevice));
    if (use(b, k, out, host) != 0) return 1;
  }
  CHECK(hipFree(out));
  for (void** handle : handles) __hipUnregisterFatBinary(handle);
  std::puts("Validation passed.");
  return 0;
}
