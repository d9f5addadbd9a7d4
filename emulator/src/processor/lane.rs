//! One queue as its packet processor sees it.

use std::sync::{Arc, atomic::Ordering, mpsc::Sender};

use super::{
    branch::{self, Entered, Run},
    header,
    packet::{self, Barrier, Work},
    refusal::Refusal,
    signals::Signals,
};
use crate::{
    dispatch::Dispatch,
    memory::{Map, coherence::Origin},
    queue::{Packet, Queue, State},
    signal::Watch,
};

/// A kernel dispatch that has been launched and is not complete.
pub(super) struct Running {
    pub(super) dispatch: Arc<Dispatch>,
    /// Index of its packet.
    pub(super) index: u64,
    /// The header of its packet.
    pub(super) header: u16,
    /// Where it sees memory from, on a device with caches.
    pub(super) origin: Option<Origin>,
    /// Handle of the completion signal, or 0.
    pub(super) completion: u64,
    /// When it was launched, in device ticks.
    pub(super) start: u64,
    /// Its packet's place in the shadow ring.
    pub(super) shadow: u32,
    /// Whether worker threads were asked to help.
    pub(super) offered: bool,
}

/// What is at the front of a queue.
pub(super) enum Front {
    /// Nothing, or nothing that may be launched before a running dispatch ends.
    Nothing,
    /// A barrier packet that does not hold yet.
    Pending(Barrier),
    /// A packet to be launched, or completed at once.
    Ready(Packet, Work),
    Refused(Refusal),
}

/// A queue, what is running of it, and what it waits for.
pub(super) struct Lane {
    pub(super) queue: Arc<Queue>,
    pub(super) running: Vec<Running>,
    signals: Arc<Signals>,
    memory: Arc<Map>,
    /// Index of the front packet.
    read: u64,
    /// The runs that the front packet has entered, outermost first.
    entered: Vec<Entered>,
    /// Index of a dispatch that never ends.
    hung: Option<u64>,
    /// Watches on the signals of the barrier packet at the front, once they are watched.
    watches: Option<Vec<Watch>>,
    /// Whether the device serves the queue at the moment.
    pub(super) has_place: bool,
    /// Which of all places given was its last.
    pub(super) turn: u64,
    /// The thread that waits for the queue to have nothing running.
    pub(super) leaving: Option<Sender<()>>,
    /// The threads that wait for what was launched to have stopped; the queue stays.
    pub(super) silenced: Vec<Sender<()>>,
}

impl Lane {
    /// The lane of a new queue.
    pub(super) fn new(queue: Arc<Queue>, signals: Arc<Signals>, memory: Arc<Map>) -> Self {
        let read = queue.read_index();
        Self {
            queue,
            running: Vec::new(),
            signals,
            memory,
            read,
            entered: Vec::new(),
            hung: None,
            watches: None,
            has_place: true,
            turn: 0,
            leaving: None,
            silenced: Vec::new(),
        }
    }

    /// Index of the front packet in the ring.
    pub(super) fn index(&self) -> u64 {
        self.read
    }

    /// What is at the front now.
    pub(super) fn front(&self) -> Front {
        if self.leaving.is_some() || self.queue.state() != State::Active {
            return Front::Nothing;
        }
        let packet = match self.entered.last() {
            Some(run) => run.front(&self.memory),
            None => Ok(self.ring_front()),
        };
        let packet = match (packet, self.entered.last()) {
            (Ok(Some(packet)), _) => packet,
            (Ok(None), None) => return Front::Nothing,
            // What a branch has entered is complete before the branch is.
            (Ok(None), Some(_)) if !self.running.is_empty() || self.hung.is_some() => return Front::Nothing,
            (Ok(None), Some(run)) => return Front::Ready(run.branch, Work::Return),
            (Err(refusal), _) => return Front::Refused(refusal),
        };
        if header::has_barrier_bit(&packet) && (!self.running.is_empty() || self.hung.is_some()) {
            return Front::Nothing;
        }
        match packet::decode(&packet, &self.signals, &self.memory) {
            Ok(Work::Barrier(barrier)) if !barrier.holds() => Front::Pending(barrier),
            // CAST: a small constant.
            Ok(Work::Branch(_)) if self.entered.len() >= branch::DEPTH as usize => {
                Front::Refused(Refusal::format(format!("a branch inside of {} others", self.entered.len())))
            }
            Ok(Work::LoopBack(_)) if self.entered.is_empty() => {
                Front::Refused(Refusal::format("a loop-back packet outside of an indirect buffer".into()))
            }
            Ok(work) => Front::Ready(packet, work),
            Err(refusal) => Front::Refused(refusal),
        }
    }

    /// The packet at the front of the ring, if it is published.
    fn ring_front(&self) -> Option<Packet> {
        // The doorbell of a client is looked at in any case: how often it rings is counted. Otherwise the slot comes
        // first: a processor that finds no packets leaves the cache line with the indices to the program.
        if self.queue.client().is_some() && self.read >= self.queue.limit() {
            return None;
        }
        // ORDER: Acquire. Pairs with the program's release store of the header: the body is visible.
        if header::is_invalid(self.queue.header(self.read).load(Ordering::Acquire)) {
            return None;
        }
        // Whatever a slot says that no program has claimed, it is no packet.
        if self.queue.client().is_none() && self.read >= self.queue.limit() {
            return None;
        }
        Some(self.queue.fetch(self.read))
    }

