// A client of libroctx64.so: ranges around calls, of which one is not recorded.
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstdio>

// roctx.h, which only ROCm has.
extern "C" {
void roctxMarkA(const char* message);
int roctxRangePushA(const char* message);
int roctxRangePop();
uint64_t roctxRangeStartA(const char* message);
void roctxRangeStop(uint64_t range);
}

// hipProfilerStart and hipProfilerStop are, and programs call them.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

int main() {
  int outer = roctxRangePushA("outer");
  uint64_t apart = roctxRangeStartA("apart");
  roctxMarkA("mark");
  int inner = roctxRangePushA("inner");
  void* memory;
  if (hipMalloc(&memory, 4096) != hipSuccess) return 1;
  int ends[] = {roctxRangePop(), roctxRangePop(), roctxRangePop()};
  roctxRangeStop(apart);
  if (hipProfilerStop() != hipSuccess) return 2;
  roctxRangePushA("paused");
  if (hipFree(memory) != hipSuccess) return 3;
  roctxRangePop();
  if (hipProfilerStart() != hipSuccess) return 4;
  if (outer != 0 || inner != 1 || ends[0] != 1 || ends[1] != 0 || ends[2] != -1) return 5;
  std::puts("Validation passed.");
}
