// Memory: LDS, scratch, constants, device variables, arguments of odd sizes, addresses of no alignment.
// proves: hipMemcpyToSymbol, hipMemcpyFromSymbol, hipGetSymbolAddress, hipGetSymbolSize
#include "device_test.h"

constexpr unsigned COUNT = 4096, BLOCK = 256;

static std::vector<uint32_t> words(unsigned count, uint64_t seed) {
  std::vector<uint32_t> values(count);
  Sequence sequence(seed);
  for (uint32_t& value : values) value = static_cast<uint32_t>(sequence.next());
  return values;
}

__global__ void reduce(uint32_t* out, const uint32_t* in) {
  __shared__ uint32_t partial[BLOCK];
  unsigned t = threadIdx.x;
  partial[t] = in[t + blockIdx.x * BLOCK];
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}
DEVICE_TEST(reduction_in_shared_memory) {
  auto in = words(COUNT, 1);
  Buffer<uint32_t> device_in(in), out(COUNT / BLOCK);
  LAUNCH(reduce, COUNT / BLOCK, BLOCK, 0, out, device_in);
  std::vector<uint32_t> want(COUNT / BLOCK);
  for (unsigned i = 0; i < COUNT; ++i) want[i / BLOCK] += in[i];
  expect_equal("sums", out.host(), want);
}

// Kinds of access: bytes, halves, doubles and quadruples in one block of shared memory whose size the launch gives.
extern __shared__ unsigned char dynamic[];
__global__ void mirror(double* doubles, uint16_t* halves, uint8_t* bytes, unsigned n) {
  auto* d = reinterpret_cast<double*>(dynamic);
  auto* h = reinterpret_cast<uint16_t*>(d + n);
  uint8_t* b = reinterpret_cast<uint8_t*>(h + n);
  unsigned t = threadIdx.x, i = t + blockIdx.x * n;
  d[t] = doubles[i];
  h[t] = halves[i];
  b[t] = bytes[i];
  __syncthreads();
  doubles[i] = d[n - 1 - t];
  halves[i] = h[n - 1 - t];
  bytes[i] = b[n - 1 - t];
}
DEVICE_TEST(dynamic_shared_memory) {
  std::vector<double> doubles(COUNT);
  std::vector<uint16_t> halves(COUNT);
  std::vector<uint8_t> bytes(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) {
    doubles[i] = i * 0.25;
    halves[i] = static_cast<uint16_t>(i * 7);
    bytes[i] = static_cast<uint8_t>(i * 13);
  }
  Buffer<double> d(doubles);
  Buffer<uint16_t> h(halves);
  Buffer<uint8_t> b(bytes);
  LAUNCH(mirror, COUNT / BLOCK, BLOCK, BLOCK * (8 + 2 + 1), d, h, b, BLOCK);
  for (unsigned block = 0; block < COUNT; block += BLOCK) {
    std::reverse(doubles.begin() + block, doubles.begin() + block + BLOCK);
    std::reverse(halves.begin() + block, halves.begin() + block + BLOCK);
    std::reverse(bytes.begin() + block, bytes.begin() + block + BLOCK);
  }
  expect_equal("doubles", d.host(), doubles);
  expect_equal("halves", h.host(), halves);
  expect_equal("bytes", b.host(), bytes);
}

// Shared memory near its limit of 64 KiB, addressed through a generic pointer.
__device__ __attribute__((noinline)) uint32_t gather(const uint32_t* from, unsigned i) { return from[i]; }
__global__ void large_shared(uint32_t* out, const uint32_t* in) {
  __shared__ uint32_t table[15 * 1024];
  for (unsigned i = threadIdx.x; i < 15 * 1024; i += blockDim.x) table[i] = in[i % COUNT] + i;
  __syncthreads();
  unsigned i = threadIdx.x;
  out[i] = gather(i % 2 == 0 ? table : in, (i * 2654435761u) % COUNT);
}
DEVICE_TEST(generic_pointers_to_shared_and_global_memory) {
  auto in = words(COUNT, 2);
  Buffer<uint32_t> device_in(in), out(BLOCK);
  LAUNCH(large_shared, 1, BLOCK, 0, out, device_in);
  std::vector<uint32_t> want(BLOCK);
  for (unsigned i = 0; i < BLOCK; ++i) {
    unsigned index = (i * 2654435761u) % COUNT;
    want[i] = in[index] + (i % 2 == 0 ? index : 0);
  }
  expect_equal("gathered", out.host(), want);
}

