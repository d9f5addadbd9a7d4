// Graphs with a defect that `aqlipse check graph` must find, each with its twin without it.
//
//     check_graph NAME         the twin
//     check_graph NAME defect  the same with the defect
//     check_graph              the names
#include <cstring>
#include <tuple>
#include <vector>

#include "check.h"

constexpr int N = 4096;
constexpr size_t BYTES = N * sizeof(int);

__global__ void put(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void copy(int* to, const int* from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}
__global__ void every_other(int* to, int first) { to[2 * (blockIdx.x * blockDim.x + threadIdx.x) + first] = first; }
__global__ void bytes(char* to, int first) { to[4 * (blockIdx.x * blockDim.x + threadIdx.x) + first] = 1; }
__global__ void count(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void look(const unsigned* counter, int* to) { to[threadIdx.x] = static_cast<int>(*counter); }
__global__ void through(int* const* table, int which) { table[which][threadIdx.x] = which; }
__global__ void some(int* to, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= limit) to[i] = i;
}
__global__ void scatter(int* to, const int* places) { to[places[threadIdx.x]] = 1; }
__device__ int global;
__global__ void set_global(int value) { global = value; }
__global__ void get_global(int* to) { *to = global; }

static bool defect;
static int *a, *b, *c;

struct Built {
  hipGraph_t graph;
  Built() { CHECK(hipGraphCreate(&graph, 0)); }
  template <typename... P, typename... A>
  hipGraphNode_t kernel(void (*function)(P...), std::vector<hipGraphNode_t> after, dim3 blocks, dim3 threads,
                        A... arguments) {
    std::tuple<P...> values(arguments...);
    void* places[sizeof...(P)];
    std::apply([&](auto&... value) { size_t n = 0; ((places[n++] = &value), ...); }, values);
    hipKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(function);
    params.gridDim = blocks;
    params.blockDim = threads;
    params.kernelParams = places;
    hipGraphNode_t node;
    CHECK(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  hipGraphNode_t move(std::vector<hipGraphNode_t> after, void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
    hipGraphNode_t node;
    CHECK(hipGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, from, bytes, kind));
    return node;
  }
  hipGraphNode_t fill(std::vector<hipGraphNode_t> after, void* at, size_t bytes) {
    hipMemsetParams params{};
    params.dst = at;
    params.elementSize = 1;
    params.width = bytes;
    params.height = 1;
    hipGraphNode_t node;
    CHECK(hipGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  hipGraphExec_t instantiate() {
    hipGraphExec_t exec;
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
  }
  void run(hipGraphExec_t exec) {
    CHECK(hipGraphLaunch(exec, nullptr));
    CHECK(hipDeviceSynchronize());
  }
  void run() { run(instantiate()); }
};

using Nodes = std::vector<hipGraphNode_t>;

/// An edge that the defect leaves out.
static Nodes edge(hipGraphNode_t node) { return defect ? Nodes{} : Nodes{node}; }

static const dim3 BLOCKS(N / 256), THREADS(256);

static void read_after_write() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  g.kernel(copy, edge(first), BLOCKS, THREADS, b, a);
  g.run();
}

static void write_after_read() {
  Built g;
  auto first = g.kernel(copy, {}, BLOCKS, THREADS, b, a);
  g.kernel(put, edge(first), BLOCKS, THREADS, a, 1);
  g.run();
}

static void write_after_write() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  g.kernel(put, edge(first), BLOCKS, THREADS, a, 2);
  g.run();
}

// Readers need no order.
static void readers() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  g.kernel(copy, {first}, BLOCKS, THREADS, b, a);
  g.kernel(copy, edge(first), BLOCKS, THREADS, c, a);
  g.run();
}

// Far behind in the graph.
static void transitive() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  auto before = g.kernel(put, edge(first), BLOCKS, THREADS, b, 1);
  for (int n = 0; n < 70; n++) before = g.kernel(put, {before}, BLOCKS, THREADS, b, n);
  g.kernel(copy, {before}, BLOCKS, THREADS, c, a);
  g.run();
}

// One element too many.
static void off_by_one() {
  Built g;
  g.kernel(some, {}, BLOCKS, THREADS, a, N / 2 - 1 + defect);
  g.kernel(put, {}, dim3(N / 512), THREADS, a + N / 2, 1);
  g.run();
}

// Between the elements of the other.
static void interleaved() {
  Built g;
  g.kernel(every_other, {}, dim3(N / 512), THREADS, a, 0);
  g.kernel(every_other, {}, dim3(N / 512), THREADS, a, defect ? 0 : 1);
  g.run();
}

