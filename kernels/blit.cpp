// The kernels behind memcpy, memset, and writing and waiting for a word; kernels/blit.md gives their arguments and how to size a grid.
//
// Freestanding C++ for amdgcn: no device library, no hidden argument. The
// total work-item count arrives as an argument, because the grid size in the
// dispatch packet is reached through hidden arguments only.

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void

#define SINGLE extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64))) void

typedef u64 Vector __attribute__((ext_vector_type(2)));
// Sources keep their own alignment: global loads of any width take any
// address, only stores are worth aligning.
typedef Vector UnalignedVector __attribute__((aligned(1)));

constexpr u64 kVector = sizeof(Vector);
constexpr u64 kUnroll = 4;

static inline u64 global_id() { return u64(__builtin_amdgcn_workgroup_id_x()) * 256 + __builtin_amdgcn_workitem_id_x(); }

// Bytes before the first 16-byte boundary at or after `dst`, at most `bytes`.
static inline u64 head_bytes(GLOBAL u8 *dst, u64 bytes) {
  u64 head = -(u64)dst & (kVector - 1);
  return head < bytes ? head : bytes;
}

// Copies one row with `step` work-items, of which the caller is number `lane`.
static inline void copy_row(GLOBAL u8 *dst, const GLOBAL u8 *src, u64 bytes, u64 lane, u64 step) {
  const u64 head = head_bytes(dst, bytes);
  const u64 vectors = (bytes - head) / kVector;
  for (u64 i = lane; i < head; i += step) dst[i] = src[i];

  auto to = (GLOBAL Vector *)(dst + head);
  auto from = (const GLOBAL UnalignedVector *)(src + head);
  u64 i = lane;
  // Four loads in flight per work-item hide the latency of the first.
  for (; i + (kUnroll - 1) * step < vectors; i += kUnroll * step) {
    Vector a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    to[i] = a;
    to[i + step] = b;
    to[i + 2 * step] = c;
    to[i + 3 * step] = d;
  }
  for (; i < vectors; i += step) to[i] = from[i];

  for (u64 k = head + vectors * kVector + lane; k < bytes; k += step) dst[k] = src[k];
}

// Fills one row; byte k of it becomes byte k % 8 of `value`.
static inline void fill_row(GLOBAL u8 *dst, u64 value, u64 bytes, u64 lane, u64 step) {
  const u64 head = head_bytes(dst, bytes);
  const u64 vectors = (bytes - head) / kVector;
  for (u64 k = lane; k < head; k += step) dst[k] = u8(value >> (k % 8 * 8));

  // The aligned body starts `head` bytes into the pattern.
  const u64 turned = __builtin_rotateright64(value, head % 8 * 8);
  auto to = (GLOBAL Vector *)(dst + head);
  for (u64 i = lane; i < vectors; i += step) to[i] = Vector{turned, turned};

  for (u64 k = head + vectors * kVector + lane; k < bytes; k += step) dst[k] = u8(value >> (k % 8 * 8));
}

KERNEL copy(GLOBAL u8 *dst, const GLOBAL u8 *src, u64 bytes, u64 items) {
  copy_row(dst, src, bytes, global_id(), items);
}

KERNEL copy_rect(GLOBAL u8 *dst, const GLOBAL u8 *src, u64 dst_pitch, u64 src_pitch, u64 dst_slice, u64 src_slice,
                 u64 width, u64 height, u64 depth, u64 items, u32 slice_groups, u32 team_shift) {
  const u64 id = global_id(), team = 1ull << team_shift;
  for (u64 z = __builtin_amdgcn_workgroup_id_y(); z < depth; z += slice_groups)
    for (u64 y = id >> team_shift; y < height; y += items >> team_shift)
      copy_row(dst + z * dst_slice + y * dst_pitch, src + z * src_slice + y * src_pitch, width, id & (team - 1), team);
}

KERNEL fill(GLOBAL u8 *dst, u64 value, u64 bytes, u64 items) { fill_row(dst, value, bytes, global_id(), items); }