__global__ void histogram_on_stack(uint32_t* out, const uint32_t* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  uint32_t buckets[16] = {};
  uint32_t x = in[i];
  for (unsigned k = 0; k < 8; ++k) buckets[(x >> (4 * k)) & 15] += k + 1;
  uint32_t sum = 0;
  for (unsigned k = 0; k < 16; ++k) sum = sum * 5 + buckets[(k + i) % 16];
  out[i] = sum;
}
DEVICE_TEST(stack_arrays_with_computed_indices) {
  auto in = words(COUNT, 3);
  Buffer<uint32_t> device_in(in), out(COUNT);
  LAUNCH(histogram_on_stack, COUNT / BLOCK, BLOCK, 0, out, device_in);
  std::vector<uint32_t> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) {
    uint32_t buckets[16] = {};
    for (unsigned k = 0; k < 8; ++k) buckets[(in[i] >> (4 * k)) & 15] += k + 1;
    for (unsigned k = 0; k < 16; ++k) want[i] = want[i] * 5 + buckets[(k + i) % 16];
  }
  expect_equal("histograms", out.host(), want);
}

// The address of a stack variable goes through a call: a generic pointer to scratch.
__device__ __attribute__((noinline)) void sort3(uint64_t* v) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k + 1 < 3 - pass; ++k) {
      if (v[k] > v[k + 1]) {
        uint64_t swap = v[k];
        v[k] = v[k + 1];
        v[k + 1] = swap;
      }
    }
  }
}
__global__ void sort_on_stack(uint64_t* out, const uint32_t* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  uint64_t v[3] = {in[i] * 3ull, in[(i + 1) % COUNT] * 5ull, in[(i + 2) % COUNT] * 4ull};
  sort3(v);
  for (unsigned k = 0; k < 3; ++k) out[3 * i + k] = v[k];
}
DEVICE_TEST(pointers_to_stack_variables) {
  auto in = words(COUNT, 4);
  Buffer<uint32_t> device_in(in);
  Buffer<uint64_t> out(3 * COUNT);
  LAUNCH(sort_on_stack, COUNT / BLOCK, BLOCK, 0, out, device_in);
  std::vector<uint64_t> want;
  for (unsigned i = 0; i < COUNT; ++i) {
    uint64_t v[3] = {in[i] * 3ull, in[(i + 1) % COUNT] * 5ull, in[(i + 2) % COUNT] * 4ull};
    std::sort(v, v + 3);
    want.insert(want.end(), v, v + 3);
  }
  expect_equal("sorted", out.host(), want);
}

__constant__ float coefficients[5];
__constant__ uint8_t odd_table[7] = {3, 1, 4, 1, 5, 9, 2};
__device__ uint32_t counter = 40;
__device__ uint32_t results[BLOCK];
static __device__ int hidden_value = -3;
__global__ void use_variables() {
  unsigned t = threadIdx.x;
  float x = static_cast<float>(t), y = 0;
  for (float coefficient : coefficients) y = y * x + coefficient;
  results[t] = static_cast<uint32_t>(y) + odd_table[t % 7] * 1000000u;
  if (t < 10) atomicAdd(&counter, 1);
  if (t == 0) hidden_value *= 2;
}
DEVICE_TEST(constants_and_device_variables) {
  // Whole coefficients and arguments below 256: every sum is exact in single precision.
  const float values[5] = {0, 0, 1, 2, 3};
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), values, sizeof values));
  // One element at an offset.
  const float four = 4;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), &four, sizeof four, 4 * sizeof four));
  LAUNCH(use_variables, 1, BLOCK, 0);
  std::vector<uint32_t> got(BLOCK), want(BLOCK);
  CHECK(hipMemcpyFromSymbol(got.data(), HIP_SYMBOL(results), BLOCK * 4));
  const uint8_t table[7] = {3, 1, 4, 1, 5, 9, 2};
  for (unsigned t = 0; t < BLOCK; ++t) want[t] = t * t + 2 * t + 4 + table[t % 7] * 1000000u;
  expect_equal("results", got, want);

  uint32_t count = 0;
  CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
  int doubled = 0;
  CHECK(hipMemcpyFromSymbol(&doubled, HIP_SYMBOL(hidden_value), sizeof doubled));
  if (count != 50 || doubled != -6) FAIL("counter %u, hidden value %d", count, doubled);

  void* address = nullptr;
  size_t bytes = 0;
  CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(results)));
  CHECK(hipGetSymbolSize(&bytes, HIP_SYMBOL(results)));
  uint32_t last = 0;
  CHECK(hipMemcpy(&last, static_cast<uint32_t*>(address) + BLOCK - 1, sizeof last, hipMemcpyDeviceToHost));
  if (bytes != sizeof(uint32_t) * BLOCK || last != want[BLOCK - 1]) FAIL("symbol of %zu bytes ends with %u", bytes, last);
}

