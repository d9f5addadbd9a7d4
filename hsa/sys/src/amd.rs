//! AMD's extensions (`hsa_ext_amd.h`, interface 1.14, and of 1.26 the creation of queues from descriptors): pools,
//! pointers, events, profiling, virtual memory.

use core::ffi::c_void;
use core::fmt;

use crate::layout::{enumeration, handle, layout};
use crate::status::hsa_status_t;
use crate::types::{
    QueueErrorCallback, hsa_access_permission_t, hsa_agent_info_t, hsa_agent_t, hsa_queue_t,
    hsa_queue_type32_t, hsa_signal_value_t,
};

/// Called when a signal meets its condition; `false` ends the registration.
pub type hsa_amd_signal_handler =
    Option<unsafe extern "C" fn(value: hsa_signal_value_t, arg: *mut c_void) -> bool>;

/// Called on a memory fault or hardware exception of any agent.
pub type hsa_amd_system_event_callback_t =
    Option<unsafe extern "C" fn(event: *const hsa_amd_event_t, data: *mut c_void) -> hsa_status_t>;

/// A signal that another process can attach.
pub type hsa_amd_ipc_signal_t = hsa_amd_ipc_memory_t;

impl From<hsa_amd_agent_info_t> for hsa_agent_info_t {
    fn from(attribute: hsa_amd_agent_info_t) -> Self {
        Self(attribute.0)
    }
}

handle! {
    /// A source of memory with one set of properties.
    hsa_amd_memory_pool_t
    /// Physical memory that can be mapped to a reserved address.
    hsa_amd_vmem_alloc_handle_t
}

/// Version of [`hsa_amd_queue_create_desc_t`] that this crate knows.
pub const HSA_AMD_QUEUE_CREATE_DESC_VERSION: u16 = 1;

