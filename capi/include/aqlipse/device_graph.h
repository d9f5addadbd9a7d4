/* Kernels that launch graphs: an executable graph that lies resident on its device is started by one packet, which a
 * kernel can write as well as the host can.
 *
 * No released HIP has this; names are aqlipse's own. In a HIP program include it behind <hip/hip_runtime.h>; it also
 * compiles as freestanding C++ for amdgcn, C++11 or later. docs/resident-graphs.md tells more. */
#ifndef AQLIPSE_DEVICE_GRAPH_H
#define AQLIPSE_DEVICE_GRAPH_H

/* What a kernel needs to launch a graph. The host's runtime writes it, and finds it by the address that kernels get. */
typedef struct aqlipseDeviceGraph {
  unsigned long long* end;         /* 0 while no launch is in flight, otherwise 1 */
  unsigned long long wanted;       /* the version that the executable has; 0 if it lies nowhere */
  unsigned long long present;      /* the version that lies on the device */
  unsigned int* lock;              /* of the queue below: 1 while somebody publishes to it */
  unsigned int* ring;              /* the queue that takes the packet: 64-byte slots */
  unsigned long long* write_index; /* of the next packet to be published */
  unsigned long long* read_index;  /* of the first packet that has not been taken out */
  unsigned long long* doorbell;    /* takes the index of the latest packet */
  unsigned long long slots;        /* of the ring, a power of two */
  /* 0 or less when the launches have ended that the host made before it gave the graph to kernels; may be null */
  const long long* before;
  unsigned long long reserved[6];
  unsigned int packet[16]; /* what runs the graph, or publishes its packets */
} aqlipseDeviceGraph;

/* A graph, for kernels on its device: an address to be handed to them as an argument. */
typedef aqlipseDeviceGraph* aqlipseDeviceGraph_t;

/* What became of a launch by a kernel. */
enum aqlipseGraphLaunchResult {
  aqlipseGraphLaunched = 0,
  /* A launch of the same executable has not ended: nothing was launched. */
  aqlipseGraphBusy = 1,
  /* The executable was updated, or never uploaded: hipGraphUpload or a launch by the host, completed, comes first. */
  aqlipseGraphNotUploaded = 2,
  /* Thousands of launches wait for their turn: nothing was launched. */
  aqlipseGraphQueueFull = 3
};

#if defined(HIP_INCLUDE_HIP_HIP_RUNTIME_API_H)
#ifdef __cplusplus
extern "C" {
#endif
/* Stores what kernels on the graph's device launch the executable with. The executable must have been made with
 * hipGraphInstantiateFlagDeviceLaunch, and must be resident when a kernel launches it: hipGraphUpload, or a launch by the
 * host, has completed since it was made or updated. The value stays the same, and good until the executable is destroyed.
 * hipErrorInvalidValue: a null pointer, no such executable, one without the flag, or one of an empty graph. */
hipError_t aqlipseGraphExecGetDeviceGraph(aqlipseDeviceGraph_t* deviceGraph, hipGraphExec_t graphExec);
#ifdef __cplusplus
}
#endif
#endif

#if defined(__HIP__) || defined(__AMDGCN__)
#if defined(__HIP__)
#define AQLIPSE_DEVICE_FUNCTION static __device__ inline
#else
#define AQLIPSE_DEVICE_FUNCTION static inline
#endif
/* The active work-items of the wave, a bit each. */
#if __has_builtin(__builtin_amdgcn_ballot_w64)
#define AQLIPSE_ACTIVE_LANES() __builtin_amdgcn_ballot_w64(true)
#else /* before clang 16 */
#define AQLIPSE_ACTIVE_LANES() __builtin_amdgcn_read_exec()
#endif

/* As aqlipseGraphLaunch, for one work-item of the wave. */
AQLIPSE_DEVICE_FUNCTION int aqlipseGraphLaunchOne(aqlipseDeviceGraph_t graph) {
  /* Nobody reads a slot before its header, so all other words may be stored in any order. */
  const unsigned long long wanted = __atomic_load_n(&graph->wanted, __ATOMIC_ACQUIRE);
  if (wanted == 0 || __atomic_load_n(&graph->present, __ATOMIC_ACQUIRE) != wanted) return aqlipseGraphNotUploaded;
  if (graph->before && __atomic_load_n(graph->before, __ATOMIC_ACQUIRE) > 0) return aqlipseGraphBusy;
  unsigned long long idle = 0;
  if (!__atomic_compare_exchange_n(graph->end, &idle, 1ull, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return aqlipseGraphBusy;

  unsigned int open = 0;
  while (!__atomic_compare_exchange_n(graph->lock, &open, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    open = 0;
    __builtin_amdgcn_s_sleep(2);
  }
  /* Who waited for room with the lock held could wait for itself: the kernels of a graph may launch others. */
  int result = aqlipseGraphQueueFull;
  const unsigned long long at = __atomic_load_n(graph->write_index, __ATOMIC_RELAXED);
  if (at - __atomic_load_n(graph->read_index, __ATOMIC_ACQUIRE) < graph->slots) {
    __atomic_fetch_add(graph->write_index, 1ull, __ATOMIC_RELAXED);
    unsigned int* slot = graph->ring + (at & (graph->slots - 1)) * 16;
    for (int word = 1; word < 16; word++) slot[word] = graph->packet[word];
    __atomic_store_n(slot, graph->packet[0], __ATOMIC_RELEASE);
    __atomic_store_n(graph->doorbell, at, __ATOMIC_RELEASE);
    result = aqlipseGraphLaunched;
  } else {
    __atomic_store_n(graph->end, 0ull, __ATOMIC_RELEASE);
  }
  __atomic_store_n(graph->lock, 0u, __ATOMIC_RELEASE);
  return result;
}

/* Launches a graph from a kernel, at once and behind nothing: the kernel does not wait for it, and neither does what
 * follows the kernel. hipDeviceSynchronize does, and so do later launches of the same executable by the host.
 *
 * The graph sees what the calling work-item has stored before. Every active work-item of a wave launches the graph that
 * it names; they may name different ones. Returns an aqlipseGraphLaunchResult. */
AQLIPSE_DEVICE_FUNCTION int aqlipseGraphLaunch(aqlipseDeviceGraph_t graph) {
  /* One work-item after the other takes the lock and lets it go: those of a wave advance together, and one that waits for
   * another of its wave would wait for ever. */
  const unsigned int own = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  int result = aqlipseGraphBusy;
  for (unsigned long long left = AQLIPSE_ACTIVE_LANES(); left != 0; left &= left - 1) {
    if (own == (unsigned int)__builtin_ctzll(left)) result = aqlipseGraphLaunchOne(graph);
  }
  return result;
}

#endif
#endif
