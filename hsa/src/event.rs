//! What the runtime reports about devices by itself: memory faults, damaged memory, resets.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hsa_sys::*;
use parking_lot::RwLock;

use crate::token::Tokens;

/// Something that befell an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemEvent {
    /// A kernel touched a page that it may not.
    MemoryFault {
        /// The agent that ran the kernel.
        agent: hsa_agent_t,
        /// Address of the page.
        address: u64,
        /// `HSA_AMD_MEMORY_FAULT_*` bits.
        reasons: u32,
    },
    /// Memory is damaged.
    MemoryError {
        /// The agent that noticed.
        agent: hsa_agent_t,
        /// Address of the memory.
        address: u64,
        /// `HSA_AMD_MEMORY_ERROR_*` bits.
        reasons: u32,
    },
    /// The device was reset.
    HardwareException {
        /// The agent that was reset.
        agent: hsa_agent_t,
        /// `HSA_AMD_HW_EXCEPTION_RESET_TYPE_*`.
        reset_type: u32,
        /// `HSA_AMD_HW_EXCEPTION_CAUSE_*`.
        cause: u32,
    },
    /// An event of a kind that this crate does not know.
    Unknown {
        /// `hsa_amd_event_type_t`.
        kind: u32,
    },
}

impl SystemEvent {
    /// Reads what a handler is given.
    fn from_raw(event: &hsa_amd_event_t) -> Self {
        match event.event_type {
            HSA_AMD_GPU_MEMORY_FAULT_EVENT => {
                // SAFETY: this event type makes this member the valid one, and every bit pattern is a value
                // of it.
                let fault = unsafe { event.info.memory_fault };
                Self::MemoryFault {
                    agent: fault.agent,
                    address: fault.virtual_address,
                    reasons: fault.fault_reason_mask,
                }
            }
            HSA_AMD_GPU_MEMORY_ERROR_EVENT => {
                // SAFETY: as above.
                let error = unsafe { event.info.memory_error };
                Self::MemoryError {
                    agent: error.agent,
                    address: error.virtual_address,
                    reasons: error.error_reason_mask,
                }
            }
            HSA_AMD_GPU_HW_EXCEPTION_EVENT => {
                // SAFETY: as above.
                let exception = unsafe { event.info.hw_exception };
                Self::HardwareException {
                    agent: exception.agent,
                    reset_type: exception.reset_type.0,
                    cause: exception.reset_cause.0,
                }
            }
            other => Self::Unknown { kind: other.0 },
        }
    }
}

/// A function that wants to know about system events, and says whether it has handled one; it runs on a thread of the
/// HSA runtime.
pub type EventHandler = Box<dyn Fn(SystemEvent) -> bool + Send + Sync>;

/// The handlers of one runtime.
#[derive(Default)]
pub(crate) struct Handlers {
    list: RwLock<Vec<Arc<EventHandler>>>,
}

impl Handlers {
    pub(crate) fn add(&self, handler: EventHandler) {
        self.list.write().push(Arc::new(handler));
    }

    /// Calls all handlers; says whether one has handled the event.
    fn report(&self, event: SystemEvent) -> bool {
        // Cloned, so that a handler may add another one.
        let handlers = self.list.read().clone();
        handlers.iter().fold(false, |handled, handler| {
            // A panic must not cross into C; the panic hook has printed it already.
            handled | catch_unwind(AssertUnwindSafe(|| handler(event))).unwrap_or(false)
        })
    }
}

pub(crate) static HANDLERS: Tokens<Handlers> = Tokens::new();

/// The function that the HSA runtime calls.
///
/// # Safety
/// `event` is null or points to an event whose `event_type` names the member that is valid.
pub(crate) unsafe extern "C" fn on_system_event(
    event: *const hsa_amd_event_t,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's promise.
    let event = unsafe { event.as_ref() };
    let handled = match (event, HANDLERS.find(data)) {
        (Some(event), Some(handlers)) => handlers.report(SystemEvent::from_raw(event)),
        _ => false,
    };
    // ABI: success says that the event is handled. If no handler of the process says so, ROCr prints what happened and
    // ends the process: better than threads that wait for a device that has stopped.
    if handled { HSA_STATUS_SUCCESS } else { HSA_STATUS_ERROR }
}
