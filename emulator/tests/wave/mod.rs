//! Programs on the emulated device: control flow, memory, LDS, atomics, scalar instructions, faults.

mod atomics;
mod calls;
mod control;
mod faults;
mod lds;
mod lockstep;
mod memory;
mod random_code;
mod rmw;
mod scalar;

/// A small generator of pseudo-random numbers (SplitMix64), so that inputs are the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
