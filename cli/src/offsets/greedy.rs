//! Quick plans: buffers in some order, each as low as it fits.

use std::{cmp::Reverse, time::Instant};

use super::problem::Problem;

/// Buffers that are placed between two looks at the clock.
const STRIDE: usize = 16;

/// Places buffers in this order, each at the lowest offset at which it meets no buffer that is alive with it. Those that
/// are left at the deadline take the first of [`Cells`] that are free.
pub(super) fn first_fit(problem: &Problem, order: &[u32], deadline: Instant) -> Vec<u64> {
    let mut offsets = vec![u64::MAX; problem.len()];
    // Whatever is shorter: to look at all that is placed, by offset, or to sort those that count.
    let degrees = problem.conflicts.iter().map(Vec::len);
    let sorting: usize = degrees.map(|degree| degree * degree.max(2).ilog2() as usize).sum();
    let dense = sorting > problem.len() * problem.len();
    let mut placed: Vec<(u64, u64, u32)> = Vec::new();
    let mut near: Vec<(u64, u64, u32)> = Vec::new();
    let mut cells = Cells::new(problem.lower_bound().bytes());
    let mut late = false;
    for (turn, &i) in order.iter().enumerate() {
        let buffer = problem.buffers[i as usize];
        late = late || turn % STRIDE == STRIDE - 1 && Instant::now() > deadline;
        let lies = problem.conflicts[i as usize].iter().filter(|&&j| offsets[j as usize] != u64::MAX);
        let lies = lies.map(|&j| {
            let start = offsets[j as usize];
            (start, start + problem.buffers[j as usize].bytes, j)
        });
        let offset = if late {
            cells.gap(lies, buffer.bytes, buffer.align)
        } else if dense {
            let met = placed.iter().filter(|other| problem.conflict(i as usize, other.2 as usize));
            gap(met, buffer.bytes, buffer.align)
        } else {
            near.clear();
            near.extend(lies);
            near.sort_unstable();
            gap(near.iter(), buffer.bytes, buffer.align)
        };
        if dense && !late {
            let lies = (offset, offset + buffer.bytes, i);
            placed.insert(placed.partition_point(|other| *other < lies), lies);
        }
        offsets[i as usize] = offset;
    }
    offsets
}

/// Bytes in parts of equal size, for a plan that is needed soon: what is in the way is marked in any order.
struct Cells {
    /// The bytes of each.
    bytes: u64,
    taken: [u64; CELLS / 64],
}

/// Four times the lower bound has so many.
const CELLS: usize = 2048;

impl Cells {
    fn new(bound: u64) -> Self {
        Self { bytes: (bound / (CELLS as u64 / 4)).max(1), taken: [0; CELLS / 64] }
    }

    /// The first cells that hold so many bytes and are free; if there are none, what is above all that is taken.
    fn gap(&mut self, taken: impl Iterator<Item = (u64, u64, u32)>, bytes: u64, align: u64) -> u64 {
        self.taken.fill(0);
        let mut top = 0;
        for (start, end, _) in taken.filter(|(start, end, _)| start < end) {
            top = top.max(end);
            // CAST: cut off at the number of cells.
            let [first, last] = [start, end - 1].map(|at| (at / self.bytes).min(CELLS as u64 - 1) as usize);
            for word in first / 64..=last / 64 {
                let from = if word == first / 64 { first % 64 } else { 0 };
                let to = if word == last / 64 { last % 64 } else { 63 };
                self.taken[word] |= (u64::MAX << from) & (u64::MAX >> (63 - to));
            }
        }
        let mut offset = 0;
        while offset < top {
            let [first, last] = [offset, offset + bytes.max(1) - 1].map(|at| at / self.bytes);
            if last >= CELLS as u64 {
                break;
            }
            // The next one behind the last that is in the way.
            let taken = |cell: &u64| self.taken[*cell as usize / 64] >> (cell % 64) & 1 != 0;
            match (first..=last).rev().find(taken) {
                Some(cell) => offset = u64::next_multiple_of((cell + 1) * self.bytes, align),
                None => return offset,
            }
        }
        u64::next_multiple_of(top, align)
    }
}

/// The lowest offset between ranges that come in rising order.
fn gap<'a>(taken: impl Iterator<Item = &'a (u64, u64, u32)>, bytes: u64, align: u64) -> u64 {
    let mut offset = 0;
    for &(start, end, _) in taken {
        if offset + bytes <= start {
            break;
        }
        offset = u64::next_multiple_of(offset.max(end), align);
    }
    offset
}

/// The orders that are known to do well.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Bytes times how many buffers are alive with it.
    Crowded,
    Bytes,
    /// Bytes times lifetime.
    Area,
    /// The bytes that are alive with it.
    Conflict,
    /// The number of buffers that are alive with it.
    Degree,
    Lifetime,
}

impl Order {
    pub const ALL: [Self; 6] =
        [Self::Crowded, Self::Bytes, Self::Area, Self::Conflict, Self::Degree, Self::Lifetime];

    /// The buffers of a problem, largest first.
    pub fn of(self, problem: &Problem) -> Vec<u32> {
        let key = |i: usize| {
            let (bytes, degree) = (problem.buffers[i].bytes, problem.conflicts[i].len() as u64);
            // Of large problems there are no cliques that would say how long a buffer lives.
            let breadth = problem.cliques_of.get(i).map_or(degree, |cliques| cliques.len() as u64);
            match self {
                Self::Crowded => (bytes.saturating_mul(degree + 1), bytes),
                Self::Bytes => (bytes, degree),
                Self::Area => (bytes.saturating_mul(breadth), bytes),
                Self::Conflict => {
                    (problem.conflicts[i].iter().map(|&j| problem.buffers[j as usize].bytes).sum(), bytes)
                }
                Self::Degree => (degree, bytes),
                Self::Lifetime => (breadth, bytes),
            }
        };
        // CAST: a problem numbers its buffers so.
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        order.sort_by_cached_key(|&i| Reverse(key(i as usize)));
        order
    }
}

/// Where the highest buffer of a plan ends.
pub(super) fn height(problem: &Problem, offsets: &[u64]) -> u64 {
    problem.buffers.iter().zip(offsets).map(|(buffer, offset)| offset + buffer.bytes).max().unwrap_or(0)
}
