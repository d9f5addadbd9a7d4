// Graphs and streams that lack an order: `aqlipse check graph`.
#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>
#include <vector>

#include "cases.h"
#include "../../capi/include/aqlipse/hip_graph_conditional.h"

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
__global__ void set_global_to_one() { global = 1; }
__global__ void again(int* turns, int limit, hipGraphConditionalHandle handle) {
  if (threadIdx.x == 0) hipGraphSetConditional(handle, ++*turns < limit);
}
__global__ void get_global(int* to) { *to = global; }

static int *a, *b, *c;

struct Built {
  hipGraph_t graph;
  Built() { CHECK(hipGraphCreate(&graph, 0)); }
  explicit Built(hipGraph_t owned) : graph(owned) {}
  template <typename... P, typename... A>
  hipGraphNode_t kernel(void (*function)(P...), std::vector<hipGraphNode_t> after, dim3 blocks, dim3 threads,
                        A... arguments) {
    std::tuple<P...> values(arguments...);
    void* places[sizeof...(P) + 1];
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
  void call(hipHostFn_t function, void* data) {
    hipHostNodeParams params{function, data};
    hipGraphNode_t node;
    CHECK(hipGraphAddHostNode(&node, graph, nullptr, 0, &params));
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

// A conditional node with one body, whose condition is 1 at first.
struct Conditional {
  hipGraphConditionalHandle condition;
  hipGraphNode_t node;
  hipGraph_t body, empty;
  Conditional(Built& around, Nodes after, hipGraphConditionalNodeType type) {
    CHECK(hipGraphCreate(&empty, 0));
    CHECK(hipGraphConditionalHandleCreate(&condition, around.graph, 1, hipGraphCondAssignDefault));
    CHECK(hipGraphAddConditionalNode(&node, around.graph, after.data(), after.size(), condition, type, 1, &empty));
    CHECK(hipGraphConditionalNodeGetBody(node, 0, &body));
  }
};

static void nodes_of_a_body() {
  Built g;
  Conditional choice(g, {}, hipGraphCondTypeIf);
  Built body(choice.body);
  auto first = body.kernel(put, {}, BLOCKS, THREADS, a, 1);
  body.kernel(copy, edge(first), BLOCKS, THREADS, b, a);
  g.run();
}

static void node_before_a_body() {
  Built g;
  auto first = g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  Conditional choice(g, edge(first), hipGraphCondTypeIf);
  Built(choice.body).kernel(copy, {}, BLOCKS, THREADS, b, a);
  g.run();
}

static void node_behind_a_body() {
  Built g;
  Conditional choice(g, {}, hipGraphCondTypeIf);
  Built(choice.body).kernel(put, {}, BLOCKS, THREADS, a, 1);
  g.kernel(copy, edge(choice.node), BLOCKS, THREADS, b, a);
  g.run();
}

// Each turn reads what the one before has written.
static void turns_of_a_loop() {
  CHECK(hipMemset(c, 0, BYTES));
  Built g;
  Conditional loop(g, {}, hipGraphCondTypeWhile);
  Built body(loop.body);
  auto first = body.kernel(copy, {}, BLOCKS, THREADS, b, a);
  body.kernel(copy, edge(first), BLOCKS, THREADS, a, b);
  body.kernel(again, {}, dim3(1), dim3(64), c, 3, loop.condition);
  g.run();
}

static void bodies_within_each_other() {
  CHECK(hipMemset(c, 0, BYTES));
  Built g;
  Conditional loop(g, {}, hipGraphCondTypeWhile);
  Built body(loop.body);
  Conditional choice(body, {}, hipGraphCondTypeIf);
  Built(choice.body).kernel(put, {}, BLOCKS, THREADS, a, 1);
  body.kernel(copy, edge(choice.node), BLOCKS, THREADS, b, a);
  body.kernel(again, {}, dim3(1), dim3(64), c, 3, loop.condition);
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

// A capture of three streams that begin side by side, and are joined at the end.
struct Captured {
  hipStream_t s[3];
  hipEvent_t event, other;
  Captured() {
    for (auto& stream : s) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (auto* made : {&event, &other}) CHECK(hipEventCreateWithFlags(made, hipEventDisableTiming));
  }
  void begin() {
    hipEvent_t start;
    CHECK(hipEventCreate(&start));
    CHECK(hipStreamBeginCapture(s[0], hipStreamCaptureModeGlobal));
    CHECK(hipEventRecord(start, s[0]));
    for (int n : {1, 2}) CHECK(hipStreamWaitEvent(s[n], start, 0));
  }
  void put_on_one() { put<<<BLOCKS, THREADS, 0, s[1]>>>(a, 1); }
  void copy_on_two() { copy<<<BLOCKS, THREADS, 0, s[2]>>>(b, a); }
  void end() {
    for (int n : {1, 2}) {
      hipEvent_t over;
      CHECK(hipEventCreate(&over));
      CHECK(hipEventRecord(over, s[n]));
      CHECK(hipStreamWaitEvent(s[0], over, 0));
    }
    Built g;
    CHECK(hipStreamEndCapture(s[0], &g.graph));
    g.run();
  }
};

static void captured_without_event() {
  Captured c;
  c.begin();
  c.put_on_one();
  if (!defect) {
    CHECK(hipEventRecord(c.event, c.s[1]));
    CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  }
  c.copy_on_two();
  c.end();
}

static void captured_without_wait() {
  Captured c;
  c.begin();
  c.put_on_one();
  CHECK(hipEventRecord(c.event, c.s[1]));
  if (!defect) CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  c.copy_on_two();
  c.end();
}

static void captured_wait_too_late() {
  Captured c;
  c.begin();
  c.put_on_one();
  CHECK(hipEventRecord(c.event, c.s[1]));
  if (!defect) CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  c.copy_on_two();
  if (defect) CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  c.end();
}

static void captured_wait_of_another_stream() {
  Captured c;
  c.begin();
  c.put_on_one();
  CHECK(hipEventRecord(c.event, c.s[1]));
  CHECK(hipStreamWaitEvent(c.s[defect ? 0 : 2], c.event, 0));
  c.copy_on_two();
  c.end();
}

static void captured_event_recorded_again() {
  Captured c;
  c.begin();
  c.put_on_one();
  CHECK(hipEventRecord(c.event, c.s[1]));
  if (defect) CHECK(hipEventRecord(c.event, c.s[0]));
  CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  c.copy_on_two();
  c.end();
}

static void captured_event_recorded_too_early() {
  Captured c;
  c.begin();
  if (defect) CHECK(hipEventRecord(c.event, c.s[1]));
  c.put_on_one();
  if (!defect) CHECK(hipEventRecord(c.event, c.s[1]));
  CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  c.copy_on_two();
  c.end();
}

static void captured_event_never_recorded() {
  Captured c;
  c.begin();
  c.put_on_one();
  CHECK(hipEventRecord(c.event, c.s[1]));
  CHECK(hipStreamWaitEvent(c.s[2], defect ? c.other : c.event, 0));
  c.copy_on_two();
  c.end();
}

// The call says that the wait would leave the capture.
static void captured_event_from_outside() {
  Captured c;
  CHECK(hipEventRecord(c.other, c.s[1]));
  c.begin();
  c.put_on_one();
  CHECK(hipEventRecord(c.event, c.s[1]));
  hipError_t result = hipStreamWaitEvent(c.s[2], defect ? c.other : c.event, 0);
  if (defect != (result == hipErrorStreamCaptureIsolation)) std::exit(3);
  c.copy_on_two();
  c.end();
}

struct Streams {
  hipStream_t one, other;
  hipEvent_t event;
  explicit Streams(unsigned flags = hipStreamNonBlocking) {
    CHECK(hipStreamCreateWithFlags(&one, flags));
    CHECK(hipStreamCreateWithFlags(&other, flags));
    CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  }
  ~Streams() { CHECK(hipDeviceSynchronize()); }
};

static void two_streams() {
  Streams s;
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void event_recorded_too_early() {
  Streams s;
  if (defect) CHECK(hipEventRecord(s.event, s.one));
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  if (!defect) CHECK(hipEventRecord(s.event, s.one));
  CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void over_a_third_stream() {
  Streams s;
  hipStream_t third;
  CHECK(hipStreamCreateWithFlags(&third, hipStreamNonBlocking));
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  CHECK(hipEventRecord(s.event, s.one));
  CHECK(hipStreamWaitEvent(third, s.event, 0));
  put<<<BLOCKS, THREADS, 0, third>>>(c, 1);
  CHECK(hipEventRecord(s.event, defect ? s.other : third));
  CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void wrong_stream_synchronised() {
  Streams s;
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  CHECK(hipStreamSynchronize(defect ? s.other : s.one));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void event_queried() {
  Streams s;
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) {
    while (hipEventQuery(s.event) != hipSuccess) std::this_thread::yield();
  }
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void default_stream() {
  Streams s(defect ? hipStreamNonBlocking : hipStreamDefault);
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  copy<<<BLOCKS, THREADS>>>(b, a);
  put<<<BLOCKS, THREADS, 0, s.other>>>(c, 1);
}

static void copy_back() {
  Streams s;
  std::vector<int> host(N);
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  if (!defect) CHECK(hipStreamSynchronize(s.one));
  CHECK(hipMemcpy(host.data(), a, BYTES, hipMemcpyDeviceToHost));
}

static void asynchronous_copies() {
  Streams s;
  int* host;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&host), BYTES, 0));
  CHECK(hipMemcpyAsync(a, host, BYTES, hipMemcpyHostToDevice, s.one));
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  CHECK(hipMemcpyAsync(b, a, BYTES, hipMemcpyDeviceToDevice, s.other));
}

static void asynchronous_fill() {
  Streams s;
  CHECK(hipMemsetAsync(a, 1, BYTES, s.one));
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  CHECK(hipMemsetAsync(a, 2, BYTES, s.other));
}

static void body_and_stream() {
  Streams s;
  Built g;
  Conditional choice(g, {}, hipGraphCondTypeIf);
  Built(choice.body).kernel(put, {}, BLOCKS, THREADS, a, 1);
  auto exec = g.instantiate();
  for (int n = 0; n < 2; n++) CHECK(hipGraphLaunch(exec, s.one));
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void put_cooperatively(hipStream_t stream) {
  int value = 1;
  void* arguments[] = {&a, &value};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(put), BLOCKS, THREADS, arguments, 0, stream));
}

static void cooperative_kernel() {
  Streams s;
  put_cooperatively(s.one);
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void cooperative_node() {
  Captured c;
  c.begin();
  put_cooperatively(c.s[1]);
  CHECK(hipEventRecord(c.event, c.s[1]));
  if (!defect) CHECK(hipStreamWaitEvent(c.s[2], c.event, 0));
  c.copy_on_two();
  c.end();
}

static void kernel_without_arguments() {
  Streams s;
  set_global_to_one<<<1, 1, 0, s.one>>>();
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  get_global<<<1, 1, 0, s.other>>>(a);
}

static void node_without_arguments() {
  Built g;
  auto first = g.kernel(set_global_to_one, {}, dim3(1), dim3(1));
  g.kernel(get_global, edge(first), dim3(1), dim3(1), a);
  g.run();
}

static void graph_and_stream() {
  Streams s;
  Built g;
  g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  CHECK(hipGraphLaunch(g.instantiate(), s.one));
  copy<<<BLOCKS, THREADS, 0, defect ? s.other : s.one>>>(b, a);
}

static void two_graphs() {
  Streams s;
  Built one, other;
  one.kernel(put, {}, BLOCKS, THREADS, a, 1);
  other.kernel(copy, {}, BLOCKS, THREADS, b, a);
  CHECK(hipGraphLaunch(one.instantiate(), s.one));
  CHECK(hipEventRecord(s.event, s.one));
  if (!defect) CHECK(hipStreamWaitEvent(s.other, s.event, 0));
  CHECK(hipGraphLaunch(other.instantiate(), s.other));
}

// Launches of one executable come one behind the other, on whatever streams.
static void one_graph_on_two_streams() {
  Streams s;
  Built g, twin;
  g.kernel(put, {}, BLOCKS, THREADS, a, 1);
  twin.kernel(put, {}, BLOCKS, THREADS, a, 2);
  auto exec = g.instantiate();
  CHECK(hipGraphLaunch(exec, s.one));
  CHECK(hipGraphLaunch(defect ? twin.instantiate() : exec, s.other));
}

// A pool gives memory that one stream has freed to another behind that.
static void pooled_memory() {
  Streams s;
  int* memory;
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&memory), BYTES, s.one));
  put<<<BLOCKS, THREADS, 0, s.one>>>(memory, 1);
  if (defect) {
    copy<<<BLOCKS, THREADS, 0, s.other>>>(b, memory);
    CHECK(hipDeviceSynchronize());
  }
  CHECK(hipFreeAsync(memory, s.one));
  CHECK(hipStreamSynchronize(s.other));
  for (int n = 0; n < 8; n++) {
    hipStream_t stream = n % 2 ? s.one : s.other;
    CHECK(hipMallocAsync(reinterpret_cast<void**>(&memory), BYTES, stream));
    put<<<BLOCKS, THREADS, 0, stream>>>(memory, n);
    CHECK(hipFreeAsync(memory, stream));
    std::this_thread::sleep_for(std::chrono::milliseconds(n % 3));
  }
}

static void word_in_memory() {
  Streams s;
  unsigned* word;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&word), 64, 0));
  *word = 0;
  if (!defect) CHECK(hipStreamWaitValue32(s.other, word, 1, hipStreamWaitValueGte, 0xffffffff));
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  CHECK(hipStreamWriteValue32(s.one, word, 1, 0));
}

