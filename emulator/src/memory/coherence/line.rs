//! Lines of memory: 64 bytes, of which any may count.

use std::{
    hash::{BuildHasherDefault, Hasher},
    sync::atomic::{Ordering, fence},
};

use crate::os::hidden;

/// Bytes of a line.
pub(super) const LINE: u64 = 64;

/// What a line holds.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Bytes([u8; LINE as usize]);

/// Bytes of a line, a bit each.
pub(super) type Mask = u64;

/// The number of the line that holds `address`, and the address's place in it.
pub(super) fn split(address: u64) -> (u64, usize) {
    // CAST: below 64.
    (address / LINE, (address % LINE) as usize)
}

/// `length` bytes from `place` on, all of one line.
pub(super) fn mask(place: usize, length: usize) -> Mask {
    // CAST: at most 64.
    u64::MAX.checked_shr(64 - length as u32).unwrap_or(0) << place
}

impl Bytes {
    /// A line of which nothing is known yet.
    pub(super) const ZERO: Self = Self([0; LINE as usize]);

    /// Reads a line of memory, in pieces that tear no aligned datum of up to 8 bytes.
    ///
    /// # Safety
    /// The line is readable.
    pub(super) unsafe fn fetch(line: u64) -> Self {
        // ORDER: SeqCst. What was waited for before the line is read is seen in it.
        fence(Ordering::SeqCst);
        let words: [u64; 8] = std::array::from_fn(|word| {
            // SAFETY: the caller's, for an eighth of the line; the host may write to it meanwhile.
            unsafe { hidden::at(line * LINE).cast::<u64>().add(word).read_volatile() }
        });
        let mut bytes = Self::ZERO;
        for (part, word) in bytes.0.chunks_exact_mut(8).zip(words) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// Writes the bytes of `mask` to memory, in pieces that tear no aligned datum of up to 8 bytes.
    ///
    /// # Safety
    /// The bytes of `mask` in the line are writable.
    pub(super) unsafe fn store(&self, line: u64, mask: Mask) {
        let to = hidden::at(line * LINE);
        // ORDER: SeqCst. A thread that sees a flag in this line sees what was stored before it.
        fence(Ordering::SeqCst);
        let mut place = 0;
        while place < LINE as usize {
            let left = mask >> place;
            let aligned =
                |size: usize| place.is_multiple_of(size) && left & self::mask(0, size) == self::mask(0, size);
            let part = &self.0[place..];
            // SAFETY: the bytes that are written are among those of `mask`, and lie at a multiple of their number.
            let size = unsafe {
                let to = to.add(place);
                match *part {
                    [a, b, c, d, e, f, g, h, ..] if aligned(8) => {
                        to.cast::<u64>().write_volatile(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
                        8
                    }
                    [a, b, c, d, ..] if aligned(4) => {
                        to.cast::<u32>().write_volatile(u32::from_ne_bytes([a, b, c, d]));
                        4
                    }
                    [a, b, ..] if aligned(2) => {
                        to.cast::<u16>().write_volatile(u16::from_ne_bytes([a, b]));
                        2
                    }
                    [a, ..] if left & 1 != 0 => {
                        to.write_volatile(a);
                        1
                    }
                    _ => 1,
                }
            };
            place += size;
        }
    }

    /// Takes the bytes of `mask` from another line.
    pub(super) fn merge(&mut self, other: &Self, mask: Mask) {
        for (place, (byte, new)) in self.0.iter_mut().zip(other.0).enumerate() {
            if mask >> place & 1 != 0 {
                *byte = new;
            }
        }
    }

    /// Takes `from`, from `place` on.
    pub(super) fn put(&mut self, place: usize, from: &[u8]) {
        self.0[place..place + from.len()].copy_from_slice(from);
    }

    /// Gives what is at `place`.
    pub(super) fn get(&self, place: usize, to: &mut [u8]) {
        to.copy_from_slice(&self.0[place..place + to.len()]);
    }

    /// Where the line is held, for an atomic on it: 64-byte aligned.
    pub(super) fn pointer(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

/// Spreads line numbers, which are mostly consecutive.
#[derive(Default)]
pub(super) struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let spread = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ spread >> 32;
    }
}

/// Something for each of some lines.
pub(super) type Lines<T> = std::collections::HashMap<u64, T, BuildHasherDefault<LineHasher>>;

#[cfg(test)]
mod tests {
    use super::{Bytes, LINE, mask, split};

    #[test]
    fn exactly_the_bytes_of_the_mask_are_stored() {
        let mut memory = [Bytes::ZERO; 2];
        let (line, place) = split(memory.as_ptr() as u64);
        assert_eq!(place, 0);
        let new = Bytes(std::array::from_fn(|n| n as u8 + 1));
        for chosen in [0, 1, u64::MAX, mask(3, 9), mask(60, 4), 0xf0f0_0ff0_8001_0036] {
            memory[0] = Bytes::ZERO;
            // SAFETY: a line of ours.
            unsafe { new.store(line, chosen) };
            // SAFETY: as above.
            let stored = unsafe { Bytes::fetch(line) };
            for place in 0..LINE as usize {
                let expected = if chosen >> place & 1 != 0 { place as u8 + 1 } else { 0 };
                assert_eq!(stored.0[place], expected, "byte {place} of {chosen:#x}");
            }
        }
        assert_eq!(memory[1].0, [0; 64]);
    }

    #[test]
    fn a_mask_covers_up_to_a_whole_line() {
        assert_eq!(mask(0, 0), 0);
        assert_eq!(mask(63, 1), 1 << 63);
        assert_eq!(mask(0, 64), u64::MAX);
        assert_eq!(mask(4, 8), 0xff0);
    }
}
