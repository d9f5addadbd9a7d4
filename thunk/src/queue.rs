//! Queues: which signal and event each one reports its end to.

use std::{
    collections::HashMap,
    sync::{atomic::AtomicI64, atomic::Ordering},
};

use emulator::driver::{Loss, QueueError, QueueFault};
use hsa_sys::{
    HSA_STATUS_ERROR_EXCEPTION, HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
    HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, HSA_STATUS_ERROR_INVALID_ALLOCATION,
    HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_INVALID_CODE_OBJECT, HSA_STATUS_ERROR_INVALID_ISA,
    HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION,
    HSA_STATUS_ERROR_MEMORY_FAULT, hsa_status_t,
};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    abi::{HSA_EVENTID_MEMORY_FATAL_PROCESS, HSA_QUEUE_TYPE},
    abi::{
        HSAKMT_STATUS, HSAKMT_STATUS_ERROR, HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_NO_MEMORY, HsaMemoryAccessFault, failure, newer,
    },
    event::Events,
};

/// Where a queue reports why it stopped.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// Address of a signal's value, a bit per exception; 0 if the client wants none.
    pub reason: u64,
    /// The event to set then; 0 if there is none.
    pub event: u32,
    /// Whether it is a copy engine's.
    pub copies: bool,
    /// The node of its device.
    pub node: u32,
}

/// The queues of the process.
#[derive(Default)]
pub struct Queues {
    reports: Mutex<HashMap<u64, Reports>>,
}

/// Exceptions of queues and of their devices, as the kernel driver's interface numbers them (`EC_*` of `linux/kfd_ioctl.h`); bit
/// `n - 1` of the error reason is exception `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the header's")]
pub enum Exception {
    WaveAbort = 1,
    WaveTrap = 2,
    WaveIllegalInstruction = 4,
    WaveMemoryViolation = 5,
    WaveApertureViolation = 6,
    PacketDispatchDimInvalid = 16,
    PacketDispatchGroupSegmentSizeInvalid = 17,
    PacketDispatchCodeInvalid = 18,
    PacketUnsupported = 20,
    PacketDispatchWorkGroupSizeInvalid = 21,
    PacketDispatchRegisterInvalid = 22,
    PreemptionError = 30,
    DeviceRasError = 34,
    DeviceFatalHalt = 35,
}

impl Exception {
    /// The exception that ROCr turns back into `status`.
    pub fn of(status: hsa_status_t) -> Self {
        match status {
            HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION => Self::WaveIllegalInstruction,
            HSA_STATUS_ERROR_MEMORY_FAULT => Self::WaveMemoryViolation,
            HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION => Self::WaveApertureViolation,
            HSA_STATUS_ERROR_EXCEPTION => Self::WaveTrap,
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS => Self::PacketDispatchDimInvalid,
            HSA_STATUS_ERROR_INVALID_ALLOCATION => Self::PacketDispatchGroupSegmentSizeInvalid,
            HSA_STATUS_ERROR_INVALID_CODE_OBJECT => Self::PacketDispatchCodeInvalid,
            HSA_STATUS_ERROR_INVALID_PACKET_FORMAT => Self::PacketUnsupported,
            HSA_STATUS_ERROR_INVALID_ARGUMENT => Self::PacketDispatchWorkGroupSizeInvalid,
            HSA_STATUS_ERROR_INVALID_ISA => Self::PacketDispatchRegisterInvalid,
            _ => Self::PreemptionError,
        }
    }

    /// Its bit in an error reason.
    pub fn bit(self) -> i64 {
        1 << (self as u32 - 1)
    }
}

/// The status for a refusal of the driver.
pub fn status(error: &QueueError) -> HSAKMT_STATUS {
    match error {
        QueueError::NotFound => HSAKMT_STATUS_INVALID_HANDLE,
        QueueError::TooMany => HSAKMT_STATUS_NO_MEMORY,
        QueueError::Malformed | QueueError::Unreachable | QueueError::NoUnit | QueueError::NoEngine => {
            HSAKMT_STATUS_INVALID_PARAMETER
        }
        _ => HSAKMT_STATUS_ERROR,
    }
}

/// The device's priority, 0 to 2, for the interface's, -3 to 3.
pub fn priority(priority: i32) -> u32 {
    match priority {
        ..0 => 0,
        0 => 1,
        1.. => 2,
    }
}

/// Says what a queue that is not offered would have been.
pub fn say_refused(kind: HSA_QUEUE_TYPE) {
    tracing::info!("{kind:?} queues are not offered: the client falls back to kernels on AQL queues");
}

impl Queues {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Reports>> {
        self.reports.lock()
    }

    /// Remembers where queue `id` reports.
    pub fn insert(&self, id: u64, reports: Reports) {
        self.lock().insert(id, reports);
    }

    /// Where queue `id` reports.
    pub fn get(&self, id: u64) -> Option<Reports> {
        self.lock().get(&id).copied()
    }

    /// Forgets queue `id`: its memory is the client's again.
    pub fn remove(&self, id: u64) -> bool {
        self.lock().remove(&id).is_some()
    }

