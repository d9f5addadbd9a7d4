//! What a packet asks for.

use hsa_sys::{
    HSA_AMD_PACKET_TYPE_BARRIER_VALUE, HSA_PACKET_TYPE_AGENT_DISPATCH, HSA_PACKET_TYPE_BARRIER_AND,
    HSA_PACKET_TYPE_BARRIER_OR, HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_PACKET_TYPE_VENDOR_SPECIFIC,
    hsa_kernel_dispatch_packet_t, hsa_signal_condition_t,
};

use super::{
    branch::{self, Branch, LoopBack},
    header::completion,
    pm4,
    refusal::Refusal,
    signals::{PacketSignal, Signals},
};
use crate::{memory::Map, queue::Packet, signal::Condition};

/// What must hold before a barrier packet is complete.
#[derive(Clone)]
pub(super) enum Barrier {
    /// All are 0.
    And(Vec<PacketSignal>),
    /// One of them is 0, or there is none.
    Or(Vec<PacketSignal>),
    /// The masked value stands in a relation to the operand.
    Value { signal: PacketSignal, mask: i64, condition: Condition, operand: i64 },
}

impl Barrier {
    /// Whether it holds now.
    pub(super) fn holds(&self) -> bool {
        match self {
            Self::And(signals) => signals.iter().all(|s| s.load() == 0),
            Self::Or(signals) => signals.is_empty() || signals.iter().any(|s| s.load() == 0),
            Self::Value { signal, mask, condition, operand } => {
                condition.holds(signal.load() & mask, *operand)
            }
        }
    }

    /// The signals on which it depends.
    pub(super) fn signals(&self) -> &[PacketSignal] {
        match self {
            Self::And(signals) | Self::Or(signals) => signals,
            Self::Value { signal, .. } => std::slice::from_ref(signal),
        }
    }
}

/// A packet, taken apart.
#[derive(Clone)]
pub(super) enum Work {
    Kernel(hsa_kernel_dispatch_packet_t),
    Barrier(Barrier),
    /// Cache maintenance.
    Commands(pm4::Commands),
    /// Packets in memory come first.
    Branch(Branch),
    /// The packets around it may begin again.
    LoopBack(LoopBack),
    /// Nothing of a run is left: the branch that entered it is complete.
    Return,
}

/// Takes a packet apart.
///
/// # Errors
/// [`Refusal`] for a type or format that this processor does not know and for a signal that does not exist.
pub(super) fn decode(packet: &Packet, signals: &Signals, memory: &Map) -> Result<Work, Refusal> {
    let words = &packet.0;
    if completion(packet) != 0 {
        signals.find(completion(packet), "completion")?;
    }
    // CAST: the type is 8 bits wide.
    let type_ = hsa_sys::hsa_packet_type_t(words[0] as u32 & 0xff);
    match type_ {
        HSA_PACKET_TYPE_KERNEL_DISPATCH => {
            // SAFETY: both are 64 bytes of integers and addresses, for which every pattern is valid.
            let packet = unsafe { std::mem::transmute_copy::<Packet, hsa_kernel_dispatch_packet_t>(packet) };
            let dimensions = packet.setup & 3;
            if dimensions == 0 {
                return Err(Refusal::format("a kernel dispatch of 0 dimensions".into()));
            }
            Ok(Work::Kernel(packet))
        }
        HSA_PACKET_TYPE_BARRIER_AND => Ok(Work::Barrier(Barrier::And(dependencies(packet, signals)?))),
        HSA_PACKET_TYPE_BARRIER_OR => Ok(Work::Barrier(Barrier::Or(dependencies(packet, signals)?))),
        HSA_PACKET_TYPE_VENDOR_SPECIFIC => vendor(packet, signals, memory),
        HSA_PACKET_TYPE_AGENT_DISPATCH => {
            Err(Refusal::format("an agent-dispatch packet in a kernel-dispatch queue".into()))
        }
        _ => Err(Refusal::format(format!("packet type {}", type_.0))),
    }
}

fn vendor(packet: &Packet, signals: &Signals, memory: &Map) -> Result<Work, Refusal> {
    let words = &packet.0;
    let format = words[0] >> 16 & 0xff;
    if format == pm4::FORMAT {
        return pm4::read(words, &memory.snapshot()).map(Work::Commands);
    }
    if branch::is_branch(format) {
        return branch::read(packet, signals, memory).map(Work::Branch);
    }
    if branch::is_loop_back(format) {
        return branch::read_loop_back(packet, signals).map(Work::LoopBack);
    }
    if format != u64::from(HSA_AMD_PACKET_TYPE_BARRIER_VALUE.0) {
        return Err(Refusal::format(format!("vendor packet of format {format}")));
    }
    // CAST: the condition is the low half of the word.
    let condition = hsa_signal_condition_t(words[4] as u32);
    let condition = Condition::new(condition)
        .ok_or_else(|| Refusal::format(format!("barrier-value condition {}", condition.0)))?;
    if words[1] == 0 {
        // No signal is a satisfied dependency.
        return Ok(Work::Barrier(Barrier::And(Vec::new())));
    }
    let signal = signals.find(words[1], "barrier-value")?;
    // CAST: signal values are signed, packet words here are not.
    let (operand, mask) = (words[2] as i64, words[3] as i64);
    Ok(Work::Barrier(Barrier::Value { signal, mask, condition, operand }))
}

fn dependencies(packet: &Packet, signals: &Signals) -> Result<Vec<PacketSignal>, Refusal> {
    let handles = packet.0[1..6].iter().filter(|handle| **handle != 0);
    handles.map(|handle| signals.find(*handle, "dependency")).collect()
}
