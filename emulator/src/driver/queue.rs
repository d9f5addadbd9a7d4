//! User-mode queues: made over the client's memory, served until they are destroyed.

use std::sync::Arc;

use hsa_sys::{PACKET_BYTES, amd_queue_t};
use parking_lot::MutexGuard;

use super::{Driver, doorbells};
use crate::{
    queue::{ClientWords, Queue, State},
    sdma,
};

/// Most packets of a ring: the kernel driver's 4 GiB of ring buffer.
const MAX_PACKETS: u32 = 1 << 26;

/// Where a client keeps a queue; all of it in memory that the device reaches for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDescriptor {
    /// Address of the ring, a multiple of 64.
    pub ring: u64,
    /// Packets that it holds, a power of two.
    pub packets: u32,
    /// Address of the 64-bit index of the first packet that is not launched.
    pub read_index: u64,
    /// Address of the 64-bit index behind the last packet that was claimed.
    pub write_index: u64,
    /// Address of the `amd_queue_t`, whose properties say whether completion signals get times; 64-byte aligned.
    pub amd_queue: u64,
    /// 0 (low) to 2 (high).
    pub priority: u32,
}

/// A new queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its number.
    pub id: u64,
    /// Address of its doorbell: a 64-bit word that takes the index of the last packet that was published.
    pub doorbell: u64,
}

/// Why a queue cannot be made or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// There is no such queue.
    #[error("there is no queue of that number")]
    NotFound,
    /// The device or the process has as many as it can.
    #[error("no more queues can be had")]
    TooMany,
    /// The number of packets is not a power of two, or an address is misaligned.
    #[error("the ring's size is not a power of two, or something of the queue is misaligned")]
    Malformed,
    /// Ring, indices or control block are in memory that the device does not reach.
    #[error("the device does not reach the queue's memory")]
    Unreachable,
    /// The device has none of the compute units that the queue is to be restricted to.
    #[error("the device has none of these compute units")]
    NoUnit,
    /// The device has no such copy engine.
    #[error("the device has no such copy engine")]
    NoEngine,
    /// The copy engine's thread does not start.
    #[error("the copy engine does not start")]
    NotStarted,
}

/// A queue of either kind.
#[derive(Clone)]
pub(super) enum AnyQueue {
    /// Of the packet processor.
    Packets(Arc<Queue>),
    /// Of a copy engine.
    Copies(Arc<sdma::Queue>),
}

/// The queues by the slots of their doorbells.
#[derive(Default)]
pub(super) struct Queues(Vec<Option<AnyQueue>>);

impl Queues {
    /// A slot that is free.
    ///
    /// # Errors
    /// [`QueueError::TooMany`].
    pub(super) fn free_slot(&mut self) -> Result<usize, QueueError> {
        match self.0.iter().position(Option::is_none) {
            Some(slot) => Ok(slot),
            None if self.0.len() < doorbells::CAPACITY => {
                self.0.push(None);
                Ok(self.0.len() - 1)
            }
            None => Err(QueueError::TooMany),
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Puts a queue into a free slot.
    pub(super) fn fill(&mut self, slot: usize, queue: AnyQueue) {
        self.0[slot] = Some(queue);
    }
}

/// The number of the queue at a slot; 0 is none.
pub(super) fn id_of(slot: usize) -> u64 {
    slot as u64 + 1
}

impl Driver {
    pub(super) fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock()
    }

    fn queue(&self, id: u64) -> Result<AnyQueue, QueueError> {
        let slot = usize::try_from(id.wrapping_sub(1)).map_err(|_| QueueError::NotFound)?;
        self.queues().0.get(slot).cloned().flatten().ok_or(QueueError::NotFound)
    }

    /// Makes a queue that is served from now on, starting at its read index.
    ///
    /// # Errors
    /// [`QueueError`], but not `NotFound`.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn create_queue(&self, device: u32, queue: &QueueDescriptor) -> Result<Created, QueueError> {
        let bytes = u64::from(queue.packets) * PACKET_BYTES as u64;
        let aligned = queue.ring.is_multiple_of(PACKET_BYTES as u64)
            && queue.read_index.is_multiple_of(8)
            && queue.write_index.is_multiple_of(8)
            && queue.amd_queue.is_multiple_of(align_of::<amd_queue_t>() as u64);
        if !queue.packets.is_power_of_two() || queue.packets > MAX_PACKETS || !aligned {
            return Err(QueueError::Malformed);
        }
        let mut memory = Vec::new();
        let pieces = [
            (queue.ring, bytes),
            (queue.read_index, 8),
            (queue.write_index, 8),
            (queue.amd_queue, size_of::<amd_queue_t>() as u64),
        ];
        for (start, size) in pieces {
            memory.extend(self.backing_of(device, start, size).ok_or(QueueError::Unreachable)?);
        }
        memory.push(Arc::clone(self.doorbells.mapping()) as _);
        let mut queues = self.queues();
        let slot = queues.free_slot()?;
        let doorbell = self.doorbells.address(slot);
        let words = ClientWords {
            ring: queue.ring,
            read_index: queue.read_index,
            write_index: queue.write_index,
            control: queue.amd_queue,
            doorbell,
        };
        let made = Queue::of_client(id_of(slot), device, queue.packets, &words, memory);
        made.set_priority(queue.priority);
        if !self.processors[device as usize].attach(&made) {
            return Err(QueueError::TooMany);
        }
        queues.fill(slot, AnyQueue::Packets(made));
        Ok(Created { id: id_of(slot), doorbell })
    }

