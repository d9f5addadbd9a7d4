//! A queue as device code publishes to it.

use std::mem::offset_of;

use hsa_sys::{AMD_SIGNAL_KIND_DOORBELL, amd_queue_t, amd_signal_t};

use super::Queue;

/// Addresses of what a producer on the device reads and writes; all of them are the device's as well as the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceProducer {
    /// The ring's slots.
    pub ring: u64,
    /// Slots of the ring, a power of two.
    pub slots: u32,
    /// Index of the next packet to be claimed, 64 bits.
    pub write_index: u64,
    /// Index of the first packet that has not retired, 64 bits.
    pub read_index: u64,
    /// The hardware doorbell, 64 bits: takes the index of the latest packet.
    pub doorbell: u64,
}

impl Queue {
    /// Where device code finds the queue (`amd_hsa_queue.h`, `amd_hsa_signal.h`); `None` if its doorbell is one of the
    /// legacy kind, which needs a lock and another encoding.
    ///
    /// The host must publish nothing to a queue to which device code does: it would not learn of the device's claims.
    pub fn device_producer(&self) -> Option<DeviceProducer> {
        let raw = self.raw();
        // SAFETY: the queue exists as long as `self`; these two fields never change.
        let (ring, doorbell) = unsafe { ((*raw).base_address, (*raw).doorbell_signal.handle) };
        let doorbell = doorbell as *const amd_signal_t;
        // SAFETY: a signal's handle is the address of its block, and a queue's doorbell lives as long as the queue. Both
        // fields are written once.
        let (kind, value) = unsafe { ((*doorbell).kind, (*doorbell).value) };
        let control = raw as u64;
        (kind == AMD_SIGNAL_KIND_DOORBELL).then(|| DeviceProducer {
            ring: ring as u64,
            slots: self.size(),
            write_index: control + offset_of!(amd_queue_t, write_dispatch_id) as u64,
            read_index: control + offset_of!(amd_queue_t, read_dispatch_id) as u64,
            // CAST: of a doorbell the value is an address.
            doorbell: value as u64,
        })
    }
}
