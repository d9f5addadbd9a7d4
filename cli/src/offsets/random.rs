//! Chance that is the same each time: what a search does depends on the problem and on its steps.

/// Numbers by xorshift. Our own, since recorded plans and their goals follow from its sequence.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Each seed has its own numbers.
    pub fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// From 0 to 1.
    pub fn part(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