static std::atomic<bool> called;

static void host_function() {
  Streams s;
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  if (!defect) {
    CHECK(hipLaunchHostFunc(s.one, [](void*) { called = true; }, nullptr));
    while (!called) std::this_thread::yield();
  }
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void another_thread_waits() {
  Streams s;
  put<<<BLOCKS, THREADS, 0, s.one>>>(a, 1);
  std::thread([&] { CHECK(hipStreamSynchronize(defect ? s.other : s.one)); }).join();
  copy<<<BLOCKS, THREADS, 0, s.other>>>(b, a);
}

static void memory_given_back() {
  Streams s;
  for (int n = 0; n < 4; n++) {
    int* memory;
    CHECK(hipMalloc(reinterpret_cast<void**>(&memory), BYTES));
    put<<<BLOCKS, THREADS, 0, n % 2 ? s.one : s.other>>>(memory, 1);
    if (defect && n == 3) put<<<BLOCKS, THREADS, 0, s.other>>>(memory, 2);
    CHECK(hipFree(memory));
  }
}

// What the host itself touches, beside copies in flight.

static volatile int seen;

__global__ void tell(unsigned* flag) { __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); }

struct Pinned {
  int* host;
  hipStream_t stream;
  explicit Pinned(size_t bytes = BYTES) {
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&host), bytes, 0));
    std::memset(host, 0, bytes);
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  }
  void download(size_t bytes = BYTES) { CHECK(hipMemcpyAsync(host, a, bytes, hipMemcpyDeviceToHost, stream)); }
  void upload() { CHECK(hipMemcpyAsync(a, host, BYTES, hipMemcpyHostToDevice, stream)); }
  void wait() { CHECK(hipStreamSynchronize(stream)); }
};

