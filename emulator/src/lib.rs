//! An AMD GPU in software: it runs real AMDGPU machine code, unmodified, on the host's cores, behind the
//! same HSA function table that a driver fills on a machine with the card. Packet processors serve
//! queues, waves of 64 lanes interpret instructions, and memory is the host's with an allocation map, so
//! that a stray access is a fault that names kernel, instruction, lane and address.
//!
//! ```
//! use emulator::{Config, Target};
//! use hsa_sys::{HSA_AGENT_INFO_NAME, HSA_STATUS_SUCCESS, hsa_agent_t, hsa_status_t};
//!
//! unsafe extern "C" fn print(agent: hsa_agent_t, _: *mut std::ffi::c_void) -> hsa_status_t {
//!     let mut name = [0u8; 64];
//!     // SAFETY: a name has 64 bytes.
//!     let status = unsafe {
//!         (emulator::api().hsa_agent_get_info)(agent, HSA_AGENT_INFO_NAME, name.as_mut_ptr().cast())
//!     };
//!     println!("{}", String::from_utf8_lossy(&name).trim_end_matches('\0'));
//!     status
//! }
//!
//! // Instead of AQLIPSE_EMULATE=2xgfx942 in the environment.
//! emulator::configure(Config { devices: vec![Target::Gfx942; 2], ..Config::default() })?;
//! let hsa = emulator::api();
//! // SAFETY: the table's functions have no preconditions beyond valid pointers.
//! unsafe {
//!     assert_eq!((hsa.hsa_init)(), HSA_STATUS_SUCCESS);
//!     assert_eq!((hsa.hsa_iterate_agents)(Some(print), std::ptr::null_mut()), HSA_STATUS_SUCCESS);
//!     assert_eq!((hsa.hsa_shut_down)(), HSA_STATUS_SUCCESS);
//! }
//! # Ok::<(), emulator::ConfigError>(())
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | `hsa` | the C functions of the table: handles looked up, pointers checked, panics caught |
//! | `runtime` | what lives between `hsa_init` and `hsa_shut_down` |
//! | `agent` | agents and their handles |
//! | `config` | [`Config`], from the environment or from the program |
//! | `hardware` | [`Hardware`]: failures and limits of hardware that programs meet only where they ask for them |
//! | `device` | the figures of each card, one file per card |
//! | `processor` | the packet processors: order, barriers, completion, errors, the seeded schedule |
//! | `workers` | the threads that run workgroups |
//! | `queue`, `signal` | control blocks and rings; signals, waits that sleep, handlers |
//! | `race` | what waves do to LDS and memory that nothing orders, for tools |
//! | `heap`, `vmem` | pools and locked host memory; reserved addresses and mappings |
//! | `svm` | shared virtual memory: pages of the program that devices reach by attributes |
//! | `executable` | code objects placed in device memory |
//! | `copy` | copies that the function table is asked for: what shaders do, and copy engines |
//! | `sdma` | copy engines that serve rings of packets, for clients of the driver |
//! | `fault` | reports, callbacks and system events |
//! | `touched` | [`Touched`], [`Observer`]: the bytes that dispatches touch, for tools |
//! | `convergence` | barriers that lanes and waves go past, and lanes that read from others that are off, for tools |
//! | `units` | [`UnitObserver`]: when workgroups run on which compute unit, for tools |
//! | [`dispatch`], [`workgroup`] | one kernel dispatch, one workgroup |
//! | [`wave`] | one wavefront, the instructions' semantics, and machine code decoded once into operations |
//! | [`isa`] | the instruction table, decoder and disassembler |
//! | [`memory`] | the allocation map; the caches of the strict mode: what is not fenced is stale |
//! | [`driver`] | the devices below the function table: memory maps, user-mode queues, interrupts |
//! | [`coverage`] | which rows of the table the tests executed |
//! | `os` | address space, futexes, the clock |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `agent`, `convergence`, `hardware`, `isa`, `os`, `race`, `touched`, `uninit`, `units`
//! 2. `config`, `coverage`, `memory`
//! 3. `signal`, `wave`
//! 4. `device`, `workgroup`
//! 5. `dispatch`, `heap`, `svm`
//! 6. `executable`, `queue`, `vmem`, `workers`
//! 7. `copy`, `fault`
//! 8. `processor`, `sdma`
//! 9. `driver`, `runtime`
//! 10. `hsa`
//!
//! `unsafe` is needed where memory belongs to the program or to the device: `os`, `hsa`, `signal`, `queue`,
//! `memory` (caches), `copy`, `sdma`, `executable`, `processor` (packets), `workgroup`, `dispatch` and `wave`.
#![deny(unsafe_op_in_unsafe_fn)]

mod agent;
mod config;
mod convergence;
mod copy;
mod device;
mod executable;
mod fault;
mod hardware;
mod heap;
mod hsa;
pub mod os;
mod processor;
mod queue;
mod race;
mod runtime;
mod sdma;
mod signal;
mod svm;
mod touched;
mod uninit;
mod units;
mod vmem;
mod workers;

pub mod coverage;
pub mod dispatch;
pub mod driver;
pub mod isa;
pub mod memory;
pub mod wave;
pub mod workgroup;

pub use agent::Agent;
pub use config::{Config, ConfigError, MAX_DEVICES};
pub use convergence::{Awaited, Deadlock, SyncFinding, SyncKind};
pub use device::{Card, Counters, QUEUES_PER_COPY_ENGINE};
pub use fault::{last_fault_report, take_fault_report};
pub use hardware::{Failure, FailureKind, Hardware, QUEUES as HARDWARE_QUEUES, UnknownTrait};
pub use heap::FRONT;
pub use hsa::api;
pub use isa::Target;
pub use race::{RaceAccess, RaceByte, RaceFinding, RaceKind};
pub use runtime::{configuration_error, configure, counters};
pub use touched::{
    AccessFault, Asked, Dispatched, First, How, Observer, Page, Refused, Starting, Touched, observe,
};
pub use uninit::{UninitByte, UninitFinding, UninitKind, uninitialize, uninitialized_in, written};
pub use units::{OnUnits, UnitObserver, UnitPlace, UnitSlice, observe_units};
