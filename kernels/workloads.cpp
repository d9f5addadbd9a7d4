// The whole kernels of `cargo bench --bench emulator`, as one would write them in HIP. Workgroups have 256 work-items.

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void
#define SHARED static LDS __attribute__((loader_uninitialized))

typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef float Float16 __attribute__((ext_vector_type(16)));

static inline unsigned thread() { return __builtin_amdgcn_workitem_id_x(); }
static inline unsigned group() { return __builtin_amdgcn_workgroup_id_x(); }
static inline unsigned item() { return group() * 256u + thread(); }

static inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL saxpy(GLOBAL float *y, const GLOBAL float *x, float a, unsigned length) {
  unsigned i = item();
  if (i < length) y[i] = a * x[i] + y[i];
}

// The sum of a workgroup's elements; it takes all that are a multiple of the grid apart.
KERNEL reduce(GLOBAL unsigned *sums, const GLOBAL unsigned *data, unsigned length, unsigned stride) {
  SHARED unsigned partial[256];
  unsigned sum = 0;
  for (unsigned i = item(); i < length; i += stride) sum += data[i];
  partial[thread()] = sum;
  barrier();
  for (unsigned width = 128; width > 0; width /= 2) {
    if (thread() < width) partial[thread()] += partial[thread() + width];
    barrier();
  }
  if (thread() == 0) sums[group()] = partial[0];
}

// c = a * b, all square, through tiles of 16 by 16; `across` workgroups in a row.
KERNEL matmul(GLOBAL float *c, const GLOBAL float *a, const GLOBAL float *b, unsigned size, unsigned across) {
  SHARED float left[16][16], right[16][16];
  unsigned x = thread() % 16u, y = thread() / 16u;
  unsigned row = group() / across * 16u + y, column = group() % across * 16u + x;
  float sum = 0;
  for (unsigned k = 0; k < size; k += 16) {
    left[y][x] = a[row * size + k + x];
    right[y][x] = b[(k + y) * size + column];
    barrier();
#pragma unroll
    for (unsigned i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    barrier();
  }
  c[row * size + column] = sum;
}

// Weighted means of five neighbours; the ends keep what they have.
KERNEL stencil(GLOBAL float *out, const GLOBAL float *in, unsigned length) {
  unsigned i = item();
  if (i >= length) return;
  bool inside = i >= 2 && i + 2 < length;
  out[i] = inside ? 0.0625f * (in[i - 2] + in[i + 2]) + 0.25f * (in[i - 1] + in[i + 1]) + 0.375f * in[i] : in[i];
}

#if defined(__GFX9__)
// c = a * transpose(b), all square: a wave makes 64 by 64 elements of c, a workgroup 128 by 128; `across` of them in a
// row. Of a matrix instruction's 32 rows (columns) by 8 products, a lane holds four products of a row (column).
KERNEL gemm(GLOBAL float *c, const GLOBAL _Float16 *a, const GLOBAL _Float16 *b, unsigned size, unsigned across) {
  unsigned lane = thread() % 64u, wave = thread() / 64u;
  unsigned row = group() / across * 128u + wave / 2u * 64u, column = group() % across * 128u + wave % 2u * 64u;
  unsigned inner = lane % 32u, outer = lane / 32u;
  const GLOBAL _Float16 *rows = a + (row + inner) * size + 4u * outer;
  const GLOBAL _Float16 *columns = b + (column + inner) * size + 4u * outer;
  Float16 sums[2][2] = {};
  for (unsigned k = 0; k < size; k += 8) {
    Half4 x[2], y[2];
    for (unsigned n = 0; n < 2; ++n) {
      x[n] = *(const GLOBAL Half4 *)(rows + 32u * n * size + k);
      y[n] = *(const GLOBAL Half4 *)(columns + 32u * n * size + k);
    }
    for (unsigned n = 0; n < 4; ++n)
      sums[n / 2][n % 2] =
          __builtin_amdgcn_mfma_f32_32x32x8f16(x[n / 2], y[n % 2], sums[n / 2][n % 2], 0, 0, 0);
  }
  for (unsigned n = 0; n < 4; ++n)
    for (unsigned i = 0; i < 16; ++i) {
      unsigned r = row + 32u * (n / 2) + i / 4u * 8u + 4u * outer + i % 4u;
      c[r * size + column + 32u * (n % 2) + inner] = sums[n / 2][n % 2][i];
    }
}
#else
typedef float Float8 __attribute__((ext_vector_type(8)));
#if defined(__GFX11__)
// Both halves of a wave hold all 16 products of a row (column), and every second row of the result.
typedef _Float16 Operand __attribute__((ext_vector_type(16)));
#define MULTIPLY __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
static inline unsigned first(unsigned) { return 0; }
static inline unsigned place(unsigned i, unsigned outer) { return 2u * i + outer; }
#else
// Each half of a wave holds 8 of the 16 products of a row (column), and 8 rows of the result.
typedef _Float16 Operand __attribute__((ext_vector_type(8)));
#define MULTIPLY __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12
static inline unsigned first(unsigned outer) { return 8u * outer; }
static inline unsigned place(unsigned i, unsigned outer) { return 8u * outer + i; }
#endif

// The same on RDNA: a wave makes 64 by 32 elements of c, a workgroup 128 by 128.
KERNEL gemm(GLOBAL float *c, const GLOBAL _Float16 *a, const GLOBAL _Float16 *b, unsigned size, unsigned across) {
  unsigned lane = thread() % 32u, wave = thread() / 32u;
  unsigned row = group() / across * 128u + wave / 4u * 64u, column = group() % across * 128u + wave % 4u * 32u;
  unsigned inner = lane % 16u, outer = lane / 16u;
  const GLOBAL _Float16 *rows = a + (row + inner) * size + first(outer);
  const GLOBAL _Float16 *columns = b + (column + inner) * size + first(outer);
  Float8 sums[4][2] = {};
  for (unsigned k = 0; k < size; k += 16) {
    Operand x[4], y[2];
    for (unsigned n = 0; n < 4; ++n) x[n] = *(const GLOBAL Operand *)(rows + 16u * n * size + k);
    for (unsigned n = 0; n < 2; ++n) y[n] = *(const GLOBAL Operand *)(columns + 16u * n * size + k);
    for (unsigned n = 0; n < 8; ++n) sums[n / 2][n % 2] = MULTIPLY(x[n / 2], y[n % 2], sums[n / 2][n % 2]);
  }
  for (unsigned n = 0; n < 8; ++n)
    for (unsigned i = 0; i < 8; ++i) {
      unsigned r = row + 16u * (n / 2) + place(i, outer);
      c[r * size + column + 16u * (n % 2) + inner] = sums[n / 2][n % 2][i];
    }
}
#endif