static void download_read_too_early() {
  Pinned p;
  p.download();
  if (!defect) p.wait();
  seen = p.host[5];
  p.wait();
}

static void download_overwritten() {
  Pinned p;
  p.download();
  if (!defect) p.wait();
  std::memset(p.host, 0, BYTES);
  p.wait();
}

// To read what a copy reads is well.
static void upload_overwritten() {
  Pinned p;
  p.upload();
  seen = p.host[N - 1];
  if (!defect) p.wait();
  p.host[N - 1] = 2;
  p.wait();
}

static void fill_of_pinned_memory() {
  Pinned p;
  CHECK(hipMemsetAsync(p.host, 1, BYTES, p.stream));
  if (!defect) p.wait();
  seen = p.host[0];
  p.wait();
}

static void one_pinned_value() {
  Pinned p(4);
  p.download(4);
  if (!defect) p.wait();
  seen = *p.host;
  p.wait();
}

// The other half has nothing to do with the copy.
static void half_of_pinned_memory() {
  Pinned p(2 * BYTES);
  p.download();
  p.host[N] = 1;
  if (defect) seen = p.host[N - 1];
  p.wait();
}

static void launched_download() {
  Pinned p;
  Built g;
  g.move({g.kernel(put, {}, BLOCKS, THREADS, a, 1)}, p.host, a, BYTES, hipMemcpyDeviceToHost);
  hipGraphExec_t exec = g.instantiate();
  for (int n = 0; n < 3; n++) {
    CHECK(hipGraphLaunch(exec, p.stream));
    if (!defect || n < 2) p.wait();
    seen = p.host[n];
  }
  p.wait();
}

