//! The shadows of LDS and of a wave's scratch: of each byte the bits that come from bytes that nothing has written.

use std::ops::Range;

use super::Origin;

/// Set in the origin of a dword that was computed, and not only copied.
const DERIVED: Origin = 1 << 31;

/// What is known of some bytes.
#[derive(Default)]
pub(crate) struct Contents {
    /// Bits of each dword, up to the last that was written; all are set behind that.
    dwords: Vec<u32>,
    /// How many dwords there are.
    size: usize,
    /// How many of them have a bit that is set.
    left: usize,
    /// By dwords, where the value came from that was stored there last; empty before the first such store.
    origins: Vec<Origin>,
}

/// What a datum of up to 16 bytes holds that nothing has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Datum {
    pub(crate) bits: [u32; 4],
    /// 0 if nothing has stored it.
    pub(crate) origin: Origin,
    /// Whether it was computed.
    pub(crate) derived: bool,
}

impl Datum {
    pub(crate) fn is_any(&self) -> bool {
        self.bits != [0; 4]
    }
}

/// The parts of dwords that a datum of some bytes lies in, which begins at byte `at`, where dwords are `stride` apart: the dword,
/// how far up the bits lie in it, their mask, and how far up they lie in the datum.
fn parts(at: usize, count: u32, stride: usize) -> impl Iterator<Item = (usize, u32, u32, u32)> {
    let (mut dword, mut up, mut done) = (at / 4, 8 * (at % 4) as u32, 0);
    std::iter::from_fn(move || {
        let bits = (8 * count).saturating_sub(done).min(32 - up);
        if bits == 0 {
            return None;
        }
        let part = (dword, up, u32::MAX >> (32 - bits), done);
        (dword, up, done) = (dword + stride, 0, done + bits);
        Some(part)
    })
}

impl Contents {
    /// Of so many bytes, none of which was written.
    pub(crate) fn of(bytes: usize) -> Self {
        let mut contents = Self::default();
        contents.forget(bytes);
        contents
    }

    /// There are so many bytes, none of which was written.
    pub(crate) fn forget(&mut self, bytes: usize) {
        self.dwords.clear();
        self.origins.clear();
        (self.size, self.left) = (bytes.div_ceil(4), bytes.div_ceil(4));
    }

    /// Whether all of the bytes was written, or is outside.
    pub(crate) fn is_written(&self, bytes: Range<usize>) -> bool {
        let end = bytes.end.div_ceil(4).min(self.size);
        let start = (bytes.start / 4).min(end);
        self.left == 0
            || self
                .dwords
                .get(start..end)
                .is_some_and(|dwords| dwords.iter().fold(0, |any, bits| any | bits) == 0)
    }

    fn dword(&self, n: usize) -> u32 {
        // What is outside reads 0.
        self.dwords.get(n).copied().unwrap_or(if n < self.size { u32::MAX } else { 0 })
    }

    /// What the `count` bytes hold that begin at `at`, where dwords are `stride` apart.
    pub(crate) fn load(&self, at: usize, count: u32, stride: usize) -> Datum {
        let (mut datum, mut all) = (Datum::default(), 0);
        for (dword, up, mask, done) in parts(at, count, stride) {
            let bits = self.dword(dword) >> up & mask;
            if bits != 0 {
                all |= u128::from(bits) << done;
                let origin = self.origins.get(dword).copied().unwrap_or(0);
                datum.origin = datum.origin.max(origin & !DERIVED);
                datum.derived |= origin & DERIVED != 0;
            }
        }
        // CAST: the dwords of 128 bits.
        datum.bits = [0, 32, 64, 96].map(|up| (all >> up) as u32);
        datum
    }

    /// Stores `count` bytes, see [`Contents::load`].
    pub(crate) fn store(&mut self, at: usize, count: u32, stride: usize, datum: Datum) {
        let all = datum.bits.iter().rev().fold(0, |all, bits| all << 32 | u128::from(*bits));
        for (dword, up, mask, done) in parts(at, count, stride) {
            if dword >= self.size {
                return;
            }
            if dword >= self.dwords.len() {
                self.dwords.resize(dword + 1, u32::MAX);
            }
            // CAST: one dword of it.
            let new = (all >> done) as u32 & mask;
            let bits = &mut self.dwords[dword];
            self.left -= usize::from(*bits != 0);
            *bits = *bits & !(mask << up) | new << up;
            self.left += usize::from(*bits != 0);
            if new != 0 {
                if self.origins.len() <= dword {
                    self.origins.resize(dword + 1, 0);
                }
                self.origins[dword] = datum.origin | if datum.derived { DERIVED } else { 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded_with_where_it_came_from() {
        let mut contents = Contents::of(64);
        assert_eq!(contents.load(8, 4, 1), Datum { bits: [u32::MAX, 0, 0, 0], origin: 0, derived: false });
        let datum = Datum { bits: [0xff00, 0, 0xf, 0], origin: 3, derived: true };
        contents.store(9, 12, 1, datum);
        assert_eq!(contents.load(9, 12, 1), datum);
        assert_eq!(contents.load(9, 1, 1), Datum::default());
        assert_eq!(contents.load(60, 8, 1).bits, [u32::MAX, 0, 0, 0], "outside");
        for at in 0..16 {
            contents.store(4 * at, 4, 1, Datum::default());
        }
        assert!(contents.is_written(0..64));
    }

    #[test]
    fn dwords_of_a_lane_may_lie_apart() {
        let mut contents = Contents::of(1024);
        contents.store(6, 4, 64, Datum::default());
        let unwritten = (0..1024).filter(|at| contents.load(*at, 1, 1).is_any());
        assert_eq!(unwritten.count(), 1020);
        assert!(!contents.load(6, 4, 64).is_any() && contents.load(8, 1, 64).is_any());
    }
}
