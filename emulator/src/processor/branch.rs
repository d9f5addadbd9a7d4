//! Packets by which the processor branches: runs of packets in memory, processed as if they stood in the ring.
//!
//! A branch looks at a signal and enters one of two runs of an indirect buffer, or none; behind the last packet of the
//! run, when everything that was launched before has completed, the branch is complete and the processor goes on
//! behind it. A run may enter others, down to [`DEPTH`]. The format is that of AMD's proposal (`hsa_sys`); where that is
//! silent `docs/conditional-nodes.md` says what holds.

use hsa_sys::{
    AQLIPSE_AQL_COND_OP_LESS, HSA_AMD_AQL_COND_OP_BOOL_TRUE, HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH,
    HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER, HSA_AMD_PACKET_TYPE_AQL_LOOP_BACK, PACKET_BYTES,
    hsa_amd_aql_cond_op_t,
};

use super::{
    header,
    refusal::Refusal,
    signals::{PacketSignal, Signals},
};
use crate::{
    memory::{Map, Snapshot},
    os::hidden,
    queue::Packet,
};

/// Runs that may be entered within each other.
pub(crate) const DEPTH: u32 = 64;

/// A run of packets in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Address of the buffer.
    base: u64,
    start: u32,
    len: u32,
}

/// What decides where a branch goes.
#[derive(Clone)]
pub(super) enum Test {
    Always,
    NonZero(PacketSignal),
    Less(PacketSignal, u64),
}

impl Test {
    /// Whether it holds now.
    pub(super) fn holds(&self) -> bool {
        match self {
            Self::Always => true,
            Self::NonZero(signal) => signal.load() != 0,
            // CAST: signal values are signed, conditions are not.
            Self::Less(signal, value) => (signal.load() as u64) < *value,
        }
    }
}

/// A branch, taken apart.
#[derive(Clone)]
pub(super) struct Branch {
    pub(super) test: Test,
    /// What is entered if the test holds, and if not.
    pub(super) runs: [Run; 2],
}

impl Branch {
    /// The run to enter now, unless it has no packets.
    pub(super) fn choose(&self) -> Option<Run> {
        let run = self.runs[usize::from(!self.test.holds())];
        (run.len > 0).then_some(run)
    }
}

/// A packet that decides whether the run around it begins again.
#[derive(Clone)]
pub(super) struct LoopBack {
    signal: PacketSignal,
    value: i64,
}

impl LoopBack {
    /// Whether the run begins again.
    pub(super) fn again(&self) -> bool {
        self.signal.load() != self.value
    }
}

/// A run that has been entered, and the branch behind which the processor goes on.
pub(super) struct Entered {
    run: Run,
    next: u32,
    /// The packet that entered it.
    pub(super) branch: Packet,
}

impl Entered {
    pub(super) fn new(run: Run, branch: Packet) -> Self {
        Self { run, next: 0, branch }
    }

    /// The packet that is next; `None` behind the last.
    ///
    /// # Errors
    /// [`Refusal`] if the device may not read it (any more), or it is invalid: it will never be published.
    pub(super) fn front(&self, memory: &Map) -> Result<Option<Packet>, Refusal> {
        if self.next == self.run.len {
            return Ok(None);
        }
        let snapshot = memory.snapshot();
        let at = address(self.run.base, self.run.start + self.next);
        readable(&snapshot, at, 1)?;
        // SAFETY: aligned as the base is, inside of what the device may read, which the snapshot keeps mapped; if the
        // program changes it meanwhile it gets a mixture of its own bytes.
        let packet = unsafe { hidden::at(at).cast::<Packet>().read_volatile() };
        // CAST: the header is the low half word.
        if header::is_invalid(packet.0[0] as u16) {
            return Err(Refusal::format(format!("an invalid packet at {at:#x} in an indirect buffer")));
        }
        Ok(Some(packet))
    }

    /// Goes on to the next packet.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Begins again.
    pub(super) fn restart(&mut self) {
        self.next = 0;
    }