static void launched_upload() {
  Pinned p;
  Built g;
  g.move({}, a, p.host, BYTES, hipMemcpyHostToDevice);
  hipGraphExec_t exec = g.instantiate();
  hipEvent_t event;
  CHECK(hipEventCreate(&event));
  for (int n = 0; n < 2; n++) {
    p.host[n] = n;
    CHECK(hipGraphLaunch(exec, p.stream));
    CHECK(hipEventRecord(event, p.stream));
    if (!defect) CHECK(hipEventSynchronize(event));
  }
  p.wait();
}

// A function that a stream calls before a copy may fill what that reads; one that another stream calls may not.
static void put_two(void* host) { static_cast<int*>(host)[3] = 2; }

static void function_before_the_upload() {
  Pinned p, other;
  if (defect) p.upload();
  CHECK(hipLaunchHostFunc(defect ? other.stream : p.stream, put_two, p.host));
  if (!defect) p.upload();
  other.wait();
  p.wait();
}

static void function_of_a_launch_before_the_upload() {
  Pinned p, other;
  Built g;
  g.call(put_two, p.host);
  hipGraphExec_t exec = g.instantiate();
  if (defect) p.upload();
  CHECK(hipGraphLaunch(exec, defect ? other.stream : p.stream));
  if (!defect) p.upload();
  other.wait();
  p.wait();
}

