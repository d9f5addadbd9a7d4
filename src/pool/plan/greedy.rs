//! Quick plans: buffers in some order, each as low as it fits.

use std::{cmp::Reverse, time::Instant};

use super::problem::Problem;

/// Buffers that are placed between two looks at the clock.
const STRIDE: usize = 16;

/// Places buffers in this order, each at the lowest offset at which it meets no buffer that is alive with it. Those that
/// are left at the deadline lie on top of all that are alive with them: nobody looks for gaps.
pub(super) fn first_fit(problem: &Problem, order: &[u32], deadline: Instant) -> Vec<u64> {
    let mut offsets = vec![u64::MAX; problem.len()];
    // What is placed, by offset.
    let mut placed: Vec<(u64, u64, u32)> = Vec::with_capacity(order.len());
    let mut near: Vec<(u64, u64, u32)> = Vec::new();
    let mut late = false;
    for (turn, &i) in order.iter().enumerate() {
        let buffer = problem.buffers[i as usize];
        late = late || turn % STRIDE == STRIDE - 1 && Instant::now() > deadline;
        let offset = if late {
            let tops = problem.conflicts[i as usize].iter().map(|&j| j as usize);
            let tops =
                tops.filter(|&j| offsets[j] != u64::MAX).map(|j| offsets[j] + problem.buffers[j].bytes);
            u64::next_multiple_of(tops.max().unwrap_or(0), buffer.align)
        } else {
            let others = &problem.conflicts[i as usize];
            // Whatever is shorter: to look at all that is placed, or to sort those that count.
            let few = others.len() * others.len().max(2).ilog2() as usize <= placed.len();
            if few {
                near.clear();
                let lies = others.iter().filter(|&&j| offsets[j as usize] != u64::MAX);
                near.extend(lies.map(|&j| {
                    let start = offsets[j as usize];
                    (start, start + problem.buffers[j as usize].bytes, j)
                }));
                near.sort_unstable();
                gap(near.iter(), buffer.bytes, buffer.align)
            } else {
                let met = placed.iter().filter(|other| problem.conflict(i as usize, other.2 as usize));
                gap(met, buffer.bytes, buffer.align)
            }
        };
        if !late {
            let lies = (offset, offset + buffer.bytes, i);
            placed.insert(placed.partition_point(|other| *other < lies), lies);
        }
        offsets[i as usize] = offset;
    }
    offsets
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
