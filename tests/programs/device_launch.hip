// What a launch brings along: shared memory whose size it names, and clocks.
#include "device_test.h"
#include <chrono>
#include <thread>

// Shared memory behind what the kernel has anyway, in every byte of it.
extern __shared__ unsigned char dynamic[];
__global__ void shared(unsigned* out, unsigned bytes) {
  __shared__ unsigned fixed[16];
  if (threadIdx.x < 16) fixed[threadIdx.x] = threadIdx.x;
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) dynamic[i] = static_cast<unsigned char>(i * 7 + blockIdx.x);
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) sum += dynamic[bytes - 1 - i];
  atomicAdd(&out[blockIdx.x], sum);
  if (threadIdx.x < 16 && fixed[threadIdx.x] != threadIdx.x) atomicAdd(&out[blockIdx.x], 1u << 30);
}
static std::vector<unsigned> sums(unsigned blocks, unsigned bytes, unsigned launches) {
  std::vector<unsigned> want(blocks, 0);
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned i = 0; i < bytes; ++i) want[block] += launches * static_cast<unsigned char>(i * 7 + block);
  return want;
}
DEVICE_TEST(shared_memory_of_the_launch) {
  int most;
  CHECK(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  for (unsigned bytes : {0u, 1u, 100u, 4096u, most - 64u}) {
    Buffer<unsigned> out(5);
    LAUNCH(shared, 5, 100, bytes, out, bytes);
    expect_equal("sums", out.host(), sums(5, bytes, 1));
  }
  shared<<<1, 64, most>>>(nullptr, 0);
  hipError_t status = hipGetLastError();
  if (status == hipSuccess) FAIL("all that a block may have, beside what the kernel has, was accepted");
}

DEVICE_TEST(shared_memory_in_graphs) {
  Buffer<unsigned> captured(5), added(5);
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipGraphNode_t node;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  shared<<<5, 64, 3000, stream>>>(captured, 3000);
  CHECK(hipStreamEndCapture(stream, &graph));
  unsigned* out = added;
  unsigned bytes = 50000;
  void* arguments[] = {&out, &bytes};
  hipKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(shared);
  params.gridDim = dim3(5);
  params.blockDim = dim3(256);
  params.sharedMemBytes = bytes;
  params.kernelParams = arguments;
  CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 2; ++launch) CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  expect_equal("captured", captured.host(), sums(5, 3000, 2));
  expect_equal("added", added.host(), sums(5, 50000, 2));
  params.sharedMemBytes = bytes = 77;
  CHECK(hipGraphExecKernelNodeSetParams(exec, node, &params));
  CHECK(hipMemset(added, 0, 5 * sizeof(unsigned)));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  expect_equal("updated", added.host(), sums(5, 77, 1));
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
}

// The wall clock counts at the rate that the device tells, between kernels and within one.
__global__ void clocks(long long* out) {
#if __HIP_DEVICE_COMPILE__  // The headers have the clocks for the device only.
  const long long wall = wall_clock64(), cycles = clock64();
  out[0] = wall;
  // A millisecond at 100 MHz.
  while (wall_clock64() - wall < 100000) {
  }
  out[1] = wall_clock64();
  out[2] = clock64() - cycles;
#else
  (void)out;
#endif
}
#if HIP_VERSION_MAJOR < 6
constexpr auto WALL_CLOCK_RATE = static_cast<hipDeviceAttribute_t>(10017);
#else
constexpr auto WALL_CLOCK_RATE = hipDeviceAttributeWallClockRate;
#endif
DEVICE_TEST(clocks_count) {
  int rate = 0;
  CHECK(hipDeviceGetAttribute(&rate, WALL_CLOCK_RATE, 0));
  if (rate != 100000) FAIL("the wall clock counts %d kHz", rate);
  Buffer<long long> first(3), second(3);
  const auto before = std::chrono::steady_clock::now();
  LAUNCH(clocks, 1, 1, 0, first);
  CHECK(hipDeviceSynchronize());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  LAUNCH(clocks, 1, 1, 0, second);
  CHECK(hipDeviceSynchronize());
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  const auto a = first.host(), b = second.host();
  const double between = static_cast<double>(b[1] - a[0]) / (rate * 1000.0);
  if (a[1] - a[0] < 100000 || a[2] <= 0) FAIL("within a kernel: %lld and %lld", a[1] - a[0], a[2]);
  if (between < 0.020 || between > elapsed) FAIL("%f s between two kernels, in %f s", between, elapsed);
}

// A kernel has the host call a function, once for each lane.
typedef unsigned long Pair __attribute__((ext_vector_type(2)));
extern "C" __device__ Pair __ockl_call_host_function(unsigned long function, unsigned long, unsigned long, unsigned long,
                                                     unsigned long, unsigned long, unsigned long, unsigned long);
static unsigned long calls = 0;
static void weigh(unsigned long* results, const unsigned long* arguments) {
  results[0] = 0;
  for (unsigned i = 0; i < 7; ++i) results[0] += (i + 1) * arguments[i];
  results[1] = ++calls;
}
__global__ void calls_host(unsigned long function, unsigned long* out) {
  const unsigned long i = threadIdx.x;
  if (i % 3 == 1) return;
  Pair pair = __ockl_call_host_function(function, i, 2 * i, 3 * i, 4, 5, 6, i * i);
  out[2 * i] = pair.x;
  out[2 * i + 1] = pair.y;
}
DEVICE_TEST(functions_of_the_host) {
  constexpr unsigned long threads = 100;
  Buffer<unsigned long> out(2 * threads);
  LAUNCH(calls_host, 1, threads, 0, reinterpret_cast<unsigned long>(weigh), out);
  auto got = out.host();
  unsigned long called = 0;
  for (unsigned long i = 0; i < threads; ++i) {
    const bool calling = i % 3 != 1;
    const unsigned long want = calling ? i + 4 * i + 9 * i + 16 + 25 + 36 + 7 * i * i : 0;
    if (got[2 * i] != want) FAIL("thread %lu got %lu, not %lu", i, got[2 * i], want);
    if (calling != (got[2 * i + 1] != 0)) FAIL("thread %lu was called %lu", i, got[2 * i + 1]);
    called += calling;
  }
  if (calls != called) FAIL("%lu calls, not %lu", calls, called);
}

// A function that is none is an error of the kernel's, and later kernels are served.
DEVICE_TEST(what_is_no_function_is_not_called) {
  Buffer<unsigned long> out(2);
  LAUNCH(calls_host, 1, 1, 0, 0x1000ul, out);
  hipError_t status = hipDeviceSynchronize();
  if (status != hipErrorLaunchFailure) FAIL("a call of nothing: %s", hipGetErrorName(status));
  (void)hipGetLastError();
  LAUNCH(calls_host, 1, 1, 0, reinterpret_cast<unsigned long>(weigh), out);
  CHECK(hipDeviceSynchronize());
  if (out.host()[1] != calls) FAIL("a call after it");
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
