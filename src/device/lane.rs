//! A lane: one HSA queue that streams and graphs publish packets to.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use hsa::packet::{Packet, SignalPlace};

use super::{
    fault::Faults,
    pause::Pause,
    rings::{Placement, Rings},
};
use crate::error::{Error, Result};

/// Packets a lane's ring holds.
const RING: u32 = 16 * 1024;

/// Packets of an image that is published in two parts.
pub(crate) const LONG: usize = 1024;

/// Packets of its first part: what the device takes longer for than the host for the rest of a launch.
pub(crate) const BEGINNING: usize = 64;

/// Packets of an image that lie in the ring and are not published yet.
pub(crate) struct Slots<'a, 'r> {
    slots: &'a mut hsa::ring::Slots<'r, hsa::HsaPort>,
    /// Packets of the image that are published.
    done: usize,
}

impl Slots<'_, '_> {
    /// Which of the image's packets they are.
    pub(crate) fn packets(&self) -> Range<usize> {
        let Range { start, end } = self.slots.packets();
        self.done + start..self.done + end
    }

    /// Replaces a signal in one of them.
    pub(crate) fn set(&mut self, packet: usize, place: SignalPlace, signal: hsa::hsa_signal_t) {
        self.slots.set(packet - self.done, place.double(), signal.handle);
    }
}

/// Slots of a lane; those that are not published turn into packets that do nothing.
pub(crate) struct LaneClaim<'l>(hsa::Claim<'l, hsa::HsaPort>);

impl LaneClaim<'_> {
    /// Slots.
    pub(crate) fn len(&self) -> usize {
        // CAST: u32 fits usize on the 64-bit hosts that ROCm has.
        self.0.len() as usize
    }

    /// Publishes as many packets of an image from `start` on as there are slots; `fill` may replace words of them, as
    /// for [`Lane::submit_image`]. Without `ring` the doorbell is not rung: the thread that publishes to the lane next
    /// rings for them too.
    pub(crate) fn publish(
        self,
        image: &[Packet],
        start: usize,
        ring: bool,
        mut fill: impl FnMut(&mut Slots<'_, '_>),
    ) {
        let image = &image[start..start + self.len()];
        let fill = |slots: &mut hsa::ring::Slots<'_, _>| fill(&mut Slots { slots, done: start });
        // SAFETY: as for `Lane::submit_image`.
        unsafe { if ring { self.0.publish_image(image, fill) } else { self.0.stage_image(image, fill) } }
    }
}

/// One HSA queue of a device. Every launch changes its reference count, so it has pairs of cache lines of its own.
#[repr(align(128))]
pub(crate) struct Lane {
    id: u64,
    queue: Option<hsa::Queue>,
    faults: Arc<Faults>,
    epoch: u64,
}

