// Kernels that launch graphs: one each, many at once, again and again, and what is refused.
#include "check.h"
#include "../../capi/include/aqlipse/device_graph.h"

#include <vector>

// Headers of HIP 5.2 have neither.
extern "C" hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream);
static const unsigned long long device_launch = 4;

static int failures = 0;

static void expect(const char* what, int found, int wanted) {
  if (found != wanted) {
    std::fprintf(stderr, "%s: %d instead of %d\n", what, found, wanted);
    ++failures;
  }
}

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void start(const aqlipseDeviceGraph_t* graphs, int* results) {
  results[threadIdx.x] = aqlipseGraphLaunch(graphs[threadIdx.x]);
}
// Only every second thread of a wave launches, in a branch.
__global__ void start_some(const aqlipseDeviceGraph_t* graphs, int* results) {
  results[threadIdx.x] = -1;
  if (threadIdx.x % 2) results[threadIdx.x] = aqlipseGraphLaunch(graphs[threadIdx.x]);
}

static hipGraph_t chain(int* data, int length) {
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t last = nullptr;
  int one = 1;
  for (int i = 0; i < length; ++i) {
    void* arguments[] = {&data, &one};
    hipKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = dim3(1);
    params.blockDim = dim3(64);
    params.kernelParams = arguments;
    hipGraphNode_t node;
    CHECK(hipGraphAddKernelNode(&node, graph, last ? &last : nullptr, last ? 1 : 0, &params));
    last = node;
  }
  return graph;
}

int main() {
  const int count = 64, length = 5;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  std::vector<int*> data(count);
  std::vector<hipGraphExec_t> execs(count);
  aqlipseDeviceGraph_t* graphs;
  int* results;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&graphs), count * sizeof *graphs, hipHostMallocDefault));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&results), count * sizeof *results, hipHostMallocDefault));
  for (int i = 0; i < count; ++i) {
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&data[i]), 64 * sizeof *data[i], hipHostMallocDefault));
    for (int k = 0; k < 64; ++k) data[i][k] = 0;
    hipGraph_t graph = chain(data[i], length);
    CHECK(hipGraphInstantiateWithFlags(&execs[i], graph, device_launch));
    CHECK(hipGraphDestroy(graph));
    CHECK(aqlipseGraphExecGetDeviceGraph(&graphs[i], execs[i]));
  }

  start<<<1, count, 0, stream>>>(graphs, results);
  CHECK(hipStreamSynchronize(stream));
  for (int i = 0; i < count; ++i) expect("before the upload", results[i], aqlipseGraphNotUploaded);

  for (hipGraphExec_t exec : execs) CHECK(hipGraphUpload(exec, stream));
  for (int round = 1; round <= 3; ++round) {
    start<<<1, count, 0, stream>>>(graphs, results);
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < count; ++i) {
      expect("launched", results[i], aqlipseGraphLaunched);
      expect("the graph ran", data[i][i], round * length);
    }
  }

  start_some<<<1, count, 0, stream>>>(graphs, results);
  CHECK(hipDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    expect("launched by every second thread", results[i], i % 2 ? aqlipseGraphLaunched : -1);
    expect("every second graph ran", data[i][0], (3 + i % 2) * length);
  }

  // The host's launch comes behind the kernel's.
  start<<<1, 1, 0, stream>>>(graphs, results);
  CHECK(hipGraphLaunch(execs[0], stream));
  CHECK(hipStreamSynchronize(stream));
  expect("launched once more", results[0], aqlipseGraphLaunched);
  expect("both ran", data[0][0], 5 * length);

  for (hipGraphExec_t exec : execs) CHECK(hipGraphExecDestroy(exec));
  if (failures == 0) std::puts("Validation passed.");
  return failures != 0;
}