struct Bytes3 {
  uint8_t v[3];
};
struct Bytes13 {
  uint8_t v[13];
};
struct Mixed {
  char tag;
  double value;
  short small;
};
struct Large {
  uint32_t v[100];
};
__global__ void odd_arguments(uint32_t* out, Bytes3 a, char b, Bytes13 c, Mixed d, short e, Large f, uint64_t g, bool h) {
  unsigned t = threadIdx.x;
  uint32_t sum = a.v[t % 3] + static_cast<uint32_t>(b) + c.v[t % 13] + static_cast<uint32_t>(d.tag) +
                 static_cast<uint32_t>(d.value * 8) + static_cast<uint32_t>(d.small) + static_cast<uint32_t>(e);
  out[t] = sum + f.v[t % 100] + static_cast<uint32_t>(g >> (t % 33)) + (h ? 1000u : 0u);
}
DEVICE_TEST(arguments_of_odd_sizes) {
  Bytes3 a = {{1, 2, 250}};
  Bytes13 c;
  for (unsigned k = 0; k < 13; ++k) c.v[k] = static_cast<uint8_t>(200 + k);
  Mixed d = {7, 12.125, 300};
  Large f;
  for (unsigned k = 0; k < 100; ++k) f.v[k] = k * k * 1000;
  const uint64_t g = 0x123456789abcdef0;
  Buffer<uint32_t> out(BLOCK);
  LAUNCH(odd_arguments, 1, BLOCK, 0, out, a, 'x', c, d, short{77}, f, g, true);
  std::vector<uint32_t> want(BLOCK);
  for (unsigned t = 0; t < BLOCK; ++t) {
    want[t] = a.v[t % 3] + 'x' + c.v[t % 13] + 7u + 97u + 300u + 77u + f.v[t % 100] + static_cast<uint32_t>(g >> (t % 33)) + 1000u;
  }
  expect_equal("sums", out.host(), want);
}

template <typename T>
struct __attribute__((packed)) Unaligned {
  T value;
};
__global__ void copy_unaligned(uint8_t* out, const uint8_t* in) {
  unsigned t = threadIdx.x;
  const uint8_t* from = in + 15 * t + 1;
  uint8_t* to = out + 15 * t + 1;
  reinterpret_cast<Unaligned<uint64_t>*>(to)->value = reinterpret_cast<const Unaligned<uint64_t>*>(from)->value + 1;
  reinterpret_cast<Unaligned<uint32_t>*>(to + 8)->value = reinterpret_cast<const Unaligned<uint32_t>*>(from + 8)->value ^ ~0u;
  reinterpret_cast<Unaligned<uint16_t>*>(to + 12)->value = reinterpret_cast<const Unaligned<uint16_t>*>(from + 12)->value;
  to[14] = static_cast<uint8_t>(from[14] << 1);
}
DEVICE_TEST(unaligned_access) {
  std::vector<uint8_t> in(15 * BLOCK + 1);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 29 + i / 251);
  Buffer<uint8_t> device_in(in), out(in.size());
  LAUNCH(copy_unaligned, 1, BLOCK, 0, out, device_in);
  std::vector<uint8_t> want(in.size());
  for (unsigned t = 0; t < BLOCK; ++t) {
    const uint8_t* from = &in[15 * t + 1];
    uint8_t* to = &want[15 * t + 1];
    uint64_t wide;
    std::memcpy(&wide, from, 8);
    ++wide;
    std::memcpy(to, &wide, 8);
    for (int k = 8; k < 12; ++k) to[k] = static_cast<uint8_t>(~from[k]);
    to[12] = from[12];
    to[13] = from[13];
    to[14] = static_cast<uint8_t>(from[14] << 1);
  }
  expect_equal("bytes", out.host(), want);
}

__global__ void vectors(float4* out, const float4* in, const double2* scale) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  float4 v = in[i];
  double2 s = scale[i % 8];
  out[i] = make_float4(v.w, v.x + static_cast<float>(s.x), v.y * static_cast<float>(s.y), v.z);
}
DEVICE_TEST(vector_loads_and_stores) {
  std::vector<float4> in(COUNT), want(COUNT);
  std::vector<double2> scale(8);
  for (unsigned i = 0; i < 8; ++i) scale[i] = make_double2(i, i + 0.5);
  for (unsigned i = 0; i < COUNT; ++i) {
    float x = static_cast<float>(i);
    in[i] = make_float4(x, x + 1, x + 2, x + 3);
    want[i] = make_float4(x + 3, x + static_cast<float>(i % 8), (x + 1) * (static_cast<float>(i % 8) + 0.5f), x + 2);
  }
  Buffer<float4> device_in(in), out(COUNT);
  Buffer<double2> device_scale(scale);
  LAUNCH(vectors, COUNT / BLOCK, BLOCK, 0, out, device_in, device_scale);
  auto got = out.host();
  for (unsigned i = 0; i < COUNT; ++i) {
    if (got[i].x != want[i].x || got[i].y != want[i].y || got[i].z != want[i].z || got[i].w != want[i].w) {
      FAIL("element %u differs", i);
      return;
    }
  }
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
