// What lanes of a wavefront do together: shuffles and votes; and what all threads do to the same word: atomics.
#include "device_test.h"

constexpr unsigned WAVE = warpSize, BLOCK = 256, BLOCKS = 8, COUNT = BLOCK * BLOCKS;

static std::vector<int> numbers(uint64_t seed) {
  std::vector<int> values(COUNT);
  Sequence sequence(seed);
  for (int& value : values) value = static_cast<int>(sequence.next() % 2001) - 1000;
  return values;
}

__global__ void shuffles(int* out, const int* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  int v = in[i];
  out[7 * i] = __shfl(v, static_cast<int>(i * 7 % WAVE));
  out[7 * i + 1] = __shfl_up(v, 3);
  out[7 * i + 2] = __shfl_down(v, 5);
  out[7 * i + 3] = __shfl_xor(v, 17);
  out[7 * i + 4] = __shfl(v, 2, 16);
  out[7 * i + 5] = __shfl_down(v, 4, 8);
  out[7 * i + 6] = static_cast<int>(__shfl_xor(static_cast<double>(v) * 1.5, WAVE / 2) * 2);
}
DEVICE_TEST(shuffles_within_a_wavefront) {
  auto in = numbers(1);
  Buffer<int> device_in(in), out(7 * COUNT);
  LAUNCH(shuffles, BLOCKS, BLOCK, 0, out, device_in);
  std::vector<int> want;
  for (unsigned i = 0; i < COUNT; ++i) {
    unsigned base = i / WAVE * WAVE, lane = i % WAVE;
    auto at = [&](unsigned l) { return in[base + l]; };
    want.push_back(at(i * 7 % WAVE));
    want.push_back(at(lane >= 3 ? lane - 3 : lane));
    want.push_back(at(lane + 5 < WAVE ? lane + 5 : lane));
    want.push_back(at(lane ^ 17));
    want.push_back(at(lane / 16 * 16 + 2));
    want.push_back(at(lane % 8 + 4 < 8 ? lane + 4 : lane));
    want.push_back(at(lane ^ WAVE / 2) * 3);
  }
  expect_equal("shuffles", out.host(), want);
}

__global__ void scan(int* out, const int* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x, lane = threadIdx.x % WAVE;
  int v = in[i];
  for (unsigned step = 1; step < WAVE; step *= 2) {
    int other = __shfl_up(v, step);
    if (lane >= step) v += other;
  }
  out[i] = v;
}
DEVICE_TEST(prefix_sum_by_shuffles) {
  auto in = numbers(2);
  Buffer<int> device_in(in), out(COUNT);
  LAUNCH(scan, BLOCKS, BLOCK, 0, out, device_in);
  std::vector<int> want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) want[i] = in[i] + (i % WAVE == 0 ? 0 : want[i - 1]);
  expect_equal("sums", out.host(), want);
}

__global__ void votes(unsigned long long* out, const int* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  bool positive = in[i] > 0;
  out[4 * i] = __ballot(positive);
  out[4 * i + 1] = static_cast<unsigned long long>(__any(in[i] > 990)) * 2 + static_cast<unsigned long long>(__all(in[i] > -990));
  out[4 * i + 2] = 0;
  // Inside a branch only the lanes that took it vote. Read again: clang-15 would take the vote from above.
  if (i % 3 == 0) out[4 * i + 2] = __ballot(static_cast<const volatile int*>(in)[i] > 0);
  out[4 * i + 3] = __lane_id() + 64ull * static_cast<unsigned>(__popcll(__ballot(1)));
}
DEVICE_TEST(votes_of_the_active_lanes) {
  auto in = numbers(3);
  Buffer<int> device_in(in);
  Buffer<unsigned long long> out(4 * COUNT);
  LAUNCH(votes, BLOCKS, BLOCK, 0, out, device_in);
  std::vector<unsigned long long> want;
  for (unsigned i = 0; i < COUNT; ++i) {
    unsigned base = i / WAVE * WAVE;
    unsigned long long ballot = 0, third = 0, any = 0, all = 1;
    for (unsigned l = 0; l < WAVE; ++l) {
      unsigned long long positive = in[base + l] > 0;
      ballot |= positive << l;
      if ((base + l) % 3 == 0) third |= positive << l;
      any |= in[base + l] > 990;
      all &= in[base + l] > -990;
    }
    want.insert(want.end(), {ballot, any * 2 + all, i % 3 == 0 ? third : 0, i % WAVE + 64ull * WAVE});
  }
  expect_equal("votes", out.host(), want);
}

