//! Which chunks of physical memory the buffers of a graph get.

use std::ops::Range;

use super::order::Order;
use crate::antichain::{chains, peak};

/// How many sizes of chunks there are.
pub const CLASSES: usize = 3;

/// Numbers of chunks, of the largest size first.
pub type Counts = [u32; CLASSES];

/// Sizes of chunks, the largest first: each a multiple of the next.
#[derive(Clone, Copy, Debug)]
pub struct Classes(pub [u64; CLASSES]);

impl Classes {
    /// Bytes of the largest chunks: what a page table entry of the card maps at best.
    const LARGE: u64 = 2 << 20;
    /// What saves hundreds of small chunks where a large one would be too much.
    const MIDDLE: u64 = 64 << 10;
    /// Sizes are whole pages even if the device has a finer granule.
    const PAGE: u64 = 4096;

    /// The sizes of chunks of a device's memory whose granule is `granule`, a power of two.
    pub fn of(granule: u64) -> Self {
        let small = granule.max(Self::PAGE);
        Self([small.max(Self::LARGE), small.max(Self::MIDDLE), small])
    }

    /// Of what the sizes of buffers are multiples.
    pub fn granule(&self) -> u64 {
        self.0[CLASSES - 1]
    }

    /// The chunks that `bytes` bytes are, the last of which is of the class `finest`.
    pub fn split(&self, bytes: u64, finest: usize) -> Counts {
        let mut rest = bytes.next_multiple_of(self.0[finest]);
        let mut counts = [0; CLASSES];
        for (count, size) in counts.iter_mut().zip(self.0) {
            // CAST: no device has 2^32 pages that one buffer asks for; the caller has checked.
            *count = (rest / size) as u32;
            rest %= size;
        }
        counts
    }

    /// Bytes of some chunks.
    pub fn bytes(&self, counts: &Counts) -> u64 {
        counts.iter().zip(self.0).map(|(&count, size)| u64::from(count) * size).sum()
    }
}

/// Numbers of chunks, by class.
pub type Numbers = [Vec<Range<u32>>; CLASSES];

/// Chunks cannot be numbered: there are 2^32 of one size or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the buffers take 2^32 chunks or more")]
pub struct TooManyChunks;

/// Buffers that share chunks, and which: by numbers, whatever chunks these are. `B` is the caller's reference to a buffer.
pub struct Placement<B> {
    /// The buffers, each with its chunks.
    pub buffers: Vec<(B, Numbers)>,
    /// How many chunks it takes.
    pub need: Counts,
    /// Bytes of the buffers that are allocated at once, at most.
    pub used: u64,
    /// Bytes of the chunks.
    pub reserved: u64,
}

impl<B: Clone> Placement<B> {
    /// Plans for buffers of which one may have what another one had if that is `before` it. `size` gives a buffer's bytes,
    /// and the bytes that there are addresses for: no fewer.
    ///
    /// The least number of chunks of each size is found exactly. All sizes together can take more than the buffers ever
    /// have at once, as different buffers may be at their peak in each; then sizes are rounded up to coarser chunks, if
    /// that takes less.
    ///
    /// # Errors
    /// [`TooManyChunks`].
    pub fn new(
        buffers: Vec<B>,
        size: impl Fn(&B) -> (u64, u64),
        classes: &Classes,
        before: &Order,
    ) -> Result<Self, TooManyChunks> {
        let (sizes, rooms): (Vec<u64>, Vec<u64>) = buffers.iter().map(size).unzip();
        let Planned { of, need, used } = plan(&sizes, &rooms, classes, |a, b| before.holds(a, b))?;
        let reserved = classes.bytes(&need);
        let buffers = buffers.into_iter().zip(of).collect();
        Ok(Self { buffers, need, used: used.unwrap_or(reserved), reserved })
    }

    /// This one's buffers where they are, and others beside them.
    pub fn and(&self, others: Self, classes: &Classes) -> Self {
        let mut buffers = self.buffers.clone();
        buffers.extend(others.buffers.into_iter().map(|(buffer, mut numbers)| {
            for (ranges, &first) in numbers.iter_mut().zip(&self.need) {
                for range in ranges {
                    *range = range.start + first..range.end + first;
                }
            }
            (buffer, numbers)
        }));
        let need = std::array::from_fn(|class| self.need[class] + others.need[class]);
        Self { buffers, need, used: self.used + others.used, reserved: classes.bytes(&need) }
    }
}

struct Planned {
    of: Vec<Numbers>,
    need: Counts,
    /// What the buffers have at once at most; `None` if there are too many to tell.
    used: Option<u64>,
}

/// Buffers among which coarser chunks are tried: it takes the time of the plan again.
const TRIED: usize = 256;

fn plan(
    sizes: &[u64],
    rooms: &[u64],
    classes: &Classes,
    before: impl Fn(usize, usize) -> bool,
) -> Result<Planned, TooManyChunks> {
    let used = (sizes.len() <= chains::MOST).then(|| peak::peak(sizes, &before));
    let mut best = with_chunks(sizes, rooms, classes, CLASSES - 1, &before)?;
    for finest in (0..CLASSES - 1).rev() {
        let bytes = classes.bytes(&best.1);
        if sizes.len() > TRIED || used.is_some_and(|used| bytes <= used) {
            break;
        }
        let coarser = with_chunks(sizes, rooms, classes, finest, &before)?;
        if classes.bytes(&coarser.1) < bytes {
            best = coarser;
        }
    }
    Ok(Planned { of: best.0, need: best.1, used })
}

