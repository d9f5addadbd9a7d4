//! What searches for the same plan share: the best one so far, and when to stop.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use parking_lot::Mutex;

use super::{Plan, greedy, problem::Problem};

/// Searches that go on until the best plan is proven, or the time is over.
pub(super) struct Race<'a> {
    pub problem: &'a Problem,
    deadline: Instant,
    best: Mutex<Plan>,
    // Of the best plan, to be looked at without the lock. ORDER: Relaxed, here and below: they are bounds, and one that
    // is old costs a search that leads nowhere.
    height: AtomicU64,
    lower_bound: AtomicU64,
}

impl<'a> Race<'a> {
    pub fn new(problem: &'a Problem, plan: Plan, deadline: Instant) -> Self {
        let (height, lower_bound) = (AtomicU64::new(plan.height), AtomicU64::new(plan.lower_bound));
        Self { problem, deadline, best: Mutex::new(plan), height, lower_bound }
    }

    pub fn height(&self) -> u64 {
        self.height.load(Relaxed)
    }

    pub fn lower_bound(&self) -> u64 {
        self.lower_bound.load(Relaxed)
    }

    pub fn is_late(&self) -> bool {
        Instant::now() > self.deadline
    }

    pub fn is_over(&self) -> bool {
        self.height() <= self.lower_bound() || self.is_late()
    }

    /// Takes offsets if they are better than the best; which part (0 to 1) of the way to the bound that is.
    pub fn offer(&self, offsets: &[u64]) -> f64 {
        let height = greedy::height(self.problem, offsets);
        let mut best = self.best.lock();
        if height >= best.height {
            return 0.0;
        }
        let gap = best.height.saturating_sub(self.lower_bound()).max(1);
        let won = (best.height - height) as f64 / gap as f64;
        best.height = height;
        best.offsets.copy_from_slice(offsets);
        self.height.store(height, Relaxed);
        won
    }

    /// Notes that no plan is as low as `height`.
    pub fn rule_out(&self, height: u64) {
        self.lower_bound.fetch_max(height + 1, Relaxed);
    }

    /// The offsets of the best plan.
    pub fn copy_best(&self, offsets: &mut Vec<u64>) {
        offsets.clone_from(&self.best.lock().offsets);
    }

    /// The best plan.
    pub fn end(self) -> Plan {
        let plan = self.best.into_inner();
        Plan { lower_bound: self.lower_bound.into_inner(), ..plan }
    }
}
