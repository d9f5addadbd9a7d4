//! One wavefront: 64 lanes, their registers, and the instructions' semantics.

mod accesses;
pub mod code;
mod constants;
mod converging;
pub(crate) mod exec;
mod fault;
mod file;
mod inactive;
pub(crate) mod lockstep;
pub(crate) mod multiversion;
mod near;
mod operand;
mod racing;
mod reach;
mod run;
mod semantics;
pub(crate) mod simd;
mod spinning;
mod state;
mod surroundings;
mod sync;
mod uninit;
pub(crate) mod valu;
mod way;

pub(crate) use exec::buffer::scratch_resource;
pub use fault::{Fault, FaultKind, Restriction};
pub use file::{Vector, VectorFile};
pub use near::Near;
pub use run::Exit;
pub use semantics::{Exec, semantics};
pub use state::{Mode, Wave};
pub use surroundings::{Apertures, Deaf, Host, Surroundings};
pub(crate) use sync::Question;
pub use sync::{Ticket, WaveSync};
