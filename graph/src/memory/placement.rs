//! Which buffers of a graph have the same memory.
//!
//! The plan is exact, in units of three sizes; units that the same buffers have are one *slot*. Which chunks of physical
//! memory a slot has is decided when the executable is bound to an arena ([`layout`](super::layout)).

use std::{cmp::Reverse, ops::Range, sync::Arc};

use super::{order::Order, sizes::Sizes};
use crate::antichain::{
    bits::Bits,
    chains::{self, assign},
    peak,
};

/// How many sizes of units there are.
const UNITS: usize = 3;

/// What saves hundreds of small units where a large one would be too much.
const MIDDLE: u64 = 64 << 10;

/// Sizes of units, the largest first: each a multiple of the next.
fn units(sizes: &Sizes) -> [u64; UNITS] {
    [sizes.large(), sizes.page().max(MIDDLE), sizes.page()]
}

/// Numbers of units, of the largest size first.
type Counts = [u32; UNITS];

/// Memory that buffers take turns with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Whole pages.
    pub bytes: u64,
    /// The largest chunk that each of the buffers has room for.
    pub most: u64,
}

/// Units cannot be numbered: there are 2^32 of one size or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the buffers take 2^32 units of memory or more")]
pub struct TooManyUnits;

/// Buffers that share memory, and which they share. `B` is the caller's reference to a buffer.
pub struct Placement<B> {
    /// The buffers, each with its slots, by number. All slots of a buffer together have its bytes, or more.
    pub buffers: Vec<(B, Vec<u32>)>,
    /// No two of them have the same memory.
    pub slots: Arc<[Slot]>,
    /// Bytes of the buffers that are allocated at once, at most.
    pub used: u64,
    /// Bytes of the slots.
    pub reserved: u64,
}

impl<B: Clone> Placement<B> {
    /// Plans for buffers of which one may have what another one had if that is `before` it. `size` gives a buffer's bytes,
    /// and the largest chunk that there are addresses for.
    ///
    /// The least number of units of each size is found exactly. All sizes together can take more than the buffers ever
    /// have at once, as different buffers may be at their peak in each; then sizes are rounded up to coarser units, if
    /// that takes less.
    ///
    /// # Errors
    /// [`TooManyUnits`].
    pub fn new(
        buffers: Vec<B>,
        size: impl Fn(&B) -> (u64, u64),
        sizes: &Sizes,
        before: &Order,
    ) -> Result<Self, TooManyUnits> {
        let (bytes, reaches): (Vec<u64>, Vec<u64>) = buffers.iter().map(size).unzip();
        let before = |a, b| before.holds(a, b);
        let Planned { of, reserved, used } = plan(&bytes, sizes, before)?;
        let (slots, of) = slots(&of, &reaches, sizes, before);
        let buffers = buffers.into_iter().zip(of).collect();
        Ok(Self { buffers, slots: slots.into(), used: used.unwrap_or(reserved), reserved })
    }

    /// This one's buffers where they are, and others beside them.
    pub fn and(&self, others: Self) -> Self {
        // CAST: a slot has a unit at least, and those have numbers of 32 bits.
        let first = self.slots.len() as u32;
        let behind = |slots: Vec<u32>| slots.into_iter().map(|slot| first + slot).collect();
        let others_buffers = others.buffers.into_iter().map(|(buffer, slots)| (buffer, behind(slots)));
        Self {
            buffers: self.buffers.iter().cloned().chain(others_buffers).collect(),
            slots: self.slots.iter().chain(&*others.slots).copied().collect(),
            used: self.used + others.used,
            reserved: self.reserved + others.reserved,
        }
    }
}

/// Numbers of units that a buffer has, by size.
type Numbers = [Vec<Range<u32>>; UNITS];

struct Planned {
    of: Vec<Numbers>,
    /// Bytes of all units.
    reserved: u64,
    /// What the buffers have at once at most; `None` if there are too many to tell.
    used: Option<u64>,
}

/// Buffers among which coarser units are tried: it takes the time of the plan again.
const TRIED: usize = 256;

fn plan(
    bytes: &[u64],
    sizes: &Sizes,
    before: impl Fn(usize, usize) -> bool,
) -> Result<Planned, TooManyUnits> {
    let used = (bytes.len() <= chains::MOST).then(|| peak::peak(bytes, &before));
    let mut best = with_units(bytes, sizes, UNITS - 1, &before)?;
    for finest in (0..UNITS - 1).rev() {
        if bytes.len() > TRIED || used.is_some_and(|used| best.1 <= used) {
            break;
        }
        let coarser = with_units(bytes, sizes, finest, &before)?;
        if coarser.1 < best.1 {
            best = coarser;
        }
    }
    Ok(Planned { of: best.0, reserved: best.1, used })
}

