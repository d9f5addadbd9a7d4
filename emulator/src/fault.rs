//! What happens when a dispatch or a packet goes wrong: a report, the program's callbacks, no abort.

use std::{ffi::c_void, sync::Arc};

use hsa_sys::{
    HSA_AMD_GPU_HW_EXCEPTION_EVENT, HSA_AMD_GPU_MEMORY_FAULT_EVENT, HSA_AMD_HW_EXCEPTION_CAUSE_ECC,
    HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG, HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER,
    HSA_AMD_MEMORY_FAULT_IMPRECISE, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, HSA_AMD_MEMORY_FAULT_READ_ONLY,
    HSA_AMD_MEMORY_FAULT_SRAMECC, HSA_STATUS_SUCCESS, hsa_amd_event_info_t, hsa_amd_event_t,
    hsa_amd_gpu_hw_exception_info_t, hsa_amd_gpu_memory_fault_info_t, hsa_amd_hw_exception_reset_cause_t,
    hsa_status_t,
};
use parking_lot::Mutex;

use crate::{
    agent::Agent,
    device::Device,
    os::PAGE,
    queue::{ErrorCallback, Queue},
    signal::Handlers,
};

/// Text of the last fault, until a caller takes it.
static REPORT: Mutex<Option<String>> = Mutex::new(None);
static EVENT_HANDLERS: Mutex<Vec<EventHandler>> = Mutex::new(Vec::new());

/// The full text of the last fault (kernel, instruction, lane, address, nearest allocation), once.
pub fn take_fault_report() -> Option<String> {
    REPORT.lock().take()
}

/// The full text of the last fault, which stays.
pub fn last_fault_report() -> Option<String> {
    REPORT.lock().clone()
}

/// A handler of system events and its argument.
#[derive(Clone, Copy)]
pub(crate) struct EventHandler {
    pub(crate) function: unsafe extern "C" fn(*const hsa_amd_event_t, *mut c_void) -> hsa_status_t,
    pub(crate) data: *mut c_void,
}

// SAFETY: the argument is only handed back to the program's callback, which expects other threads.
unsafe impl Send for EventHandler {}
// SAFETY: as above.
unsafe impl Sync for EventHandler {}

/// Adds a handler of system events.
pub(crate) fn register_handler(handler: EventHandler) {
    EVENT_HANDLERS.lock().push(handler);
}

/// Drops all handlers of system events: the runtime has ended.
pub(crate) fn forget_handlers() {
    EVENT_HANDLERS.lock().clear();
}

/// Why a queue stops.
#[derive(Clone, Debug)]
pub struct QueueFault {
    /// What the queue's callback is told.
    pub status: hsa_status_t,
    /// The address of a memory fault, and whether it was a write to read-only memory.
    pub memory: Option<(u64, bool)>,
    /// Everything that is known, for a human.
    pub report: String,
}

/// Tells the log, and keeps the report.
pub(crate) fn record(fault: &QueueFault, queue: u64) {
    tracing::error!(queue, status = ?fault.status, "{}", fault.report);
    *REPORT.lock() = Some(fault.report.clone());
}

/// Why a device has lost all its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It hung, and was reset.
    Hang,
    /// An error of its memory that cannot be corrected.
    Memory,
}

/// Tells the log why a device is lost, and keeps the report.
pub(crate) fn record_loss(report: String, device: u32) {
    tracing::error!(device, "{report}");
    *REPORT.lock() = Some(report);
}

/// Tells the program behind the function table of a queue that has stopped, from the handler thread.
///
/// ROCr hands a memory fault to the system event handlers and, if there is none, prints and aborts the
/// process. We never abort, and call the queue's callback in either case: the event does not say which
/// queue has stopped.
pub(crate) fn announce(fault: QueueFault, queue: &Arc<Queue>, device: &Device, handlers: &Handlers) {
    let page_fault = fault.memory.map(|(address, read_only)| {
        let page = address / PAGE as u64 * PAGE as u64;
        let (reason, text) = if read_only {
            (HSA_AMD_MEMORY_FAULT_READ_ONLY, "Write access to a read-only page")
        } else {
            (HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "Page not present or supervisor privilege")
        };
        (memory_fault(device, page, reason.0), message(device, page, text))
    });
    let event_handlers = EVENT_HANDLERS.lock().clone();
    let queue = Arc::clone(queue);
    handlers.post(Box::new(move || {
        if let Some((event, message)) = page_fault
            && !handle(&event_handlers, &event)
        {
            eprintln!("{message}\n{}", fault.report);
        }
        if let Some(ErrorCallback { function: Some(function), data }) = queue.table().map(|t| t.callback) {
            // SAFETY: the program passed this function to hsa_queue_create to be called with this
            // argument; the queue's control block stays mapped.
            unsafe { function(fault.status, queue.pointer(), data) };
        }
    }));
}

/// Tells the program behind the function table of a device that is lost, from the handler thread. The events are those
/// that ROCr makes of the kernel driver's: an exception, before which comes a fault where memory is the cause.
pub(crate) fn announce_loss(loss: Loss, device: &Device, handlers: &Handlers) {
    let exception = |cause: hsa_amd_hw_exception_reset_cause_t| hsa_amd_event_t {
        event_type: HSA_AMD_GPU_HW_EXCEPTION_EVENT,
        info: hsa_amd_event_info_t {
            hw_exception: hsa_amd_gpu_hw_exception_info_t {
                agent: Agent::Gpu(device.index).handle(),
                reset_type: HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER,
                reset_cause: cause,
            },
        },
    };
    let (events, text) = match loss {
        Loss::Hang => (vec![exception(HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG)], "Hardware hang"),
        Loss::Memory => {
            // Of SRAM the address is not known.
            let reasons = HSA_AMD_MEMORY_FAULT_SRAMECC.0 | HSA_AMD_MEMORY_FAULT_IMPRECISE.0;
            let events = vec![memory_fault(device, 0, reasons), exception(HSA_AMD_HW_EXCEPTION_CAUSE_ECC)];
            (events, "Uncorrectable memory error")
        }
    };
    let message = message(device, 0, text);
    let event_handlers = EVENT_HANDLERS.lock().clone();
    handlers.post(Box::new(move || {
        for event in &events {
            if !handle(&event_handlers, event) {
                eprintln!("{message}");
            }
        }
    }));
}

/// Calls the handlers of system events, and says whether one has handled it.
fn handle(handlers: &[EventHandler], event: &hsa_amd_event_t) -> bool {
    let mut handled = false;
    for handler in handlers {
        // SAFETY: the program passed this function to be called with this argument.
        handled |= unsafe { (handler.function)(event, handler.data) } == HSA_STATUS_SUCCESS;
    }
    handled
}

fn memory_fault(device: &Device, page: u64, reasons: u32) -> hsa_amd_event_t {
    let agent = Agent::Gpu(device.index).handle();
    let fault = hsa_amd_gpu_memory_fault_info_t { agent, virtual_address: page, fault_reason_mask: reasons };
    hsa_amd_event_t {
        event_type: HSA_AMD_GPU_MEMORY_FAULT_EVENT,
        info: hsa_amd_event_info_t { memory_fault: fault },
    }
}

/// What is printed if nothing handles an event.
fn message(device: &Device, page: u64, reason: &str) -> String {
    let (node, handle) = (device.index + 1, Agent::Gpu(device.index).handle().handle);
    format!(
        "Memory access fault by GPU node-{node} (Agent handle: {handle:#x}) on address {page:#x}. Reason: {reason}."
    )
}
