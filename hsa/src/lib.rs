//! A safe layer over an HSA function table: agents, memory pools, signals, queues, AQL packets and batches.
//!
//! Objects are what the specification calls them, live as long as their owner, and keep the runtime alive.
//! What only looks at a device is safe; what makes a device run packets or touch memory is `unsafe`, because
//! no type can vouch for a kernel's arguments. The table is ROCr's or the emulator's, and nothing here can
//! tell them apart. `unsafe` is confined to the modules that call the table, and is forbidden in `packet` and
//! `batch`.
//!
//! ```
//! use hsa::packet::{BarrierAnd, Fences, KernelDispatch, Kind, NO_SIGNAL};
//!
//! // A packet is 64 bytes and needs no device.
//! let kernel = KernelDispatch {
//!     fences: Fences::SYSTEM,
//!     grid: [1 << 20, 1, 1],
//!     workgroup: [1024, 1, 1],
//!     kernarg_address: 0x7f00_0000_0000,
//!     ..KernelDispatch::new(0x7f00_0010_0040)
//! }
//! .packet()?;
//! assert_eq!(kernel.header()?.kind, Kind::KernelDispatch);
//! assert_eq!(kernel.header_bits(), 0x1502);
//!
//! let mut batch = hsa::Batch::new();
//! batch.push(kernel);
//! batch.push(BarrierAnd { fences: Fences::AGENT, ..BarrierAnd::default() }.packet());
//! assert_eq!(batch.counts().barrier_bits, 2);
//! assert_eq!(batch.packets()[1].deps(), Some([NO_SIGNAL; 5]));
//! # Ok::<(), hsa::packet::PacketError>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `runtime` | initialisation, system clock, list of agents |
//! | `agent` | what a processor is and has |
//! | `pool` | memory pools and allocations |
//! | `memory` | pinned host memory, lookup of addresses, fills and copies |
//! | `ipc` | allocations and ranges that other processes map |
//! | `vmem` | reserved addresses and memory mapped to them |
//! | `svm` | pages of the process that agents reach, by attributes |
//! | `signal`, `condition` | signals, waits, dispatch times; what a wait is for |
//! | [`packet`] | packet builders and the reader of packet images |
//! | `batch` | a run of packets and its counts |
//! | [`ring`] | claim and publication, over a port that a fake can be |
//! | `queue` | queues of a device |
//! | `ledger` | accounts of resources by holder |
//! | `executable` | code objects loaded by the runtime |
//! | `event` | memory faults and resets |
//! | [`fault_injection`] | a table that refuses resources, for tests |
//! | `error` | the crate's error |

mod agent;
mod ask;
mod batch;
mod condition;
mod error;
mod event;
mod executable;
#[cfg(all(test, not(loom)))]
mod fake;
pub mod fault_injection;
mod info;
mod ipc;
mod ledger;
mod locks;
mod memory;
pub mod packet;
mod pool;
mod queue;
pub mod ring;
mod runtime;
mod signal;
mod svm;
mod sync;
mod token;
mod vmem;

pub use agent::{Agent, AgentKind};
pub use batch::{Batch, Counts};
pub use condition::Condition;
pub use error::{Error, QueueFull};
pub use event::{EventHandler, SystemEvent};
pub use executable::{Executable, FrozenExecutable, Symbol};
pub use hsa_sys::{Api, LoadError, hsa_signal_t, hsa_status_t, load};
pub use ipc::{Attachment, MemoryHandle};
pub use ledger::{Holding, Resource};
pub use memory::{Pinned, PointerInfo, read_back};
pub use packet::Packet;
pub use pool::{Allocation, Link, Pool, PoolAccess, PoolProperties};
pub use queue::{
    DeviceProducer, HsaPort, Priority, Producers, Queue, QueueErrorHandler, QueueOptions, RingMemory,
    RingStores,
};
pub use ring::Claim;
pub use runtime::Runtime;
pub use signal::{DispatchTime, Signal, WaitState, Waiters};
pub use svm::{Attribute, SharedMemory};
pub use vmem::{Access, PhysicalMemory, Reservation, VirtualMemory};