/// The plan with units no smaller than those of the size `finest`, and the bytes of them.
fn with_units(
    bytes: &[u64],
    sizes: &Sizes,
    finest: usize,
    before: &impl Fn(usize, usize) -> bool,
) -> Result<(Vec<Numbers>, u64), TooManyUnits> {
    let units = units(sizes);
    let split = |&bytes: &u64| -> Counts {
        // What is small has no part of a large unit.
        let own = units.iter().position(|&unit| unit <= bytes).unwrap_or(UNITS - 1);
        let mut rest = bytes.next_multiple_of(units[finest.max(own)]);
        units.map(|unit| {
            // CAST: no device has 2^32 pages that one buffer asks for; the caller has checked.
            let count = (rest / unit) as u32;
            rest %= unit;
            count
        })
    };
    let counts: Vec<Counts> = bytes.iter().map(split).collect();
    let (mut of, mut reserved) = (vec![Numbers::default(); bytes.len()], 0);
    for size in 0..UNITS {
        let wanted: Vec<u32> = counts.iter().map(|counts| counts[size]).collect();
        let sum: u64 = wanted.iter().map(|&wanted| u64::from(wanted)).sum();
        if sum > u64::from(u32::MAX) {
            return Err(TooManyUnits);
        }
        if sum > 0 {
            let assigned = assign(&wanted, before);
            reserved += u64::from(assigned.total) * units[size];
            for (numbers, ranges) in of.iter_mut().zip(assigned.of) {
                numbers[size] = ranges;
            }
        }
    }
    Ok((of, reserved))
}

/// Units that the same buffers have.
struct Piece {
    slot: Slot,
    /// Rising.
    users: Vec<u32>,
}

/// Pieces of more are not joined: it takes time with the square of their number.
const JOINED: usize = 512;

/// The slots of a plan, and which each buffer has.
fn slots(
    of: &[Numbers],
    reaches: &[u64],
    sizes: &Sizes,
    before: impl Fn(usize, usize) -> bool,
) -> (Vec<Slot>, Vec<Vec<u32>>) {
    let mut pieces = pieces(of, reaches, sizes);
    if (2..=JOINED).contains(&pieces.len()) && of.len() <= chains::MOST {
        pieces = join(pieces, of.len(), sizes, before);
    }
    let mut slots_of = vec![Vec::new(); of.len()];
    for (slot, piece) in (0..).zip(&pieces) {
        piece.users.iter().for_each(|&user| slots_of[user as usize].push(slot));
    }
    (pieces.iter().map(|piece| piece.slot).collect(), slots_of)
}

fn pieces(of: &[Numbers], reaches: &[u64], sizes: &Sizes) -> Vec<Piece> {
    let mut all = Vec::new();
    for (size, unit) in units(sizes).into_iter().enumerate() {
        let mut ends: Vec<u32> =
            of.iter().flat_map(|numbers| &numbers[size]).flat_map(|range| [range.start, range.end]).collect();
        ends.sort_unstable();
        ends.dedup();
        let first = all.len();
        all.extend(ends.windows(2).map(|ends| {
            let slot = Slot { bytes: u64::from(ends[1] - ends[0]) * unit, most: sizes.most() };
            Piece { slot, users: Vec::new() }
        }));
        // CAST: there are fewer buffers than that.
        for (user, (numbers, &reach)) in (0u32..).zip(of.iter().zip(reaches)) {
            for range in &numbers[size] {
                let at = |end| ends.partition_point(|&each| each < end);
                for piece in &mut all[first + at(range.start)..first + at(range.end)] {
                    piece.slot.most = piece.slot.most.min(reach);
                    piece.users.push(user);
                }
            }
        }
    }
    all
}