static void event_before_the_download() {
  Pinned p;
  hipEvent_t event;
  CHECK(hipEventCreate(&event));
  put<<<BLOCKS, THREADS, 0, p.stream>>>(a, 1);
  if (defect) CHECK(hipEventRecord(event, p.stream));
  p.download();
  if (!defect) CHECK(hipEventRecord(event, p.stream));
  CHECK(hipEventSynchronize(event));
  seen = p.host[1];
  p.wait();
}

static void another_stream_waited_for() {
  Pinned p, other;
  p.download();
  CHECK(hipMemcpyAsync(b, other.host, BYTES, hipMemcpyHostToDevice, other.stream));
  (defect ? other : p).wait();
  seen = p.host[1];
  CHECK(hipDeviceSynchronize());
}

static void stream_queried() {
  Pinned p;
  p.download();
  if (!defect) {
    while (hipStreamQuery(p.stream) == hipErrorNotReady) std::this_thread::yield();
  }
  seen = p.host[1];
  p.wait();
}

// A kernel behind the copy tells the host.
static void polled_flag() {
  Pinned p, flag(4);
  p.download();
  if (defect) seen = p.host[1];
  tell<<<1, 1, 0, p.stream>>>(reinterpret_cast<unsigned*>(flag.host));
  while (!__atomic_load_n(flag.host, __ATOMIC_ACQUIRE)) std::this_thread::yield();
  seen = p.host[1];
  p.wait();
}

