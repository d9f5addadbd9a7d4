// What aqlipse's libhsakmt.so.1 and libdtif.so offer beyond AMD's interface.
#ifndef AQLIPSE_THUNK_H
#define AQLIPSE_THUNK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a device has done since the driver was opened. Packets are counted when they are taken off their queue.
typedef struct aqlipse_thunk_counters {
  uint64_t kernels;             // kernel-dispatch packets
  uint64_t barrier_and;         // barrier-AND packets
  uint64_t barrier_or;          // barrier-OR packets
  uint64_t barrier_value;       // AMD's barrier-value packets
  uint64_t pm4;                 // AMD's packets that point to PM4 commands
  uint64_t barrier_bits;        // packets of any type whose barrier bit was set
  uint64_t completion_signals;  // completion signals that were decremented
  uint64_t interrupts;          // interrupts raised by completion signals and by device code
  uint64_t doorbells;           // doorbell values that the packet processor saw change
  uint64_t engine_copies;       // copies and fills by copy engines
  uint64_t engine_bytes;        // bytes that these stored
  uint64_t mappings;            // ranges of memory that were mapped for the device
  uint64_t quanta;              // queues that were given the place of another, where they take turns
  uint64_t near_host_reads;     // reads by waves of memory of the socket that is near; counted where there are two
  uint64_t far_host_reads;      // reads by waves of memory of the other socket
  uint64_t early_host_reads;    // of both, those before the wave's first store
  uint64_t page_faults;         // accesses to pages of the program's own that succeeded after a fault (XNACK)
  uint64_t migrated_pages;      // pages that came to the device's memory, or went away from there
} aqlipse_thunk_counters_t;

// Reads the counters of device `device` (the first is 0), each on its own: the device goes on meanwhile. Returns 0, or
// an HSAKMT_STATUS: INVALID_PARAMETER (3) for a null pointer, INVALID_NODE_UNIT (5) for a device that does not exist,
// KERNEL_IO_CHANNEL_NOT_OPENED (20) before hsa_init. Look it up with dlsym: no other libhsakmt has it.
int aqlipseThunkCounters(uint32_t device, aqlipse_thunk_counters_t *counters);

// Writes below `directory`, which must exist, a folder `sys` with what Linux would show there of the devices that the
// environment asks for: the kernel driver's topology, PCI devices, minors of the graphics driver. It needs no open driver
// and starts no thread. Returns 0, or an HSAKMT_STATUS: INVALID_PARAMETER (3) for a null pointer,
// KERNEL_IO_CHANNEL_NOT_OPENED (20) for variables that make no sense, ERROR (1) for a file that cannot be written; the log
// says which. `aqlipse run --sysfs` calls it.
int aqlipseThunkWriteSysfs(const char *directory);

#ifdef __cplusplus
}
#endif

#endif