/// Joins pieces whose buffers are all over before another one of them begins, where that takes no more chunks: the buffers
/// of one may as well have the other.
fn join(
    mut pieces: Vec<Piece>,
    buffers: usize,
    sizes: &Sizes,
    before: impl Fn(usize, usize) -> bool,
) -> Vec<Piece> {
    struct Joined {
        slot: Slot,
        users: Bits,
        /// The buffers that take turns with all of these.
        apart: Bits,
    }
    let apart = |a: usize| {
        let mut apart = Bits::new(buffers);
        (0..buffers).filter(|&b| a == b || before(a, b) || before(b, a)).for_each(|b| apart.insert(b));
        apart
    };
    let apart: Vec<Bits> = (0..buffers).map(apart).collect();
    let chunks = |slot: Slot| sizes.chunks(slot.bytes, slot.most).count();
    pieces.sort_by_key(|piece| Reverse(piece.slot.bytes));
    let mut all: Vec<Joined> = Vec::new();
    for Piece { slot, users } in pieces {
        let both =
            |it: &Joined| Slot { bytes: it.slot.bytes + slot.bytes, most: it.slot.most.min(slot.most) };
        let fits = |it: &&mut Joined| {
            users.iter().all(|&user| it.apart.contains(user as usize))
                && chunks(both(it)) <= chunks(it.slot) + chunks(slot)
        };
        let common =
            |it: &&mut Joined| users.iter().filter(|&&user| it.users.contains(user as usize)).count();
        let known = all.iter_mut().filter(fits).max_by_key(common);
        let joined = match known {
            Some(known) => {
                known.slot = both(known);
                known
            }
            None => {
                let mut every = Bits::new(buffers);
                (0..buffers).for_each(|buffer| every.insert(buffer));
                all.push(Joined { slot, users: Bits::new(buffers), apart: every });
                // PANIC: one was put there.
                all.last_mut().expect("a slot")
            }
        };
        for &user in &users {
            joined.users.insert(user as usize);
            joined.apart.intersect(&apart[user as usize]);
        }
    }
    // CAST: users have numbers of 32 bits.
    all.into_iter()
        .map(|it| Piece { slot: it.slot, users: it.users.iter().map(|user| user as u32).collect() })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn sizes() -> Sizes {
        Sizes::of(4096)
    }

    fn reaches(bytes: &[u64]) -> Vec<u64> {
        bytes.iter().map(|&bytes| sizes().reach(sizes().room(bytes))).collect()
    }

    fn planned(bytes: &[u64], before: impl Fn(usize, usize) -> bool) -> (Planned, Vec<Slot>, Vec<Vec<u32>>) {
        let plan = plan(bytes, &sizes(), &before).unwrap();
        let (slots, of) = slots(&plan.of, &reaches(bytes), &sizes(), before);
        assert_eq!(slots.iter().map(|slot| slot.bytes).sum::<u64>(), plan.reserved);
        (plan, slots, of)
    }

    proptest! {
        #[test]
        fn buffers_that_are_not_ordered_share_no_slot(
            rows in prop::collection::vec((1u64..2000, 0u8..10, 0u8..10), 1..30),
        ) {
            let before = |a: usize, b: usize| rows[a].1 < rows[b].1 && rows[a].2 < rows[b].2;
            let bytes: Vec<u64> = rows.iter().map(|row| row.0 * 4096).collect();
            let (plan, slots, of) = planned(&bytes, before);
            let all: u64 = bytes.iter().sum();
            prop_assert!(plan.used.unwrap() <= plan.reserved && plan.reserved <= all);
            let reaches = reaches(&bytes);
            for (i, mine) in of.iter().enumerate() {
                let slot = |&slot: &u32| slots[slot as usize];
                prop_assert!(mine.iter().map(|it| slot(it).bytes).sum::<u64>() >= bytes[i]);
                prop_assert!(mine.iter().all(|it| slot(it).most <= reaches[i]));
                for j in (0..i).filter(|&j| !before(i, j) && !before(j, i)) {
                    prop_assert!(!mine.iter().any(|slot| of[j].contains(slot)), "{} and {}", i, j);
                }
            }
        }

        #[test]
        fn buffers_of_whole_large_units_take_no_more_than_they_have_at_once(
            rows in prop::collection::vec((1u64..20, 0u8..10, 0u8..10), 1..30),
        ) {
            let before = |a: usize, b: usize| rows[a].1 < rows[b].1 && rows[a].2 < rows[b].2;
            let bytes: Vec<u64> = rows.iter().map(|row| row.0 * 2 * MIB).collect();
            let (plan, ..) = planned(&bytes, before);
            prop_assert_eq!(plan.used, Some(plan.reserved));
        }
    }

    #[test]
    fn sizes_are_rounded_up_where_that_takes_less() {
        // One after the other. In small units, each size would have its peak at another buffer.
        let bytes = [4 * MIB, 3 * MIB + 15 * 65536, 2 * MIB + 31 * 65536 + 15 * 4096];
        let (plan, ..) = planned(&bytes, |a, b| a < b);
        assert_eq!((plan.used, plan.reserved), (Some(4 * MIB), 4 * MIB));
    }

    #[test]
    fn buffers_that_follow_each_other_have_one_slot() {
        let bytes = [600 * MIB, 32 * MIB, 1024 * MIB, 700 * MIB];
        let (_, slots, of) = planned(&bytes, |a, b| a < b);
        assert_eq!(slots, [Slot { bytes: 1024 * MIB, most: 1024 * MIB }]);
        assert_eq!(of, [[0]; 4]);
        // Small ones do not have a part of a large chunk.
        let (_, slots, of) = planned(&[1024 * MIB, 8192], |a, b| a < b);
        assert_eq!(slots.iter().map(|slot| slot.bytes).collect::<Vec<_>>(), [1024 * MIB, 8192]);
        assert_eq!(of, [[0], [1]]);
    }
}
