//! What crosses the C boundary: status codes, flags, structures, caller pointers.

#![allow(missing_docs, reason = "constants keep the header's names; the header describes them")]

pub mod caller;
pub mod flags;
pub mod newer;
pub mod structures;

pub use caller::{In, Out};
pub use flags::*;
pub use structures::*;

use hsa_sys::layout::enumeration;

enumeration! {
    /// Result of every function of the interface (`hsakmttypes.h`).
    pub enum HSAKMT_STATUS {
        HSAKMT_STATUS_SUCCESS = 0,
        HSAKMT_STATUS_ERROR = 1,
        HSAKMT_STATUS_DRIVER_MISMATCH = 2,
        HSAKMT_STATUS_INVALID_PARAMETER = 3,
        HSAKMT_STATUS_INVALID_HANDLE = 4,
        HSAKMT_STATUS_INVALID_NODE_UNIT = 5,
        HSAKMT_STATUS_NO_MEMORY = 6,
        HSAKMT_STATUS_BUFFER_TOO_SMALL = 7,
        HSAKMT_STATUS_NOT_IMPLEMENTED = 10,
        HSAKMT_STATUS_NOT_SUPPORTED = 11,
        HSAKMT_STATUS_UNAVAILABLE = 12,
        HSAKMT_STATUS_OUT_OF_RESOURCES = 13,
        HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED = 20,
        HSAKMT_STATUS_KERNEL_COMMUNICATION_ERROR = 21,
        HSAKMT_STATUS_KERNEL_ALREADY_OPENED = 22,
        HSAKMT_STATUS_HSAMMU_UNAVAILABLE = 23,
        HSAKMT_STATUS_WAIT_FAILURE = 30,
        HSAKMT_STATUS_WAIT_TIMEOUT = 31,
        HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED = 35,
        HSAKMT_STATUS_MEMORY_NOT_REGISTERED = 36,
        HSAKMT_STATUS_MEMORY_ALIGNMENT = 37,
    }

    /// Where a memory bank of a node lies.
    pub enum HSA_HEAPTYPE {
        HSA_HEAPTYPE_SYSTEM = 0,
        HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC = 1,
        HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE = 2,
        HSA_HEAPTYPE_GPU_GDS = 3,
        HSA_HEAPTYPE_GPU_LDS = 4,
        HSA_HEAPTYPE_GPU_SCRATCH = 5,
        HSA_HEAPTYPE_DEVICE_SVM = 6,
        HSA_HEAPTYPE_MMIO_REMAP = 7,
    }

    /// What connects two nodes.
    pub enum HSA_IOLINKTYPE {
        HSA_IOLINKTYPE_UNDEFINED = 0,
        HSA_IOLINKTYPE_PCIEXPRESS = 2,
        HSA_IOLINK_TYPE_XGMI = 11,
    }

    /// What a queue carries.
    pub enum HSA_QUEUE_TYPE {
        HSA_QUEUE_COMPUTE = 1,
        HSA_QUEUE_SDMA = 2,
        HSA_QUEUE_SDMA_XGMI = 5,
        HSA_QUEUE_COMPUTE_AQL = 21,
        HSA_QUEUE_DMA_AQL = 22,
        HSA_QUEUE_DMA_AQL_XGMI = 23,
    }

    /// Why an event is set.
    pub enum HSA_EVENTTYPE {
        HSA_EVENTTYPE_SIGNAL = 0,
        HSA_EVENTTYPE_NODECHANGE = 1,
        HSA_EVENTTYPE_DEVICESTATECHANGE = 2,
        HSA_EVENTTYPE_HW_EXCEPTION = 3,
        HSA_EVENTTYPE_SYSTEM_EVENT = 4,
        HSA_EVENTTYPE_DEBUG_EVENT = 5,
        HSA_EVENTTYPE_PROFILE_EVENT = 6,
        HSA_EVENTTYPE_QUEUE_EVENT = 7,
        HSA_EVENTTYPE_MEMORY = 8,
    }

    /// How much a memory fault ends.
    pub enum HSA_EVENTID_MEMORYFLAGS {
        HSA_EVENTID_MEMORY_RECOVERABLE = 0,
        HSA_EVENTID_MEMORY_FATAL_PROCESS = 1,
        HSA_EVENTID_MEMORY_FATAL_VM = 2,
    }

    /// What is said about pages that host and devices share.
    pub enum HSA_SVM_ATTR_TYPE {
        HSA_SVM_ATTR_PREFERRED_LOC = 0,
        HSA_SVM_ATTR_PREFETCH_LOC = 1,
        HSA_SVM_ATTR_ACCESS = 2,
        HSA_SVM_ATTR_ACCESS_IN_PLACE = 3,
        HSA_SVM_ATTR_NO_ACCESS = 4,
        HSA_SVM_ATTR_SET_FLAGS = 5,
        HSA_SVM_ATTR_CLR_FLAGS = 6,
        HSA_SVM_ATTR_GRANULARITY = 7,
    }

    /// What an address belongs to.
    pub enum HSA_POINTER_TYPE {
        HSA_POINTER_UNKNOWN = 0,
        HSA_POINTER_ALLOCATED = 1,
        HSA_POINTER_REGISTERED_USER = 2,
        HSA_POINTER_REGISTERED_GRAPHICS = 3,
        HSA_POINTER_REGISTERED_SHARED = 4,
    }
}

/// Characters of a node's names.
pub const HSA_PUBLIC_NAME_SIZE: usize = 64;
/// A wait without end.
pub const HSA_EVENTTIMEOUT_INFINITE: u32 = 0xFFFF_FFFF;
