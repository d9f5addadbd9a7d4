// Edges that no data needs: `aqlipse check edges`.
#include <vector>

#include "cases.h"

constexpr int N = 4096;
constexpr int THREADS = 256;
static int* memory;

__global__ void put(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add(int* to, const int* from) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  to[n] += from[n];
}

__global__ void count(int* counter) { atomicAdd(counter, 1); }

// A quarter of the memory.
static int* part(int n) { return memory + n * (N / 4); }

struct Built {
  hipGraph_t graph;
  Built() { CHECK(hipGraphCreate(&graph, 0)); }
  hipGraphNode_t kernel(void* function, void** arguments, std::vector<hipGraphNode_t> after) {
    hipKernelNodeParams params{};
    params.func = function;
    params.gridDim = dim3(N / 4 / THREADS);
    params.blockDim = THREADS;
    params.kernelParams = arguments;
    hipGraphNode_t node;
    CHECK(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  hipGraphNode_t fills(int to, std::vector<hipGraphNode_t> after) {
    int* place = part(to);
    int value = to;
    void* arguments[] = {&place, &value};
    return kernel(reinterpret_cast<void*>(put), arguments, after);
  }
  hipGraphNode_t adds(int to, int from, std::vector<hipGraphNode_t> after) {
    int *place = part(to), *other = part(from);
    void* arguments[] = {&place, &other};
    return kernel(reinterpret_cast<void*>(add), arguments, after);
  }
  hipGraphNode_t counts(int to, std::vector<hipGraphNode_t> after) {
    int* place = part(to);
    void* arguments[] = {&place};
    return kernel(reinterpret_cast<void*>(count), arguments, after);
  }
  hipGraphNode_t nothing(std::vector<hipGraphNode_t> after) {
    hipGraphNode_t node;
    CHECK(hipGraphAddEmptyNode(&node, graph, after.data(), after.size()));
    return node;
  }
  hipGraphNode_t clears(int to, std::vector<hipGraphNode_t> after) {
    hipMemsetParams params{};
    params.dst = part(to);
    params.elementSize = 4;
    params.width = N / 4;
    params.height = 1;
    hipGraphNode_t node;
    CHECK(hipGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  hipGraphNode_t calls(std::vector<hipGraphNode_t> after) {
    hipHostNodeParams params{};
    params.fn = [](void*) {};
    hipGraphNode_t node;
    CHECK(hipGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  void run() {
    hipGraphExec_t exec;
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int n = 0; n < 2; n++) CHECK(hipGraphLaunch(exec, nullptr));
    CHECK(hipDeviceSynchronize());
  }
};

static void two_parts() {
  Built g;
  auto first = g.fills(0, {});
  defect ? g.fills(1, {first}) : g.fills(1, {});
  g.run();
}

static void readers() {
  Built g;
  auto filled = g.fills(0, {});
  auto first = g.adds(1, 0, {filled});
  g.adds(2, 0, {defect ? first : filled});
  g.run();
}

static void counters() {
  Built g;
  auto cleared = g.clears(0, {});
  auto first = g.counts(0, {cleared});
  g.counts(0, {defect ? first : cleared});
  g.run();
}

static void through_a_join() {
  Built g;
  auto one = g.fills(0, {}), other = g.fills(1, {});
  auto both = g.nothing({one, other});
  if (defect) {
    g.adds(2, 0, {both});
  } else {
    g.adds(0, 1, {both});
  }
  g.run();
}

// The edge to the last is one that a path stands for, which costs nothing.
static void shortcut() {
  Built g;
  auto filled = g.fills(0, {});
  auto first = g.adds(1, 0, {filled});
  auto second = g.adds(1, 0, {first, filled});
  if (defect) g.fills(3, {second});
  g.run();
}

static void host_function() {
  Built g;
  auto filled = g.fills(0, {});
  auto called = g.calls({filled});
  g.fills(1, {called});
  if (defect) g.fills(2, {filled});
  g.run();
}

static void captured() {
  hipStream_t stream, other;
  hipEvent_t forked, joined;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamCreate(&other));
  CHECK(hipEventCreate(&forked));
  CHECK(hipEventCreate(&joined));
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipEventRecord(forked, stream));
  CHECK(hipStreamWaitEvent(other, forked, 0));
  put<<<N / 4 / THREADS, THREADS, 0, stream>>>(part(0), 1);
  put<<<N / 4 / THREADS, THREADS, 0, defect ? stream : other>>>(part(1), 2);
  CHECK(hipEventRecord(joined, other));
  CHECK(hipStreamWaitEvent(stream, joined, 0));
  add<<<N / 4 / THREADS, THREADS, 0, stream>>>(part(0), part(1));
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
}

static const Case CASES[] = {
    {"two_parts", two_parts},
    {"readers", readers},
    {"counters", counters},
    {"through_a_join", through_a_join},
    {"shortcut", shortcut},
    {"host_function", host_function},
    {"captured", captured},
};

int main(int argc, char** argv) {
  if (argc > 1) CHECK(hipMalloc(reinterpret_cast<void**>(&memory), N * sizeof(int)));
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
