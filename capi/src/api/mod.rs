//! The exported functions, by subject.
//!
//! | module | what it holds |
//! |---|---|
//! | `runtime` | errors, versions, functions by name |
//! | `device` | devices, contexts, compute units |
//! | `pool` | memory pools |
//! | `event` | events |
//! | `exec` | executable graphs |
//! | `interop` | other APIs and processes |
//! | `module` | device code and its kernels |
//! | `rtc` | compiling and linking at run time |
//! | `launch` | kernel launches |
//! | `memory` | allocations, copies, fills |
//! | `graph` | graph templates and their nodes |
//! | `capture` | stream capture |
//! | `stream` | streams |
//! | `per_thread` | twins of entries for per-thread default streams |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `runtime`, `device`, `pool`, `event`, `exec`, `interop`
//! 2. `module`
//! 3. `launch`, `memory`, `rtc`
//! 4. `graph`
//! 5. `capture`
//! 6. `stream`
//! 7. `per_thread`

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
mod rtc;
mod runtime;
mod stream;
