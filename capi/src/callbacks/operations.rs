//! What devices do, told to a profiler: `activity_record_t`.

use std::{
    mem::offset_of,
    sync::atomic::{AtomicU64, Ordering},
};

use aqlipse::activity::{Activity, Listener, Side, Task};

use super::{CALLBACKS, Callback};

/// `ACTIVITY_DOMAIN_HIP_OPS` of the protocol's header.
const DOMAIN: u32 = 2;

/// `activity_record_t` of roctracer 5.2.
#[repr(C)]
struct Record {
    domain: u32,
    /// Of `HipVdiCommandKind`.
    kind: u32,
    /// Of `HipVdiOpId`.
    operation: u32,
    correlation_id: u64,
    begin_ns: u64,
    end_ns: u64,
    device_id: i32,
    queue_id: u64,
    bytes: usize,
}

const _: () = assert!(size_of::<Record>() == 64 && offset_of!(Record, queue_id) == 48);

/// Passes on what devices do.
pub(super) struct Operations;

impl Listener for Operations {
    fn begins(&self, task: Task) -> Option<u64> {
        /// HIP: 5.2.3 counts from 0 what was enabled (tests/conformance/profiler_activity.hip).
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let begins = {
            let callbacks = CALLBACKS.read();
            callbacks.begins.filter(|_| callbacks.ended.is_some() && callbacks.enabled[operation(task)])?
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the profiler's function, of the type of the protocol's header.
        unsafe { begins(number) };
        Some(number)
    }

    // HIP: 5.2.3 calls what is registered by then, be the operation enabled still or not.
    fn ended(&self, activity: &Activity) {
        let Some(Callback { function, argument }) = CALLBACKS.read().ended else { return };
        let Activity { number, task, times, device, queue } = *activity;
        // CAST: one of three.
        let operation = operation(task) as u32;
        let mut record = Record {
            domain: DOMAIN,
            kind: kind(task),
            operation,
            correlation_id: number,
            begin_ns: times.0,
            end_ns: times.1,
            device_id: i32::try_from(device).unwrap_or(i32::MAX),
            queue_id: queue,
            bytes: bytes(task),
        };
        // SAFETY: the profiler's function, of the type of the protocol's header; the record is there until it returns.
        unsafe { function(operation, (&raw mut record).cast(), argument.0) };
    }
}

/// `HipVdiOpId`: kernels, or copies and fills.
fn operation(task: Task) -> usize {
    match task {
        Task::Kernel => 0,
        Task::Copy { .. } | Task::Fill { .. } => 1,
    }
}

/// `HipVdiCommandKind`.
fn kind(task: Task) -> u32 {
    match task {
        Task::Kernel => 0x11f0,
        Task::Fill { .. } => 0x1207,
        Task::Copy { from: Side::Device, to: Side::Host, is_box: false, .. } => 0x11f3,
        // HIP: 5.2.3 calls copies within the host's memory the same.
        Task::Copy { from: Side::Host, is_box: false, .. } => 0x11f4,
        Task::Copy { from: Side::Device, to: Side::Device, is_box: false, .. } => 0x11f5,
        Task::Copy { from: Side::Device, to: Side::Host, is_box: true, .. } => 0x1201,
        Task::Copy { from: Side::Host, is_box: true, .. } => 0x1202,
        Task::Copy { from: Side::Device, to: Side::Device, is_box: true, .. } => 0x1203,
    }
}

fn bytes(task: Task) -> usize {
    match task {
        Task::Kernel => 0,
        // CAST: usize has 64 bits on the hosts that ROCm has.
        Task::Copy { bytes, .. } | Task::Fill { bytes } => bytes as usize,
    }
}
