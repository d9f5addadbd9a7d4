// Memory that is used beside its allocation, before it or behind its end: `aqlipse check memory`.
#include <chrono>
#include <thread>
#include <vector>

#include "cases.h"

constexpr int N = 4096;
constexpr size_t BYTES = N * sizeof(int);
static const dim3 BLOCKS(N / 256), THREADS(256);

__global__ void put(int* to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = i;
}
__global__ void last(const int* from, int at, int* to) { *to = from[at]; }
__global__ void put_byte(char* to, int at) { to[at] = 1; }
__global__ void count(unsigned* counters, int at) { atomicAdd(&counters[at], 1u); }
__global__ void through(int* const* table) { table[0][threadIdx.x] = 1; }

template <typename T = int>
static T* allocate(size_t bytes) {
  void* memory;
  CHECK(hipMalloc(&memory, bytes));
  return static_cast<T*>(memory);
}

static int* allocate_async(size_t bytes, hipStream_t stream) {
  void* memory;
  CHECK(hipMallocAsync(&memory, bytes, stream));
  return static_cast<int*>(memory);
}

struct Streams {
  hipStream_t one, other;
  hipEvent_t event;
  Streams() {
    CHECK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    CHECK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  }
  // What follows on `other` comes behind what is on `one`, unless that is the defect.
  void order(hipStream_t before, hipStream_t behind, bool left_out) {
    if (left_out) return;
    CHECK(hipEventRecord(event, before));
    CHECK(hipStreamWaitEvent(behind, event, 0));
  }
};

static void off_by_one() {
  int* memory = allocate(BYTES);
  put<<<BLOCKS.x + 1, THREADS>>>(memory, N + defect);
}

static void off_by_far() {
  int* memory = allocate(BYTES);
  last<<<1, 1>>>(memory, N - 1 + (defect ? 500 : 0), memory);
}

static void byte_behind() {
  auto* memory = allocate<char>(100);
  put_byte<<<1, 1>>>(memory, 99 + defect);
}

static void atomic_behind() {
  auto* counters = allocate<unsigned>(64);
  count<<<1, 64>>>(counters, 15 + defect);
}

static void between_allocations_of_a_pool() {
  int *first = allocate_async(BYTES, nullptr), *second = allocate_async(BYTES, nullptr);
  put<<<BLOCKS.x + 1, THREADS>>>(first, N + defect);
  put<<<BLOCKS, THREADS>>>(second, N);
  CHECK(hipFreeAsync(first, nullptr));
  CHECK(hipFreeAsync(second, nullptr));
}

static void before_an_allocation() {
  int* memory = allocate(BYTES);
  last<<<1, 1>>>(memory, defect ? -1 : 0, memory);
}

static void far_before_an_allocation() {
  auto* memory = allocate<char>(100);
  put_byte<<<1, 1>>>(memory, defect ? -1500 : 0);
}

static void before_the_first_of_a_pool() {
  int* memory = allocate_async(BYTES, nullptr);
  last<<<1, 1>>>(memory, defect ? -3 : 0, memory);
  CHECK(hipFreeAsync(memory, nullptr));
}

static void before_the_second_of_a_pool() {
  int *first = allocate_async(BYTES, nullptr), *second = allocate_async(BYTES, nullptr);
  last<<<1, 1>>>(second, defect ? -1 : 0, first);
  CHECK(hipFreeAsync(first, nullptr));
  CHECK(hipFreeAsync(second, nullptr));
}

// What the pool has and has not given out.
static void far_behind_all_of_a_pool() {
  int *first = allocate_async(BYTES, nullptr), *second = allocate_async(BYTES, nullptr);
  last<<<1, 1>>>(second, defect ? 20 * N : 0, first);
  CHECK(hipFreeAsync(first, nullptr));
  CHECK(hipFreeAsync(second, nullptr));
}

static void before_pinned_memory() {
  void* memory;
  CHECK(hipHostMalloc(&memory, BYTES, 0));
  count<<<1, 1>>>(static_cast<unsigned*>(memory), defect ? -1 : 0);
  CHECK(hipDeviceSynchronize());
  CHECK(hipHostFree(memory));
}

static void pinned_memory() {
  void* memory;
  CHECK(hipHostMalloc(&memory, BYTES, 0));
  put<<<BLOCKS.x + 1, THREADS>>>(static_cast<int*>(memory), N + defect);
  CHECK(hipDeviceSynchronize());
  CHECK(hipHostFree(memory));
}

