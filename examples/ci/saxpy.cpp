// y = a * x + y, in a graph that is launched twice.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    hipError_t status_ = (call);                                                 \
    if (status_ != hipSuccess) {                                                 \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status_));       \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  constexpr int N = 10'000;
  std::vector<float> x(N), y(N, 1.0f);
  for (int i = 0; i < N; ++i) x[i] = float(i);
  float *dx, *dy;
  CHECK(hipMalloc(&dx, N * sizeof(float)));
  CHECK(hipMalloc(&dy, N * sizeof(float)));
  CHECK(hipMemcpy(dx, x.data(), N * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dy, y.data(), N * sizeof(float), hipMemcpyHostToDevice));

  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  saxpy<<<(N + 255) / 256, 256, 0, stream>>>(N, 2.0f, dx, dy);
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 2; ++launch) CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));

  CHECK(hipMemcpy(y.data(), dy, N * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i) {
    if (y[i] != 4.0f * x[i] + 1.0f) {
      std::fprintf(stderr, "y[%d] is %g\n", i, y[i]);
      return 1;
    }
  }
  std::puts("saxpy: all values are right");
}
