//! A lane: one HSA queue that streams and graphs publish packets to.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hsa::packet::Packet;

use super::fault::Faults;
use crate::error::{Error, Result};

/// Packets a lane's ring holds.
pub(crate) const RING: u32 = 16 * 1024;

/// One HSA queue of a device.
pub(crate) struct Lane {
    id: u64,
    queue: hsa::Queue,
    faults: Arc<Faults>,
}

impl Lane {
    /// Creates a queue on `agent`; its faults are recorded in `faults`.
    pub(crate) fn new(agent: &hsa::Agent, faults: Arc<Faults>, describe: fn(hsa_sys::hsa_status_t) -> Error) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let record = faults.clone();
        let size = RING.min(agent.queue_max_size()?);
        let on_error = Box::new(move |status| record.record(describe(status)));
        let queue = hsa::Queue::create(agent, size, hsa::QueueOptions::default(), on_error)?;
        queue.set_profiling(true)?;
        Ok(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), queue, faults })
    }

    /// Unique over the process: tells whether two fences lie on the same queue.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Publishes `packets` in order, waiting while the ring is full.
    ///
    /// # Errors
    /// The device's fault, if the queue died of one.
    pub(crate) fn submit(&self, packets: &[Packet]) -> Result<()> {
        self.submit_image(packets, |_, _| {})
    }

    /// Publishes a packet image whose packets `patch` completes on their way into the ring.
    pub(crate) fn submit_image(&self, image: &[Packet], patch: impl FnMut(usize, &mut Packet)) -> Result<()> {
        // SAFETY: packets are made by this crate alone, and point to loaded kernels, to kernel arguments and to
        // signals that a fence behind them keeps alive. What the kernels do with the caller's memory is what the
        // caller who launched them vouched for.
        let submitted = unsafe { self.queue.submit(image, patch) };
        submitted.map(drop).map_err(|e| self.explain(e))
    }

    fn explain(&self, e: hsa::Error) -> Error {
        if self.faults.is_pending() || matches!(e, hsa::Error::QueueStopped { .. }) {
            self.faults.error()
        } else {
            e.into()
        }
    }
}