struct Totals {
  int sum, smallest, largest;
  unsigned bits_and, bits_or, bits_xor, wrapped_up, wrapped_down;
  unsigned long long wide_sum, wide_largest;
  int exchanged, subtracted, swapped;
};
__global__ void integer_atomics(Totals* totals, const int* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  int v = in[i];
  atomicAdd(&totals->sum, v);
  atomicMin(&totals->smallest, v);
  atomicMax(&totals->largest, v);
  atomicAnd(&totals->bits_and, ~(1u << (i % 30)));
  atomicOr(&totals->bits_or, 1u << (i % 30));
  atomicXor(&totals->bits_xor, static_cast<unsigned>(v));
  atomicInc(&totals->wrapped_up, 99);
  atomicDec(&totals->wrapped_down, 49);
  atomicAdd(&totals->wide_sum, static_cast<unsigned long long>(v + 1000) << 20);
  atomicMax(&totals->wide_largest, static_cast<unsigned long long>(v + 1000) << 30);
  atomicSub(&totals->subtracted, v);
  if (v == 17) atomicExch(&totals->exchanged, v);
  int seen = totals->swapped, expected;
  do {  // the sum once more, by compare and swap
    expected = seen;
    seen = atomicCAS(&totals->swapped, expected, expected + v);
  } while (seen != expected);
}
DEVICE_TEST(integer_atomics_on_global_memory) {
  auto in = numbers(4);
  in[5] = 17;
  Totals start{};
  start.bits_and = ~0u;
  Buffer<int> device_in(in);
  Buffer<Totals> totals(std::vector<Totals>{start});
  LAUNCH(integer_atomics, BLOCKS, BLOCK, 0, totals, device_in);
  Totals want = start, got = totals.host()[0];
  for (unsigned i = 0; i < COUNT; ++i) {
    int v = in[i];
    want.sum += v;
    want.smallest = std::min(want.smallest, v);
    want.largest = std::max(want.largest, v);
    want.bits_and &= ~(1u << (i % 30));
    want.bits_or |= 1u << (i % 30);
    want.bits_xor ^= static_cast<unsigned>(v);
    want.wrapped_up = want.wrapped_up >= 99 ? 0 : want.wrapped_up + 1;
    want.wrapped_down = want.wrapped_down == 0 || want.wrapped_down > 49 ? 49 : want.wrapped_down - 1;
    want.wide_sum += static_cast<unsigned long long>(v + 1000) << 20;
    want.wide_largest = std::max(want.wide_largest, static_cast<unsigned long long>(v + 1000) << 30);
    want.subtracted -= v;
    want.swapped += v;
  }
  want.exchanged = 17;
#define FIELD(name) if (got.name != want.name) FAIL(#name " is %s, not %s", show(got.name).c_str(), show(want.name).c_str());
  FIELD(sum) FIELD(smallest) FIELD(largest) FIELD(bits_and) FIELD(bits_or) FIELD(bits_xor)
  FIELD(wrapped_up) FIELD(wrapped_down) FIELD(wide_sum) FIELD(wide_largest)
  FIELD(exchanged) FIELD(subtracted) FIELD(swapped)
#undef FIELD
}

__global__ void tickets(unsigned* next, unsigned* taken) {
  unsigned ticket = atomicAdd(next, 1u);
  taken[ticket] = 1;
}
DEVICE_TEST(atomics_return_the_old_value) {
  Buffer<unsigned> next(1), taken(COUNT);
  LAUNCH(tickets, BLOCKS, BLOCK, 0, next, taken);
  expect_equal("tickets", taken.host(), std::vector<unsigned>(COUNT, 1));
}