    /// Passes on why a queue of a node stopped.
    pub fn report(&self, events: &Events, queue: u64, node: u32, fault: &QueueFault) {
        if let Some((address, read_only)) = fault.memory {
            let fault = HsaMemoryAccessFault {
                NodeId: node,
                VirtualAddress: address,
                Failure: if read_only { failure::READ_ONLY } else { failure::NOT_PRESENT },
                Flags: HSA_EVENTID_MEMORY_FATAL_PROCESS.0,
            };
            // A process without such an event learns it from the queue, as below.
            if events.report_fault(&fault) > 0 {
                return;
            }
        }
        // Held to the end: the thread that destroys the queue waits for this before its signal is freed.
        let table = self.lock();
        let Some(reports) = table.get(&queue) else { return };
        if reports.copies {
            // ROCr gives such a queue nothing to report to. Hardware's engine hangs until the device is reset.
            drop(table);
            self.report_loss(events, node, Loss::Hang);
            return;
        }
        let exception = match Exception::of(fault.status) {
            // ROCr keeps this one to itself, for it expects the event. It creates none with `libdtif.so`, where the
            // program would wait forever.
            Exception::WaveMemoryViolation if newer::is_spoken() => Exception::WaveApertureViolation,
            exception => exception,
        };
        reports.tell(events, exception);
    }

    /// Passes on that the device of a node has lost all its queues. ROCr 5.2.3 listens to events of memory alone; their
    /// error types name hangs, too. Without such an event, as with `libdtif.so`, each queue tells of it.
    pub fn report_loss(&self, events: &Events, node: u32, loss: Loss) {
        let fault = HsaMemoryAccessFault {
            NodeId: node,
            VirtualAddress: 0,
            Failure: match loss {
                Loss::Hang => failure::HANG,
                Loss::Memory => failure::SRAM_ECC | failure::IMPRECISE,
            },
            Flags: HSA_EVENTID_MEMORY_FATAL_PROCESS.0,
        };
        if events.report_fault(&fault) > 0 {
            return;
        }
        let exception = match loss {
            Loss::Hang => Exception::DeviceFatalHalt,
            Loss::Memory => Exception::DeviceRasError,
        };
        // Held to the end, as in `report`.
        let table = self.lock();
        let lost: Vec<_> =
            table.values().filter(|reports| reports.node == node && reports.reason != 0).collect();
        if lost.is_empty() {
            tracing::error!(node, ?loss, "the device is lost, and the client has nothing to be told by");
        }
        lost.into_iter().for_each(|reports| reports.tell(events, exception));
    }
}

impl Reports {
    /// Sets an exception in the queue's error reason, and the event of that. The caller has locked the table of queues, so
    /// that the queue is not destroyed meanwhile.
    fn tell(&self, events: &Events, exception: Exception) {
        if self.reason != 0 {
            // SAFETY: the client's signal lives until it has destroyed the queue, which takes the queue off the table
            // first; the value is a naturally aligned 64-bit word that is changed by atomics only.
            let reason = unsafe { AtomicI64::from_ptr(self.reason as *mut i64) };
            // ORDER: Release. A thread that sees the bit sees what the queue did before it stopped.
            reason.fetch_or(exception.bit(), Ordering::Release);
        }
        events.interrupt(self.event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::HSA_EVENTTYPE_MEMORY;

    #[test]
    fn exceptions_are_bits_of_their_number_less_one() {
        assert_eq!(Exception::of(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION).bit(), 8);
        assert_eq!(Exception::of(hsa_status_t(0x7777)), Exception::PreemptionError);
    }

    /// ROCr has no callback for these queues: it would wait for their signals without end.
    #[test]
    fn a_copy_queue_that_stops_is_a_hang_of_its_device() {
        let (events, queues) = (Events::new().unwrap(), Queues::default());
        let event = events.create(HSA_EVENTTYPE_MEMORY, false, false).unwrap();
        let fault = QueueFault {
            status: HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
            memory: None,
            report: "an unknown packet".into(),
        };
        queues.insert(1, Reports { reason: 0, event: 0, copies: false, node: 0 });
        queues.report(&events, 1, 0, &fault);
        assert_eq!(events.is_set(event), Ok(false), "a queue of packets has its own ways");
        queues.insert(2, Reports { reason: 0, event: 0, copies: true, node: 0 });
        queues.report(&events, 2, 0, &fault);
        assert_eq!(events.is_set(event), Ok(true));
    }

    #[test]
    fn a_lost_device_stops_its_queues_where_no_event_can_tell() {
        let (events, queues) = (Events::new().unwrap(), Queues::default());
        let reasons = [const { AtomicI64::new(0) }; 3];
        for (id, (reason, node)) in (1..).zip(reasons.iter().zip([1, 1, 2])) {
            let reason = reason.as_ptr().expose_provenance() as u64;
            queues.insert(id, Reports { reason, event: 0, copies: false, node });
        }
        let told = || reasons.each_ref().map(|reason| reason.load(Ordering::Acquire));
        queues.report_loss(&events, 1, Loss::Hang);
        assert_eq!(told(), [1 << 34, 1 << 34, 0]);
        queues.report_loss(&events, 2, Loss::Memory);
        assert_eq!(told(), [1 << 34, 1 << 34, 1 << 33]);
        let event = events.create(HSA_EVENTTYPE_MEMORY, false, false).unwrap();
        queues.report_loss(&events, 2, Loss::Hang);
        assert_eq!((told()[2], events.is_set(event)), (1 << 33, Ok(true)), "an event tells");
        (1..=3).for_each(|id| assert!(queues.remove(id)));
    }

    #[test]
    fn priorities_fold_into_three() {
        assert_eq!([-3, -1, 0, 1, 3].map(priority), [0, 0, 1, 2, 2]);
    }
}
