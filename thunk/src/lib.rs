//! libhsakmt.so.1: AMD's user-mode driver interface on top of the emulator.
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(non_camel_case_types, reason = "the names are those of the C headers")]

pub mod abi;
pub mod api;
pub mod entry;
pub mod event;
mod log;
pub mod memory;
pub mod queue;
pub mod session;
pub mod topology;
