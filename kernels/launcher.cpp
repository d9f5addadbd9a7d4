// The kernels of graphs that lie on the device. Where the packet processor takes indirect buffers, one packet starts a
// graph, and claim_graph keeps launches by the host apart from those by kernels. Elsewhere launch_graph publishes the
// graph: what a launch by the host, or by another kernel, starts.
//
// There a wave copies the packets of the graph's lanes into rings to which only this kernel publishes. One lock for all of
// them is held from a graph's first packet to its last, so that the graphs lie in every ring in the same order: each
// packet waits only for packets that were published before it, by the same graph or by one that is complete in the
// rings, and whoever waits for room gets it. It also keeps the doorbells from going backwards.
//
// Layouts as in src/exec/resident/mod.rs.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 Quad __attribute__((ext_vector_type(4)));

#define GLOBAL __attribute__((address_space(1)))

// A run of packets for one ring.
struct Run {
  u64 ring, write_index, read_index, doorbell;
  u64 packets;
  u32 slots, count;
};

// Everything that a launch needs. Nobody writes it once it is there.
struct Graph {
  u64 end;
  u64 lock;
  u64 signals;
  u64 runs;
  u32 signal_count, run_count;
};

// Packets that are published at most at once: the device begins with the first while the others are copied.
constexpr u64 kPart = 512;

static inline u64 load(u64 at) { return __scoped_atomic_load_n((GLOBAL u64 *)at, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM); }

// A value that every lane has computed alike, in scalar registers.
static inline u64 uniform(u64 value) {
  u32 low = __builtin_amdgcn_readfirstlane(u32(value)), high = __builtin_amdgcn_readfirstlane(u32(value >> 32));
  return u64(high) << 32 | low;
}

static inline bool exchange(u64 at, u64 from, u64 to) {
  return __scoped_atomic_compare_exchange_n((GLOBAL u64 *)at, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                            __MEMORY_SCOPE_SYSTEM);
}

static inline bool exchange_word(u64 at, u32 from, u32 to) {
  return __scoped_atomic_compare_exchange_n((GLOBAL u32 *)at, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                            __MEMORY_SCOPE_SYSTEM);
}

// Lanes of a wave.
#ifdef __GFX9__
constexpr u32 kLanes = 64;
#else
constexpr u32 kLanes = 32;
#endif

static inline void publish(const Run run, u32 lane) {
  for (u64 done = 0; done < run.count;) {
    const u64 write = uniform(load(run.write_index));
    // ORDER: acquire. The packet processor is done with the slots below the read index.
    const u64 room = run.slots - (write - uniform(load(run.read_index)));
    u64 part = run.count - done;
    if (part > room) part = room;
    if (part > kPart) part = kPart;
    if (part == 0) {
      __builtin_amdgcn_s_sleep(16);
      continue;
    }
    if (lane == 0)
      __scoped_atomic_fetch_add((GLOBAL u64 *)run.write_index, part, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    for (u64 i = lane; i < part; i += kLanes) {
      auto from = (const GLOBAL Quad *)(run.packets + (done + i) * 64);
      auto to = (GLOBAL Quad *)(run.ring + ((write + i) & (run.slots - 1)) * 64);
      const Quad first = from[0], second = from[1], third = from[2], fourth = from[3];
      ((GLOBAL u32 *)to)[1] = first.y;
      ((GLOBAL u64 *)to)[1] = u64(first.w) << 32 | first.z;
      to[1] = second;
      to[2] = third;
      to[3] = fourth;
    }
    // ORDER: release. Whoever sees a header sees the packet: all of them are whole before the first header is stored.
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
    for (u64 i = lane; i < part; i += kLanes) {
      auto from = (const GLOBAL u32 *)(run.packets + (done + i) * 64);
      auto to = (GLOBAL u32 *)(run.ring + ((write + i) & (run.slots - 1)) * 64);
      __scoped_atomic_store_n(to, *from, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    }
    // ORDER: release. The headers are there when the doorbell rings.
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
    if (lane == 0)
      __scoped_atomic_store_n((GLOBAL u64 *)run.doorbell, write + part - 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    done += part;
  }
}

// Publishes a graph's packets; one wave, and 64 work-items: where a wave has fewer lanes, the others end at once. Waits for
// an earlier launch of the graph to end first, unless whoever launches it has `claimed` it: has found that none is in
// flight and stored that one is.
extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void launch_graph(const GLOBAL Graph *graph,
                                                                                               u32 claimed) {
  const u32 lane = __builtin_amdgcn_workitem_id_x();
  if (kLanes < 64 && lane >= kLanes) return;
  const Graph own = *graph;
  if (lane == 0) {
    while (!claimed && !exchange(own.end, 0, 1)) __builtin_amdgcn_s_sleep(16);
    while (!exchange_word(own.lock, 0, 1)) __builtin_amdgcn_s_sleep(4);
  }
  __builtin_amdgcn_wave_barrier();
  for (u32 i = lane; i < own.signal_count; i += kLanes) {
    auto value = (GLOBAL u64 *)((const GLOBAL u64 *)own.signals)[i];
    __scoped_atomic_store_n(value, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
  }
  // ORDER: release. The signals are armed when a packet that fires them, or waits for them, can be seen.
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
  for (u32 i = 0; i < own.run_count; i++) publish(((const GLOBAL Run *)own.runs)[i], lane);
  if (lane == 0) __scoped_atomic_store_n((GLOBAL u32 *)own.lock, 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
}

// Waits until no launch of a graph is in flight, and says that one is; one work-item. `end` is the address of the value of
// the signal that the graph's end makes 0 again.
extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64))) void claim_graph(u64 end) {
  while (!exchange(end, 0, 1)) __builtin_amdgcn_s_sleep(16);
}
