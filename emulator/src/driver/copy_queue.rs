//! Queues of copy engines: rings in the client's memory, whose pointers and doorbell are the driver's.

use std::sync::Arc;

use super::{
    Driver, QueueError,
    queue::{AnyQueue, id_of},
};
use crate::{
    device::QUEUES_PER_COPY_ENGINE,
    sdma::{Engine, Place, Queue},
};

/// Alignment of a ring, and its smallest size: engines take bits 8 and up of its address.
const ALIGNMENT: u64 = 256;
/// Largest ring, bytes.
const MAX_BYTES: u64 = 4 << 30;

/// Which of a device's copy engines serves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEngine {
    /// One of those that face the host.
    Host,
    /// One of those that face other devices.
    Link,
    /// The one of that number; those that face the host come first.
    Number(u32),
}

/// What a queue of a copy engine should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyQueueDescriptor {
    /// Address of the ring, a multiple of 256, in memory that the device reaches for writing.
    pub ring: u64,
    /// Its size, a power of two.
    pub bytes: u64,
    /// What serves it.
    pub engine: CopyEngine,
}

/// A new queue of a copy engine. Its pointers and its doorbell are 64-bit words that count bytes, from 0 on and without
/// wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedCopyQueue {
    /// Its number.
    pub id: u64,
    /// Number of the engine.
    pub engine: u32,
    /// Address of the pointer behind the last packet that was executed; the engine writes it.
    pub read_pointer: u64,
    /// Address of the pointer behind the last packet that was written; the client writes it.
    pub write_pointer: u64,
    /// Address of the doorbell, which takes the write pointer.
    pub doorbell: u64,
}

impl Driver {
    /// The engine that serves a queue.
    pub(super) fn engine(&self, queue: &Queue) -> &Engine {
        &self.engines[queue.device as usize][queue.engine]
    }

    /// Makes a queue of a copy engine, which is served from now on: of those engines that may serve it, by the first
    /// with the fewest queues.
    ///
    /// # Errors
    /// [`QueueError`], but not `NotFound`.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn create_copy_queue(
        &self,
        device: u32,
        queue: &CopyQueueDescriptor,
    ) -> Result<CreatedCopyQueue, QueueError> {
        let CopyQueueDescriptor { ring, bytes, engine } = *queue;
        let sized = bytes.is_power_of_two() && (ALIGNMENT..=MAX_BYTES).contains(&bytes);
        if !sized || !ring.is_multiple_of(ALIGNMENT) {
            return Err(QueueError::Malformed);
        }
        let mut memory = self.backing_of(device, ring, bytes).ok_or(QueueError::Unreachable)?;
        memory.push(Arc::clone(self.doorbells.mapping()) as _);
        let engines = &self.engines[device as usize];
        let facing_host = self.device(device).card.copy_engines as usize;
        let choice = match engine {
            CopyEngine::Host => 0..facing_host,
            CopyEngine::Link => facing_host..engines.len(),
            CopyEngine::Number(number) => number as usize..number as usize + 1,
        };
        let choice = engines.iter().enumerate().filter(|(number, _)| choice.contains(number));
        // Held to the end: no other thread takes the slot, or the engine's last queue.
        let mut queues = self.queues();
        let least = choice.min_by_key(|(_, engine)| engine.queues());
        let (number, engine) = least.ok_or(QueueError::NoEngine)?;
        if engine.queues() >= QUEUES_PER_COPY_ENGINE {
            return Err(QueueError::TooMany);
        }
        let slot = queues.free_slot()?;
        let [read_pointer, write_pointer] = self.doorbells.pointers(slot);
        let doorbell = self.doorbells.address(slot);
        let place = Place { ring, bytes, read_pointer, write_pointer, doorbell };
        let made = Queue::new(id_of(slot), self.device(device), number, place, memory);
        engine.attach(&made).map_err(|error| {
            tracing::error!(%error, "a copy engine's thread does not start");
            QueueError::NotStarted
        })?;
        queues.fill(slot, AnyQueue::Copies(made));
        // CAST: a few engines.
        let engine = number as u32;
        Ok(CreatedCopyQueue { id: id_of(slot), engine, read_pointer, write_pointer, doorbell })
    }
}
