//! The exported functions, by subject.
//!
//! | module | what it holds |
//! |---|---|
//! | `runtime` | errors, versions, functions by name |
//! | `device` | devices, contexts, compute units |
//! | `pool` | memory pools |
//! | `event` | events |
//! | `stream` | streams |
//! | `module` | device code and its kernels |
//! | `memory` | allocations, copies, fills |
//! | `launch` | kernel launches |
//! | `graph` | graph templates and their nodes |
//! | `capture` | stream capture |
//! | `exec` | executable graphs |
//! | `interop` | other APIs and processes |
//! | `per_thread` | twins of entries for per-thread default streams |

// ABI: parameters, constants and functions have the header's names.
#![allow(non_snake_case, non_upper_case_globals)]

mod capture;
mod device;
mod event;
mod exec;
mod graph;
mod interop;
mod launch;
mod memory;
mod module;
mod per_thread;
mod pool;
mod runtime;
mod stream;
