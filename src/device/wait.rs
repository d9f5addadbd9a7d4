//! How a thread of the host waits for the device.

#![forbid(unsafe_code)]

use std::{
    hint,
    sync::atomic::{AtomicU8, Ordering},
    thread,
};

/// What a thread does while it waits for the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// What the HSA runtime finds best for a wait that may be long: it sleeps.
    #[default]
    Auto,
    /// Asks again and again.
    Spin,
    /// Asks again and again, and lets other threads run in between.
    Yield,
    /// Sleeps.
    Block,
}

impl WaitPolicy {
    /// Waits until `ask` says something; `sleep` sleeps until that may be so.
    pub(crate) fn wait<T>(self, mut ask: impl FnMut() -> Option<T>, sleep: impl FnMut()) -> T {
        self.wait_by(&mut ask, sleep, thread::yield_now)
    }

    fn wait_by<T>(
        self,
        ask: &mut impl FnMut() -> Option<T>,
        mut sleep: impl FnMut(),
        mut give_way: impl FnMut(),
    ) -> T {
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            match self {
                Self::Auto | Self::Block => sleep(),
                Self::Spin => hint::spin_loop(),
                Self::Yield => give_way(),
            }
        }
    }
}

/// A policy that threads set and read, or none.
#[derive(Debug, Default)]
pub(crate) struct PolicyCell(AtomicU8);

impl PolicyCell {
    pub(crate) fn get(&self) -> Option<WaitPolicy> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(WaitPolicy::Auto),
            2 => Some(WaitPolicy::Spin),
            3 => Some(WaitPolicy::Yield),
            4 => Some(WaitPolicy::Block),
            _ => None,
        }
    }

    pub(crate) fn set(&self, policy: Option<WaitPolicy>) {
        let number = match policy {
            None => 0,
            Some(WaitPolicy::Auto) => 1,
            Some(WaitPolicy::Spin) => 2,
            Some(WaitPolicy::Yield) => 3,
            Some(WaitPolicy::Block) => 4,
        };
        self.0.store(number, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_sleeps_or_gives_way_or_does_neither_between_two_questions() {
        for (policy, expected) in [
            (WaitPolicy::Auto, (4, 0)),
            (WaitPolicy::Block, (4, 0)),
            (WaitPolicy::Yield, (0, 4)),
            (WaitPolicy::Spin, (0, 0)),
        ] {
            let (mut asked, mut slept, mut gave_way) = (0, 0, 0);
            let mut ask = || {
                asked += 1;
                (asked == 5).then_some("reached")
            };
            let answer = policy.wait_by(&mut ask, || slept += 1, || gave_way += 1);
            assert_eq!((answer, asked, (slept, gave_way)), ("reached", 5, expected), "{policy:?}");
        }
    }

    #[test]
    fn a_cell_holds_each_policy_and_none() {
        let cell = PolicyCell::default();
        assert_eq!(cell.get(), None);
        for policy in [WaitPolicy::Auto, WaitPolicy::Spin, WaitPolicy::Yield, WaitPolicy::Block] {
            cell.set(Some(policy));
            assert_eq!(cell.get(), Some(policy));
        }
        cell.set(None);
        assert_eq!(cell.get(), None);
    }
}
