// What kernels print must be what the host prints with the same formats and values. The program writes the expected
// text to the file that its first argument names; the test compares that with standard output.
#include "check.h"
#include <cstdint>

#define CASES(PRINT)                                                                           \
  PRINT("plain text\n");                                                                       \
  PRINT("%d %i %u\n", -1, 42, 4000000000u);                                                    \
  PRINT("%hhd %hd %ld %lld %zu %td\n", static_cast<signed char>(-3), static_cast<short>(-300), -3000000000l, -30000000000ll, \
        size_t{1} << 40, ptrdiff_t{-5});                                                       \
  PRINT("%5d|%-5d|%05d|%+d|% d\n", 42, 42, 42, 42, 42);                                        \
  PRINT("%o %#o %x %X %#x %#X\n", 8, 8, 255, 255, 255, 255);                                   \
  PRINT("%c%c%c\n", 'x', 'y', 'z');                                                            \
  PRINT("%s|%10s|%-10s|%.2s\n", "abc", "abc", "abc", "abc");                                   \
  PRINT("%f %.2f %10.3f %-10.1f| %e %E %g %G\n", 1.5, 2.25, 3.125, 4.5, 12345.678, 1e-10, 1e20, 0.0001); \
  PRINT("%a %A %.3a\n", 1.0, 0.1, 3.14159);                                                    \
  PRINT("%f %f %f\n", 1.0 / zero, -1.0 / zero, 0.1f);                                          \
  PRINT("%*d|%-*d|%.*f\n", 6, 7, 6, 7, 3, 2.5);                                                \
  PRINT("%p\n", reinterpret_cast<void*>(uintptr_t{0x1234abcd}));                               \
  PRINT("100%%\n");                                                                            \
  PRINT("%s and %s, %d and %d\n", "a text of more than fifty-six bytes, which takes several packets to send", \
        "another", 1, 2);                                                                      \
  PRINT("%d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9)

__global__ void formats(double zero) { CASES(printf); }

static FILE* expected;
#define EXPECT(...) std::fprintf(expected, __VA_ARGS__)

// Every lane of every wave, each with a message of its own: lanes of a wave in order.
__global__ void lanes(int salt) {
  if (threadIdx.x % 7 == 3) printf("block %d thread %d salt %d\n", static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), salt);
}
static void expect_lanes(int salt, int threads) {
  for (int thread = 0; thread < threads; ++thread)
    if (thread % 7 == 3) EXPECT("block %d thread %d salt %d\n", 0, thread, salt);
}

// A text that only the device knows the length of, and a format that is no constant.
__global__ void variable(const char* text, const char* format) {
  printf("<%s>\n", text);
  printf(format, 7, 8.5);
}

// Several messages of one wave stay in order.
__global__ void counting(int from, int to) {
  for (int i = from; i < to; ++i) printf("count %d\n", i);
}

// What printf returns.
__global__ void returned(int* result) { *result = printf("seven!\n"); }

int main(int argc, char** argv) {
  expected = std::fopen(argc > 1 ? argv[1] : "/dev/null", "w");
  if (!expected) return 2;

  const double zero = 0.0;
  formats<<<1, 1>>>(0.0);
  CHECK(hipDeviceSynchronize());
  CASES(EXPECT);

  // The program's own output keeps its place.
  std::printf("host between\n");
  EXPECT("host between\n");

  // One wave: the waves of a block print in any order.
  int wave;
  CHECK(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0));
  lanes<<<1, wave>>>(1);
  CHECK(hipDeviceSynchronize());
  expect_lanes(1, wave);

  char* text;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&text), 4096));
  const size_t length = 1000;
  for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
  text[length] = 0;
  char* format = text + 2048;
  std::snprintf(format, 100, "variable %%d %%.1f\n");
  variable<<<1, 1>>>(text, format);
  CHECK(hipDeviceSynchronize());
  EXPECT("<%s>\n", text);
  EXPECT("variable %d %.1f\n", 7, 8.5);

  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  counting<<<1, 1, 0, stream>>>(0, 20);
  counting<<<1, 1, 0, stream>>>(20, 40);
  CHECK(hipStreamSynchronize(stream));
  for (int i = 0; i < 40; ++i) EXPECT("count %d\n", i);

  int* result;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&result), sizeof *result));
  *result = -7;
  returned<<<1, 1, 0, stream>>>(result);
  CHECK(hipStreamSynchronize(stream));
  EXPECT("seven!\n");
  // A buffered message is printed later: there it is 0 for success.
  if (*result != 7 && *result != 0) {
    std::fprintf(stderr, "printf returned %d\n", *result);
    return 1;
  }

  // Kernels that print in a graph: in the graph's order, at every launch.
  hipGraph_t graph;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  counting<<<1, 1, 0, stream>>>(100, 103);
  counting<<<1, 1, 0, stream>>>(103, 106);
  lanes<<<1, 32, 0, stream>>>(9);
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 3; ++launch) {
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    std::printf("launch %d\n", launch);
    for (int i = 100; i < 106; ++i) EXPECT("count %d\n", i);
    expect_lanes(9, 32);
    EXPECT("launch %d\n", launch);
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));

  // Many waves at once: more than can be resident. Only their number is known.
  lanes<<<200, 256, 0, stream>>>(5);
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipStreamDestroy(stream));
  std::fclose(expected);
  std::puts("Validation passed.");
}
