// Shapes of launches: every thread runs exactly once and knows where it is.
#include "device_test.h"

struct Place {
  uint32_t thread[3], block[3], block_dim[3], grid_dim[3];
};
__global__ void places(Place* out, uint32_t* visits) {
  size_t block = blockIdx.x + static_cast<size_t>(gridDim.x) * (blockIdx.y + static_cast<size_t>(gridDim.y) * blockIdx.z);
  size_t thread = threadIdx.x + static_cast<size_t>(blockDim.x) * (threadIdx.y + static_cast<size_t>(blockDim.y) * threadIdx.z);
  size_t i = thread + block * blockDim.x * blockDim.y * blockDim.z;
  out[i] = {{threadIdx.x, threadIdx.y, threadIdx.z}, {blockIdx.x, blockIdx.y, blockIdx.z},
            {blockDim.x, blockDim.y, blockDim.z}, {gridDim.x, gridDim.y, gridDim.z}};
  atomicAdd(&visits[i], 1u);
}
static void shape(dim3 grid, dim3 block) {
  const size_t count = size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z;
  Buffer<Place> out(count);
  Buffer<uint32_t> visits(count);
  LAUNCH(places, grid, block, 0, out, visits);
  char what[96];
  std::snprintf(what, sizeof what, "grid %ux%ux%u of %ux%ux%u", grid.x, grid.y, grid.z, block.x, block.y, block.z);
  expect_equal(what, visits.host(), std::vector<uint32_t>(count, 1));
  auto got = out.host();
  size_t i = 0;
  for (uint32_t bz = 0; bz < grid.z; ++bz)
    for (uint32_t by = 0; by < grid.y; ++by)
      for (uint32_t bx = 0; bx < grid.x; ++bx)
        for (uint32_t tz = 0; tz < block.z; ++tz)
          for (uint32_t ty = 0; ty < block.y; ++ty)
            for (uint32_t tx = 0; tx < block.x; ++tx, ++i) {
              Place want = {{tx, ty, tz}, {bx, by, bz}, {block.x, block.y, block.z}, {grid.x, grid.y, grid.z}};
              if (!same(got[i], want)) {
                FAIL("%s: thread %zu is misplaced", what, i);
                return;
              }
            }
}
DEVICE_TEST(one_dimension) {
  shape(dim3(1), dim3(1));
  shape(dim3(7), dim3(64));
  shape(dim3(5), dim3(100));
  shape(dim3(3), dim3(1024));
}
DEVICE_TEST(two_dimensions) {
  shape(dim3(3, 5), dim3(16, 16));
  shape(dim3(2, 2), dim3(7, 9));
  shape(dim3(1, 9), dim3(1, 33));
}
DEVICE_TEST(three_dimensions) {
  shape(dim3(2, 3, 4), dim3(4, 8, 4));
  shape(dim3(3, 1, 5), dim3(5, 3, 7));
  shape(dim3(1, 1, 2), dim3(8, 2, 64));
}

__global__ void count_blocks(uint32_t* counts, unsigned buckets) {
  if (threadIdx.x == 0) atomicAdd(&counts[blockIdx.x % buckets], 1u);
}
DEVICE_TEST(many_blocks) {
  constexpr unsigned blocks = 100000, buckets = 1000;
  Buffer<uint32_t> counts(buckets);
  LAUNCH(count_blocks, blocks, 64, 0, counts, buckets);
  expect_equal("blocks", counts.host(), std::vector<uint32_t>(buckets, blocks / buckets));
}

// Sixteen wavefronts behind each barrier.
__global__ void __launch_bounds__(1024) transpose(uint32_t* out, const uint32_t* in) {
  __shared__ uint32_t tile[32][33];
  unsigned x = threadIdx.x, y = threadIdx.y, width = gridDim.x * 32;
  tile[y][x] = in[(blockIdx.y * 32 + y) * width + blockIdx.x * 32 + x];
  __syncthreads();
  out[(blockIdx.x * 32 + y) * width + blockIdx.y * 32 + x] = tile[x][y];
}
DEVICE_TEST(blocks_of_1024_threads) {
  constexpr unsigned width = 128;
  std::vector<uint32_t> in(width * width), want(width * width);
  for (unsigned i = 0; i < width * width; ++i) in[i] = i;
  for (unsigned r = 0; r < width; ++r) {
    for (unsigned c = 0; c < width; ++c) want[c * width + r] = in[r * width + c];
  }
  Buffer<uint32_t> device_in(in), out(width * width);
  LAUNCH(transpose, dim3(width / 32, width / 32), dim3(32, 32), 0, out, device_in);
  expect_equal("transposed", out.host(), want);
}

__global__ void count_with_stride(uint32_t* out, unsigned count) {
  for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += gridDim.x * blockDim.x) out[i] += i;
}
DEVICE_TEST(grid_stride_loop) {
  constexpr unsigned count = 50000;
  Buffer<uint32_t> out(count);
  LAUNCH(count_with_stride, 7, 192, 0, out, count);
  LAUNCH(count_with_stride, 3, 64, 0, out, count);
  std::vector<uint32_t> want(count);
  for (unsigned i = 0; i < count; ++i) want[i] = 2 * i;
  expect_equal("elements", out.host(), want);
}

DEVICE_TEST(a_block_that_is_too_large_is_refused) {
  places<<<dim3(1), dim3(1025)>>>(nullptr, nullptr);
  hipError_t error = hipGetLastError();
  if (error != hipErrorInvalidConfiguration && error != hipErrorInvalidValue) FAIL("1025 threads: %s", hipGetErrorName(error));
  places<<<dim3(0), dim3(64)>>>(nullptr, nullptr);
  error = hipGetLastError();
  if (error != hipErrorInvalidConfiguration && error != hipErrorInvalidValue) FAIL("no blocks: %s", hipGetErrorName(error));
  shape(dim3(2), dim3(64));
}

int main(int argc, char** argv) { return run_device_tests(argc, argv); }
