//! Packets by which a packet processor branches and loops without the host.
//!
//! Formats, sizes and the places of the fields are those of AMD's public proposal for conditional graph nodes (2026),
//! which no released header declares. What the proposal leaves open is decided here and in
//! `docs/conditional-nodes.md`; names that are only ours begin with `AQLIPSE_`.

use crate::{
    layout::{enumeration, layout},
    packet::{hsa_amd_packet_type_t, hsa_amd_vendor_packet_header_t},
    types::{hsa_agent_info_t, hsa_signal_t, hsa_signal_value_t},
};

/// Processes packets that lie in memory, then goes on behind itself.
pub const HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER: hsa_amd_packet_type_t = hsa_amd_packet_type_t(5);
/// Processes one of two runs of packets in memory, as a signal's value says, then goes on behind itself.
pub const HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH: hsa_amd_packet_type_t = hsa_amd_packet_type_t(6);
/// Begins the run of packets that it ends again, as a signal's value says.
pub const HSA_AMD_PACKET_TYPE_AQL_LOOP_BACK: hsa_amd_packet_type_t = hsa_amd_packet_type_t(7);

/// How deep runs of packets may nest: `u32`, a number of this project's emulator. A runtime whose packet processors
/// cannot branch does not know the attribute.
pub const AQLIPSE_AGENT_INFO_BRANCH_DEPTH: hsa_agent_info_t = hsa_agent_info_t(0xA0A9_0001);

enumeration! {
    /// When a branch takes its true run: if the value is not 0, or is less than `test_value`, both unsigned.
    pub enum hsa_amd_aql_cond_op_t {
        HSA_AMD_AQL_COND_OP_BOOL_TRUE = 10,
        AQLIPSE_AQL_COND_OP_LESS = 0x80,
    }
}

layout! {
    /// Branches; an indirect buffer is the same without a condition and without a false run.
    ///
    /// Offsets and sizes count packets from `ib_base_addr`, behind which `ib_size_packets` packets lie.
    [size = 64, align = 8]
    pub struct hsa_amd_aql_cond_branch_packet_t {
        0 => header: hsa_amd_vendor_packet_header_t,
        4 => cond_op: u8,
        5 => execution_mode: u8,
        6 => post_action: u8,
        7 => flags: u8,
        8 => condition_signal: hsa_signal_t,
        16 => test_value: hsa_signal_value_t,
        24 => true_target_offset: u32,
        28 => true_size: u32,
        32 => false_target_offset: u32,
        36 => false_size: u32,
        40 => ib_base_addr: u64,
        48 => branch_options: u32,
        52 => ib_size_packets: u32,
        56 => completion_signal: hsa_signal_t,
    }

    /// Loops: the run around it begins again unless the value is `test_value`.
    [size = 64, align = 8]
    pub struct hsa_amd_aql_loop_back_packet_t {
        0 => header: hsa_amd_vendor_packet_header_t,
        4 => reserved0: u32,
        8 => condition_signal: hsa_signal_t,
        16 => test_value: hsa_signal_value_t,
        24 => reserved1: [u64; 4],
        56 => completion_signal: hsa_signal_t,
    }
}
