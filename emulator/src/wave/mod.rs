//! One wavefront: 64 lanes, their registers, and the instructions' semantics.

pub(crate) mod exec;
mod near;
mod operand;
mod run;
pub(crate) mod simd;
mod state;
mod sync;
pub(crate) mod valu;

pub(crate) use exec::buffer::scratch_resource;
pub use near::Near;
pub use run::Exit;
pub use state::{Apertures, Deaf, Fault, FaultKind, Host, Mode, Restriction, Surroundings, Vector, Wave};
pub use sync::{Ticket, WaveSync};