    /// Where in the buffer the processor is, for reports.
    pub(super) fn place(&self) -> (u32, u64) {
        (self.run.start + self.next, self.run.base)
    }
}

/// Whether a vendor packet of this format branches.
pub(super) fn is_branch(format: u64) -> bool {
    [HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER, HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH]
        .iter()
        .any(|branch| u64::from(branch.0) == format)
}

/// Whether a vendor packet of this format loops.
pub(super) fn is_loop_back(format: u64) -> bool {
    format == u64::from(HSA_AMD_PACKET_TYPE_AQL_LOOP_BACK.0)
}

/// Takes a branch apart.
///
/// # Errors
/// [`Refusal`] for what has no meaning, for runs that leave their buffer and for a buffer that the device may not read.
pub(super) fn read(packet: &Packet, signals: &Signals, memory: &Map) -> Result<Branch, Refusal> {
    let words = &packet.0;
    let conditional = words[0] >> 16 & 0xff == u64::from(HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH.0);
    // CAST: fields of four bytes and of one.
    let (low, high) = (|word: u64| word as u32, |word: u64| (word >> 32) as u32);
    let [operation, mode, action, flags] = high(words[0]).to_le_bytes();
    for (value, field) in [
        (u32::from(mode), "execution mode"),
        (u32::from(action), "post action"),
        (u32::from(flags), "flags"),
        (low(words[6]), "branch options"),
    ] {
        if value != 0 {
            return Err(Refusal::format(format!("a branch with {field} {value:#x}")));
        }
    }
    let test = match hsa_amd_aql_cond_op_t(operation.into()) {
        _ if !conditional && operation == 0 => Test::Always,
        HSA_AMD_AQL_COND_OP_BOOL_TRUE if conditional => Test::NonZero(signals.find(words[1], "condition")?),
        AQLIPSE_AQL_COND_OP_LESS if conditional => Test::Less(signals.find(words[1], "condition")?, words[2]),
        _ => return Err(Refusal::format(format!("a branch with operation {operation:#x}"))),
    };
    let (base, packets) = (words[5], high(words[6]));
    let run = |word: u64, which: &str| {
        let (start, len) = (low(word), high(word));
        if u64::from(start) + u64::from(len) > u64::from(packets) {
            return Err(Refusal::format(format!(
                "the {which} target of a branch, {len} packets at offset {start}, leaves a buffer of {packets} packets"
            )));
        }
        Ok(Run { base, start, len })
    };
    let if_true = run(words[3], "true")?;
    let if_false = if conditional { run(words[4], "false")? } else { Run { base, start: 0, len: 0 } };
    if if_true.len > 0 || if_false.len > 0 {
        readable(&memory.snapshot(), base, packets)?;
    }
    Ok(Branch { test, runs: [if_true, if_false] })
}

/// Takes a loop-back packet apart.
///
/// # Errors
/// [`Refusal`] for a signal that does not exist.
pub(super) fn read_loop_back(packet: &Packet, signals: &Signals) -> Result<LoopBack, Refusal> {
    let signal = signals.find(packet.0[1], "condition")?;
    // CAST: signal values are signed, packet words are not.
    Ok(LoopBack { signal, value: packet.0[2] as i64 })
}

/// Address of a packet of a buffer whose last packet has an address too.
fn address(base: u64, packet: u32) -> u64 {
    base.wrapping_add(u64::from(packet) * PACKET_BYTES as u64)
}

fn readable(memory: &Snapshot, base: u64, packets: u32) -> Result<(), Refusal> {
    let end = base.checked_add(u64::from(packets) * PACKET_BYTES as u64);
    if !base.is_multiple_of(PACKET_BYTES as u64) || !end.is_some_and(|end| memory.covers(base, end, false)) {
        return Err(Refusal::format(format!(
            "an indirect buffer of {packets} packets at {base:#x}, which is not the device's memory"
        )));
    }
    Ok(())
}
