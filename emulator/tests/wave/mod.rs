//! Programs on the emulated device: control flow, memory, LDS, atomics, scalar instructions, faults.

mod atomics;
mod calls;
mod control;
mod faults;
mod lds;
mod lockstep;
mod memory;
mod random_code;
mod rdna4;
mod rmw;
mod rows;
mod scalar;
