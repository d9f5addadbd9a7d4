// The kernels of `aqlipse demo` and `aqlipse bench`. Those of the demo take exactly
// one work-item per element: 1024 per workgroup, as many workgroups as it takes.

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 1024))) void

static inline unsigned long long element() {
  return __builtin_amdgcn_workgroup_id_x() * 1024ull + __builtin_amdgcn_workitem_id_x();
}

KERNEL kernelA(GLOBAL double *a) { a[element()] *= 2.0; }

KERNEL kernelB(GLOBAL int *b) { b[element()] = 3; }

KERNEL kernelC(GLOBAL double *a, const GLOBAL int *b) { a[element()] += b[element()]; }

KERNEL empty() {}

// Says when it ran: the first call of all writes 1, the next 2. One work-item.
KERNEL stamp(GLOBAL unsigned *ticket, GLOBAL unsigned *stamps, unsigned index) {
  stamps[index] = 1 + __scoped_atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
