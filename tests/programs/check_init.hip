// What depends on bytes that nothing has written: `aqlipse check init`.
#include <unistd.h>

#include <vector>

#include "cases.h"
#include "direct.h"

constexpr int N = 1024;
constexpr int THREADS = 256;
static int* out;

struct Padded {
  char kind;
  int value;
};

static int* allocate(size_t bytes = N * sizeof(int)) {
  int* memory;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), bytes));
  return memory;
}

static std::vector<int> numbers() {
  std::vector<int> values(N);
  for (int n = 0; n < N; n++) values[n] = n % 7;
  return values;
}

// ---- Results

__global__ void put(int* to, int count) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < count) to[n] = n % 7;
}

__global__ void double_all(int* to, const int* from) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  to[n] = 2 * from[n];
}

__global__ void copy(int* to, const int* from) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  to[n] = from[n];
}

__global__ void scale(double* to, const double* from) { to[threadIdx.x] = 1.5 * from[threadIdx.x]; }

__global__ void halves(_Float16* to, const _Float16* from) {
  to[threadIdx.x] = from[threadIdx.x] + from[threadIdx.x + THREADS];
}

__global__ void count(int* counters, int n) { atomicAdd(&counters[threadIdx.x % n], 1); }

__global__ void neighbours(int* to, const int* from, bool defect) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  int last = defect ? N : N - 1;
  to[n] = from[n] + (n < last ? from[n + 1] : 0);
}

__global__ void pack(unsigned* to, const unsigned char* from, int count) {
  int n = threadIdx.x;
  unsigned word = 0;
  for (int byte = 0; byte < count; byte++) word |= unsigned(from[4 * n + byte]) << (8 * byte);
  to[n] = word * 3;
}

static void written_in_part() {
  int* memory = allocate();
  put<<<N / THREADS, THREADS>>>(memory, defect ? N - 1 : N);
  double_all<<<N / THREADS, THREADS>>>(out, memory);
}

static void no_memset() {
  int* counters = allocate(16 * sizeof(int));
  if (!defect) CHECK(hipMemset(counters, 0, 16 * sizeof(int)));
  count<<<4, THREADS>>>(counters, 16);
}

static void memset_too_short() {
  int* counters = allocate(16 * sizeof(int));
  CHECK(hipMemset(counters, 0, defect ? 16 : 16 * sizeof(int)));
  count<<<4, THREADS>>>(counters, 16);
}

static void upload_too_short() {
  auto values = numbers();
  int* memory = allocate();
  CHECK(hipMemcpy(memory, values.data(), (N - defect) * sizeof(int), hipMemcpyHostToDevice));
  double_all<<<N / THREADS, THREADS>>>(out, memory);
}

static void through_copies() {
  int *first = allocate(), *second = allocate(), *third = allocate();
  put<<<N / THREADS, THREADS>>>(first, N - defect);
  CHECK(hipMemcpy(second, first, N * sizeof(int), hipMemcpyDeviceToDevice));
  copy<<<N / THREADS, THREADS>>>(third, second);
  double_all<<<N / THREADS, THREADS>>>(out, third);
}

static void row_of_a_box() {
  auto values = numbers();
  int* memory = allocate();
  CHECK(hipMemcpy2D(memory, 128, values.data(), 128, 128, N / 32 - defect, hipMemcpyHostToDevice));
  double_all<<<N / THREADS, THREADS>>>(out, memory);
}

static void doubles() {
  double* memory = reinterpret_cast<double*>(allocate());
  CHECK(hipMemset(memory, 0, THREADS * sizeof(double) - (defect ? 1 : 0)));
  scale<<<1, THREADS>>>(reinterpret_cast<double*>(out), memory);
}

static void half_words() {
  _Float16* memory = reinterpret_cast<_Float16*>(allocate());
  CHECK(hipMemset(memory, 0, 2 * THREADS * sizeof(_Float16) - 2 * defect));
  halves<<<1, THREADS>>>(reinterpret_cast<_Float16*>(out), memory);
}

static void stencil() {
  int* memory = allocate((N + 1) * sizeof(int));
  put<<<N / THREADS, THREADS>>>(memory, N);
  neighbours<<<N / THREADS, THREADS>>>(out, memory, defect);
}