static void rows() {
  void* memory;
  size_t pitch;
  CHECK(hipMallocPitch(&memory, &pitch, 100, 7));
  put_byte<<<1, 1>>>(static_cast<char*>(memory), static_cast<int>(pitch) * (6 + defect));
}

__global__ void local(int* to, int at) {
  __shared__ int values[100];
  if (threadIdx.x < 100) values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x < 100 ? threadIdx.x : at];
}
// What no page is mapped at: far from everything, and null.
static void wild() {
  int* memory = allocate(BYTES);
  put_byte<<<1, 1>>>(reinterpret_cast<char*>(memory), defect ? 1 << 30 : 0);
}

static void null() {
  int* memory = allocate(BYTES);
  last<<<1, 1>>>(defect ? nullptr : memory, 0, memory);
}

static void mapped_to_be_read() {
  // As later headers have it.
  struct {
    hipMemAllocationType type = hipMemAllocationTypePinned;
    int handles = 0;
    hipMemLocation location{hipMemLocationTypeDevice, 0};
    char rest[32]{};
  } wanted;
  const auto* properties = reinterpret_cast<hipMemAllocationProp*>(&wanted);
  size_t granule;
  CHECK(hipMemGetAllocationGranularity(&granule, properties, hipMemAllocationGranularityMinimum));
  void* at;
  hipMemGenericAllocationHandle_t physical;
  CHECK(hipMemAddressReserve(&at, granule, 0, nullptr, 0));
  CHECK(hipMemCreate(&physical, granule, properties, 0));
  CHECK(hipMemMap(at, granule, 0, physical, 0));
  auto right = defect ? hipMemAccessFlagsProtRead : hipMemAccessFlagsProtReadWrite;
  hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, right};
  CHECK(hipMemSetAccess(at, granule, &access, 1));
  put<<<1, THREADS>>>(static_cast<int*>(at), 256);
}

__constant__ int limits[256];
__global__ void tell(const char** to) { *to = "read-only"; }

// The host may write a constant, kernels may not.
static void constant() {
  int* memory = allocate(BYTES);
  std::vector<int> values(256, 7);
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(limits), values.data(), sizeof(limits)));
  void* at;
  CHECK(hipGetSymbolAddress(&at, HIP_SYMBOL(limits)));
  last<<<1, 1>>>(static_cast<int*>(at), 3, memory);
  put<<<1, THREADS>>>(defect ? static_cast<int*>(at) : memory, 256);
}

static void read_only_segment() {
  auto** memory = allocate<const char*>(BYTES);
  tell<<<1, 1>>>(memory);
  const char* text;
  CHECK(hipMemcpy(&text, memory, sizeof(text), hipMemcpyDeviceToHost));
  put_byte<<<1, 1>>>(defect ? const_cast<char*>(text) : reinterpret_cast<char*>(memory), 0);
}

__global__ void maybe(int* to, const int* from, bool follow) {
  if (follow) to[threadIdx.x] = from[threadIdx.x];
}

// Pointers that the kernel does not follow this time. What is behind memory is its end.
static void freed_argument() {
  int *memory = allocate(BYTES), *other = allocate(BYTES);
  CHECK(hipFree(other));
  maybe<<<1, 64>>>(memory, defect ? other + 1 : memory + N, false);
}

static void argument_of_no_memory() {
  int* memory = allocate(BYTES);
  auto* wild = reinterpret_cast<int*>(size_t{1} << 30);
  maybe<<<1, 64>>>(memory, defect ? wild : nullptr, false);
}

static void freed_argument_of_a_node() {
  int *memory = allocate(BYTES), *other = allocate(BYTES);
  bool follow = false;
  void* places[] = {&memory, &other, &follow};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(maybe);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = places;
  hipGraph_t graph;
  hipGraphNode_t node;
  hipGraphExec_t exec;
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  if (defect) CHECK(hipFree(other));
  CHECK(hipGraphLaunch(exec, nullptr));
}

static void misaligned_atomic() {
  char* memory = allocate<char>(BYTES);
  count<<<1, 1>>>(reinterpret_cast<unsigned*>(memory + (defect ? 2 : 0)), 1);
}

static void behind_lds() {
  int* memory = allocate(BYTES);
  local<<<2, 128>>>(memory, 99 + defect);
}

