// Algorithms of rocPRIM over the whole device: each launched, then captured and replayed, with the host's results.
#include "device_test.h"
#include <algorithm>
#include <functional>
#include <numeric>
// The header includes more than its algorithms use.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <rocprim/rocprim.hpp>
#pragma clang diagnostic pop

constexpr size_t N = 20000;

static std::vector<uint32_t> numbers(uint32_t below) {
  Sequence sequence(below);
  std::vector<uint32_t> numbers(N);
  for (uint32_t& number : numbers) number = static_cast<uint32_t>((sequence.next() >> 32) * below >> 32);
  return numbers;
}

// An algorithm takes its temporary memory and that memory's size, which it says if there is no memory, and the stream.
using Algorithm = std::function<hipError_t(void*, size_t&, hipStream_t)>;

// Calls `check` when the algorithm has run by itself, and again behind a launch of a graph that was captured from it.
static void both_ways(const Algorithm& algorithm, const std::function<void(const char*)>& check) {
  hipStream_t stream;
  CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  size_t bytes = 0;
  CHECK(algorithm(nullptr, bytes, stream));
  Buffer<unsigned char> memory(std::max<size_t>(bytes, 1));
  CHECK(algorithm(memory, bytes, stream));
  CHECK(hipStreamSynchronize(stream));
  check("launched");
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(algorithm(memory, bytes, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 2; ++launch) CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  check("in a graph");
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
}

// Algorithms take pointers as they are.
template <typename T>
static T* data(const Buffer<T>& buffer) {
  return buffer;
}

// What has arrived is taken away, so that each run has to write it.
template <typename T>
static void expect_output(const char* what, Buffer<T>& output, const std::vector<T>& want) {
  std::vector<T> got = output.host();
  got.resize(want.size());
  expect_equal(what, got, want);
  CHECK(hipMemset(output, 0xa5, want.size() * sizeof(T)));
}

DEVICE_TEST(radix_sort) {
  const auto keys = numbers(UINT32_MAX);
  Buffer<uint32_t> in(keys), out(N);
  auto sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::radix_sort_keys(memory, bytes, data(in), data(out), N, 0, 32, stream);
  }, [&](const char* how) { expect_output(how, out, sorted); });
}
// Equal keys keep their order.
DEVICE_TEST(radix_sort_of_pairs) {
  const auto keys = numbers(100);
  std::vector<uint32_t> places(N);
  std::iota(places.begin(), places.end(), 0u);
  Buffer<uint32_t> keys_in(keys), keys_out(N), values_in(places), values_out(N);
  std::sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
    return keys[a] == keys[b] ? a < b : keys[a] > keys[b];
  });
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::radix_sort_pairs_desc(memory, bytes, data(keys_in), data(keys_out), data(values_in),
                                          data(values_out), N, 0, 32, stream);
  }, [&](const char* how) { expect_output(how, values_out, places); });
}
DEVICE_TEST(merge_sort) {
  const auto keys = numbers(UINT32_MAX);
  Buffer<uint32_t> in(keys), out(N);
  auto sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::merge_sort(memory, bytes, data(in), data(out), N, rocprim::less<uint32_t>(), stream);
  }, [&](const char* how) { expect_output(how, out, sorted); });
}
// Each block looks back at the sums of the blocks before it.
DEVICE_TEST(scan) {
  const auto values = numbers(1000);
  Buffer<uint32_t> in(values), out(N);
  std::vector<uint32_t> sums(N);
  std::partial_sum(values.begin(), values.end(), sums.begin());
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::inclusive_scan(memory, bytes, data(in), data(out), N, rocprim::plus<uint32_t>(), stream);
  }, [&](const char* how) { expect_output(how, out, sums); });
}
DEVICE_TEST(reduce) {
  const auto values = numbers(UINT32_MAX);
  Buffer<uint32_t> in(values), out(1);
  const std::vector<uint32_t> largest{*std::max_element(values.begin(), values.end())};
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::reduce(memory, bytes, data(in), data(out), N, rocprim::maximum<uint32_t>(), stream);
  }, [&](const char* how) { expect_output(how, out, largest); });
}
DEVICE_TEST(unique) {
  auto values = numbers(50);
  for (size_t i = 0; i < N; ++i) values[i] = values[i / 8];
  Buffer<uint32_t> in(values), out(N), count(1);
  auto kept = values;
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::unique(memory, bytes, data(in), data(out), data(count), N, rocprim::equal_to<uint32_t>(), stream);
  }, [&](const char* how) {
    expect_output(how, count, {static_cast<uint32_t>(kept.size())});
    expect_output(how, out, kept);
  });
}
DEVICE_TEST(histogram) {
  constexpr uint32_t BINS = 64;
  const auto values = numbers(BINS);
  Buffer<uint32_t> in(values), out(BINS);
  std::vector<uint32_t> counts(BINS);
  for (const uint32_t value : values) ++counts[value];
  both_ways([&](void* memory, size_t& bytes, hipStream_t stream) {
    return rocprim::histogram_even(memory, bytes, data(in), N, data(out), BINS + 1, 0u, BINS, stream);
  }, [&](const char* how) { expect_output(how, out, counts); });
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