layout! {
    /// What a new queue for kernels is to be like (interface 1.26).
    [size = 32, align = 8]
    pub struct hsa_amd_compute_queue_params_t {
        0 => cu_mask: *const u32,
        8 => type_: hsa_queue_type32_t,
        12 => private_segment_size: u32,
        16 => cu_mask_count: u32,
        20 => reserved: [u32; 3],
    }

    /// What a new queue is to be like (interface 1.26).
    ///
    /// `engine` is a union of 32 bytes in C, of which this is the member for kernels; what is reserved must be 0.
    [size = 96, align = 8]
    pub struct hsa_amd_queue_create_desc_t {
        0 => version: u16,
        2 => flags: u16,
        4 => engine_type: u8,
        5 => reserved_header: [u8; 3],
        8 => queue_size_bytes: u32,
        12 => priority: hsa_amd_queue_priority_t,
        16 => callback: QueueErrorCallback,
        24 => callback_data: *mut c_void,
        32 => queue: *mut hsa_queue_t,
        40 => engine: hsa_amd_compute_queue_params_t,
        72 => traffic_class: u32,
        76 => reserved: [u8; 20],
    }

    /// When a dispatch ran, in ticks of the system clock.
    [size = 16, align = 8]
    #[derive(Default, PartialEq, Eq)]
    pub struct hsa_amd_profiling_dispatch_time_t {
        0 => start: u64,
        8 => end: u64,
    }

    /// When an asynchronous copy ran, in ticks of the system clock.
    [size = 16, align = 8]
    #[derive(Default, PartialEq, Eq)]
    pub struct hsa_amd_profiling_async_copy_time_t {
        0 => start: u64,
        8 => end: u64,
    }

    /// Memory of rows and slices, for copies of boxes; address and distances are multiples of 4.
    [size = 24, align = 8]
    pub struct hsa_pitched_ptr_t {
        0 => base: *mut c_void,
        8 => pitch: usize,
        16 => slice: usize,
    }

    /// Registers that flush the host data path of a device.
    [size = 16, align = 8]
    pub struct hsa_amd_hdp_flush_t {
        0 => HDP_MEM_FLUSH_CNTL: *mut u32,
        8 => HDP_REG_FLUSH_CNTL: *mut u32,
    }

    /// One hop between an agent and a pool.
    [size = 28, align = 4]
    #[derive(PartialEq, Eq)]
    pub struct hsa_amd_memory_pool_link_info_t {
        0 => min_latency: u32,
        4 => max_latency: u32,
        8 => min_bandwidth: u32,
        12 => max_bandwidth: u32,
        16 => atomic_support_32bit: bool,
        17 => atomic_support_64bit: bool,
        18 => coherent_support: bool,
        20 => link_type: hsa_amd_link_info_type_t,
        24 => numa_distance: u32,
    }

    /// What the runtime knows about an address.
    ///
    /// The caller sets `size` to the bytes that it has; `registered` came after ROCr 5.2.3, in bytes
    /// that were padding there.
    [size = 56, align = 8]
    pub struct hsa_amd_pointer_info_t {
        0 => size: u32,
        4 => type_: hsa_amd_pointer_type_t,
        8 => agentBaseAddress: *mut c_void,
        16 => hostBaseAddress: *mut c_void,
        24 => sizeInBytes: usize,
        32 => userData: *mut c_void,
        40 => agentOwner: hsa_agent_t,
        48 => global_flags: u32,
        52 => registered: bool,
    }

    /// Memory that another process can attach.
    [size = 32, align = 4]
    #[derive(Default, PartialEq, Eq)]
    pub struct hsa_amd_ipc_memory_t {
        0 => handle: [u32; 8],
    }

    /// A page that a device could not access.
    [size = 24, align = 8]
    pub struct hsa_amd_gpu_memory_fault_info_t {
        0 => agent: hsa_agent_t,
        8 => virtual_address: u64,
        16 => fault_reason_mask: u32,
    }

    /// Memory that a device found damaged or in use.
    [size = 24, align = 8]
    pub struct hsa_amd_gpu_memory_error_info_t {
        0 => agent: hsa_agent_t,
        8 => virtual_address: u64,
        16 => error_reason_mask: u32,
    }

    /// A device that was reset.
    [size = 16, align = 8]
    pub struct hsa_amd_gpu_hw_exception_info_t {
        0 => agent: hsa_agent_t,
        8 => reset_type: hsa_amd_hw_exception_reset_type_t,
        12 => reset_cause: hsa_amd_hw_exception_reset_cause_t,
    }

    /// What a system event handler is told; `event_type` says which member of `info` is valid.
    [size = 32, align = 8]
    pub struct hsa_amd_event_t {
        0 => event_type: hsa_amd_event_type_t,
        8 => info: hsa_amd_event_info_t,
    }

    /// One attribute of a range of shared virtual memory.
    [size = 16, align = 8]
    #[derive(Default, PartialEq, Eq)]
    pub struct hsa_amd_svm_attribute_pair_t {
        0 => attribute: u64,
        8 => value: u64,
    }

    /// What one agent may do with a mapped range.
    [size = 16, align = 8]
    #[derive(PartialEq, Eq)]
    pub struct hsa_amd_memory_access_desc_t {
        0 => permissions: hsa_access_permission_t,
        8 => agent_handle: hsa_agent_t,
    }
}

/// Payload of [`hsa_amd_event_t`]; the header leaves this union unnamed.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_amd_event_info_t {
    pub memory_fault: hsa_amd_gpu_memory_fault_info_t,
    pub hw_exception: hsa_amd_gpu_hw_exception_info_t,
    pub memory_error: hsa_amd_gpu_memory_error_info_t,
}

const _: () = assert!(size_of::<hsa_amd_event_info_t>() == 24 && align_of::<hsa_amd_event_info_t>() == 8);

impl fmt::Debug for hsa_amd_event_info_t {
    /// Prints no member: which one is valid is known only to the enclosing event.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hsa_amd_event_info_t { .. }")
    }
}