__device__ __attribute__((noinline)) void set(volatile int* values, int at) { values[at] = at; }
__global__ void in_scratch(int* to, int at, bool by_pointer) {
  volatile int values[100];
  for (int n = 0; n < 100; n++) values[n] = n;
  if (by_pointer) {
    set(values, at);
  } else {
    values[at] = 1;
  }
  to[threadIdx.x] = values[threadIdx.x];
}
static void behind_scratch() {
  int* memory = allocate(BYTES);
  in_scratch<<<2, 64>>>(memory, defect ? 140 : 99, false);
}

static void before_scratch() {
  int* memory = allocate(BYTES);
  in_scratch<<<1, 64>>>(memory, defect ? -100 : 0, false);
}

static void behind_scratch_by_a_pointer() {
  int* memory = allocate(BYTES);
  in_scratch<<<1, 100>>>(memory, defect ? 5000 : 99, true);
}

__global__ void dynamic_local(int* to) {
  extern __shared__ int values[];
  values[threadIdx.x] = threadIdx.x;
  to[threadIdx.x] = values[threadIdx.x];
}
// The launch asks for fewer bytes than the kernel uses: what is written there is lost on cards.
static void too_little_dynamic_lds() {
  int* memory = allocate(BYTES);
  dynamic_local<<<1, 64, (defect ? 63 : 64) * sizeof(int)>>>(memory);
}

static void freed() {
  int* memory = allocate(BYTES);
  put<<<BLOCKS, THREADS>>>(memory, N);
  if (defect) CHECK(hipFree(memory));
  put<<<BLOCKS, THREADS>>>(memory, N);
  CHECK(hipDeviceSynchronize());
  if (!defect) CHECK(hipFree(memory));
}

// Memory that has been freed is not given out again at once.
static void freed_and_allocated_again() {
  int* memory = allocate(BYTES);
  int* stale = memory;
  CHECK(hipFree(memory));
  memory = allocate(BYTES);
  put<<<BLOCKS, THREADS>>>(defect ? stale : memory, N);
}

static void freed_in_memory() {
  int *memory = allocate(BYTES), *other = allocate(BYTES);
  auto** table = allocate<int*>(sizeof(int*));
  CHECK(hipMemcpy(table, defect ? &memory : &other, sizeof(int*), hipMemcpyHostToDevice));
  CHECK(hipFree(memory));
  through<<<1, 64>>>(table);
}

static void behind_a_free() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  put<<<BLOCKS, THREADS, 0, s.one>>>(memory, N);
  if (defect) CHECK(hipFreeAsync(memory, s.one));
  put<<<BLOCKS, THREADS, 0, s.one>>>(memory, N);
  if (!defect) CHECK(hipFreeAsync(memory, s.one));
}

static void behind_a_free_of_another_stream() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  s.order(s.one, s.other, false);
  if (!defect) put<<<BLOCKS, THREADS, 0, s.other>>>(memory, N);
  s.order(s.other, s.one, false);
  CHECK(hipFreeAsync(memory, s.one));
  s.order(s.one, s.other, false);
  if (defect) put<<<BLOCKS, THREADS, 0, s.other>>>(memory, N);
}

// Another stream uses it, and the one that frees it does not wait for that.
static void freed_too_early() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  s.order(s.one, s.other, false);
  put<<<BLOCKS, THREADS, 0, s.other>>>(memory, N);
  s.order(s.other, s.one, defect);
  CHECK(hipFreeAsync(memory, s.one));
}

// As it would be if the other stream had been slow, whatever it was.
static void freed_too_early_when_it_is_over() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  s.order(s.one, s.other, false);
  put<<<BLOCKS, THREADS, 0, s.other>>>(memory, N);
  s.order(s.other, s.one, defect);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(hipFreeAsync(memory, s.one));
}

static void freed_by_the_host_too_early() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  put<<<BLOCKS, THREADS, 0, s.one>>>(memory, N);
  CHECK(hipStreamSynchronize(defect ? s.other : s.one));
  CHECK(hipFree(memory));
}

static void used_too_early() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  s.order(s.one, s.other, defect);
  put<<<BLOCKS, THREADS, 0, s.other>>>(memory, N);
  CHECK(hipDeviceSynchronize());
  CHECK(hipFreeAsync(memory, s.one));
}

