// What test kernels may use; there are no HIP headers and no device libraries.
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef __HIP__
#define FN __attribute__((device))
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define NOINLINE __attribute__((noinline))
#define tid __builtin_amdgcn_workitem_id_x()
#define tid_y __builtin_amdgcn_workitem_id_y()
#define tid_z __builtin_amdgcn_workitem_id_z()
#define block __builtin_amdgcn_workgroup_id_x()
#define block_y __builtin_amdgcn_workgroup_id_y()
#define block_z __builtin_amdgcn_workgroup_id_z()
#define block_size __builtin_amdgcn_workgroup_size_x()
#define barrier()                                          \
    (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), \
     __builtin_amdgcn_s_barrier(),                         \
     __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
// Defines kernel NAME(const In*, Out*, u32 n), which calls body_NAME(in[i], out[i]) for i < n.
#define MAP(name, In, Out)                               \
    KERNEL name(const In *in, Out *out, u32 n) {         \
        u32 i = block * block_size + tid;                \
        if (i < n) body_##name(in[i], out[i]);           \
    }
#else
#define FN static
#define KERNEL extern "C" void
// One workgroup runs at a time, on a thread for each work-item; `enter` tells the thread which one it is.
#define SHARED static
struct WorkItem {
    u32 item, group, size;
    const void *barrier;
    void (*wait)(const void *);
};
static thread_local WorkItem work_item;
extern "C" void enter(const WorkItem *self) { work_item = *self; }
#define tid work_item.item
#define block work_item.group
#define block_size work_item.size
#define barrier() work_item.wait(work_item.barrier)
#define CONSTANT static const
#define NOINLINE __attribute__((noinline))
#define MAP(name, In, Out)                                         \
    extern "C" void name(const In *in, Out *out, u32 n) {          \
        for (u32 i = 0; i < n; i++) body_##name(in[i], out[i]);    \
    }
#endif
