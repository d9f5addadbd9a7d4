//! Waiting for signals: look, spin briefly, then sleep.

use std::{sync::atomic::Ordering, time::Duration};

use hsa_sys::{
    HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_GTE, HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_NE,
    hsa_signal_condition_t,
};

use super::{
    ANY, Signal, Watch, Watcher,
    patience::{Looking, SEATS},
};
use crate::os;

/// Longest sleep, so that a conversion never overflows; the wait goes on afterwards.
const LONGEST_SLEEP: u64 = 3_600_000_000_000;

/// Relation between a signal's value and an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
}

impl Condition {
    /// The relation that the header numbers so.
    pub(crate) fn new(condition: hsa_signal_condition_t) -> Option<Self> {
        match condition {
            HSA_SIGNAL_CONDITION_EQ => Some(Self::Equal),
            HSA_SIGNAL_CONDITION_NE => Some(Self::NotEqual),
            HSA_SIGNAL_CONDITION_LT => Some(Self::Less),
            HSA_SIGNAL_CONDITION_GTE => Some(Self::GreaterOrEqual),
            _ => None,
        }
    }

    /// Whether the relation holds.
    pub(crate) fn holds(self, value: i64, operand: i64) -> bool {
        match self {
            Self::Equal => value == operand,
            Self::NotEqual => value != operand,
            Self::Less => value < operand,
            Self::GreaterOrEqual => value >= operand,
        }
    }
}

/// A signal and what is asked of its value.
#[derive(Clone, Copy)]
pub(crate) struct Demand {
    pub(crate) signal: Signal,
    pub(crate) condition: Condition,
    pub(crate) operand: i64,
}

impl Demand {
    /// The value if it satisfies the demand.
    pub(crate) fn met(&self) -> Option<i64> {
        let value = self.signal.load();
        self.condition.holds(value, self.operand).then_some(value)
    }
}

/// Waits until `demand` is met, the signal is destroyed, or `timeout` nanoseconds have passed; returns
/// the value last seen.
pub(crate) fn wait(demand: Demand, timeout: u64, active: bool) -> i64 {
    if let Some(value) = demand.met() {
        return value;
    }
    let start = os::now();
    let deadline = start.saturating_add(timeout);
    let looking = Looking::new(active);
    let value = spin(&looking, start, deadline, || demand.met());
    let value = value.unwrap_or_else(|| sleep(demand, deadline));
    looking.over(os::now() - start);
    value
}

fn sleep(demand: Demand, deadline: u64) -> i64 {
    let signal = demand.signal;
    let _watch = signal.watch(Watcher::Thread);
    loop {
        // ORDER: SeqCst. A store that comes after this load changes the futex word, and the kernel
        // then refuses to put us to sleep.
        let seen = signal.side.sequence.load(Ordering::SeqCst);
        let value = signal.load();
        let now = os::now();
        if demand.condition.holds(value, demand.operand) || now >= deadline || !signal.is_alive() {
            return value;
        }
        os::futex_wait(&signal.side.sequence, seen, nap(now, deadline));
    }
}

/// Waits until one of `demands` is met or `timeout` nanoseconds have passed; returns the index of the
/// first that is met, and its value.
pub(crate) fn wait_any(demands: &[Demand], timeout: u64, active: bool) -> Option<(usize, i64)> {
    let look = || first_met(demands);
    if let Some(found) = look() {
        return Some(found);
    }
    let start = os::now();
    let deadline = start.saturating_add(timeout);
    let looking = Looking::new(active);
    let found = spin(&looking, start, deadline, look).or_else(|| sleep_any(demands, deadline));
    looking.over(os::now() - start);
    found
}

fn sleep_any(demands: &[Demand], deadline: u64) -> Option<(usize, i64)> {
    let watches: Vec<Watch> = demands.iter().map(|d| d.signal.watch(Watcher::Any)).collect();
    loop {
        if let Some(found) = first_met(demands) {
            return Some(found);
        }
        let now = os::now();
        if now >= deadline || watches.iter().any(|w| !w.signal().is_alive()) {
            return None;
        }
        ANY.wait(nap(now, deadline), || first_met(demands).is_some());
    }
}

fn first_met(demands: &[Demand]) -> Option<(usize, i64)> {
    demands.iter().enumerate().find_map(|(i, d)| d.met().map(|value| (i, value)))
}

fn nap(now: u64, deadline: u64) -> Option<Duration> {
    if deadline == u64::MAX {
        return None;
    }
    Some(Duration::from_nanos(deadline.saturating_sub(now).min(LONGEST_SLEEP)))
}

fn spin<T>(looking: &Looking, start: u64, deadline: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    loop {
        for _ in 0..16 {
            std::hint::spin_loop();
            if let Some(found) = look() {
                return Some(found);
            }
        }
        let now = os::now();
        let passed = now - start;
        if now >= deadline || passed >= looking.limit(&SEATS, os::core(), passed) {
            return None;
        }
    }
}
