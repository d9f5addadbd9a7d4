// A variable that host and device share, as clang writes what HIP calls __managed__, and a kernel that uses it.

#define GLOBAL __attribute__((address_space(1)))
#define SEEN __attribute__((visibility("protected")))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64))) void

extern "C" GLOBAL SEEN int shared_initial[4] __asm__("shared.managed") = {5, 6, 7, 8};
typedef GLOBAL int* Pointer;
extern "C" GLOBAL SEEN Pointer shared = nullptr;

KERNEL advance(int by) { shared[__builtin_amdgcn_workitem_id_x()] += by; }
KERNEL store(Pointer where, char what, short more) { *where = what + more; }
