// A variable and a kernel that uses it, for the tests of copies to and from device variables.

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64))) void

extern "C" GLOBAL __attribute__((visibility("protected"))) int counters[4] = {1, 2, 3, 4};

KERNEL increment() { counters[__builtin_amdgcn_workitem_id_x()] += 10; }
