//! Packets by which a packet processor branches, of AMD's proposal for conditional graph nodes (see `hsa_sys`).
#![forbid(unsafe_code)]

use hsa_sys::{
    AQLIPSE_AQL_COND_OP_LESS, HSA_AMD_AQL_COND_OP_BOOL_TRUE, HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH,
    HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER, HSA_AMD_PACKET_TYPE_AQL_LOOP_BACK, hsa_signal_t,
};

use super::{Fences, Kind, NO_SIGNAL, Packet, build::image};

/// A run of packets in an indirect buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The first packet, counted from the buffer's.
    pub start: u32,
    /// Packets; a run of none is passed.
    pub len: u32,
}

/// What a branch asks of its signal's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Nothing: the true run is always taken.
    Always,
    /// Whether it is not 0.
    NonZero,
    /// Whether it is less than this, both unsigned.
    Less(u64),
}

/// Processes one of two runs of packets, and goes on behind itself when all of them have completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// When it starts and what it makes visible.
    pub fences: Fences,
    /// What decides; the signal is not looked at for [`Test::Always`].
    pub test: Test,
    /// The signal whose value decides.
    pub condition: hsa_signal_t,
    /// Address of the indirect buffer, a multiple of 64.
    pub buffer: u64,
    /// Packets of the buffer.
    pub buffer_len: u32,
    /// What is processed if the test holds.
    pub if_true: Run,
    /// What is processed if it does not.
    pub if_false: Run,
    /// Signal that is decremented at completion, or [`NO_SIGNAL`].
    pub completion: hsa_signal_t,
}

impl Branch {
    /// A branch within the buffer at `buffer` that takes no run, to start from.
    pub const fn new(buffer: u64, buffer_len: u32) -> Self {
        Self {
            fences: Fences::NONE,
            test: Test::Always,
            condition: NO_SIGNAL,
            buffer,
            buffer_len,
            if_true: Run { start: 0, len: 0 },
            if_false: Run { start: 0, len: 0 },
            completion: NO_SIGNAL,
        }
    }

    /// Encodes the packet.
    pub fn packet(&self) -> Packet {
        let (format, operation, value) = match self.test {
            Test::Always => (HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER, 0, 0),
            Test::NonZero => (HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH, HSA_AMD_AQL_COND_OP_BOOL_TRUE.0, 0),
            Test::Less(value) => (HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH, AQLIPSE_AQL_COND_OP_LESS.0, value),
        };
        // CAST: formats are one byte.
        let mut packet = image(Kind::VendorSpecific, self.fences, format.0 as u16, self.completion);
        packet.0[1] = operation;
        if self.test != Test::Always {
            packet.set_double(2, self.condition.handle);
            packet.set_double(4, value);
            packet.0[8..10].copy_from_slice(&[self.if_false.start, self.if_false.len]);
        }
        packet.0[6..8].copy_from_slice(&[self.if_true.start, self.if_true.len]);
        packet.set_double(10, self.buffer);
        packet.0[13] = self.buffer_len;
        packet
    }
}

/// Ends a run that begins again as long as a signal's value is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBack {
    /// When the value is looked at and what is made visible before.
    pub fences: Fences,
    /// The signal whose value decides.
    pub condition: hsa_signal_t,
}

impl LoopBack {
    /// Encodes the packet.
    pub fn packet(&self) -> Packet {
        // CAST: formats are one byte.
        let format = HSA_AMD_PACKET_TYPE_AQL_LOOP_BACK.0 as u16;
        let mut packet = image(Kind::VendorSpecific, self.fences, format, NO_SIGNAL);
        packet.set_double(2, self.condition.handle);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_proposal_puts_them() {
        let branch = Branch {
            fences: Fences::AGENT,
            test: Test::Less(!1),
            condition: hsa_signal_t { handle: 0x1111_2222_3333_4440 },
            if_true: Run { start: 3, len: 4 },
            if_false: Run { start: 7, len: 1 },
            completion: hsa_signal_t { handle: 0x40 },
            ..Branch::new(0x5555_6666_7777_8880, 9)
        };
        let words = *branch.packet().words();
        assert_eq!(words[0], 0x0006_0b00);
        assert_eq!(words[1..8], [0x80, 0x3333_4440, 0x1111_2222, 0xffff_fffe, 0xffff_ffff, 3, 4]);
        assert_eq!(words[8..16], [7, 1, 0x7777_8880, 0x5555_6666, 0, 9, 0x40, 0]);
        let nonzero = Branch { test: Test::NonZero, ..branch }.packet();
        assert_eq!((nonzero.words()[1], nonzero.words()[4]), (10, 0));
    }

    #[test]
    fn a_jump_has_neither_a_condition_nor_a_second_run() {
        let jump = Branch { if_true: Run { start: 1, len: 2 }, ..Branch::new(0x80, 3) };
        let jump =
            Branch { condition: hsa_signal_t { handle: 64 }, if_false: Run { start: 1, len: 1 }, ..jump };
        assert_eq!(jump.packet().words()[..10], [0x0005_0000, 0, 0, 0, 0, 0, 1, 2, 0, 0]);
    }

    #[test]
    fn a_loop_back_compares_with_zero() {
        let back = LoopBack { fences: Fences::NONE, condition: hsa_signal_t { handle: 0x80 } }.packet();
        assert_eq!(back.words()[..6], [0x0007_0000, 0, 0x80, 0, 0, 0]);
    }
}