impl Lane {
    /// Creates a queue on `agent`; its faults are recorded in `faults`.
    pub(crate) fn new(
        agent: &hsa::Agent,
        faults: &Arc<Faults>,
        producers: hsa::Producers,
        priority: hsa::Priority,
        placement: &Placement,
        describe: fn(hsa_sys::hsa_status_t) -> Error,
    ) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let epoch = faults.queue_created();
        // From here on the drop takes the epoch back.
        let mut lane = Self { id, queue: None, faults: faults.clone(), epoch };
        let size = RING.min(agent.queue_max_size()?);
        let create = |options| {
            let record = faults.clone();
            let on_error = Box::new(move |status| record.record(describe(status), epoch));
            hsa::Queue::create(agent, size, hsa::QueueOptions { producers, ..options }, on_error)
        };
        let queue = if producers == hsa::Producers::Cooperative {
            // The HSA runtime has one such queue for each device, and has placed its ring.
            create(hsa::QueueOptions::default())?
        } else {
            placement.place(create)?
        };
        queue.set_profiling(true)?;
        if priority != hsa::Priority::Normal {
            queue.set_priority(priority)?;
        }
        lane.queue = Some(queue);
        Ok(lane)
    }

    /// Lets only some of the device's units work for the queue.
    pub(crate) fn restrict(&self, units: &super::Units) -> Result<()> {
        if let Some(queue) = &self.queue {
            // Units that the HSA runtime itself withholds from the process are no error.
            queue.set_cu_mask(units.words())?;
        }
        Ok(())
    }

    /// Where device code finds the queue, to publish to it in place of the host.
    pub(crate) fn device_producer(&self) -> Option<hsa::DeviceProducer> {
        self.queue.as_ref()?.device_producer()
    }

    /// Stops the queue that a fault has taken, with what runs on it, while launches may still hold the lane.
    pub(crate) fn stop(&self) {
        if let Some(queue) = self.queue.as_ref().filter(|_| !self.faults.queues_stay())
            && let Err(error) = queue.inactivate()
        {
            tracing::warn!("stopping a queue that a fault has taken: {error}");
        }
    }

    /// The number of faults before the queue was made; after one more, all on it is over.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether no fault has happened since the queue was made.
    pub(crate) fn is_current(&self) -> bool {
        self.epoch == self.faults.epoch()
    }

    /// Where the queue's ring is.
    pub(crate) fn rings(&self) -> Rings {
        // PANIC: present from construction to drop.
        let queue = self.queue.as_ref().expect("the queue is present until drop");
        match (queue.ring_memory(), queue.ring_stores()) {
            (hsa::RingMemory::System, _) => Rings::System,
            (hsa::RingMemory::Device, hsa::RingStores::NonTemporal) => Rings::Device,
            (hsa::RingMemory::Device, hsa::RingStores::Ordinary) => Rings::DeviceOrdinary,
        }
    }

    /// Unique over the process: tells whether two fences lie on the same queue.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Index of the first packet that has not retired, and the one behind the last that was claimed.
    pub(crate) fn indices(&self) -> (u64, u64) {
        self.queue.as_ref().map_or((0, 0), |queue| (queue.read_index(), queue.write_index()))
    }

    /// Packets that the ring holds.
    pub(crate) fn size(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.size().into())
    }

    /// As [`hsa::Queue::peek`].
    pub(crate) fn peek(&self, index: u64) -> Option<Packet> {
        self.queue.as_ref().map(|queue| queue.peek(index))
    }

    /// Has the slot brought here that is stored to next.
    #[inline]
    pub(crate) fn ask_for_next_slot(&self) {
        if let Some(queue) = &self.queue {
            queue.ask_for_next_slot();
        }
    }

    /// Publishes `packets` in order, waiting while the ring is full.
    ///
    /// # Errors
    /// The device's fault, if the queue died of one.
    pub(crate) fn submit(&self, packets: &[Packet]) -> Result<()> {
        self.submit_image(packets, |_| {})
    }

    /// Publishes a packet image; `fill` may replace words of packets that lie in the ring and are not published.
    ///
    /// An image that does not fit goes in parts, as room comes free, and a long one in two, so that the device starts
    /// while the rest is copied. `fill` is called for all packets, a run of them at a time, in no particular order.
    ///
    /// # Errors
    /// As [`Lane::submit`]; a part of the image may have been published by then.
    pub(crate) fn submit_image(
        &self,
        image: &[Packet],
        mut fill: impl FnMut(&mut Slots<'_, '_>),
    ) -> Result<()> {
        // PANIC: present from construction to drop.
        let queue = self.queue.as_ref().expect("the queue is present until drop");
        let mut done = 0;
        let mut pause = Pause::default();
        while done < image.len() {
            // This queue may have no fault and yet never drain: the packet it waits for was on a queue that has one.
            if !self.is_current() {
                return Err(self.faults.error());
            }
            let rest = &image[done..];
            let part = if done == 0 && rest.len() > LONG { &rest[..BEGINNING] } else { rest };
            // SAFETY: packets are made by this crate alone, none is invalid, and they point to loaded kernels, to
            // kernel arguments and to signals that a fence behind them keeps alive. The caller that launched the
            // kernels vouches for what they do with its memory.
            let some = unsafe { queue.submit_image(part, |slots| fill(&mut Slots { slots, done })) };
            match some.map_err(|e| self.explain(e))? {
                0 => pause.wait(),
                n => {
                    done += n;
                    pause = Pause::default();
                }
            }
        }
        Ok(())
    }

    /// Claims slots for as many of `n` packets as there is room for; none if the ring is full.
    ///
    /// # Errors
    /// As [`Lane::submit`].
    pub(crate) fn claim(&self, n: usize) -> Result<Option<LaneClaim<'_>>> {
        if !self.is_current() {
            return Err(self.faults.error());
        }
        // PANIC: present from construction to drop.
        Ok(self.queue.as_ref().expect("the queue is present until drop").claim_some(n).map(LaneClaim))
    }

    fn explain(&self, e: hsa::Error) -> Error {
        // A stopped queue says so a moment before its callback has recorded why.
        if matches!(e, hsa::Error::QueueStopped { .. }) {
            while self.is_current() {
                std::thread::yield_now();
            }
        }
        if self.is_current() { e.into() } else { self.faults.error() }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // The queue first: its packets act until it is destroyed.
        let queue = self.queue.take();
        if self.faults.queues_stay() {
            // ROCr waits for ever for a queue that a memory fault has stopped: its handler of queue errors leaves
            // memory faults to the handler of system events, and does not say that it is done.
            std::mem::forget(queue);
        } else {
            drop(queue);
        }
        self.faults.queue_destroyed(self.epoch);
    }
}
