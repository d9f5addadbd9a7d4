//! Queue and signal control blocks that device code reads (`amd_hsa_queue.h`, `amd_hsa_signal.h`).
//!
//! Both are written by several processors: reach their fields by raw pointer and atomics, never by `&mut`.

use crate::layout::layout;
use crate::types::{hsa_queue_t, hsa_signal_t};

/// [`amd_queue_t::queue_properties`]: the trap handler is on.
pub const AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER: u32 = 1 << 0;
/// [`amd_queue_t::queue_properties`]: pointers are 64 bits wide.
pub const AMD_QUEUE_PROPERTIES_IS_PTR64: u32 = 1 << 1;
/// [`amd_queue_t::queue_properties`]: the trap handler gets its debug SGPRs.
pub const AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS: u32 = 1 << 2;
/// [`amd_queue_t::queue_properties`]: the packet processor stores start and end times in completion signals.
pub const AMD_QUEUE_PROPERTIES_ENABLE_PROFILING: u32 = 1 << 3;
/// [`amd_queue_t::queue_properties`]: scratch is given back after one dispatch.
pub const AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE: u32 = 1 << 4;

/// [`amd_signal_t::kind`]: not a signal.
pub const AMD_SIGNAL_KIND_INVALID: i64 = 0;
/// [`amd_signal_t::kind`]: `value` is the signal's value.
pub const AMD_SIGNAL_KIND_USER: i64 = 1;
/// [`amd_signal_t::kind`]: `value` holds the address of a 64-bit hardware doorbell.
pub const AMD_SIGNAL_KIND_DOORBELL: i64 = -1;
/// [`amd_signal_t::kind`]: `value` holds the address of a 32-bit hardware doorbell.
pub const AMD_SIGNAL_KIND_LEGACY_DOORBELL: i64 = -2;

layout! {
    /// A queue as the packet processor sees it; its first 40 bytes are the user's `hsa_queue_t`.
    [size = 256, align = 64]
    #[repr(align(64))]
    pub struct amd_queue_t {
        0 => hsa_queue: hsa_queue_t,
        40 => reserved1: [u32; 4],
        56 => write_dispatch_id: u64,
        64 => group_segment_aperture_base_hi: u32,
        68 => private_segment_aperture_base_hi: u32,
        72 => max_cu_id: u32,
        76 => max_wave_id: u32,
        80 => max_legacy_doorbell_dispatch_id_plus_1: u64,
        88 => legacy_doorbell_lock: u32,
        92 => reserved2: [u32; 9],
        128 => read_dispatch_id: u64,
        136 => read_dispatch_id_field_base_byte_offset: u32,
        140 => compute_tmpring_size: u32,
        144 => scratch_resource_descriptor: [u32; 4],
        160 => scratch_backing_memory_location: u64,
        168 => scratch_backing_memory_byte_size: u64,
        176 => scratch_wave64_lane_byte_size: u32,
        180 => queue_properties: u32,
        184 => reserved3: [u32; 2],
        192 => queue_inactive_signal: hsa_signal_t,
        200 => reserved4: [u32; 14],
    }

    /// A signal as the packet processor and device code see it; `hsa_signal_t::handle` is its address.
    ///
    /// `value` is a union in C: see the `AMD_SIGNAL_KIND_*` constants for what it holds.
    [size = 64, align = 64]
    #[repr(align(64))]
    pub struct amd_signal_t {
        0 => kind: i64,
        8 => value: i64,
        16 => event_mailbox_ptr: u64,
        24 => event_id: u32,
        28 => reserved1: u32,
        32 => start_ts: u64,
        40 => end_ts: u64,
        48 => queue_ptr: *mut amd_queue_t,
        56 => reserved3: [u32; 2],
    }
}
