//! Queues that take turns, where there are more than the device serves at a time.
//!
//! A queue has a place for a quantum, then another one that could go on gets it. A queue that has nothing to launch, or
//! whose barrier packet waits, gives its place up at once, so that queues that wait for each other never wait for a place.
//! On hardware the waves of a queue without a place are taken off the device; here they go on, and the queue launches
//! nothing.

use super::{engine::Engine, lane::Front};
use crate::{hardware::QUEUES, os};

/// How long a queue has its place while others wait for one, nanoseconds.
const QUANTUM: u64 = 1_000_000;

/// Who is next.
#[derive(Default)]
pub(super) struct Turns {
    /// Places given so far.
    given: u64,
    /// When the quantum ends.
    end: u64,
}

impl Engine {
    /// Gives the places of the device to queues that can go on.
    pub(super) fn take_turns(&mut self) {
        if !self.device.hardware.few_queues {
            return;
        }
        let places = QUEUES as usize;
        if self.lanes.len() <= places {
            self.lanes.iter_mut().for_each(|lane| lane.has_place = true);
            return;
        }
        let ready: Vec<bool> = self
            .lanes
            .iter()
            .map(|lane| matches!(lane.front(), Front::Ready(..) | Front::Refused(_)))
            .collect();
        for (lane, ready) in self.lanes.iter_mut().zip(&ready) {
            lane.has_place &= *ready || !lane.running.is_empty();
        }
        let now = os::now();
        let mut waiting: Vec<usize> =
            (0..self.lanes.len()).filter(|&index| ready[index] && !self.lanes[index].has_place).collect();
        let taken = self.lanes.iter().filter(|lane| lane.has_place).count();
        if waiting.is_empty() {
            self.turns.end = now + QUANTUM;
            return;
        }
        // Those that have waited longest are the first.
        waiting.sort_by_key(|&index| self.lanes[index].turn);
        let mut free = places.saturating_sub(taken);
        if free < waiting.len() && now >= self.turns.end {
            self.turns.end = now + QUANTUM;
            let mut holders: Vec<usize> =
                (0..self.lanes.len()).filter(|&index| self.lanes[index].has_place).collect();
            holders.sort_by_key(|&index| self.lanes[index].turn);
            for index in holders.into_iter().take(waiting.len() - free) {
                self.lanes[index].has_place = false;
                free += 1;
            }
        }
        for index in waiting.into_iter().take(free) {
            self.turns.given += 1;
            self.lanes[index].has_place = true;
            self.lanes[index].turn = self.turns.given;
            self.device.tally.quanta.add(1);
        }
    }
}
