//! What a client of the driver hears from a packet processor.

use crate::fault::{Loss, QueueFault};

/// What a client hears from its devices, on their threads: answers are quick and do not call the driver.
pub trait Interrupts: Send + Sync {
    /// A packet's completion signal asked for event `event` (`amd_signal_t.event_id`), which has also been stored
    /// to the signal's mailbox.
    fn event(&self, device: u32, event: u32);

    /// Device code sent an interrupt with `m0`, after storing an event to its mailbox: of the event's number only
    /// the low bits need be in `m0` (device libraries send 8), so that the mailboxes have to be looked at.
    fn message(&self, device: u32, m0: u32) {
        self.event(device, m0);
    }

    /// A queue has stopped for good.
    fn queue_error(&self, queue: u64, device: u32, fault: &QueueFault);

    /// Whether the client has memory at an address that it took from the driver: devices do not reach it on demand.
    fn owns(&self, _address: u64) -> bool {
        false
    }

    /// All queues of a device have stopped for good.
    fn lost(&self, device: u32, loss: Loss);
}
