//! Sets of compute units, to which streams can be restricted.

use super::Properties;

/// Some of a device's compute units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Units(Box<[u32]>);

impl Units {
    /// All units of a device that has `count`, at least one.
    pub(crate) fn all(count: u32) -> Self {
        let words = (0..count.div_ceil(u32::BITS)).map(|word| {
            let rest = (count - word * u32::BITS).min(u32::BITS);
            u32::MAX >> (u32::BITS - rest)
        });
        Self(words.collect())
    }

    /// Those of `mask`, a bit each, that `device` has; all of them if it has none of those. On RDNA, both units of a work-group
    /// processor: the kernel driver takes them together only.
    pub(crate) fn of(mask: &[u32], device: &Properties) -> Self {
        let some = Self::some(mask, device.compute_units);
        if device.multiprocessors == device.compute_units { some } else { some.in_pairs() }
    }

    fn in_pairs(mut self) -> Self {
        for word in &mut self.0 {
            let either = (*word | *word >> 1) & 0x5555_5555;
            *word = either | either << 1;
        }
        self
    }

    fn some(mask: &[u32], count: u32) -> Self {
        let all = Self::all(count);
        let given = mask.iter().copied().chain(std::iter::repeat(0));
        let some = Self(all.0.iter().zip(given).map(|(all, given)| all & given).collect());
        // HIP: 5.2.3 restricts nothing then (tests/conformance/stream_cu_mask.cpp).
        if some.0.iter().all(|word| *word == 0) { all } else { some }
    }

    /// A bit for each unit, as few words as the device's units need.
    pub(crate) fn words(&self) -> &[u32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_no_units_that_the_device_lacks() {
        assert_eq!(Units::all(4).words(), [0xf]);
        assert_eq!(Units::all(64).words(), [u32::MAX; 2]);
        assert_eq!(Units::all(104).words(), [u32::MAX, u32::MAX, u32::MAX, 0xff]);
        assert_eq!(Units::some(&[0xff, 0xff], 4).words(), [0xf]);
        assert_eq!(Units::some(&[0xff00], 64).words(), [0xff00, 0]);
        assert_eq!(Units::some(&[0, 6], 40).words(), [0, 6]);
    }

    #[test]
    fn one_unit_of_a_pair_stands_for_both() {
        let pairs = |mask: &[u32]| Units::some(mask, 40).in_pairs();
        assert_eq!(pairs(&[0b0110_0100, 1]).words(), [0b1111_1100, 3]);
        assert_eq!(pairs(&[1 << 31, 0]).words(), [3 << 30, 0]);
        assert_eq!(pairs(&[]), Units::all(40));
    }

    #[test]
    fn no_unit_at_all_is_no_restriction() {
        for mask in [&[][..], &[0, 0], &[0xf0]] {
            assert_eq!(Units::some(mask, 4), Units::all(4));
        }
    }
}