static void freed_twice() {
  int* memory = allocate(BYTES);
  CHECK(hipFree(memory));
  if (defect) (void)hipFree(memory);
}

static void freed_twice_in_order() {
  int* memory = allocate_async(BYTES, nullptr);
  CHECK(hipFreeAsync(memory, nullptr));
  if (defect) (void)hipFreeAsync(memory, nullptr);
}

static void freed_in_the_middle() {
  int* memory = allocate(BYTES);
  (void)hipFree(memory + (defect ? 16 : 0));
}

static void memory_of_the_host_freed() {
  std::vector<int> memory(N);
  if (defect) (void)hipFree(memory.data());
}

struct Built {
  hipGraph_t graph;
  hipGraphNode_t allocation;
  int* memory;
  Built() {
    CHECK(hipGraphCreate(&graph, 0));
    hipMemAllocNodeParams params{};
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.type = hipMemLocationTypeDevice;
    params.bytesize = BYTES;
    CHECK(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
    memory = static_cast<int*>(params.dptr);
  }
  hipGraphNode_t kernel(std::vector<hipGraphNode_t> after, int elements = N) {
    void* places[] = {&memory, &elements};
    hipKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(put);
    params.gridDim = dim3(BLOCKS.x + 1);
    params.blockDim = THREADS;
    params.kernelParams = places;
    hipGraphNode_t node;
    CHECK(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  hipGraphNode_t end(std::vector<hipGraphNode_t> after) {
    hipGraphNode_t node;
    CHECK(hipGraphAddMemFreeNode(&node, graph, after.data(), after.size(), memory));
    return node;
  }
  // The first element of the memory comes from elsewhere in it.
  hipGraphNode_t read(std::vector<hipGraphNode_t> after, int at) {
    void* places[] = {&memory, &at, &memory};
    hipKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(last);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = places;
    hipGraphNode_t node;
    CHECK(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  void run(int times = 2) {
    hipGraphExec_t exec;
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int n = 0; n < times; n++) CHECK(hipGraphLaunch(exec, nullptr));
    CHECK(hipDeviceSynchronize());
  }
};

static void behind_memory_of_a_graph() {
  Built g;
  g.end({g.kernel({g.allocation}, N + defect)});
  g.run();
}

static void before_memory_of_a_graph() {
  Built g;
  g.end({g.read({g.allocation}, defect ? -1 : 0)});
  g.run();
}

static void far_behind_memory_of_a_graph() {
  Built g;
  g.end({g.read({g.allocation}, defect ? N + 1400 : 0)});
  g.run(1);
}

static void no_edge_to_the_free() {
  Built g;
  auto kernel = g.kernel({g.allocation});
  g.end({defect ? g.allocation : kernel});
  g.run();
}

static void no_edge_from_the_allocation() {
  Built g;
  auto kernel = defect ? g.kernel({}) : g.kernel({g.allocation});
  g.end({kernel, g.allocation});
  g.run();
}

static void behind_the_free_node() {
  Built g;
  auto kernel = g.kernel({g.allocation});
  auto end = g.end({kernel});
  if (defect) g.kernel({end});
  g.run();
}

static void memory_that_a_launch_leaves() {
  Built g;
  g.kernel({g.allocation});
  g.run(1);
  put<<<BLOCKS, THREADS>>>(g.memory, N);
  CHECK(hipFreeAsync(g.memory, nullptr));
  if (defect) put<<<BLOCKS, THREADS>>>(g.memory, N);
}

// The free is captured before the other stream has joined.
static void captured_free() {
  Streams s;
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(s.one, hipStreamCaptureModeGlobal));
  int* memory = allocate_async(BYTES, s.one);
  s.order(s.one, s.other, false);
  put<<<BLOCKS, THREADS, 0, s.other>>>(memory, N);
  if (defect) CHECK(hipFreeAsync(memory, s.one));
  s.order(s.other, s.one, false);
  if (!defect) CHECK(hipFreeAsync(memory, s.one));
  CHECK(hipStreamEndCapture(s.one, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, s.one));
}

// Allocations follow each other at one address while none of the work has run.
static void in_turn() {
  Streams s;
  int* stale = nullptr;
  for (int n = 0; n < 20; n++) {
    int* memory = allocate_async(BYTES, s.one);
    put<<<BLOCKS, THREADS, 0, s.one>>>(n == 19 && defect ? stale : memory, N);
    CHECK(hipFreeAsync(memory, s.one));
    stale = memory;
  }
}

// Memory of the device is not the host's to touch, though it may be reached from there.
static void read_by_the_host() {
  int* memory;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), BYTES));
  int first;
  if (defect) first = *const_cast<volatile int*>(memory);
  CHECK(hipMemcpy(&first, memory, sizeof(int), hipMemcpyDeviceToHost));
}

