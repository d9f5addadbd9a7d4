//! The numbers of the seeded schedule.

/// A small generator (SplitMix64). It is our own, so that a value of `AQLIPSE_EMULATE_SEED` means the same order whatever
/// the release of a library.
pub(super) struct Random(u64);

impl Random {
    /// The sequence of a device under a seed.
    pub(super) fn new(seed: u64, device: u32) -> Self {
        Self(seed ^ u64::from(device).wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // CAST: below `bound`. The bias is below 2^-32 for the few choices there are.
        (self.next() % bound as u64) as usize
    }
}