KERNEL fill_rect(GLOBAL u8 *dst, u64 value, u64 pitch, u64 slice, u64 width, u64 height, u64 depth, u64 items,
                 u32 slice_groups, u32 team_shift) {
  const u64 id = global_id(), team = 1ull << team_shift;
  for (u64 z = __builtin_amdgcn_workgroup_id_y(); z < depth; z += slice_groups)
    for (u64 y = id >> team_shift; y < height; y += items >> team_shift)
      fill_row(dst + z * slice + y * pitch, value, width, id & (team - 1), team);
}

// Stores a word in one piece, with all that happened before visible to whoever sees it. Another device
// may wait for it: the fence behind the store writes it back from a cache that only this device sees, which packets do at the
// end of their graph.
static inline void write_word(GLOBAL void *at, u64 value, u32 wide) {
  if (wide)
    __scoped_atomic_store_n((GLOBAL u64 *)at, value, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
  else
    __scoped_atomic_store_n((GLOBAL u32 *)at, u32(value), __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
}

// Ends when a word that anybody may write meets a condition. One work-item is enough, and leaves the rest of the
// device to those who will write it. If `gone` is not null, its word is 1 when nobody is left to write: then it traps.
static inline void wait_word(const GLOBAL void *at, u64 value, u64 mask, const GLOBAL u32 *gone, u32 condition, u32 wide) {
  for (;;) {
    // First: what was written before the writer was gone counts.
    const bool last = gone && __scoped_atomic_load_n(gone, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM);
    const u64 word = wide ? __scoped_atomic_load_n((const GLOBAL u64 *)at, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM)
                          : __scoped_atomic_load_n((const GLOBAL u32 *)at, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM);
    bool met;
    switch (condition) {
      case 0: met = (word & mask) >= value; break;
      case 1: met = (word & mask) == value; break;
      case 2: met = (word & mask & value) != 0; break;
      default: met = (~(word | value) & mask) != 0; break;
    }
    if (met) return;
    if (last) __builtin_trap();
    __builtin_amdgcn_s_sleep(16);
  }
}

SINGLE write_value(GLOBAL void *at, u64 value, u32 wide) { write_word(at, value, wide); }

SINGLE wait_value(const GLOBAL void *at, u64 value, u64 mask, const GLOBAL u32 *gone, u32 condition, u32 wide) {
  wait_word(at, value, mask, gone, condition, wide);
}

struct Run {
  GLOBAL u8 *dst;
  const GLOBAL u8 *src;
  u64 bytes;
};

// Copies runs of bytes, shared by groups of work-items. The runs stand behind the arguments that the compiler knows of,
// from offset 24 on: how many there are differs from launch to launch.
KERNEL copy_batch(u64 count, u64 items, u32 groups) {
  auto runs = (const __attribute__((address_space(4))) Run *)(
      (const __attribute__((address_space(4))) u8 *)__builtin_amdgcn_kernarg_segment_ptr() + 24);
  const u64 id = global_id();
  for (u64 i = __builtin_amdgcn_workgroup_id_y(); i < count; i += groups)
    copy_row(runs[i].dst, runs[i].src, runs[i].bytes, id, items);
}

struct WordStep {
  GLOBAL void *at;
  u64 value, mask;
  const GLOBAL u32 *gone;
  u32 action, wide;
};

// Writes and waits for words, one after the other. The steps stand behind the arguments that the compiler knows of:
// how many there are differs from launch to launch.
SINGLE word_steps(u64 count) {
  auto steps = (const __attribute__((address_space(4))) WordStep *)(
      (const __attribute__((address_space(4))) u8 *)__builtin_amdgcn_kernarg_segment_ptr() + sizeof(count));
  for (u32 i = 0; i < count; i++) {
    if (steps[i].action == 4)
      write_word(steps[i].at, steps[i].value, steps[i].wide);
    else
      wait_word(steps[i].at, steps[i].value, steps[i].mask, steps[i].gone, steps[i].action, steps[i].wide);
  }
}