// Whole numbers: sums are exact in any order.
__global__ void float_atomics(float* total, double* wide_total, const int* in) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  atomicAdd(total, static_cast<float>(in[i]));
  atomicAdd(wide_total, in[i] * 0.5);
}
DEVICE_TEST(float_atomics_on_global_memory) {
  auto in = numbers(6);
  Buffer<int> device_in(in);
  Buffer<float> total(1);
  Buffer<double> wide_total(1);
  LAUNCH(float_atomics, BLOCKS, BLOCK, 0, total, wide_total, device_in);
  double want = 0;
  for (int value : in) want += value;
  expect_equal("float", total.host(), {static_cast<float>(want)});
  expect_equal("double", wide_total.host(), {want * 0.5});
}

__global__ void shared_atomics(unsigned* histograms, float* sums, const int* in) {
  __shared__ unsigned histogram[16];
  __shared__ float sum;
  __shared__ unsigned long long wide;
  __shared__ int smallest;
  unsigned t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  if (t < 16) histogram[t] = 0;
  if (t == 0) {
    sum = 0;
    wide = 0;
    smallest = 1 << 30;
  }
  __syncthreads();
  unsigned old = atomicAdd(&histogram[static_cast<unsigned>(in[i] + 1000) % 16], 1u);
  atomicAdd(&sum, static_cast<float>(in[i]));
  atomicAdd(&wide, (1ull << 32) + (old >= BLOCK ? 1 : 0));
  atomicMin(&smallest, in[i]);
  __syncthreads();
  if (t < 16) histograms[blockIdx.x * 16 + t] = histogram[t];
  if (t == 0) {
    sums[3 * blockIdx.x] = sum;
    sums[3 * blockIdx.x + 1] = static_cast<float>(wide >> 32) + static_cast<float>(wide & 0xffffffff) * 1000;
    sums[3 * blockIdx.x + 2] = static_cast<float>(smallest);
  }
}
DEVICE_TEST(atomics_on_shared_memory) {
  auto in = numbers(7);
  Buffer<int> device_in(in);
  Buffer<unsigned> histograms(16 * BLOCKS);
  Buffer<float> sums(3 * BLOCKS);
  LAUNCH(shared_atomics, BLOCKS, BLOCK, 0, histograms, sums, device_in);
  std::vector<unsigned> want(16 * BLOCKS);
  std::vector<float> want_sums(3 * BLOCKS);
  for (unsigned b = 0; b < BLOCKS; ++b) {
    int smallest = 1 << 30;
    for (unsigned i = b * BLOCK; i < (b + 1) * BLOCK; ++i) {
      ++want[b * 16 + static_cast<unsigned>(in[i] + 1000) % 16];
      want_sums[3 * b] += static_cast<float>(in[i]);
      smallest = std::min(smallest, in[i]);
    }
    want_sums[3 * b + 1] = BLOCK;
    want_sums[3 * b + 2] = static_cast<float>(smallest);
  }
  expect_equal("histograms", histograms.host(), want);
  expect_equal("sums", sums.host(), want_sums);
}

// clang-15 at -O0 keeps code for gfx10 of the device library's reductions, which it then cannot select.
#if __clang_major__ > 15 || defined(__OPTIMIZE__)
__global__ void sync_votes(int* out, const int* in) {
  unsigned t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  int count = __syncthreads_count(in[i] > 0);
  int all = __syncthreads_and(in[i] > -2000);
  int any = __syncthreads_or(in[i] > 2000);
  out[i] = count * 4 + all * 2 + any;
}
DEVICE_TEST(votes_of_a_block) {
  auto in = numbers(8);
  Buffer<int> device_in(in), out(COUNT);
  LAUNCH(sync_votes, BLOCKS, BLOCK, 0, out, device_in);
  std::vector<int> positive(BLOCKS), want(COUNT);
  for (unsigned i = 0; i < COUNT; ++i) positive[i / BLOCK] += in[i] > 0;
  for (unsigned i = 0; i < COUNT; ++i) want[i] = positive[i / BLOCK] * 4 + 2;
  expect_equal("votes", out.host(), want);
}
#endif

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
