// For tests: where workgroups run, and how many of them at a time.

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 1024))) void

typedef unsigned int u32;

static inline u32 load(GLOBAL u32 *p) { return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }

// What the instruction that reads a hardware register takes for all 32 bits of it.
#define WHOLE(number) (31 << 11 | (number))

// places[2 * i] and the next: HW_ID and XCC_ID, as workgroup i reads them.
KERNEL where(GLOBAL u32 *places) {
  if (__builtin_amdgcn_workitem_id_x() != 0) return;
  GLOBAL u32 *place = places + 2 * __builtin_amdgcn_workgroup_id_x();
  place[0] = __builtin_amdgcn_s_getreg(WHOLE(4));
#if defined(__gfx942__) || defined(__gfx9_4_generic__)
  place[1] = __builtin_amdgcn_s_getreg(WHOLE(20));
#else
  place[1] = 0;
#endif
}

// meeting[0]: workgroups that are here now; meeting[1]: the most that were at once. Each stays until `wanted` have met, or
// it has looked `patience` times.
KERNEL meet(GLOBAL u32 *meeting, u32 wanted, u32 patience) {
  if (__builtin_amdgcn_workitem_id_x() != 0) return;
  u32 now = __scoped_atomic_fetch_add(meeting, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) + 1;
  __scoped_atomic_fetch_max(meeting + 1, now, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  while (patience-- != 0 && load(meeting + 1) < wanted) __builtin_amdgcn_s_sleep(1);
  __scoped_atomic_fetch_sub(meeting, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
