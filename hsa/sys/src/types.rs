//! Handles, queues and enumerations of the core runtime (HSA Runtime 1.2, chapter 2; `hsa.h`).

use core::ffi::c_void;

use crate::layout::{enumeration, handle, layout};
use crate::status::hsa_status_t;

/// Value of a signal in the large machine model.
pub type hsa_signal_value_t = i64;

/// `hsa_queue_type_t` where its width matters.
pub type hsa_queue_type32_t = u32;

/// Called once when a queue stops because of an error; null means that no function is called.
pub type QueueErrorCallback =
    Option<unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void)>;

handle! {
    /// An agent: a CPU or a GPU.
    hsa_agent_t
    /// An instruction set architecture.
    hsa_isa_t
    /// A signal; 0 means none.
    hsa_signal_t
    /// A source of code-object bytes.
    hsa_code_object_reader_t
    /// A set of loaded code objects.
    hsa_executable_t
    /// A code object after loading.
    hsa_loaded_code_object_t
    /// A kernel or variable of an executable.
    hsa_executable_symbol_t
}

layout! {
    /// Three sizes or offsets.
    [size = 12, align = 4]
    #[derive(Default, PartialEq, Eq)]
    pub struct hsa_dim3_t {
        0 => x: u32,
        4 => y: u32,
        8 => z: u32,
    }

    /// The part of a queue that user code may read (HSA Runtime 1.2, 2.8.2).
    ///
    /// The indices are not here: they are reached by the table's index functions alone.
    [size = 40, align = 8]
    pub struct hsa_queue_t {
        0 => type_: hsa_queue_type32_t,
        4 => features: u32,
        8 => base_address: *mut c_void,
        16 => doorbell_signal: hsa_signal_t,
        24 => size: u32,
        28 => reserved1: u32,
        32 => id: u64,
    }
}

