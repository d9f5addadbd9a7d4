//! Names of what holds memory, signals and queues, for reports.

#![forbid(unsafe_code)]

/// What the caller has allocated.
pub(crate) const USER: &str = "allocations";
/// Arenas of pools of stream-ordered memory.
pub(crate) const POOLS: &str = "stream-ordered pools";
/// What graphs allocate.
pub(crate) const GRAPHS: &str = "graph memory";
/// Slabs of kernel arguments.
pub(crate) const KERNARGS: &str = "kernel arguments";
/// Slabs through which copies of pageable memory go.
pub(crate) const STAGING: &str = "staging of copies";
/// Slabs of packets and conditional bodies that lie on the device.
pub(crate) const PACKETS: &str = "packets on the device";
/// Buffers by which kernels call the host and print.
pub(crate) const HOSTCALLS: &str = "hostcalls";
/// What kernels allocate.
pub(crate) const DEVICE_HEAP: &str = "heap of kernels";
/// Signals of launches, fences and events.
pub(crate) const SIGNALS: &str = "launches and events";
/// Values that conditional nodes look at.
pub(crate) const CONDITIONS: &str = "conditions of graphs";