// The fourth byte of each is never written, and used by one of them only.
static void single_bytes() {
  std::vector<char> ones(N, 1);
  unsigned char* memory = reinterpret_cast<unsigned char*>(allocate());
  CHECK(hipMemcpy2D(memory, 4, ones.data(), 4, 3, THREADS, hipMemcpyHostToDevice));
  pack<<<1, THREADS>>>(reinterpret_cast<unsigned*>(out), memory, defect ? 4 : 3);
}

// ---- Branches

__global__ void if_set(int* to, const int* flag) {
  if (*flag) to[threadIdx.x] = 1;
}

__global__ void if_each_set(int* to, const int* flags) {
  if (flags[threadIdx.x] == 1234567) to[threadIdx.x] = 1;
}

__global__ void as_often(int* to, const int* turns) {
  int sum = 0;
  for (int n = 0; n < turns[threadIdx.x]; n++) sum += to[n];
  to[N - 1 - threadIdx.x] = sum;
}

__global__ void above(int* to, const float* values, float limit) {
  if (values[threadIdx.x] > limit) to[threadIdx.x] = 1;
}

__global__ void read_kinds(int* to, const Padded* from, bool whole) {
  const Padded& mine = from[threadIdx.x];
  bool same = mine.kind == 3;
  if (whole) same = *reinterpret_cast<const int*>(&mine) == 3;
  if (same) to[threadIdx.x] = mine.value;
}

static void scalar_condition() {
  int* flag = allocate();
  if (!defect) CHECK(hipMemset(flag, 0, sizeof(int)));
  if_set<<<1, THREADS>>>(out, flag);
}

static void lanes_condition() {
  int* flags = allocate();
  CHECK(hipMemset(flags, 0, (THREADS - defect) * sizeof(int)));
  if_each_set<<<1, THREADS>>>(out, flags);
}

static void turns() {
  int* turns = allocate();
  CHECK(hipMemset(turns, 0, (THREADS - defect) * sizeof(int)));
  as_often<<<1, THREADS>>>(out, turns);
}

static void floats() {
  float* values = reinterpret_cast<float*>(allocate());
  CHECK(hipMemset(values, 0, (THREADS - defect) * sizeof(float)));
  above<<<1, THREADS>>>(out, values, 0.5f);
}

// ---- Padding

__global__ void make(Padded* to) {
  to[threadIdx.x].kind = char(threadIdx.x % 4);
  to[threadIdx.x].value = threadIdx.x;
}

__global__ void pass(Padded* to, const Padded* from) {
  __shared__ Padded tile[THREADS];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  Padded mine = tile[threadIdx.x ^ 1];
  mine.value += 1;
  to[threadIdx.x] = mine;
}

static void padding() {
  Padded *first = reinterpret_cast<Padded*>(allocate(8 * N)), *second = reinterpret_cast<Padded*>(allocate(8 * N));
  make<<<1, THREADS>>>(first);
  pass<<<1, THREADS>>>(second, first);
  read_kinds<<<1, THREADS>>>(out, second, defect);
}

// ---- Addresses

__global__ void gather(int* to, const int* places) { to[threadIdx.x] = to[N / 2 + places[threadIdx.x] % THREADS]; }

__global__ void follow(int* to, int* const* from) { to[threadIdx.x] = *from[0]; }

static void places() {
  int* places = allocate();
  CHECK(hipMemset(places, 0, (THREADS - defect) * sizeof(int)));
  gather<<<1, THREADS>>>(out, places);
}

// What lies there is a pointer that an earlier allocation has left.
static void pointer() {
  int** pointers = reinterpret_cast<int**>(allocate());
  CHECK(hipMemcpy(pointers, &out, sizeof(int*), hipMemcpyHostToDevice));
  if (defect) {
    CHECK(hipFree(pointers));
    pointers = reinterpret_cast<int**>(allocate());
  }
  follow<<<1, THREADS>>>(out, pointers);
}

// ---- LDS and scratch

__global__ void tile(int* to, const int* from, int count) {
  __shared__ int values[THREADS];
  if (int(threadIdx.x) < count) values[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x] + values[threadIdx.x ^ 1];
}

__global__ void dynamic_tile(int* to, int count) {
  extern __shared__ int room[];
  for (int n = threadIdx.x; n < count; n += THREADS) room[n] = n;
  __syncthreads();
  int sum = 0;
  for (int n = 0; n < 4; n++) sum += room[4 * threadIdx.x + n];
  to[threadIdx.x] = sum;
}

