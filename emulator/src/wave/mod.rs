//! One wavefront: 64 lanes, their registers, and the instructions' semantics.

pub(crate) mod exec;
mod gws;
mod near;
mod operand;
mod run;
pub(crate) mod simd;
mod state;
pub(crate) mod valu;

pub(crate) use exec::buffer::scratch_resource;
pub use gws::Gws;
pub use near::Near;
pub use run::Exit;
pub use state::{Apertures, Deaf, Fault, FaultKind, Host, Mode, Surroundings, Vector, Wave};
