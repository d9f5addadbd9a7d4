//! AMD's user-mode driver interface on top of the emulator: `libhsakmt.so.1`, which ROCr 5.2.3 loads, and
//! `libdtif.so`, which newer ROCr takes with `HSA_ENABLE_DTIF=1`. AMD's unmodified ROCr and libamdhip64 run on it and
//! find an AMD GPU; every kernel of theirs runs as machine code on the emulated one.
//!
//! ```
//! use thunk::api::topology::{hsaKmtCloseKFD, hsaKmtOpenKFD};
//! use thunk::{abi::HSAKMT_STATUS_SUCCESS, session};
//!
//! // SAFETY: neither takes a pointer.
//! unsafe {
//!     assert_eq!(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
//!     let session = session::current()?;
//!     assert_eq!(session.topology.nodes().count(), 2); // the host and one gfx90a
//!     assert_eq!(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS);
//! }
//! # Ok::<(), thunk::abi::HSAKMT_STATUS>(())
//! ```
//!
//! From a shell, after `cargo xtask dist`:
//! ```text
//! LD_LIBRARY_PATH=target/dist/thunk ./program-linked-with-libamdhip64.so.5
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`api`] | the exported functions, by topic; what is refused, and libdrm's part for `libdtif.so` |
//! | [`entry`] | the one way to export a function: panics become a status |
//! | [`abi`] | status codes, flags, structures of 5.2.3 and newer, caller pointers |
//! | [`session`] | what lives between `hsaKmtOpenKFD` and `hsaKmtCloseKFD` |
//! | [`topology`] | nodes, memory banks, caches, links, from the cards' figures; the same as files of Linux |
//! | [`memory`] | allocations, registrations, and which device reaches what |
//! | [`event`] | events and waits with the kernel driver's semantics |
//! | [`queue`] | where queues report why they stopped |
//! | `client` | a ROCr of the wrong version is told so |
//! | `log` | `AQLIPSE_LOG` |
//!
//! `exports.tsv` says which library exports what. `include/aqlipse_thunk.h` describes what we added. `bin/` holds the
//! `lsmod` of programs under `aqlipse run --sysfs`.
//!
//! Unsafe code: [`abi`] follows caller pointers; [`event`] owns structures that the client reads, and mailboxes that
//! devices write; [`memory`] promises the driver that memory stays; [`queue`] stores to the client's signals.
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(non_camel_case_types, reason = "the names are those of the C headers")]

pub mod abi;
pub mod api;
mod client;
pub mod entry;
pub mod event;
mod log;
pub mod memory;
pub mod queue;
pub mod session;
pub mod topology;