enumeration! {
    /// AMD's additions to `hsa_agent_info_t`.
    pub enum hsa_amd_agent_info_t {
        HSA_AMD_AGENT_INFO_CHIP_ID = 0xA000,
        HSA_AMD_AGENT_INFO_CACHELINE_SIZE = 0xA001,
        HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT = 0xA002,
        HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY = 0xA003,
        HSA_AMD_AGENT_INFO_DRIVER_NODE_ID = 0xA004,
        HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS = 0xA005,
        HSA_AMD_AGENT_INFO_BDFID = 0xA006,
        HSA_AMD_AGENT_INFO_MEMORY_WIDTH = 0xA007,
        HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY = 0xA008,
        HSA_AMD_AGENT_INFO_PRODUCT_NAME = 0xA009,
        HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU = 0xA00A,
        HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU = 0xA00B,
        HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES = 0xA00C,
        HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE = 0xA00D,
        HSA_AMD_AGENT_INFO_HDP_FLUSH = 0xA00E,
        HSA_AMD_AGENT_INFO_DOMAIN = 0xA00F,
        HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES = 0xA010,
        HSA_AMD_AGENT_INFO_UUID = 0xA011,
        HSA_AMD_AGENT_INFO_ASIC_REVISION = 0xA012,
        HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS = 0xA013,
        HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT = 0xA014,
        HSA_AMD_AGENT_INFO_MEMORY_AVAIL = 0xA015,
        HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY = 0xA016,
        HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID = 0xA107,
        HSA_AMD_AGENT_INFO_UCODE_VERSION = 0xA108,
        HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION = 0xA109,
        HSA_AMD_AGENT_INFO_NUM_SDMA_ENG = 0xA10A,
        HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG = 0xA10B,
        HSA_AMD_AGENT_INFO_IOMMU_SUPPORT = 0xA110,
        HSA_AMD_AGENT_INFO_NUM_XCC = 0xA111,
        HSA_AMD_AGENT_INFO_DRIVER_UID = 0xA112,
        HSA_AMD_AGENT_INFO_NEAREST_CPU = 0xA113,
        HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES = 0xA114,
        HSA_AMD_AGENT_INFO_AQL_EXTENSIONS = 0xA115,
        HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX = 0xA116,
        HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT = 0xA117,
        HSA_AMD_AGENT_INFO_CLOCK_COUNTERS = 0xA118,
    }

    /// Bits of `HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES`.
    pub enum hsa_amd_agent_memory_properties_t {
        HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU = 1 << 0,
    }

    /// What `HSA_AMD_AGENT_INFO_IOMMU_SUPPORT` answers.
    pub enum hsa_amd_iommu_version_t {
        HSA_IOMMU_SUPPORT_NONE = 0,
        HSA_IOMMU_SUPPORT_V2 = 1,
    }

    /// Bits of the attributes of `hsa_amd_signal_create`.
    pub enum hsa_amd_signal_attribute_t {
        HSA_AMD_SIGNAL_AMD_GPU_ONLY = 1,
        HSA_AMD_SIGNAL_IPC = 2,
    }

    /// Segment that a memory pool allocates from.
    pub enum hsa_amd_segment_t {
        HSA_AMD_SEGMENT_GLOBAL = 0,
        HSA_AMD_SEGMENT_READONLY = 1,
        HSA_AMD_SEGMENT_PRIVATE = 2,
        HSA_AMD_SEGMENT_GROUP = 3,
    }

    /// Bits of `HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS`.
    pub enum hsa_amd_memory_pool_global_flag_t {
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT = 1,
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED = 2,
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED = 4,
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED = 8,
    }

    /// Where the bytes of a pool are.
    pub enum hsa_amd_memory_pool_location_t {
        HSA_AMD_MEMORY_POOL_LOCATION_CPU = 0,
        HSA_AMD_MEMORY_POOL_LOCATION_GPU = 1,
    }

    /// What `hsa_amd_memory_pool_get_info` answers.
    pub enum hsa_amd_memory_pool_info_t {
        HSA_AMD_MEMORY_POOL_INFO_SEGMENT = 0,
        HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS = 1,
        HSA_AMD_MEMORY_POOL_INFO_SIZE = 2,
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED = 5,
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE = 6,
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT = 7,
        HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL = 15,
        HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE = 16,
        HSA_AMD_MEMORY_POOL_INFO_LOCATION = 17,
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18,
    }

    /// Bits of the flags of `hsa_amd_memory_pool_allocate`.
    pub enum hsa_amd_memory_pool_flag_t {
        HSA_AMD_MEMORY_POOL_STANDARD_FLAG = 0,
        HSA_AMD_MEMORY_POOL_PCIE_FLAG = 1 << 0,
        HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG = 1 << 1,
        HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG = 1 << 2,
        HSA_AMD_MEMORY_POOL_UNCACHED_FLAG = 1 << 3,
    }

    /// Whether an agent can reach a pool's memory.
    pub enum hsa_amd_memory_pool_access_t {
        HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED = 0,
        HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT = 1,
        HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT = 2,
    }

    /// Kind of link between an agent and a pool.
    pub enum hsa_amd_link_info_type_t {
        HSA_AMD_LINK_INFO_TYPE_HYPERTRANSPORT = 0,
        HSA_AMD_LINK_INFO_TYPE_QPI = 1,
        HSA_AMD_LINK_INFO_TYPE_PCIE = 2,
        HSA_AMD_LINK_INFO_TYPE_INFINBAND = 3,
        HSA_AMD_LINK_INFO_TYPE_XGMI = 4,
    }

    /// What `hsa_amd_agent_memory_pool_get_info` answers.
    pub enum hsa_amd_agent_memory_pool_info_t {
        HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS = 0,
        HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS = 1,
        HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO = 2,
    }

    /// How an address came to be known to the runtime.
    pub enum hsa_amd_pointer_type_t {
        HSA_EXT_POINTER_TYPE_UNKNOWN = 0,
        HSA_EXT_POINTER_TYPE_HSA = 1,
        HSA_EXT_POINTER_TYPE_LOCKED = 2,
        HSA_EXT_POINTER_TYPE_GRAPHICS = 3,
        HSA_EXT_POINTER_TYPE_IPC = 4,
        HSA_EXT_POINTER_TYPE_RESERVED_ADDR = 5,
        HSA_EXT_POINTER_TYPE_HSA_VMEM = 6,
    }

    /// Which member of `hsa_amd_event_t` is valid.
    pub enum hsa_amd_event_type_t {
        HSA_AMD_GPU_MEMORY_FAULT_EVENT = 0,
        HSA_AMD_GPU_HW_EXCEPTION_EVENT = 1,
        HSA_AMD_GPU_MEMORY_ERROR_EVENT = 2,
    }

    /// Bits of `hsa_amd_gpu_memory_fault_info_t::fault_reason_mask`.
    pub enum hsa_amd_memory_fault_reason_t {
        HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT = 1 << 0,
        HSA_AMD_MEMORY_FAULT_READ_ONLY = 1 << 1,
        HSA_AMD_MEMORY_FAULT_NX = 1 << 2,
        HSA_AMD_MEMORY_FAULT_HOST_ONLY = 1 << 3,
        HSA_AMD_MEMORY_FAULT_DRAMECC = 1 << 4,
        HSA_AMD_MEMORY_FAULT_IMPRECISE = 1 << 5,
        HSA_AMD_MEMORY_FAULT_SRAMECC = 1 << 6,
        HSA_AMD_MEMORY_FAULT_HANG = 1 << 31,
    }

    /// Bits of `hsa_amd_gpu_memory_error_info_t::error_reason_mask`.
    pub enum hsa_amd_memory_error_reason_t {
        HSA_AMD_MEMORY_ERROR_MEMORY_IN_USE = 1 << 0,
    }

    /// How a device was reset.
    pub enum hsa_amd_hw_exception_reset_type_t {
        HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER = 1 << 0,
    }

    /// Why a device was reset.
    pub enum hsa_amd_hw_exception_reset_cause_t {
        HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG = 1 << 0,
        HSA_AMD_HW_EXCEPTION_CAUSE_ECC = 1 << 1,
    }

    /// Share that a queue gets when several have work.
    pub enum hsa_amd_queue_priority_t {
        HSA_AMD_QUEUE_PRIORITY_LOW = 0,
        HSA_AMD_QUEUE_PRIORITY_NORMAL = 1,
        HSA_AMD_QUEUE_PRIORITY_HIGH = 2,
    }

    /// Where a queue's ring and descriptor live.
    pub enum hsa_amd_queue_create_flag_t {
        HSA_AMD_QUEUE_CREATE_SYSTEM_MEM = 0,
        HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF = 1 << 0,
        HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR = 1 << 1,
    }

    /// What processes a queue's packets.
    pub enum hsa_amd_queue_engine_t {
        HSA_AMD_QUEUE_ENGINE_COMPUTE = 0,
        HSA_AMD_QUEUE_ENGINE_SDMA = 1,
        HSA_AMD_QUEUE_ENGINE_AIE = 2,
    }

    /// Which way a copy of a box goes.
    pub enum hsa_amd_copy_direction_t {
        hsaHostToHost = 0,
        hsaHostToDevice = 1,
        hsaDeviceToHost = 2,
        hsaDeviceToDevice = 3,
    }

    /// A copy engine of an agent (interface 1.2); engines beyond 15 have no name.
    pub enum hsa_amd_sdma_engine_id_t {
        HSA_AMD_SDMA_ENGINE_0 = 1 << 0,
        HSA_AMD_SDMA_ENGINE_1 = 1 << 1,
        HSA_AMD_SDMA_ENGINE_2 = 1 << 2,
        HSA_AMD_SDMA_ENGINE_3 = 1 << 3,
        HSA_AMD_SDMA_ENGINE_4 = 1 << 4,
        HSA_AMD_SDMA_ENGINE_5 = 1 << 5,
        HSA_AMD_SDMA_ENGINE_6 = 1 << 6,
        HSA_AMD_SDMA_ENGINE_7 = 1 << 7,
        HSA_AMD_SDMA_ENGINE_8 = 1 << 8,
        HSA_AMD_SDMA_ENGINE_9 = 1 << 9,
        HSA_AMD_SDMA_ENGINE_10 = 1 << 10,
        HSA_AMD_SDMA_ENGINE_11 = 1 << 11,
        HSA_AMD_SDMA_ENGINE_12 = 1 << 12,
        HSA_AMD_SDMA_ENGINE_13 = 1 << 13,
        HSA_AMD_SDMA_ENGINE_14 = 1 << 14,
        HSA_AMD_SDMA_ENGINE_15 = 1 << 15,
    }

    /// Coherence of shared virtual memory.
    pub enum hsa_amd_svm_model_t {
        HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED = 0,
        HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED = 1,
        HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE = 2,
    }

    /// Keys of `hsa_amd_svm_attribute_pair_t`.
    pub enum hsa_amd_svm_attribute_t {
        HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG = 0,
        HSA_AMD_SVM_ATTRIB_READ_ONLY = 1,
        HSA_AMD_SVM_ATTRIB_HIVE_LOCAL = 2,
        HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY = 3,
        HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION = 4,
        HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION = 5,
        HSA_AMD_SVM_ATTRIB_READ_MOSTLY = 6,
        HSA_AMD_SVM_ATTRIB_GPU_EXEC = 7,
        HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE = 0x200,
        HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE = 0x201,
        HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS = 0x202,
        HSA_AMD_SVM_ATTRIB_ACCESS_QUERY = 0x203,
    }

    /// Bits of the flags of `hsa_amd_vmem_address_reserve`.
    pub enum hsa_amd_vmem_address_reserve_flag_t {
        HSA_AMD_VMEM_ADDRESS_NO_REGISTER = 1 << 0,
    }

    /// Kind of physical memory behind a virtual-memory handle.
    pub enum hsa_amd_memory_type_t {
        MEMORY_TYPE_NONE = 0,
        MEMORY_TYPE_PINNED = 1,
    }

    /// What `hsa_amd_queue_get_info` answers.
    pub enum hsa_queue_info_attribute_t {
        HSA_AMD_QUEUE_INFO_AGENT = 0,
        HSA_AMD_QUEUE_INFO_DOORBELL_ID = 1,
    }
}
