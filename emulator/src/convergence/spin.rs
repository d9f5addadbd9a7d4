//! Waves that go round in a loop which they cannot end themselves.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::os;

/// What a wave that goes round in a loop looks at there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Memory at this address.
    Memory(u64),
    /// LDS at this offset.
    Lds(u32),
    /// A resource of global wave sync, by which the barrier of a cooperative grid is made.
    Grid,
    /// Nothing that could change.
    Nothing,
}

/// A wave that has ended its dispatch because no wave of any device did anything but wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The workgroup, by its number in the grid.
    pub workgroup: u64,
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// The address of the instruction that asks for what it waits for.
    pub pc: u64,
    /// What it waits for.
    pub awaited: Awaited,
    /// Workgroups of the dispatch for which the device had no room.
    pub waiting: u32,
}

/// States of a wave that are remembered: a loop that gives way for a time that grows comes by its first states again.
const STATES: usize = 256;

/// Whether a wave goes round in a loop.
///
/// It does if all of its state is, before one instruction, what it was in an earlier turn, and it has stored nothing between: what it
/// does next depends on memory alone. What it changes by atomics does not matter, since it has read that, or others have and are
/// looked at, too.
#[derive(Default)]
pub(crate) struct Spin {
    /// The instruction before which the state is looked at.
    at: Option<u64>,
    /// Whether it was, in this turn.
    is_seen: bool,
    states: VecDeque<u64>,
    is_spinning: bool,
    /// The last instruction of the loop that has loaded something, and what.
    last: Option<(u64, Awaited)>,
}

impl Spin {
    /// The wave has done something that may matter to others, or to itself.
    pub(crate) fn progress(&mut self) {
        self.states.clear();
        self.is_spinning = false;
        self.last = None;
    }

    /// Whether the state is to be looked at before this instruction.
    pub(crate) fn asks(&self, pc: u64) -> bool {
        self.at == Some(pc) && !self.is_seen
    }

    /// Takes the state before the instruction that was asked for, as a hash.
    pub(crate) fn see(&mut self, state: u64) {
        self.is_seen = true;
        self.is_spinning = self.states.contains(&state);
        if !self.is_spinning {
            if self.states.len() == STATES {
                self.states.pop_front();
            }
            self.states.push_back(state);
        }
    }

    /// A turn of the wave ends before this instruction.
    pub(crate) fn end_turn(&mut self, pc: u64) {
        if !std::mem::take(&mut self.is_seen) {
            self.progress();
            self.at = Some(pc);
        }
    }

    /// Whether it goes round in a loop.
    pub(crate) fn is_spinning(&self) -> bool {
        self.is_spinning
    }

    /// An instruction of the loop loads something.
    pub(crate) fn load(&mut self, pc: u64, what: Awaited) {
        self.last = Some((pc, what));
    }

    /// What the loop waits for, and the instruction that asks for it; without a load, the one that was looked at.
    pub(crate) fn awaited(&self) -> Option<(u64, Awaited)> {
        let at = self.at.filter(|_| self.is_spinning)?;
        Some(self.last.unwrap_or((at, Awaited::Nothing)))
    }
}

/// When a wave of any device last did something else than go round in a loop, in nanoseconds of [`os::now`].
static MOVED: AtomicU64 = AtomicU64::new(0);

/// A wave has done something else.
pub(crate) fn moved() {
    // ORDER: Relaxed. A time that is read late only makes the wait longer.
    MOVED.fetch_max(os::now(), Ordering::Relaxed);
}

/// Whether none has for so long.
pub(crate) fn is_deadlock(patience: Duration) -> bool {
    u128::from(os::now().saturating_sub(MOVED.load(Ordering::Relaxed))) > patience.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a turn before instruction 8, which is executed once in a turn with this state.
    fn turn(spin: &mut Spin, state: u64) {
        if spin.asks(8) {
            spin.see(state);
        }
        spin.end_turn(8);
    }

    #[test]
    fn a_state_that_comes_again_is_a_loop() {
        let mut spin = Spin::default();
        for state in [1, 1] {
            turn(&mut spin, state);
            assert!(!spin.is_spinning());
        }
        turn(&mut spin, 1);
        assert_eq!(spin.awaited(), Some((8, Awaited::Nothing)));
        spin.load(4, Awaited::Lds(16));
        assert_eq!(spin.awaited(), Some((4, Awaited::Lds(16))));
        spin.progress();
        assert_eq!(spin.awaited(), None);
        turn(&mut spin, 1);
        assert!(!spin.is_spinning(), "it has stored something");
    }

    #[test]
    fn states_that_differ_are_none() {
        let mut spin = Spin::default();
        for state in 0..100 {
            turn(&mut spin, state);
            assert!(!spin.is_spinning());
        }
        turn(&mut spin, 90);
        assert!(spin.is_spinning(), "one of the last");
        turn(&mut spin, 101);
        assert!(!spin.is_spinning());
    }

    #[test]
    fn an_instruction_that_is_left_behind_is_not_waited_for() {
        let mut spin = Spin::default();
        spin.end_turn(8);
        spin.end_turn(16);
        assert!(!spin.asks(8) && spin.asks(16));
    }
}
