//! Whether buffers of which each has a floor fit on top of each other below a height.
//!
//! They do not if those at or above some floor are too many for what is left above it. To sort the floors is what a
//! search would spend most of its time with, so they go into a row of slots first; mostly those tell.

const SLOTS: usize = 64;

/// Floors above one of them, and bytes.
#[derive(Debug, Default)]
pub(super) struct Levels {
    height: u64,
    lowest: u64,
    /// By what power of two a slot is high.
    shift: u32,
    /// The slots with floors.
    used: u64,
    slots: Vec<Slot>,
    all: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    bytes: u64,
    least: u64,
    most: u64,
}

impl Levels {
    /// None yet; those to come are at `lowest` or above.
    pub fn begin(&mut self, lowest: u64, height: u64) {
        (self.lowest, self.height, self.used) = (lowest, height, 0);
        self.shift = (u64::BITS - (height - lowest).leading_zeros()).saturating_sub(SLOTS.ilog2());
        self.slots.resize(SLOTS, Slot::default());
        self.all.clear();
    }

    /// Adds a floor and what lies there.
    #[inline]
    pub fn add(&mut self, floor: u64, bytes: u64) {
        self.all.push((floor, bytes));
        // What is too high counts where the highest are: nothing is above it.
        let slot = (((floor - self.lowest) >> self.shift) as usize).min(SLOTS - 1);
        let levels = &mut self.slots[slot];
        if self.used >> slot & 1 == 0 {
            self.used |= 1 << slot;
            *levels = Slot { bytes, least: floor, most: floor };
        } else {
            levels.bytes += bytes;
            levels.least = levels.least.min(floor);
            levels.most = levels.most.max(floor);
        }
    }

    /// Whether they fit.
    pub fn fit(&mut self) -> bool {
        let (mut sum, mut used) = (0, self.used);
        while used != 0 {
            let slot = used.ilog2();
            used &= !(1 << slot);
            let levels = self.slots[slot as usize];
            sum += levels.bytes;
            if levels.least + sum > self.height {
                return false;
            }
            // The highest floor of a slot has not all of it above.
            if levels.most + sum > self.height {
                return self.fit_sorted();
            }
        }
        true
    }

    fn fit_sorted(&mut self) -> bool {
        self.all.sort_unstable();
        let mut sum = 0;
        self.all.iter().rev().all(|&(floor, bytes)| {
            sum += bytes;
            floor + sum <= self.height
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slots_tell_what_sorted_floors_tell(
            lowest in 0u64..1000,
            above in 0u64..3000,
            rows in prop::collection::vec((0u64..2000, 1u64..300), 1..12),
        ) {
            let mut levels = Levels::default();
            levels.begin(lowest, lowest + above);
            rows.iter().for_each(|&(floor, bytes)| levels.add(lowest + floor, bytes));
            let fits = rows.iter().all(|&(floor, _)| {
                let on_top: u64 = rows.iter().filter(|row| row.0 >= floor).map(|row| row.1).sum();
                floor + on_top <= above
            });
            prop_assert_eq!(levels.fit(), fits);
            prop_assert_eq!(levels.fit_sorted(), fits);
        }
    }
}
