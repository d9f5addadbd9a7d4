//! The semantics of everything but the vector ALU: scalar instructions, memory, LDS.
//!
//! A function stands for one table row and bears its mnemonic, so that the table's last column reads like the
//! table. Memory operations complete at once; waits have nothing to wait for.
//!
//! # Races
//! Device memory is host memory, and device programs race on it by design. It is reached by raw pointers only.
//! Atomics are the host's atomics. Plain loads and stores are plain host accesses of the same width where the
//! address is aligned, which on every supported host do not tear; that is what AMD's memory model asks of them.
//! Loads marked GLC (SC0) come from atomic or volatile accesses and are preceded by a full fence.
//!
//! # Alignment Programs run in the unaligned access mode that HSA asks for (LLVM AMDGPUUsage,
//! "unaligned-access-mode"): loads and stores may stand at any byte, the scalar unit's at any dword. Atomics
//! are aligned to their size, or fault.

pub mod access;
pub mod atomic;
pub mod barrier;
pub mod blocks;
pub mod buffer;
pub mod cached;
pub mod clock;
pub mod ds;
pub mod exchange;
pub mod flat;
mod float16;
mod float_atomic;
pub mod fork;
pub mod format;
pub mod formatted;
pub mod gws;
pub mod hardware;
pub mod kind;
pub mod lds;
pub mod mubuf;
pub mod scalar_atomic;
pub mod scratch;
pub mod shape;
pub mod smem;
pub mod sop1;
pub mod sop2;
pub mod sopc;
pub mod sopk;
pub mod sopp;
pub mod to_lds;
pub mod transfer;
pub mod transposed;

#[cfg(test)]
mod tests;