static void neighbouring_bytes() {
  Built g;
  g.kernel(bytes, {}, BLOCKS, THREADS, reinterpret_cast<char*>(a), 1);
  g.kernel(bytes, {}, BLOCKS, THREADS, reinterpret_cast<char*>(a), defect ? 1 : 2);
  g.run();
}

static void scattered() {
  int places[64], others[64];
  for (int n = 0; n < 64; n++) places[n] = 37 * n % N, others[n] = 37 * n % N + 1;
  if (defect) others[40] = places[3];
  CHECK(hipMemcpy(b, places, sizeof places, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(c, others, sizeof others, hipMemcpyHostToDevice));
  Built g;
  g.kernel(scatter, {}, dim3(1), dim3(64), a, b);
  g.kernel(scatter, {}, dim3(1), dim3(64), a, c);
  g.run();
}

static void pointers_in_memory() {
  int* table[] = {a, defect ? a : b};
  CHECK(hipMemcpy(c, table, sizeof table, hipMemcpyHostToDevice));
  Built g;
  g.kernel(through, {}, dim3(1), dim3(64), reinterpret_cast<int**>(c), 0);
  g.kernel(through, {}, dim3(1), dim3(64), reinterpret_cast<int**>(c), 1);
  g.run();
}

// Atomics need no order among themselves; who looks does.
static void counters() {
  Built g;
  auto one = g.kernel(count, {}, dim3(1), THREADS, reinterpret_cast<unsigned*>(a));
  auto other = g.kernel(count, {}, dim3(1), THREADS, reinterpret_cast<unsigned*>(a));
  g.kernel(look, defect ? Nodes{one} : Nodes{one, other}, dim3(1), dim3(1), reinterpret_cast<unsigned*>(a), b);
  g.run();
}

static void variable() {
  Built g;
  auto first = g.kernel(set_global, {}, dim3(1), dim3(1), 1);
  g.kernel(get_global, edge(first), dim3(1), dim3(1), a);
  g.run();
}

static void copy_before_kernel() {
  Built g;
  auto first = g.move({}, a, b, BYTES, hipMemcpyDeviceToDevice);
  g.kernel(copy, edge(first), BLOCKS, THREADS, c, a);
  g.run();
}

static void kernel_before_copy() {
  int* host;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&host), BYTES, 0));
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  g.move(edge(first), host, a, BYTES, hipMemcpyDeviceToHost);
  g.run();
}

static void pageable_copies() {
  std::vector<int> host(N);
  Built g;
  auto first = g.move({}, a, host.data(), BYTES, hipMemcpyHostToDevice);
  auto second = g.kernel(put, {first}, BLOCKS, THREADS, b, 1);
  g.move(edge(second), host.data(), b, BYTES, hipMemcpyDeviceToHost);
  g.run();
}

static void fill_before_kernel() {
  Built g;
  auto first = g.fill({}, a, BYTES);
  g.kernel(put, edge(first), BLOCKS, THREADS, a, 1);
  g.run();
}

// Rows of a matrix, and columns of it.
static void columns() {
  Built g;
  hipMemcpy3DParms params{};
  params.dstPtr = make_hipPitchedPtr(a, 256, 256, 64);
  params.srcPtr = make_hipPitchedPtr(b, 256, 256, 64);
  params.extent = make_hipExtent(128, 64, 1);
  params.kind = hipMemcpyDeviceToDevice;
  hipGraphNode_t left;
  CHECK(hipGraphAddMemcpyNode(&left, g.graph, nullptr, 0, &params));
  params.dstPos.x = defect ? 124 : 128;
  hipGraphNode_t right;
  CHECK(hipGraphAddMemcpyNode(&right, g.graph, nullptr, 0, &params));
  g.run();
}

static void child_graph() {
  Built inner, g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  inner.kernel(copy, {}, BLOCKS, THREADS, b, a);
  hipGraphNode_t child;
  Nodes after = edge(first);
  CHECK(hipGraphAddChildGraphNode(&child, g.graph, after.data(), after.size(), inner.graph));
  g.run();
}

static void removed_edge() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  auto second = g.kernel(copy, {first}, BLOCKS, THREADS, b, a);
  if (defect) CHECK(hipGraphRemoveDependencies(g.graph, &first, &second, 1));
  g.run();
}