    /// Enters a run of packets; the front packet stays until the run is done with.
    pub(super) fn enter(&mut self, run: Run, branch: Packet) {
        self.watches = None;
        self.entered.push(Entered::new(run, branch));
    }

    /// Begins the innermost run again.
    pub(super) fn restart(&mut self) {
        self.watches = None;
        self.entered.last_mut().into_iter().for_each(Entered::restart);
    }

    /// Leaves the innermost run.
    pub(super) fn leave(&mut self) {
        self.entered.pop();
    }

    /// Where the front packet is, for reports.
    pub(super) fn place(&self) -> String {
        let ring = format!("packet {} of queue {}", self.read, self.queue.id);
        match self.entered.last().map(Entered::place) {
            None => ring,
            Some((packet, base)) => {
                format!("packet {packet} of the indirect buffer at {base:#x}, under {ring}")
            }
        }
    }

    /// Whether the processor could do anything for this queue.
    ///
    /// A barrier that is not watched counts: its packet came after the last look, and its signals would not wake the
    /// processor if it slept now.
    pub(super) fn has_work(&self) -> bool {
        self.running.iter().any(|r| r.dispatch.is_complete())
            || match self.front() {
                Front::Nothing => false,
                Front::Pending(_) => self.watches.is_none(),
                Front::Ready(..) | Front::Refused(_) => true,
            }
    }

    /// Arranges that a change of the signals that the front packet waits for wakes the processor.
    pub(super) fn watch(&mut self, barrier: &Barrier) {
        self.watches.get_or_insert_with(|| barrier.signals().iter().filter_map(|s| s.watch()).collect());
    }

    /// Whether nothing reports new packets and changes of signals, so that the processor has to poll.
    pub(super) fn is_polled(&self) -> bool {
        self.queue.client().is_some() && self.queue.state() == State::Active
    }

    /// Takes the front packet out of its slot and moves on.
    ///
    /// Of a dispatch that is about to run in a client's queue the slot is not free yet.
    pub(super) fn advance(&mut self, runs: bool) {
        self.watches = None;
        if let Some(run) = self.entered.last_mut() {
            // The slot in the ring is that of a branch which is not complete.
            run.advance();
            return;
        }
        self.queue.empty_slot(self.read);
        self.read += 1;
        if !runs || self.queue.client().is_none() {
            self.free_slots();
        }
    }

    /// Moves on from the front packet, which is a dispatch that never ends.
    pub(super) fn hang(&mut self) {
        self.hung.get_or_insert(self.read);
        self.advance(true);
    }

    /// Gives back the slots of the packets that are done with.
    ///
    /// A client of the driver may reuse a packet's kernel arguments together with its slot, as ROCr's own copies do:
    /// on hardware the read index passes a dispatch when its waves have started and are about to read theirs. Waves
    /// here may start much later, so that a client's slot is free when the dispatch is complete.
    pub(super) fn free_slots(&self) {
        let launched = self.running.iter().map(|running| running.index).chain(self.hung);
        let oldest = self.queue.client().and_then(|_| launched.min());
        self.queue.free_slots_below(oldest.unwrap_or(self.read));
    }

    /// Stops what runs, and forgets what the front packet waits for: the queue has stopped.
    pub(super) fn abort(&mut self) {
        self.watches = None;
        self.hung = None;
        self.entered.clear();
        self.running.iter().for_each(|running| running.dispatch.stop());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        queue::{Block, ErrorCallback, Ring},
        signal::Signal,
    };

    #[test]
    fn a_processor_does_not_sleep_before_it_watches_a_pending_barrier() {
        let callback = ErrorCallback { function: None, data: std::ptr::null_mut() };
        let ring = Ring::in_system_memory(64).expect("memory");
        let queue = Queue::create(0, 64, 0, callback, ring).expect("a queue");
        let gate = Signal::create(1).expect("a signal");
        let mut lane = Lane::new(Arc::clone(&queue), Arc::new(Signals::Slab), Arc::default());
        assert!(!lane.has_work(), "nothing is there");

        let ring = queue.table().expect("one of the table's").ring().address() as *mut Packet;
        let mut words = [0; 8];
        words[0] = u64::from(hsa_sys::HSA_PACKET_TYPE_BARRIER_AND.0);
        words[1] = gate.handle();
        // SAFETY: the first slot of a ring that no other thread knows.
        unsafe { ring.write(Packet(words)) };
        let block = Block::find(queue.pointer()).expect("its control block");
        block.write_dispatch_id().store(1, Ordering::Release);
        assert!(lane.has_work(), "its signal wakes nobody yet");

        let Front::Pending(barrier) = lane.front() else { panic!("the gate is closed") };
        lane.watch(&barrier);
        assert!(!lane.has_work());
        gate.store(0);
        assert!(lane.has_work(), "the gate is open");
        gate.destroy();
        queue.retire();
    }
}
