// Kernels of the runtime's own tests (tests/runtime): each checks or leaves a trace of the order it ran in.

#include "aqlipse/device_graph.h"

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 256))) void

typedef unsigned int u32;
typedef unsigned long long u64;

static inline u32 element() { return __builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x(); }

static inline u32 load(GLOBAL u32 *p) { return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }

static inline void add(GLOBAL u32 *p, u32 n) {
  __scoped_atomic_fetch_add(p, n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// One node of a graph, one work-item. runs[i] counts the runs of node i. Those in after[0..pred_count] must have run
// once more than this one; the next last_count in the launch before, so as often, or once more if this launch's run is
// over. Each that has not is an error.
KERNEL count_after(GLOBAL u32 *runs, u32 node, const GLOBAL u32 *after, u32 pred_count, u32 last_count,
                   GLOBAL u32 *errors) {
  u32 own = load(runs + node);
  u32 wrong = 0;
  for (u32 i = 0; i < pred_count; i++) wrong += load(runs + after[i]) != own + 1;
  for (u32 i = pred_count; i < pred_count + last_count; i++) wrong += load(runs + after[i]) - own > 1;
  if (wrong) add(errors, wrong);
  add(runs + node, 1);
}

// Appends value to a log whose first word is its length; one work-item.
KERNEL append(GLOBAL u32 *log, u32 value) {
  u32 at = __scoped_atomic_fetch_add(log, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  log[at + 1] = value;
}

// data[i] = data[i] * factor + term. Does not commute with itself.
KERNEL affine(GLOBAL u32 *data, u32 len, u32 factor, u32 term) {
  u32 i = element();
  if (i < len) data[i] = data[i] * factor + term;
}

// Stores through an address that nobody vouches for.
KERNEL poke(u64 address, u32 value) { *(GLOBAL volatile u32 *)address = value; }

// Spends time: stores value only behind the loop.
KERNEL slow(GLOBAL u32 *out, u32 turns, u32 value) {
  for (u32 i = 0; i < turns; i++) (void)*(volatile GLOBAL u32 *)out;
  *out = value;
}

// What a condition is to kernels (`hipGraphConditionalHandle`).
struct Condition {
  GLOBAL volatile u64 *value;
  u64 initial;
  u64 signal;
};

// Takes one off a counter, which is the condition's new value.
KERNEL count_down(GLOBAL u32 *counter, Condition condition) {
  *counter -= 1;
  *condition.value = *counter;
}

// The next word of a script, whose first word counts those that were read, is the condition's new value.
KERNEL next_condition(GLOBAL u32 *script, Condition condition) {
  u32 at = script[0];
  script[0] = at + 1;
  *condition.value = script[at + 1];
}

// Work-item i launches graph graphs[i], and notes what came of it.
KERNEL launch_graphs(const GLOBAL u64 *graphs, GLOBAL u32 *results) {
  u32 i = element();
  results[i] = aqlipseGraphLaunch((aqlipseDeviceGraph_t)graphs[i]);
}

// Launches a graph `count` times, each time when the launch before has ended; one work-item.
KERNEL launch_graph_often(u64 graph, u32 count, GLOBAL u32 *launched) {
  for (u32 done = 0; done < count;) {
    int result = aqlipseGraphLaunch((aqlipseDeviceGraph_t)graph);
    if (result == aqlipseGraphLaunched) *launched = ++done;
    else if (result != aqlipseGraphBusy) return;
    __builtin_amdgcn_s_sleep(16);
  }
}
