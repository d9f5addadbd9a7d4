// A kernel that traps, aborts or fails an assertion gives an error, and the process lives on.
#undef NDEBUG
#include "check.h"
#include <cassert>
#include <cstring>

__global__ void traps() { __builtin_trap(); }
__global__ void aborts() { abort(); }
__global__ void asserts(int value) { assert(value == 7); }
__global__ void prints_and_traps() {
  printf("before the trap\n");
  __builtin_trap();
}
// The blocks meet in memory, as newer device libraries have them do; then one of them traps.
__global__ void meets_and_traps(unsigned* arrived, unsigned trapping) {
  atomicAdd(arrived, 1u);
  while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) % gridDim.x != 0) __builtin_amdgcn_s_sleep(8);
  if (blockIdx.x == trapping) __builtin_trap();
}
__global__ void fill(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

static int failures = 0;

static void lives() {
  int* out;
  CHECK(hipMalloc(reinterpret_cast<void**>(&out), 64 * sizeof *out));
  fill<<<1, 64>>>(out);
  int host[64];
  CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) {
    if (host[i] != i) ++failures;
  }
  CHECK(hipFree(out));
}

static void expect(const char* what, hipError_t error) {
  hipError_t status = hipDeviceSynchronize();
  if (status != error) {
    std::fprintf(stderr, "%s: %s\n", what, hipGetErrorName(status));
    ++failures;
  }
  // The error is the kernel's, not the process's.
  (void)hipGetLastError();
  lives();
}

static void meet(unsigned* arrived, unsigned trapping, hipStream_t stream) {
  void* arguments[] = {&arrived, &trapping};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(meets_and_traps), dim3(8), dim3(1), arguments, 0, stream));
}

int main() {
  traps<<<1, 64>>>();
  expect("trap", hipErrorLaunchFailure);
  aborts<<<4, 64>>>();
  expect("abort", hipErrorLaunchFailure);
  asserts<<<1, 1>>>(7);
  expect("an assertion that holds", hipSuccess);
  asserts<<<1, 1>>>(8);
  expect("an assertion that fails", hipErrorLaunchFailure);
  prints_and_traps<<<1, 1>>>();
  expect("print and trap", hipErrorLaunchFailure);

  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  unsigned* arrived;
  CHECK(hipMalloc(reinterpret_cast<void**>(&arrived), sizeof *arrived));
  CHECK(hipMemset(arrived, 0, sizeof *arrived));
  for (int round = 0; round < 2; ++round) {
    meet(arrived, 8, stream);
    expect("a cooperative kernel", hipSuccess);
    meet(arrived, 3, stream);
    expect("a cooperative kernel that traps", hipErrorLaunchFailure);
  }

  // In a graph, too.
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  asserts<<<1, 1, 0, stream>>>(9);
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 2; ++launch) {
    CHECK(hipGraphLaunch(exec, stream));
    hipError_t status = hipStreamSynchronize(stream);
    if (status != hipErrorLaunchFailure) {
      std::fprintf(stderr, "graph: %s\n", hipGetErrorName(status));
      ++failures;
    }
    lives();
  }
  // Faults in flight over and over take no packets of the hostcall buffer with them.
  for (int i = 0; i < 20; ++i) {
    prints_and_traps<<<64, 256>>>();
    if (hipDeviceSynchronize() != hipErrorLaunchFailure) ++failures;
  }
  lives();
  if (failures) return 1;
  std::puts("Validation passed.");
}