__global__ void for_all(int* to, bool writes) {
  __shared__ int value;
  if (writes && threadIdx.x == 0) value = 3;
  __syncthreads();
  to[threadIdx.x] = loaded_for_all(&value) + 1;
}

__global__ void histogram(int* to, const int* from, bool clears) {
  __shared__ int bins[8];
  if (clears && threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[from[threadIdx.x] & 7], 1);
  __syncthreads();
  if (threadIdx.x < 8) to[threadIdx.x] = bins[threadIdx.x];
}

__global__ void on_the_stack(int* to, const int* places, int count) {
  int room[256];
  for (int n = 0; n < count; n++) room[n] = n + threadIdx.x;
  int sum = 0;
  for (int n = 0; n < 4; n++) sum += room[places[4 * threadIdx.x + n] + 200];
  to[threadIdx.x] = sum;
}

static int* written() {
  auto values = numbers();
  int* memory = allocate();
  CHECK(hipMemcpy(memory, values.data(), N * sizeof(int), hipMemcpyHostToDevice));
  return memory;
}

static void part_of_a_tile() { tile<<<1, THREADS>>>(out, written(), THREADS - defect); }

static void part_of_dynamic_lds() { dynamic_tile<<<1, THREADS, N * sizeof(int)>>>(out, N - defect); }

static void one_for_all() { for_all<<<1, THREADS>>>(out, !defect); }

static void bins() { histogram<<<1, THREADS>>>(out, written(), !defect); }

static void part_of_an_array() {
  int* places = allocate();
  CHECK(hipMemset(places, 0, N * sizeof(int)));
  on_the_stack<<<1, THREADS>>>(out, places, defect ? 200 : 201);
}

// ---- Lanes

__global__ void sum_of_lanes(int* to, const int* from) {
  int value = from[threadIdx.x];
  for (int delta = warpSize / 2; delta > 0; delta /= 2) value += __shfl_down(value, delta);
  if (threadIdx.x == 0) *to = value;
}

__global__ void vote(int* to, const int* from) {
  unsigned long long all = __ballot(from[threadIdx.x] > 3);
  if (threadIdx.x == 0) *to = __popcll(all);
}

// The last lane's value goes to no other.
__global__ void taken_from_the_next(int* to, const int* from, int lanes) {
  int value = __shfl_down(from[threadIdx.x], 1u);
  if (int(threadIdx.x) < lanes) to[threadIdx.x] = value + 1;
}

template <void (*KERNEL)(int*, const int*)>
static void lanes() {
  int* memory = allocate();
  CHECK(hipMemset(memory, 0, (warpSize - defect) * sizeof(int)));
  KERNEL<<<1, warpSize>>>(out, memory);
}

static void next_lane() {
  int* memory = allocate();
  CHECK(hipMemset(memory, 0, 63 * sizeof(int)));
  taken_from_the_next<<<1, 64>>>(out, memory, 62 + defect);
}

// ---- Memory of streams and of graphs

static void freed_and_allocated_again() {
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  int* memory = nullptr;
  for (int n = 0; n < 2; n++) {
    CHECK(hipMallocAsync(reinterpret_cast<void**>(&memory), N * sizeof(int), stream));
    if (n == 0 || !defect) put<<<N / THREADS, THREADS, 0, stream>>>(memory, N);
    double_all<<<N / THREADS, THREADS, 0, stream>>>(out, memory);
    CHECK(hipFreeAsync(memory, stream));
  }
  CHECK(hipStreamSynchronize(stream));
}

// The second launch finds what the first has written, unless the memory is the graph's.
static void memory_of_a_graph() {
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location.type = hipMemLocationTypeDevice;
  memory.bytesize = N * sizeof(int);
  hipGraphNode_t allocation, filled, used, end;
  CHECK(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory));
  int elements = N - (defect ? 1 : 0);
  void* places[] = {&memory.dptr, &elements};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(put);
  params.gridDim = dim3(N / THREADS);
  params.blockDim = THREADS;
  params.kernelParams = places;
  CHECK(hipGraphAddKernelNode(&filled, graph, &allocation, 1, &params));
  void* both[] = {&out, &memory.dptr};
  params.func = reinterpret_cast<void*>(double_all);
  params.kernelParams = both;
  CHECK(hipGraphAddKernelNode(&used, graph, &filled, 1, &params));
  CHECK(hipGraphAddMemFreeNode(&end, graph, &used, 1, memory.dptr));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int n = 0; n < 2; n++) CHECK(hipGraphLaunch(exec, nullptr));
  CHECK(hipDeviceSynchronize());
}

