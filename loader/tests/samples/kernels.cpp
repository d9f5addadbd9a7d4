// What a code object can contain: kernels with every kind of argument, constants, variables, a table of
// functions (relative relocations), static and dynamic group memory, private memory, launch bounds.
// Built without any header so that the samples depend on nothing but the compiler (see build.txt).

#define __constant__ __attribute__((constant))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

struct Pair {
  int first;
  double second;
};

typedef int (*Operation)(int, int);

static __device__ int add(int a, int b) { return a + b; }
static __device__ int subtract(int a, int b) { return a - b; }

extern "C" {
__device__ int counter;
__device__ double scale = 2.5;
__device__ char buffer[4096];
__constant__ float coefficients[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ Operation operations[2] = {add, subtract};
__device__ int *counter_pointer = &counter;

__global__ void scale_pair(double *out, const Pair pair, int n, char flag) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n)
    out[i] = pair.second * scale + pair.first + coefficients[flag & 3];
}

__global__ void call_table(int *data, unsigned which) {
  *data = operations[which & 1](*data, *counter_pointer);
}

__global__ void __launch_bounds__(256) sum(const float *in, float *out) {
  __shared__ float tile[256];
  extern __shared__ float dynamic[];
  int i = __builtin_amdgcn_workitem_id_x();
  tile[i] = in[__builtin_amdgcn_workgroup_id_x() * 256 + i];
  __builtin_amdgcn_s_barrier();
  dynamic[i] = tile[255 - i];
  out[i] = dynamic[i] + tile[i] + buffer[i];
}

__global__ void spill(volatile int *data, int n) {
  volatile int local[100];
  for (int i = 0; i < n; ++i)
    local[data[i]] = i;
  *data = local[n];
}
}
