//! What all packets have in the same place.

use hsa_sys::{HSA_PACKET_HEADER_BARRIER, HSA_PACKET_TYPE_INVALID};

use crate::queue::Packet;

/// Whether a header says that the packet has not been published.
pub(super) fn is_invalid(header: u16) -> bool {
    header & 0xff == HSA_PACKET_TYPE_INVALID.0 as u16
}

/// Whether all preceding packets of the queue must be complete first.
pub(super) fn has_barrier_bit(packet: &Packet) -> bool {
    packet.0[0] >> HSA_PACKET_HEADER_BARRIER.0 & 1 != 0
}

/// The handle of the completion signal, which all packet types have in the same place; 0 is none.
pub(super) fn completion(packet: &Packet) -> u64 {
    packet.0[7]
}