// Right as it was instantiated.
static void changed_arguments() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  g.kernel(put, {}, BLOCKS, THREADS, b, 2);
  auto exec = g.instantiate();
  g.run(exec);
  int* to = defect ? b : c;
  int value = 3;
  void* arguments[] = {&to, &value};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(put);
  params.gridDim = BLOCKS;
  params.blockDim = THREADS;
  params.kernelParams = arguments;
  CHECK(hipGraphExecKernelNodeSetParams(exec, first, &params));
  g.run(exec);
}

// Two buffers take turns: what one launch writes the next one reads.
static void launches_in_turn() {
  Built g;
  auto first = g.kernel(copy, {}, BLOCKS, THREADS, b, a);
  g.kernel(copy, edge(first), BLOCKS, THREADS, a, c);
  auto exec = g.instantiate();
  for (int n = 0; n < 3; n++) CHECK(hipGraphLaunch(exec, nullptr));
  CHECK(hipDeviceSynchronize());
}

static void captured_join() {
  hipStream_t one, other;
  CHECK(hipStreamCreate(&one));
  CHECK(hipStreamCreate(&other));
  hipEvent_t fork, join;
  CHECK(hipEventCreate(&fork));
  CHECK(hipEventCreate(&join));
  CHECK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
  CHECK(hipEventRecord(fork, one));
  CHECK(hipStreamWaitEvent(other, fork, 0));
  if (defect) {
    // Before the kernel that it is to stand for.
    put<<<BLOCKS, THREADS, 0, other>>>(c, 1);
    CHECK(hipEventRecord(join, other));
    put<<<BLOCKS, THREADS, 0, other>>>(a, 1);
    CHECK(hipStreamWaitEvent(one, join, 0));
    copy<<<BLOCKS, THREADS, 0, one>>>(b, a);
    CHECK(hipEventRecord(join, other));
    CHECK(hipStreamWaitEvent(one, join, 0));
  } else {
    put<<<BLOCKS, THREADS, 0, other>>>(a, 1);
    CHECK(hipEventRecord(join, other));
    CHECK(hipStreamWaitEvent(one, join, 0));
    copy<<<BLOCKS, THREADS, 0, one>>>(b, a);
  }
  Built g;
  CHECK(hipStreamEndCapture(one, &g.graph));
  g.run();
}

static void captured_fork() {
  hipStream_t one, other;
  CHECK(hipStreamCreate(&one));
  CHECK(hipStreamCreate(&other));
  hipEvent_t fork, join;
  CHECK(hipEventCreate(&fork));
  CHECK(hipEventCreate(&join));
  CHECK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
  if (defect) CHECK(hipEventRecord(fork, one));
  put<<<BLOCKS, THREADS, 0, one>>>(a, 1);
  if (!defect) CHECK(hipEventRecord(fork, one));
  CHECK(hipStreamWaitEvent(other, fork, 0));
  copy<<<BLOCKS, THREADS, 0, other>>>(b, a);
  CHECK(hipEventRecord(join, other));
  CHECK(hipStreamWaitEvent(one, join, 0));
  Built g;
  CHECK(hipStreamEndCapture(one, &g.graph));
  g.run();
}

static const struct {
  const char* name;
  void (*run)();
} CASES[] = {
    {"read_after_write", read_after_write},
    {"write_after_read", write_after_read},
    {"write_after_write", write_after_write},
    {"readers", readers},
    {"transitive", transitive},
    {"off_by_one", off_by_one},
    {"interleaved", interleaved},
    {"neighbouring_bytes", neighbouring_bytes},
    {"scattered", scattered},
    {"pointers_in_memory", pointers_in_memory},
    {"counters", counters},
    {"variable", variable},
    {"copy_before_kernel", copy_before_kernel},
    {"kernel_before_copy", kernel_before_copy},
    {"pageable_copies", pageable_copies},
    {"fill_before_kernel", fill_before_kernel},
    {"columns", columns},
    {"child_graph", child_graph},
    {"removed_edge", removed_edge},
    {"changed_arguments", changed_arguments},
    {"launches_in_turn", launches_in_turn},
    {"captured_join", captured_join},
    {"captured_fork", captured_fork},
};

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const auto& one : CASES) std::puts(one.name);
    return 0;
  }
  defect = argc > 2 && !std::strcmp(argv[2], "defect");
  for (int** memory : {&a, &b, &c}) CHECK(hipMalloc(reinterpret_cast<void**>(memory), BYTES));
  for (const auto& one : CASES) {
    if (!std::strcmp(one.name, argv[1])) {
      one.run();
      return 0;
    }
  }
  return 2;
}