/// The plan with chunks no smaller than those of the class `finest`, but for buffers that have no room for that.
fn with_chunks(
    sizes: &[u64],
    rooms: &[u64],
    classes: &Classes,
    finest: usize,
    before: &impl Fn(usize, usize) -> bool,
) -> Result<(Vec<Numbers>, Counts), TooManyChunks> {
    let split = |(&bytes, &room): (&u64, &u64)| {
        let class = (finest..CLASSES).find(|&class| bytes.next_multiple_of(classes.0[class]) <= room);
        classes.split(bytes, class.unwrap_or(CLASSES - 1))
    };
    let counts: Vec<Counts> = sizes.iter().zip(rooms).map(split).collect();
    let mut of: Vec<Numbers> = vec![Numbers::default(); sizes.len()];
    let mut need = [0; CLASSES];
    for class in 0..CLASSES {
        let units: Vec<u32> = counts.iter().map(|counts| counts[class]).collect();
        let sum: u64 = units.iter().map(|&units| u64::from(units)).sum();
        if sum > u64::from(u32::MAX) {
            return Err(TooManyChunks);
        }
        if sum > 0 {
            let assigned = chains::assign(&units, before);
            need[class] = assigned.total;
            for (numbers, ranges) in of.iter_mut().zip(assigned.of) {
                numbers[class] = ranges;
            }
        }
    }
    Ok((of, need))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn classes() -> Classes {
        Classes::of(4096)
    }

    /// Room as the runtime makes it.
    fn rooms(sizes: &[u64]) -> Vec<u64> {
        let unit = |bytes: u64| classes().0.into_iter().find(|&size| bytes >= size).unwrap();
        sizes.iter().map(|&bytes| bytes.next_multiple_of(unit(bytes))).collect()
    }

    fn planned(sizes: &[u64], before: impl Fn(usize, usize) -> bool) -> Planned {
        plan(sizes, &rooms(sizes), &classes(), before).unwrap()
    }

    proptest! {
        #[test]
        fn buffers_that_are_not_ordered_share_no_chunk(
            rows in prop::collection::vec((1u64..2000, 0u8..10, 0u8..10), 1..30),
        ) {
            let before = |a: usize, b: usize| rows[a].1 < rows[b].1 && rows[a].2 < rows[b].2;
            let sizes: Vec<u64> = rows.iter().map(|row| row.0 * 4096).collect();
            let plan = planned(&sizes, before);
            let all: u64 = sizes.iter().sum();
            prop_assert!(plan.used.unwrap() <= classes().bytes(&plan.need) && classes().bytes(&plan.need) <= all);
            for (i, numbers) in plan.of.iter().enumerate() {
                let count = |ranges: &Vec<Range<u32>>| ranges.iter().map(|r| r.end - r.start).sum::<u32>();
                let bytes = classes().bytes(&std::array::from_fn(|class| count(&numbers[class])));
                prop_assert!((sizes[i]..=rooms(&sizes)[i]).contains(&bytes));
                for (class, ranges) in numbers.iter().enumerate() {
                    prop_assert!(ranges.iter().all(|range| range.end <= plan.need[class]));
                    for j in (0..i).filter(|&j| !before(i, j) && !before(j, i)) {
                        let meet = |a: &Range<u32>| plan.of[j][class].iter().any(|b| a.start < b.end && b.start < a.end);
                        prop_assert!(!ranges.iter().any(meet), "{} and {}", i, j);
                    }
                }
            }
        }

        #[test]
        fn buffers_of_whole_large_chunks_take_no_more_than_they_have_at_once(
            rows in prop::collection::vec((1u64..20, 0u8..10, 0u8..10), 1..30),
        ) {
            let before = |a: usize, b: usize| rows[a].1 < rows[b].1 && rows[a].2 < rows[b].2;
            let sizes: Vec<u64> = rows.iter().map(|row| row.0 * 2 * MIB).collect();
            let plan = planned(&sizes, before);
            prop_assert_eq!(plan.used, Some(classes().bytes(&plan.need)));
        }
    }

    #[test]
    fn a_size_is_split_into_as_few_chunks_as_can_be() {
        let classes = Classes::of(4096);
        let bytes = (3 << 20) + (68 << 10);
        let counts = classes.split(bytes, 2);
        assert_eq!((counts, classes.bytes(&counts)), ([1, 17, 1], bytes));
        assert_eq!(classes.split(bytes, 1), [1, 18, 0]);
        assert_eq!(classes.split(bytes, 0), [2, 0, 0]);
        let coarse = Classes::of(2 << 20);
        assert_eq!((coarse.granule(), coarse.split(4 << 20, 2)), (2 << 20, [2, 0, 0]));
    }

    #[test]
    fn sizes_are_rounded_up_where_that_takes_less() {
        // One after the other. In small chunks, each class would have its peak at another buffer.
        let sizes = [4 * MIB, 3 * MIB + 15 * 65536, 2 * MIB + 31 * 65536 + 15 * 4096];
        let plan = planned(&sizes, |a, b| a < b);
        assert_eq!((plan.used, classes().bytes(&plan.need)), (Some(4 * MIB), 4 * MIB));
    }
}
