//! Which allocations a plan keeps apart in time.
//!
//! One is over before another begins if all of its last users have completed before any first user of the other starts,
//! in whatever way the packet processors run the plan. That is read from the checker's tables, which hold, for each step
//! and lane, where on that lane what starts behind the step's completion begins.
//!
//! # What that says about caches
//! Between the completion and the start stands, in every case, a chain of barrier bits and waits of the plan. Each packet
//! of work releases at agent scope at least, and each that has a barrier bit, and each barrier-AND, acquires at that scope,
//! whether or not an edge of the graph needs it (`exec::image`). So what shares memory by the order of a plan needs no
//! fence that a plan's own dependencies would not have.

use super::super::check::{Fault, Ordered};
use super::super::{Plan, Problem};
use super::Allocation;
use crate::antichain::peak;

/// Up to so many allocations the bytes of a plan with several lanes are computed exactly.
pub const EXACT: usize = 1_024;

const NEVER: u32 = u32::MAX;

/// The order that a plan puts allocations in.
#[derive(Clone, Debug)]
pub struct Sharing {
    lanes: usize,
    /// By allocation and lane: the position of the earliest first user there; `NEVER` if there is none.
    begins: Vec<u32>,
    /// By allocation and lane: the earliest position that starts behind the completion of all last users.
    ends: Vec<u32>,
    /// By allocation: its bytes; none if it is freed and nothing uses it.
    bytes: Vec<u64>,
    /// By allocation: whether the graph frees it.
    freed: Vec<bool>,
}

impl Sharing {
    /// The order of allocations whose users run by a plan.
    ///
    /// # Panics
    /// When the plan is none of this problem, or an allocation has users that it has not.
    pub fn of(problem: &Problem<'_>, plan: &Plan, allocations: &[Allocation]) -> Self {
        // PANIC: planner and checker agree about every plan, which tests prove of random ones.
        Self::try_of(problem, plan, allocations).expect("a plan that can run")
    }

    fn try_of(problem: &Problem<'_>, plan: &Plan, allocations: &[Allocation]) -> Result<Self, Fault> {
        let ordered = Ordered::of(problem, plan)?;
        let lanes = plan.lanes.len();
        let mut this = Self {
            lanes,
            begins: vec![NEVER; allocations.len() * lanes],
            ends: vec![NEVER; allocations.len() * lanes],
            bytes: Vec::with_capacity(allocations.len()),
            freed: allocations.iter().map(|allocation| allocation.last.is_some()).collect(),
        };
        let mut behind = vec![NEVER; lanes];
        for (at, Allocation { bytes, first, last }) in allocations.iter().enumerate() {
            behind.fill(NEVER);
            let begins = &mut this.begins[at * lanes..][..lanes];
            for (step, after) in first.iter().filter_map(|&node| ordered.step(node)) {
                let begin = &mut begins[step.lane as usize];
                *begin = (*begin).min(step.position);
                behind.iter_mut().zip(after).for_each(|(behind, after)| *behind = (*behind).min(*after));
            }
            let Some(last) = last else {
                this.bytes.push(*bytes);
                continue;
            };
            let ends = &mut this.ends[at * lanes..][..lanes];
            ends.fill(0);
            let mut used = false;
            for (node, (step, after)) in last.iter().filter_map(|&node| Some((node, ordered.step(node)?))) {
                ends.iter_mut().zip(after).for_each(|(end, after)| *end = (*end).max(*after));
                used |= first.contains(&node) || behind[step.lane as usize] <= step.position;
            }
            this.bytes.push(if used { *bytes } else { 0 });
        }
        Ok(this)
    }

    /// Whether all users of `a` have completed, and what they wrote can be seen, before any user of `b` starts. A strict
    /// order of the allocations that anything uses.
    ///
    /// # Panics
    /// When there are not so many allocations.
    pub fn before(&self, a: usize, b: usize) -> bool {
        let ends = &self.ends[a * self.lanes..][..self.lanes];
        let begins = &self.begins[b * self.lanes..][..self.lanes];
        self.freed[a] && ends.iter().zip(begins).all(|(end, begin)| end <= begin)
    }

    /// The bytes that an allocation takes: those that it asked for, or none if nothing uses it before it is freed.
    ///
    /// # Panics
    /// When there are not so many allocations.
    pub fn bytes(&self, at: usize) -> u64 {
        self.bytes[at]
    }

    /// The most bytes that are in use at once, whatever the times are that nodes take; as [`Needs::bytes`](super::Needs).
    pub fn peak(&self) -> u64 {
        let used: Vec<usize> = (0..self.bytes.len()).filter(|&at| self.bytes[at] > 0).collect();
        if self.lanes == 1 {
            return self.peak_of_lane(&used);
        }
        let bytes: Vec<u64> = used.iter().map(|&at| self.bytes[at]).collect();
        let all = bytes.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes));
        if used.len() > EXACT || all == u64::MAX {
            return all;
        }
        peak::peak(&bytes, |a, b| self.before(used[a], used[b]))
    }

    /// On one lane allocations are ranges of positions.
    fn peak_of_lane(&self, used: &[usize]) -> u64 {
        // What ends at a position is over there.
        let mut changes: Vec<(u32, bool, u64)> = Vec::with_capacity(2 * used.len());
        for &at in used {
            changes.push((self.begins[at], true, self.bytes[at]));
            if self.freed[at] {
                changes.push((self.ends[at], false, self.bytes[at]));
            }
        }
        changes.sort_unstable();
        let (mut live, mut peak) = (0u64, 0u64);
        for (_, begins, bytes) in changes {
            live = if begins { live.saturating_add(bytes) } else { live.saturating_sub(bytes) };
            peak = peak.max(live);
        }
        peak
    }
}