enumeration! {
    /// Which accesses an agent may make (HSA Runtime 1.2, 2.11; `NONE` is an AMD addition for virtual
    /// memory).
    pub enum hsa_access_permission_t {
        HSA_ACCESS_PERMISSION_NONE = 0,
        HSA_ACCESS_PERMISSION_RO = 1,
        HSA_ACCESS_PERMISSION_WO = 2,
        HSA_ACCESS_PERMISSION_RW = 3,
    }

    /// Byte order of a system.
    pub enum hsa_endianness_t {
        HSA_ENDIANNESS_LITTLE = 0,
        HSA_ENDIANNESS_BIG = 1,
    }

    /// Width of a flat address: small is 32 bits, large is 64.
    pub enum hsa_machine_model_t {
        HSA_MACHINE_MODEL_SMALL = 0,
        HSA_MACHINE_MODEL_LARGE = 1,
    }

    /// HSA profile of an agent or executable.
    pub enum hsa_profile_t {
        HSA_PROFILE_BASE = 0,
        HSA_PROFILE_FULL = 1,
    }

    /// What `hsa_system_get_info` answers.
    pub enum hsa_system_info_t {
        HSA_SYSTEM_INFO_VERSION_MAJOR = 0,
        HSA_SYSTEM_INFO_VERSION_MINOR = 1,
        HSA_SYSTEM_INFO_TIMESTAMP = 2,
        HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY = 3,
        HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT = 4,
        HSA_SYSTEM_INFO_ENDIANNESS = 5,
        HSA_SYSTEM_INFO_MACHINE_MODEL = 6,
        HSA_SYSTEM_INFO_EXTENSIONS = 7,
        HSA_AMD_SYSTEM_INFO_BUILD_VERSION = 0x200,
        HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED = 0x201,
        HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT = 0x202,
        HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED = 0x203,
        HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204,
        HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205,
        HSA_AMD_SYSTEM_INFO_XNACK_ENABLED = 0x206,
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR = 0x207,
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR = 0x208,
    }

    /// Identifiers of runtime extensions.
    pub enum hsa_extension_t {
        HSA_EXTENSION_FINALIZER = 0,
        HSA_EXTENSION_IMAGES = 1,
        HSA_EXTENSION_PERFORMANCE_COUNTERS = 2,
        HSA_EXTENSION_PROFILING_EVENTS = 3,
        HSA_EXTENSION_AMD_PROFILER = 0x200,
        HSA_EXTENSION_AMD_LOADER = 0x201,
        HSA_EXTENSION_AMD_AQLPROFILE = 0x202,
        HSA_EXTENSION_AMD_PC_SAMPLING = 0x203,
    }

    /// Bits of `HSA_AGENT_INFO_FEATURE`.
    pub enum hsa_agent_feature_t {
        HSA_AGENT_FEATURE_KERNEL_DISPATCH = 1,
        HSA_AGENT_FEATURE_AGENT_DISPATCH = 2,
    }

    /// Kind of hardware behind an agent.
    pub enum hsa_device_type_t {
        HSA_DEVICE_TYPE_CPU = 0,
        HSA_DEVICE_TYPE_GPU = 1,
        HSA_DEVICE_TYPE_DSP = 2,
        HSA_DEVICE_TYPE_AIE = 3,
    }

    /// Rounding mode that an instruction without its own uses.
    pub enum hsa_default_float_rounding_mode_t {
        HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT = 0,
        HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO = 1,
        HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR = 2,
    }

    /// What `hsa_agent_get_info` answers; AMD's additions are
    /// [`hsa_amd_agent_info_t`](crate::hsa_amd_agent_info_t).
    pub enum hsa_agent_info_t {
        HSA_AGENT_INFO_NAME = 0,
        HSA_AGENT_INFO_VENDOR_NAME = 1,
        HSA_AGENT_INFO_FEATURE = 2,
        HSA_AGENT_INFO_MACHINE_MODEL = 3,
        HSA_AGENT_INFO_PROFILE = 4,
        HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5,
        HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 23,
        HSA_AGENT_INFO_FAST_F16_OPERATION = 24,
        HSA_AGENT_INFO_WAVEFRONT_SIZE = 6,
        HSA_AGENT_INFO_WORKGROUP_MAX_DIM = 7,
        HSA_AGENT_INFO_WORKGROUP_MAX_SIZE = 8,
        HSA_AGENT_INFO_GRID_MAX_DIM = 9,
        HSA_AGENT_INFO_GRID_MAX_SIZE = 10,
        HSA_AGENT_INFO_FBARRIER_MAX_SIZE = 11,
        HSA_AGENT_INFO_QUEUES_MAX = 12,
        HSA_AGENT_INFO_QUEUE_MIN_SIZE = 13,
        HSA_AGENT_INFO_QUEUE_MAX_SIZE = 14,
        HSA_AGENT_INFO_QUEUE_TYPE = 15,
        HSA_AGENT_INFO_NODE = 16,
        HSA_AGENT_INFO_DEVICE = 17,
        HSA_AGENT_INFO_CACHE_SIZE = 18,
        HSA_AGENT_INFO_ISA = 19,
        HSA_AGENT_INFO_EXTENSIONS = 20,
        HSA_AGENT_INFO_VERSION_MAJOR = 21,
        HSA_AGENT_INFO_VERSION_MINOR = 22,
    }

    /// What `hsa_isa_get_info_alt` answers.
    pub enum hsa_isa_info_t {
        HSA_ISA_INFO_NAME_LENGTH = 0,
        HSA_ISA_INFO_NAME = 1,
        HSA_ISA_INFO_CALL_CONVENTION_COUNT = 2,
        HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE = 3,
        HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT = 4,
        HSA_ISA_INFO_MACHINE_MODELS = 5,
        HSA_ISA_INFO_PROFILES = 6,
        HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES = 7,
        HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 8,
        HSA_ISA_INFO_FAST_F16_OPERATION = 9,
        HSA_ISA_INFO_WORKGROUP_MAX_DIM = 12,
        HSA_ISA_INFO_WORKGROUP_MAX_SIZE = 13,
        HSA_ISA_INFO_GRID_MAX_DIM = 14,
        HSA_ISA_INFO_GRID_MAX_SIZE = 16,
        HSA_ISA_INFO_FBARRIER_MAX_SIZE = 17,
    }

    /// Relation that a signal wait awaits between the signal's value and the operand.
    pub enum hsa_signal_condition_t {
        HSA_SIGNAL_CONDITION_EQ = 0,
        HSA_SIGNAL_CONDITION_NE = 1,
        HSA_SIGNAL_CONDITION_LT = 2,
        HSA_SIGNAL_CONDITION_GTE = 3,
    }

    /// Whether a waiting thread is expected to sleep or to spin.
    pub enum hsa_wait_state_t {
        HSA_WAIT_STATE_BLOCKED = 0,
        HSA_WAIT_STATE_ACTIVE = 1,
    }

    /// How many threads may submit to a queue; cooperative queues are an AMD extension.
    pub enum hsa_queue_type_t {
        HSA_QUEUE_TYPE_MULTI = 0,
        HSA_QUEUE_TYPE_SINGLE = 1,
        HSA_QUEUE_TYPE_COOPERATIVE = 2,
    }

    /// Bits of `hsa_queue_t::features`.
    pub enum hsa_queue_feature_t {
        HSA_QUEUE_FEATURE_KERNEL_DISPATCH = 1,
        HSA_QUEUE_FEATURE_AGENT_DISPATCH = 2,
    }

    /// Whether an executable still accepts code objects.
    pub enum hsa_executable_state_t {
        HSA_EXECUTABLE_STATE_UNFROZEN = 0,
        HSA_EXECUTABLE_STATE_FROZEN = 1,
    }

    /// What an executable symbol names.
    pub enum hsa_symbol_kind_t {
        HSA_SYMBOL_KIND_VARIABLE = 0,
        HSA_SYMBOL_KIND_KERNEL = 1,
        HSA_SYMBOL_KIND_INDIRECT_FUNCTION = 2,
    }

    /// Visibility of a symbol.
    pub enum hsa_symbol_linkage_t {
        HSA_SYMBOL_LINKAGE_MODULE = 0,
        HSA_SYMBOL_LINKAGE_PROGRAM = 1,
    }

    /// Whether a variable exists once a program or once an agent.
    pub enum hsa_variable_allocation_t {
        HSA_VARIABLE_ALLOCATION_AGENT = 0,
        HSA_VARIABLE_ALLOCATION_PROGRAM = 1,
    }

    /// Segment that a variable lives in.
    pub enum hsa_variable_segment_t {
        HSA_VARIABLE_SEGMENT_GLOBAL = 0,
        HSA_VARIABLE_SEGMENT_READONLY = 1,
    }

    /// What `hsa_executable_symbol_get_info` answers.
    pub enum hsa_executable_symbol_info_t {
        HSA_EXECUTABLE_SYMBOL_INFO_TYPE = 0,
        HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH = 1,
        HSA_EXECUTABLE_SYMBOL_INFO_NAME = 2,
        HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH = 3,
        HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME = 4,
        HSA_EXECUTABLE_SYMBOL_INFO_AGENT = 20,
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS = 21,
        HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE = 5,
        HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION = 17,
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION = 6,
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT = 7,
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT = 8,
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE = 9,
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST = 10,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT = 22,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE = 13,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE = 14,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK = 15,
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION = 18,
        HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT = 23,
        HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION = 16,
    }
}