static void polled_word() {
  Pinned p, flag(4);
  p.download();
  if (defect) seen = p.host[1];
  CHECK(hipStreamWriteValue32(p.stream, flag.host, 1, 0));
  while (!__atomic_load_n(flag.host, __ATOMIC_ACQUIRE)) std::this_thread::yield();
  seen = p.host[1];
  p.wait();
}

static void told_by_a_host_function() {
  Pinned p;
  static std::atomic<bool> told;
  p.download();
  if (defect) seen = p.host[1];
  CHECK(hipLaunchHostFunc(p.stream, [](void*) { told = true; }, nullptr));
  while (!told) std::this_thread::yield();
  seen = p.host[1];
  p.wait();
}

static const Case CASES[] = {
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
    {"nodes_of_a_body", nodes_of_a_body},
    {"node_before_a_body", node_before_a_body},
    {"node_behind_a_body", node_behind_a_body},
    {"turns_of_a_loop", turns_of_a_loop},
    {"bodies_within_each_other", bodies_within_each_other},
    {"removed_edge", removed_edge},
    {"changed_arguments", changed_arguments},
    {"launches_in_turn", launches_in_turn},
    {"captured_join", captured_join},
    {"captured_fork", captured_fork},
    {"captured_without_event", captured_without_event},
    {"captured_without_wait", captured_without_wait},
    {"captured_wait_too_late", captured_wait_too_late},
    {"captured_wait_of_another_stream", captured_wait_of_another_stream},
    {"captured_event_recorded_again", captured_event_recorded_again},
    {"captured_event_recorded_too_early", captured_event_recorded_too_early},
    {"captured_event_never_recorded", captured_event_never_recorded},
    {"captured_event_from_outside", captured_event_from_outside},
    {"two_streams", two_streams},
    {"event_recorded_too_early", event_recorded_too_early},
    {"over_a_third_stream", over_a_third_stream},
    {"wrong_stream_synchronised", wrong_stream_synchronised},
    {"event_queried", event_queried},
    {"default_stream", default_stream},
    {"copy_back", copy_back},
    {"asynchronous_copies", asynchronous_copies},
    {"asynchronous_fill", asynchronous_fill},
    {"body_and_stream", body_and_stream},
    {"cooperative_kernel", cooperative_kernel},
    {"cooperative_node", cooperative_node},
    {"kernel_without_arguments", kernel_without_arguments},
    {"node_without_arguments", node_without_arguments},
    {"graph_and_stream", graph_and_stream},
    {"two_graphs", two_graphs},
    {"one_graph_on_two_streams", one_graph_on_two_streams},
    {"pooled_memory", pooled_memory},
    {"word_in_memory", word_in_memory},
    {"host_function", host_function},
    {"another_thread_waits", another_thread_waits},
    {"memory_given_back", memory_given_back},
    {"download_read_too_early", download_read_too_early},
    {"function_before_the_upload", function_before_the_upload},
    {"function_of_a_launch_before_the_upload", function_of_a_launch_before_the_upload},
    {"download_overwritten", download_overwritten},
    {"upload_overwritten", upload_overwritten},
    {"fill_of_pinned_memory", fill_of_pinned_memory},
    {"one_pinned_value", one_pinned_value},
    {"half_of_pinned_memory", half_of_pinned_memory},
    {"launched_download", launched_download},
    {"launched_upload", launched_upload},
    {"event_before_the_download", event_before_the_download},
    {"another_stream_waited_for", another_stream_waited_for},
    {"stream_queried", stream_queried},
    {"polled_flag", polled_flag},
    {"polled_word", polled_word},
    {"told_by_a_host_function", told_by_a_host_function},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int** memory : {&a, &b, &c}) CHECK(hipMalloc(reinterpret_cast<void**>(memory), BYTES));
  }
  return run_case(CASES, argc, argv);
}
