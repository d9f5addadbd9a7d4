// What device code may use without any include, when it is compiled at run time. Stands on clang's own HIP headers.
// Names and meanings: HIP C++ language extensions, HIP math API (AMD, HIP documentation).
#pragma once
#pragma GCC system_header

#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __hip_rtc_inline static inline __attribute__((always_inline)) __device__
#define __hip_rtc_member __host__ __device__ constexpr

#define __hip_rtc_bounds1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __hip_rtc_bounds2(threads, waves) __hip_rtc_bounds1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#define __hip_rtc_choose(a, b, name, ...) name
#define __launch_bounds__(...) __hip_rtc_choose(__VA_ARGS__, __hip_rtc_bounds2, __hip_rtc_bounds1)(__VA_ARGS__)
#define __grid_constant__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long long ullong;

// Newer compilers no longer say it.
#ifndef __AMDGCN_WAVEFRONT_SIZE
#define __AMDGCN_WAVEFRONT_SIZE __AQLIPSE_RTC_WAVEFRONT
#endif
#ifndef __AMDGCN_WAVEFRONT_SIZE__
#define __AMDGCN_WAVEFRONT_SIZE__ __AQLIPSE_RTC_WAVEFRONT
#endif
constexpr int warpSize = __AQLIPSE_RTC_WAVEFRONT;

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  __hip_rtc_member dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __hip_rtc_member dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __hip_rtc_member operator uint3() const { return {x, y, z}; }
};

// Where a work-item is: three numbers that are read, and together a uint3 or a dim3.
#define __hip_rtc_coordinates(name, of_x, of_y, of_z)                                                              \
  struct __hip_rtc_##name {                                                                                        \
    struct X { __device__ operator unsigned() const { return of_x; } };                                            \
    struct Y { __device__ operator unsigned() const { return of_y; } };                                            \
    struct Z { __device__ operator unsigned() const { return of_z; } };                                            \
    __declspec(property(get = __x)) unsigned x;                                                                    \
    __declspec(property(get = __y)) unsigned y;                                                                    \
    __declspec(property(get = __z)) unsigned z;                                                                    \
    __device__ unsigned __x() const { return of_x; }                                                               \
    __device__ unsigned __y() const { return of_y; }                                                               \
    __device__ unsigned __z() const { return of_z; }                                                               \
    __device__ operator dim3() const { return dim3(of_x, of_y, of_z); }                                            \
    __device__ operator uint3() const { return {of_x, of_y, of_z}; }                                               \
  };                                                                                                               \
  extern const __device__ __attribute__((weak)) __hip_rtc_##name name;

__hip_rtc_coordinates(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                      __builtin_amdgcn_workitem_id_z())
__hip_rtc_coordinates(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                      __builtin_amdgcn_workgroup_id_z())
__hip_rtc_coordinates(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                      __builtin_amdgcn_workgroup_size_z())
// The dispatch counts work-items; HIP's blocks are all full.
__hip_rtc_coordinates(gridDim, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
                      __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(),
                      __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z())

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

extern "C" {
__device__ int printf(const char* format, ...);
__device__ int __ockl_wgred_add_i32(int);
__device__ int __ockl_wgred_and_i32(int);
__device__ int __ockl_wgred_or_i32(int);
}

#ifndef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                                          \
  ((condition) ? (void)0                                                                                           \
               : (printf("%s:%d: %s: Device-side assertion `%s' failed.\n", __FILE__, __LINE__,                    \
                         __PRETTY_FUNCTION__, #condition),                                                         \
                  __builtin_trap()))
#endif
#endif

__hip_rtc_inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__hip_rtc_inline int __syncthreads_count(int predicate) { return __ockl_wgred_add_i32(!!predicate); }
__hip_rtc_inline int __syncthreads_and(int predicate) { return __ockl_wgred_and_i32(!!predicate); }
__hip_rtc_inline int __syncthreads_or(int predicate) { return __ockl_wgred_or_i32(!!predicate); }
__hip_rtc_inline void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__hip_rtc_inline void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__hip_rtc_inline void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

__hip_rtc_inline long long clock64() { return __builtin_readcyclecounter(); }
__hip_rtc_inline long long clock() { return __builtin_readcyclecounter(); }
__hip_rtc_inline void __trap() { __builtin_trap(); }
