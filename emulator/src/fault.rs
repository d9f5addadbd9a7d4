//! What happens when a dispatch or a packet goes wrong: a report, the program's callbacks, no abort.

use std::{ffi::c_void, sync::Arc};

use hsa_sys::{
    HSA_AMD_GPU_MEMORY_FAULT_EVENT, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, HSA_AMD_MEMORY_FAULT_READ_ONLY,
    HSA_STATUS_SUCCESS, hsa_amd_event_info_t, hsa_amd_event_t, hsa_amd_gpu_memory_fault_info_t, hsa_status_t,
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

/// Tells the program behind the function table, from the handler thread.
///
/// ROCr hands a memory fault to the system event handlers and, if there is none, prints and aborts the
/// process. We never abort, and call the queue's callback in either case: the event does not say which
/// queue has stopped.
pub(crate) fn announce(fault: QueueFault, queue: &Arc<Queue>, device: &Device, handlers: &Handlers) {
    let event_handlers = EVENT_HANDLERS.lock().clone();
    let agent = Agent::Gpu(device.index).handle();
    let node = device.index + 1;
    let queue = Arc::clone(queue);
    handlers.post(Box::new(move || {
        if let Some((address, read_only)) = fault.memory {
            let page = address / PAGE as u64 * PAGE as u64;
            let reason = if read_only {
                HSA_AMD_MEMORY_FAULT_READ_ONLY
            } else {
                HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT
            };
            let info = hsa_amd_gpu_memory_fault_info_t {
                agent,
                virtual_address: page,
                fault_reason_mask: reason.0,
            };
            let event = hsa_amd_event_t {
                event_type: HSA_AMD_GPU_MEMORY_FAULT_EVENT,
                info: hsa_amd_event_info_t { memory_fault: info },
            };
            let mut handled = false;
            for handler in &event_handlers {
                // SAFETY: the program passed this function to be called with this argument.
                handled |= unsafe { (handler.function)(&event, handler.data) } == HSA_STATUS_SUCCESS;
            }
            if !handled {
                let reason = match read_only {
                    true => "Write access to a read-only page",
                    false => "Page not present or supervisor privilege",
                };
                let handle = agent.handle;
                eprintln!(
                    "Memory access fault by GPU node-{node} (Agent handle: {handle:#x}) on address {page:#x}. \
                     Reason: {reason}."
                );
                eprintln!("{}", fault.report);
            }
        }
        if let Some(ErrorCallback { function: Some(function), data }) = queue.table().map(|t| t.callback) {
            // SAFETY: the program passed this function to hsa_queue_create to be called with this
            // argument; the queue's control block stays mapped.
            unsafe { function(fault.status, queue.pointer(), data) };
        }
    }));
}
