//! Queues that take turns, where there are more than the device serves at a time.
//!
//! A queue has a place for a quantum, then another one that could go on gets it. A queue that has nothing to launch, or
//! whose barrier packet waits, gives its place up at once, so that queues that wait for each other never wait for a place.
//! On hardware the waves of a queue without a place are taken off the device; here they go on, and the queue launches
//! nothing.

use super::lane::{Front, Lane};
use crate::{device::Device, hardware::QUEUES, os};

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

impl Turns {
    /// Gives the places of a device to those of its queues that can go on.
    pub(super) fn deal(&mut self, lanes: &mut [Lane], device: &Device) {
        if !device.hardware.few_queues {
            return;
        }
        let places = QUEUES as usize;
        if lanes.len() <= places {
            lanes.iter_mut().for_each(|lane| lane.has_place = true);
            return;
        }
        let ready: Vec<bool> =
            lanes.iter().map(|lane| matches!(lane.front(), Front::Ready(..) | Front::Refused(_))).collect();
        for (lane, ready) in lanes.iter_mut().zip(&ready) {
            lane.has_place &= *ready || !lane.running.is_empty();
        }
        let now = os::now();
        let mut waiting: Vec<usize> =
            (0..lanes.len()).filter(|&index| ready[index] && !lanes[index].has_place).collect();
        let taken = lanes.iter().filter(|lane| lane.has_place).count();
        if waiting.is_empty() {
            self.end = now + QUANTUM;
            return;
        }
        // Those that have waited longest are the first.
        waiting.sort_by_key(|&index| lanes[index].turn);
        let mut free = places.saturating_sub(taken);
        if free < waiting.len() && now >= self.end {
            self.end = now + QUANTUM;
            let mut holders: Vec<usize> = (0..lanes.len()).filter(|&index| lanes[index].has_place).collect();
            holders.sort_by_key(|&index| lanes[index].turn);
            for index in holders.into_iter().take(waiting.len() - free) {
                lanes[index].has_place = false;
                free += 1;
            }
        }
        for index in waiting.into_iter().take(free) {
            self.given += 1;
            lanes[index].has_place = true;
            lanes[index].turn = self.given;
            device.tally.quanta.add(1);
        }
    }
}