    /// Destroys a queue; when this returns, nothing of it is touched any more. Packets that were not launched are
    /// dropped.
    ///
    /// # Errors
    /// [`QueueError::NotFound`].
    pub fn destroy_queue(&self, id: u64) -> Result<(), QueueError> {
        match self.queue(id)? {
            AnyQueue::Packets(queue) if queue.retire() => {
                self.processors[queue.device as usize].detach(&queue);
            }
            AnyQueue::Copies(queue) if queue.retire() => self.engine(&queue).detach(&queue),
            _ => return Err(QueueError::NotFound),
        }
        // CAST: a slot's number plus one.
        if let Some(slot) = self.queues().0.get_mut(id as usize - 1) {
            *slot = None;
        }
        Ok(())
    }

    /// Stops launching packets of a queue, or goes on; what has been launched runs to its end.
    ///
    /// # Errors
    /// [`QueueError::NotFound`].
    pub fn suspend_queue(&self, id: u64, suspended: bool) -> Result<(), QueueError> {
        match self.queue(id)? {
            AnyQueue::Packets(queue) => {
                let processor = &self.processors[queue.device as usize];
                if suspended {
                    queue.stop(State::Inactive);
                    processor.quiesce(&queue);
                } else {
                    queue.resume();
                    processor.wake();
                }
            }
            AnyQueue::Copies(queue) => {
                queue.change(if suspended { State::Inactive } else { State::Active });
                // Either way the engine looks again; what it has begun is done then.
                self.engine(&queue).quiesce();
            }
        }
        Ok(())
    }

    /// Sets a queue's priority, 0 (low) to 2 (high). Queues of copy engines have none.
    ///
    /// # Errors
    /// [`QueueError::NotFound`].
    pub fn set_queue_priority(&self, id: u64, priority: u32) -> Result<(), QueueError> {
        if let AnyQueue::Packets(queue) = self.queue(id)? {
            queue.set_priority(priority);
        }
        Ok(())
    }

    /// Restricts what is launched from now on to the compute units whose bit is set; no bits lift the restriction.
    ///
    /// # Errors
    /// [`QueueError::NotFound`], [`QueueError::NoUnit`], the latter also for a queue of a copy engine.
    pub fn set_queue_units(&self, id: u64, mask: &[u32]) -> Result<(), QueueError> {
        let AnyQueue::Packets(queue) = self.queue(id)? else { return Err(QueueError::NoUnit) };
        let units = self.device(queue.device).compute_units;
        if queue.set_cu_mask(mask, units) { Ok(()) } else { Err(QueueError::NoUnit) }
    }

    /// Rings a queue's doorbell for everything that has been claimed, for clients that do not store to it.
    ///
    /// # Errors
    /// [`QueueError::NotFound`].
    pub fn ring(&self, id: u64) -> Result<(), QueueError> {
        match self.queue(id)? {
            AnyQueue::Packets(queue) => {
                if let Some(client) = queue.client() {
                    client.ring(queue.write_index().wrapping_sub(1));
                }
                self.processors[queue.device as usize].wake();
            }
            AnyQueue::Copies(queue) => {
                queue.ring();
                self.engine(&queue).wake();
            }
        }
        Ok(())
    }
}
