//! Why a wave stops.

use std::fmt;

use crate::convergence::Awaited;

/// What keeps an instruction that exists from being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// GDS memory, which both targets lack.
    NoGlobalDataShare,
    /// The queue was given no resources of global wave sync.
    NoWaveSync,
    /// Returns from an exception.
    TrapHandler,
    /// Asks for the queue's doorbell.
    Doorbell,
    /// Scales, and no matrix instruction behind that takes them.
    NoMatrix,
    /// A barrier with a number of its own.
    NoNamedBarriers,
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoGlobalDataShare => "there is no global data share memory, only its wave synchronisation",
            Self::NoWaveSync => "the queue was given no resources of global wave sync",
            Self::TrapHandler => "only a trap handler returns from an exception",
            Self::Doorbell => "only a trap handler asks for the queue's doorbell",
            Self::NoMatrix => "no matrix instruction that takes the scales follows",
            Self::NoNamedBarriers => "the workgroup has one barrier, -1",
        })
    }
}

/// Why a wave stopped before `s_endpgm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The words at pc are no instruction of this target.
    IllegalInstruction {
        /// The word at pc.
        word0: u32,
        /// The word behind, 0 at the end of the code.
        word1: u32,
    },
    /// A valid instruction that the emulator does not implement.
    Unimplemented {
        /// Its mnemonic.
        name: &'static str,
    },
    /// An instruction that this wave may not execute, or not with these operands.
    Illegal {
        /// Its mnemonic.
        name: &'static str,
        /// Why not.
        why: Restriction,
    },
    /// A buffer format that the hardware does not define.
    BufferFormat {
        /// DATA_FORMAT.
        data: u8,
        /// NUM_FORMAT.
        number: u8,
    },
    /// A buffer format of RDNA that the hardware does not define.
    Format {
        /// FORMAT.
        format: u32,
    },
    /// An access outside every allocation, or a write to read-only memory.
    Memory {
        /// First byte of the lane's access.
        address: u64,
        /// The lane; 0 for scalar memory.
        lane: u8,
        /// Bytes of the lane's access.
        bytes: u8,
        /// Whether it stores (atomics do).
        write: bool,
    },
    /// An atomic whose address is no multiple of its size.
    Misaligned {
        /// Where.
        address: u64,
        /// The lane.
        lane: u8,
        /// Bytes of the atomic.
        bytes: u8,
    },
    /// An access to LDS or scratch through an aperture that is out of its bounds.
    Aperture {
        /// Where, in the generic address space.
        address: u64,
        /// The lane.
        lane: u8,
    },
    /// The program counter left every loaded code object.
    Fetch,
    /// The host has no memory for a wave's scratch.
    NoScratch {
        /// What the wave needs.
        bytes: u32,
    },
    /// `s_trap` with this identifier.
    Trap {
        /// 2 is `__builtin_trap` (LLVM AMDGPUUsage, "Trap Handler ABI").
        id: u8,
    },
    /// `s_sethalt 1`: the wave would stop for ever.
    Halt,
    /// All waves of the devices go round in loops, where [that is watched](crate::Config::observed_sync).
    Deadlock {
        /// What would end this one's.
        awaited: Awaited,
        /// Workgroups of the dispatch for which the device has no room before others end.
        waiting: u32,
    },
}

impl FaultKind {
    /// The lane at fault, if it is one lane's.
    pub const fn lane(&self) -> Option<u8> {
        match *self {
            Self::Memory { lane, .. } | Self::Misaligned { lane, .. } | Self::Aperture { lane, .. } => {
                Some(lane)
            }
            _ => None,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::IllegalInstruction { word0, word1 } => {
                write!(f, "illegal instruction {word0:#010x} {word1:#010x}")
            }
            Self::Unimplemented { name } => write!(f, "unimplemented instruction {name}"),
            Self::Illegal { name, why } => write!(f, "{name} is illegal: {why}"),
            Self::BufferFormat { data, number } => {
                write!(f, "reserved buffer format: data format {data} with number format {number}")
            }
            Self::Format { format } => write!(f, "reserved buffer format {format}"),
            Self::Memory { address, lane, bytes, write } => {
                let what = if write { "write" } else { "read" };
                write!(f, "memory fault: {what} of {bytes} bytes at {address:#x} by lane {lane}")
            }
            Self::Misaligned { address, lane, bytes } => {
                write!(f, "misaligned atomic of {bytes} bytes at {address:#x} by lane {lane}")
            }
            Self::Aperture { address, lane } => {
                write!(f, "access beyond LDS or scratch at {address:#x} by lane {lane}")
            }
            Self::Fetch => write!(f, "instruction fetch outside of every code object"),
            Self::NoScratch { bytes } => write!(f, "no memory for {bytes} bytes of scratch"),
            Self::Trap { id } => write!(f, "trap {id}"),
            Self::Halt => write!(f, "halt"),
            Self::Deadlock { .. } => write!(f, "deadlock: no wave of the devices does anything but wait"),
        }
    }
}

/// A stopped wave: what happened, and at which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Address of the instruction.
    pub pc: u64,
}