static void captured() {
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  int* counters = allocate();
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  if (!defect) CHECK(hipMemsetAsync(counters, 0, 16 * sizeof(int), stream));
  count<<<4, THREADS, 0, stream>>>(counters, 16);
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int n = 0; n < 3; n++) CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
}

// ---- Copies to the host

static void kernel_that_stops_early() {
  std::vector<int> values(N);
  int* memory = allocate();
  put<<<N / THREADS, THREADS>>>(memory, defect ? N - 32 : N);
  CHECK(hipMemcpy(values.data(), memory, N * sizeof(int), hipMemcpyDeviceToHost));
}

static void counter_that_nobody_counts() {
  int* pinned;
  int* counter = allocate(sizeof(int));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int)));
  if (!defect) CHECK(hipMemset(counter, 0, sizeof(int)));
  CHECK(hipMemcpyAsync(pinned, counter, sizeof(int), hipMemcpyDeviceToHost, nullptr));
}

static void download_of_a_graph() {
  std::vector<Padded> values(THREADS);
  Padded* memory = reinterpret_cast<Padded*>(allocate(THREADS * sizeof(Padded)));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  if (!defect) make<<<1, THREADS, 0, stream>>>(memory);
  CHECK(hipMemcpyAsync(values.data(), memory, THREADS * sizeof(Padded), hipMemcpyDeviceToHost, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
}

// A wait looks at the flag before it is written, too.
static void waited_for() {
  int *flag = allocate(sizeof(int)), *data = allocate();
  hipStream_t reader, writer;
  CHECK(hipStreamCreateWithFlags(&reader, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&writer, hipStreamNonBlocking));
  auto wait = [&] { CHECK(hipStreamWaitValue32(reader, flag, 7, hipStreamWaitValueEq, ~0u)); };
  if (!defect) {
    wait();
    usleep(20000);
    CHECK(hipMemsetAsync(data, 1, N * sizeof(int), writer));
  }
  CHECK(hipStreamWriteValue32(writer, flag, 7, 0));
  if (defect) {
    CHECK(hipStreamSynchronize(writer));
    wait();
  }
  double_all<<<N / THREADS, THREADS, 0, reader>>>(out, data);
}

static const Case CASES[] = {
    {"written_in_part", written_in_part},
    {"no_memset", no_memset},
    {"memset_too_short", memset_too_short},
    {"upload_too_short", upload_too_short},
    {"through_copies", through_copies},
    {"row_of_a_box", row_of_a_box},
    {"doubles", doubles},
    {"half_words", half_words},
    {"stencil", stencil},
    {"single_bytes", single_bytes},
    {"scalar_condition", scalar_condition},
    {"lanes_condition", lanes_condition},
    {"turns", turns},
    {"floats", floats},
    {"padding", padding},
    {"places", places},
    {"pointer", pointer},
    {"part_of_a_tile", part_of_a_tile},
    {"part_of_dynamic_lds", part_of_dynamic_lds},
    {"one_for_all", one_for_all},
    {"bins", bins},
    {"part_of_an_array", part_of_an_array},
    {"sum_of_lanes", lanes<sum_of_lanes>},
    {"vote", lanes<vote>},
    {"next_lane", next_lane},
    {"freed_and_allocated_again", freed_and_allocated_again},
    {"memory_of_a_graph", memory_of_a_graph},
    {"captured", captured},
    {"kernel_that_stops_early", kernel_that_stops_early},
    {"counter_that_nobody_counts", counter_that_nobody_counts},
    {"download_of_a_graph", download_of_a_graph},
    {"waited_for", waited_for},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    out = allocate();
    CHECK(hipMemset(out, 0, N * sizeof(int)));
  }
  int status = run_case(CASES, argc, argv);
  if (argc > 1) CHECK(hipDeviceSynchronize());
  return status;
}