static void written_by_the_host() {
  int* memory;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), BYTES));
  if (defect) std::memset(memory, 0, BYTES);
  CHECK(hipMemset(memory, 0, BYTES));
}

static void memory_of_a_pool_read_by_the_host() {
  Streams s;
  int* memory = allocate_async(BYTES, s.one);
  int first;
  CHECK(hipMemcpyAsync(&first, memory, sizeof(int), hipMemcpyDeviceToHost, s.one));
  CHECK(hipStreamSynchronize(s.one));
  if (defect) first = *const_cast<volatile int*>(memory);
  CHECK(hipFreeAsync(memory, s.one));
}

static void memory_of_a_graph_written_by_the_host() {
  Built g;
  g.kernel({g.allocation});
  g.run(1);
  if (defect) *const_cast<volatile int*>(g.memory) = 1;
}

static const Case CASES[] = {
    {"off_by_one", off_by_one},
    {"off_by_far", off_by_far},
    {"byte_behind", byte_behind},
    {"atomic_behind", atomic_behind},
    {"between_allocations_of_a_pool", between_allocations_of_a_pool},
    {"before_an_allocation", before_an_allocation},
    {"far_before_an_allocation", far_before_an_allocation},
    {"before_the_first_of_a_pool", before_the_first_of_a_pool},
    {"before_the_second_of_a_pool", before_the_second_of_a_pool},
    {"far_behind_all_of_a_pool", far_behind_all_of_a_pool},
    {"before_pinned_memory", before_pinned_memory},
    {"pinned_memory", pinned_memory},
    {"rows", rows},
    {"wild", wild},
    {"null", null},
    {"mapped_to_be_read", mapped_to_be_read},
    {"constant", constant},
    {"read_only_segment", read_only_segment},
    {"freed_argument", freed_argument},
    {"argument_of_no_memory", argument_of_no_memory},
    {"freed_argument_of_a_node", freed_argument_of_a_node},
    {"misaligned_atomic", misaligned_atomic},
    {"behind_lds", behind_lds},
    {"behind_scratch", behind_scratch},
    {"before_scratch", before_scratch},
    {"behind_scratch_by_a_pointer", behind_scratch_by_a_pointer},
    {"too_little_dynamic_lds", too_little_dynamic_lds},
    {"freed", freed},
    {"freed_and_allocated_again", freed_and_allocated_again},
    {"freed_in_memory", freed_in_memory},
    {"behind_a_free", behind_a_free},
    {"behind_a_free_of_another_stream", behind_a_free_of_another_stream},
    {"freed_too_early", freed_too_early},
    {"freed_too_early_when_it_is_over", freed_too_early_when_it_is_over},
    {"freed_by_the_host_too_early", freed_by_the_host_too_early},
    {"used_too_early", used_too_early},
    {"freed_twice", freed_twice},
    {"freed_twice_in_order", freed_twice_in_order},
    {"freed_in_the_middle", freed_in_the_middle},
    {"memory_of_the_host_freed", memory_of_the_host_freed},
    {"behind_memory_of_a_graph", behind_memory_of_a_graph},
    {"before_memory_of_a_graph", before_memory_of_a_graph},
    {"far_behind_memory_of_a_graph", far_behind_memory_of_a_graph},
    {"no_edge_to_the_free", no_edge_to_the_free},
    {"no_edge_from_the_allocation", no_edge_from_the_allocation},
    {"behind_the_free_node", behind_the_free_node},
    {"memory_that_a_launch_leaves", memory_that_a_launch_leaves},
    {"captured_free", captured_free},
    {"in_turn", in_turn},
    {"read_by_the_host", read_by_the_host},
    {"written_by_the_host", written_by_the_host},
    {"memory_of_a_pool_read_by_the_host", memory_of_a_pool_read_by_the_host},
    {"memory_of_a_graph_written_by_the_host", memory_of_a_graph_written_by_the_host},
};

int main(int argc, char** argv) {
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
