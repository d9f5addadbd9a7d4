//! C types, constants, packet layouts and the function table of HSA Runtime 1.2 with AMD's extensions.
//!
//! Names are those of `hsa.h`, `hsa_ext_amd.h`, `amd_hsa_queue.h` and `amd_hsa_signal.h`, so that a reader
//! can look them up there. Enumerations are transparent integers: a value that this crate does not know is
//! legal. The crate declares and loads; it decides nothing.
//!
//! ```
//! use hsa_sys::{HSA_STATUS_ERROR_INVALID_QUEUE, hsa_kernel_dispatch_packet_t, hsa_status_t};
//!
//! assert_eq!(size_of::<hsa_kernel_dispatch_packet_t>(), hsa_sys::PACKET_BYTES);
//! assert_eq!(format!("{:?}", hsa_status_t(0x1007)), "HSA_STATUS_ERROR_INVALID_QUEUE");
//! assert_eq!(hsa_status_t(0x1007), HSA_STATUS_ERROR_INVALID_QUEUE);
//!
//! match hsa_sys::load() {
//!     Ok(api) => println!("ROCr is here; virtual memory: {}", api.hsa_amd_vmem_map.is_some()),
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `types` | handles, queues and enumerations of the core runtime |
//! | `status` | status codes |
//! | `packet` | AQL packets and their header fields |
//! | `branch` | packets by which a packet processor branches, of a proposal |
//! | `amd` | AMD's extensions: pools, pointers, events, profiling, virtual memory |
//! | `control` | queue and signal control blocks that device code reads |
//! | `api` | the function table |
//! | `load` | filling the table from `libhsa-runtime64.so.1` |
//! | [`mod@layout`] | what the types say about themselves, for the test against the headers |
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "the names are those of the C headers"
)]
#![allow(
    missing_docs,
    reason = "constants and fields keep the headers' names; the specification describes them"
)]

mod amd;
mod api;
mod branch;
mod control;
pub mod layout;
mod load;
mod packet;
mod status;
mod types;

pub use amd::*;
pub use api::*;
pub use branch::*;
pub use control::*;
pub use load::{LIBRARY, LoadError, load};
pub use packet::*;
pub use status::*;
pub use types::*;
