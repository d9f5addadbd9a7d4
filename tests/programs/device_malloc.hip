// malloc and free in kernels: blocks are aligned, apart from each other, keep what is written, live from one kernel to
// the next, and come back; a limit bounds them.
#include "device_test.h"

#if __clang_major__ < 16
// What malloc and free are in newer compilers' headers.
extern "C" __device__ unsigned long long __ockl_dm_alloc(unsigned long long bytes);
extern "C" __device__ void __ockl_dm_dealloc(unsigned long long address);
__device__ static void* take(size_t bytes) { return reinterpret_cast<void*>(__ockl_dm_alloc(bytes)); }
__device__ static void give(void* block) { __ockl_dm_dealloc(reinterpret_cast<unsigned long long>(block)); }
#else
__device__ static void* take(size_t bytes) { return malloc(bytes); }
__device__ static void give(void* block) { free(block); }
#endif

__global__ void allocate(unsigned** out, size_t bytes) {
  const unsigned i = threadIdx.x;
  out[i] = static_cast<unsigned*>(take(bytes));
  if (out[i]) *out[i] = i * 3 + 1;
}
__global__ void read_and_free(unsigned** pointers, unsigned* out) {
  const unsigned i = threadIdx.x;
  out[i] = pointers[i] ? *pointers[i] : 0;
  give(pointers[i]);
}
static void over_two_kernels(size_t bytes, unsigned threads) {
  Buffer<unsigned*> pointers(threads);
  Buffer<unsigned> values(threads);
  LAUNCH(allocate, 1, threads, 0, pointers, bytes);
  LAUNCH(read_and_free, 1, threads, 0, pointers, values);
  std::vector<unsigned> want(threads);
  for (unsigned i = 0; i < threads; ++i) want[i] = i * 3 + 1;
  expect_equal("values", values.host(), want);
}
// The first test: later ones leave memory in the library's slabs.
DEVICE_TEST(a_limit_bounds_the_heap) {
  size_t before = 0, limit = 0;
  CHECK(hipDeviceGetLimit(&before, hipLimitMallocHeapSize));
  CHECK(hipDeviceSetLimit(hipLimitMallocHeapSize, 64 << 20));
  CHECK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
  if (limit != 64 << 20) FAIL("the limit is %zu", limit);
  Buffer<unsigned*> pointers(16);
  Buffer<unsigned> values(16);
  LAUNCH(allocate, 1, 16, 0, pointers, 8 << 20);
  auto got = pointers.host();
  const auto null = std::count(got.begin(), got.end(), nullptr);
  if (null != 8) FAIL("%d of 16 blocks were refused", static_cast<int>(null));
  LAUNCH(read_and_free, 1, 16, 0, pointers, values);
  CHECK(hipDeviceSetLimit(hipLimitMallocHeapSize, before));
  over_two_kernels(8 << 20, 16);
}

struct Node {
  Node* next;
  unsigned value;
};

// Each thread builds a list of blocks of many sizes, and checks that nobody else writes to them.
__global__ void lists(unsigned* wrong, unsigned salt) {
  Node* head = nullptr;
  const unsigned me = threadIdx.x + blockIdx.x * blockDim.x;
  for (unsigned i = 0; i < 6; ++i) {
    size_t bytes = sizeof(Node) + (me * 37 + i * 501 + salt) % 3500;
    auto* node = static_cast<Node*>(take(bytes));
    if (!node || reinterpret_cast<uintptr_t>(node) % alignof(Node) != 0) {
      atomicAdd(wrong, 1u);
      return;
    }
    node->next = head;
    node->value = me * 16 + i;
    auto* bytes_behind = reinterpret_cast<unsigned char*>(node + 1);
    for (size_t b = 0; b < bytes - sizeof(Node); b += 97) bytes_behind[b] = static_cast<unsigned char>(me + i);
    head = node;
  }
  unsigned i = 6;
  while (head) {
    --i;
    if (head->value != me * 16 + i) atomicAdd(wrong, 1u);
    size_t bytes = sizeof(Node) + (me * 37 + i * 501 + salt) % 3500;
    auto* bytes_behind = reinterpret_cast<unsigned char*>(head + 1);
    for (size_t b = 0; b < bytes - sizeof(Node); b += 97)
      if (bytes_behind[b] != static_cast<unsigned char>(me + i)) atomicAdd(wrong, 1u);
    Node* next = head->next;
    give(head);
    head = next;
  }
}
DEVICE_TEST(blocks_do_not_overlap) {
  Buffer<unsigned> wrong(1);
  for (unsigned salt = 0; salt < 3; ++salt) LAUNCH(lists, 4, 100, 0, wrong, salt);
  expect_equal("wrong", wrong.host(), std::vector<unsigned>(1, 0));
}

DEVICE_TEST(blocks_outlive_their_kernel) {
  over_two_kernels(24, 64);
  over_two_kernels(3072, 64);
  over_two_kernels(3073, 64);
  over_two_kernels(5 << 20, 8);
}

__global__ void nothing(unsigned* wrong) {
  if (take(0) != nullptr) atomicAdd(wrong, 1u);
  give(nullptr);
}
DEVICE_TEST(nothing_can_be_asked_for) {
  Buffer<unsigned> wrong(1);
  LAUNCH(nothing, 1, 1, 0, wrong);
  CHECK(hipDeviceSynchronize());
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
