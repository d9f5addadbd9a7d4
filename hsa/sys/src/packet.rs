//! Packets of the Architected Queuing Language (HSA Runtime 1.2, 2.9; AMD vendor packets in `hsa_ext_amd.h`).

use core::ffi::c_void;

use crate::layout::{enumeration, layout};
use crate::types::{hsa_signal_t, hsa_signal_value_t};

/// Bytes of every packet, whatever its type.
pub const PACKET_BYTES: usize = 64;

/// `AmdFormat` where its width matters.
pub type hsa_amd_packet_type8_t = u8;

/// [`hsa_signal_condition_t`](crate::hsa_signal_condition_t) where its width matters.
pub type hsa_signal_condition32_t = u32;

layout! {
    /// Runs a kernel over a grid.
    [size = 64, align = 8]
    pub struct hsa_kernel_dispatch_packet_t {
        0 => header: u16,
        2 => setup: u16,
        4 => workgroup_size_x: u16,
        6 => workgroup_size_y: u16,
        8 => workgroup_size_z: u16,
        10 => reserved0: u16,
        12 => grid_size_x: u32,
        16 => grid_size_y: u32,
        20 => grid_size_z: u32,
        24 => private_segment_size: u32,
        28 => group_segment_size: u32,
        32 => kernel_object: u64,
        40 => kernarg_address: *mut c_void,
        48 => reserved2: u64,
        56 => completion_signal: hsa_signal_t,
    }

    /// Calls a function of another agent.
    [size = 64, align = 8]
    pub struct hsa_agent_dispatch_packet_t {
        0 => header: u16,
        2 => type_: u16,
        4 => reserved0: u32,
        8 => return_address: *mut c_void,
        16 => arg: [u64; 4],
        48 => reserved2: u64,
        56 => completion_signal: hsa_signal_t,
    }

    /// Completes once every dependency that is not 0 has reached 0.
    [size = 64, align = 8]
    pub struct hsa_barrier_and_packet_t {
        0 => header: u16,
        2 => reserved0: u16,
        4 => reserved1: u32,
        8 => dep_signal: [hsa_signal_t; 5],
        48 => reserved2: u64,
        56 => completion_signal: hsa_signal_t,
    }

    /// Completes once any dependency that is not 0 has reached 0.
    [size = 64, align = 8]
    pub struct hsa_barrier_or_packet_t {
        0 => header: u16,
        2 => reserved0: u16,
        4 => reserved1: u32,
        8 => dep_signal: [hsa_signal_t; 5],
        48 => reserved2: u64,
        56 => completion_signal: hsa_signal_t,
    }

    /// First four bytes of an AMD vendor packet.
    [size = 4, align = 2]
    pub struct hsa_amd_vendor_packet_header_t {
        0 => header: u16,
        2 => AmdFormat: hsa_amd_packet_type8_t,
        3 => reserved: u8,
    }

    /// Completes once `(signal value & mask)` stands in relation `cond` to `value`.
    [size = 64, align = 8]
    pub struct hsa_amd_barrier_value_packet_t {
        0 => header: hsa_amd_vendor_packet_header_t,
        4 => reserved0: u32,
        8 => signal: hsa_signal_t,
        16 => value: hsa_signal_value_t,
        24 => mask: hsa_signal_value_t,
        32 => cond: hsa_signal_condition32_t,
        36 => reserved1: u32,
        40 => reserved2: u64,
        48 => reserved3: u64,
        56 => completion_signal: hsa_signal_t,
    }
}

enumeration! {
    /// The header's type field: how the packet processor reads the other 60 bytes.
    pub enum hsa_packet_type_t {
        HSA_PACKET_TYPE_VENDOR_SPECIFIC = 0,
        HSA_PACKET_TYPE_INVALID = 1,
        HSA_PACKET_TYPE_KERNEL_DISPATCH = 2,
        HSA_PACKET_TYPE_BARRIER_AND = 3,
        HSA_PACKET_TYPE_AGENT_DISPATCH = 4,
        HSA_PACKET_TYPE_BARRIER_OR = 5,
    }

    /// How far the fence of a packet reaches.
    pub enum hsa_fence_scope_t {
        HSA_FENCE_SCOPE_NONE = 0,
        HSA_FENCE_SCOPE_AGENT = 1,
        HSA_FENCE_SCOPE_SYSTEM = 2,
    }

    /// Bit position of each field of the 16-bit packet header.
    pub enum hsa_packet_header_t {
        HSA_PACKET_HEADER_TYPE = 0,
        HSA_PACKET_HEADER_BARRIER = 8,
        HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE = 9,
        HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE = 9,
        HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE = 11,
        HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE = 11,
    }

    /// Width in bits of each field of the packet header.
    pub enum hsa_packet_header_width_t {
        HSA_PACKET_HEADER_WIDTH_TYPE = 8,
        HSA_PACKET_HEADER_WIDTH_BARRIER = 1,
        HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE = 2,
        HSA_PACKET_HEADER_WIDTH_ACQUIRE_FENCE_SCOPE = 2,
        HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE = 2,
        HSA_PACKET_HEADER_WIDTH_RELEASE_FENCE_SCOPE = 2,
    }

    /// Bit position of each field of the dispatch packet's setup word.
    pub enum hsa_kernel_dispatch_packet_setup_t {
        HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS = 0,
    }

    /// Width in bits of each field of the dispatch packet's setup word.
    pub enum hsa_kernel_dispatch_packet_setup_width_t {
        HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS = 2,
    }

    /// `AmdFormat` of a vendor packet.
    pub enum hsa_amd_packet_type_t {
        HSA_AMD_PACKET_TYPE_BARRIER_VALUE = 2,
        HSA_AMD_PACKET_TYPE_AIE_ERT = 3,
    }
}
