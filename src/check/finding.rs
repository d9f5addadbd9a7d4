//! What is found, as data; as a line of a report (`line`) and as text (`text`).

#![forbid(unsafe_code)]

mod line;
mod text;

use std::ops::Range;

use emulator::{AccessFault, Awaited, How, RaceByte, RaceKind, SyncKind, UninitByte, UninitKind};

pub use super::made::{Frame, Made};
use crate::device::Tool;

/// One of two commands that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Where it is: `node 12.3 of executable 1`, by the graph that the node was added to and its number there, or `stream 2`.
    pub place: String,
    /// What it is: `kernel f(float*)`, `memcpy`, `memset`.
    pub what: String,
    /// How it touches the bytes.
    pub how: How,
}

/// Bytes of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The first of them, by address, as far as they lie one behind the other.
    pub first: Range<u64>,
    /// How many there are, these included.
    pub total: u64,
    /// The allocation that the first lie in.
    pub allocation: Range<u64>,
}

/// What a command does to an allocation that it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Misuse {
    /// It touches what lies behind it.
    OutOfBounds,
    /// It does not come behind its beginning.
    BeforeAllocation,
    /// It comes behind its end.
    AfterFree,
    /// Nothing orders it with its end.
    UnorderedFree,
    /// It copies to the host what nothing has written.
    Unwritten,
    /// It writes what is constant for kernels: a variable, or what a code object says is only read.
    Constant,
}

impl Misuse {
    const ALL: [Self; 6] = [
        Self::OutOfBounds,
        Self::BeforeAllocation,
        Self::AfterFree,
        Self::UnorderedFree,
        Self::Unwritten,
        Self::Constant,
    ];

    fn rule(self) -> &'static str {
        match self {
            Self::OutOfBounds => "memory/out-of-bounds",
            Self::BeforeAllocation => "memory/before-allocation",
            Self::AfterFree => "memory/after-free",
            Self::UnorderedFree => "memory/unordered-free",
            Self::Unwritten => "init/copied",
            Self::Constant => "memory/constant",
        }
    }
}

/// What the plan of a graph costs, by the cost table of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanCost {
    /// How long a launch takes, in nanoseconds.
    pub ns: u64,
    /// Packets that wait for all before them on their queue.
    pub barrier_bits: u64,
    /// Packets that only wait.
    pub barrier_packets: u64,
    /// Signals between queues.
    pub signals: u64,
}

impl PlanCost {
    /// The numbers, with a word for each.
    pub fn named(&self) -> [(&'static str, u64); 4] {
        let Self { ns, barrier_bits, barrier_packets, signals } = *self;
        [
            ("ns", ns),
            ("barrier bits", barrier_bits),
            ("barrier packets", barrier_packets),
            ("signals", signals),
        ]
    }
}

/// An instruction of a kernel that touches memory or LDS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The workgroup, by its number in the grid; the first in which it was found.
    pub workgroup: u64,
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// How it touches the bytes.
    pub how: How,
    /// Where it is.
    pub pc: Pc,
}

/// The place of an instruction in a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pc {
    /// Bytes from the kernel's first instruction; of a function that lies before the kernel, as a negative number would wrap.
    pub offset: u64,
    /// The line of the source, `f.hip:12`, once it is looked up.
    pub line: Option<String>,
}

impl Pc {
    /// The place with an offset.
    pub fn new(offset: u64) -> Self {
        Self { offset, line: None }
    }
}

/// Where the code of a kernel can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The file with the code object; empty if there is none.
    pub object: String,
    /// The symbol of the kernel's descriptor.
    pub descriptor: String,
    /// Bytes from the descriptor to the kernel's first instruction, as a number that wraps.
    pub entry: u64,
}

/// An allocation that an address lies in or near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// Its bytes.
    pub allocation: Range<u64>,
    /// Whether it is over.
    pub is_freed: bool,
    /// Where it was allocated.
    pub made: Made,
}

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Two commands touch the same bytes in an order that nothing says.
    Unordered {
        /// The commands, the one that was added or submitted first before the other.
        parties: [Party; 2],
        /// Whether they are nodes of one launch, which an edge would order.
        of_one_launch: bool,
        /// The bytes that both touch.
        bytes: Bytes,
        /// Where they were captured and why that has not ordered them, in sentences, if they were.
        captured: Vec<String>,
        /// Files in the folder for graphs that show the nodes, if there is such a folder.
        drawn: Vec<String>,
    },
    /// A command touches memory that it must not.
    Memory {
        /// What is wrong with it.
        misuse: Misuse,
        /// The command.
        party: Party,
        /// The command that allocates or frees the memory, and where that is; empty for [`Misuse::OutOfBounds`],
        /// [`Misuse::Unwritten`] and [`Misuse::Constant`].
        other: String,
        /// The bytes.
        bytes: Bytes,
        /// Where the memory was allocated; nowhere for [`Misuse::Constant`].
        made: Made,
        /// The kernel's code.
        code: Code,
        /// The access that has touched the first byte first, if it is known: the kernel is not one of the runtime's, and the
        /// device had reason to look.
        access: Option<Instruction>,
    },
    /// The device refuses an access of a kernel, which ends with that.
    Refused {
        /// Why.
        fault: AccessFault,
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// The first byte.
        address: u64,
        /// How many bytes.
        bytes: u64,
        /// The kernel's code.
        code: Code,
        /// The access.
        access: Instruction,
        /// An allocation there or near there.
        near: Option<Near>,
    },
    /// A kernel is given a pointer that points nowhere, and has not been seen to follow it.
    Argument {
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// Which argument it is, counted from 0.
        number: u32,
        /// Where it points to.
        address: u64,
        /// Whether memory was there that is freed; otherwise there is none.
        is_freed: bool,
        /// An allocation there or near there.
        near: Option<Near>,
    },
    /// A kernel does to LDS or memory what it must not.
    Race {
        /// What is wrong with it.
        kind: RaceKind,
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// The kernel's code.
        code: Code,
        /// The first byte.
        byte: RaceByte,
        /// The access.
        access: Instruction,
        /// The access that it conflicts with.
        other: Option<Instruction>,
        /// An allocation there or near there.
        near: Option<Near>,
        /// How many bytes of accesses of these instructions did so.
        count: u64,
    },
    /// Lanes or waves of a kernel do not come together where they have to.
    Sync {
        /// What is wrong.
        kind: SyncKind,
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// The workgroup, by its number in the grid; the first in which it was found.
        workgroup: u64,
        /// The wave, by its number in the workgroup.
        wave: u32,
        /// The lane that goes on behind the barrier, or that uses the value; `None` if it is about a whole wave.
        lane: Option<u32>,
        /// The kernel's code.
        code: Code,
        /// The barrier or the instruction that reads from another lane.
        pc: Pc,
        /// The instruction that shows it.
        then: Pc,
        /// How often it was found: barriers, waves, or lanes.
        count: u64,
    },
    /// A kernel waits for what nothing will bring about, and has been ended for that.
    Deadlock {
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// A workgroup of which all waves wait, by its number in the grid.
        workgroup: u64,
        /// A wave that waits, by its number in the workgroup.
        wave: u32,
        /// The kernel's code.
        code: Code,
        /// The instruction that asks for what it waits for.
        pc: Pc,
        /// What that is.
        awaited: Awaited,
        /// Workgroups for which the device has no room before others end.
        waiting: u32,
        /// The allocation that it waits for, if it waits for memory.
        near: Option<Near>,
    },
    /// What a kernel does depends on bytes that nothing has written.
    Uninit {
        /// What depends on them.
        kind: UninitKind,
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// The workgroup, by its number in the grid; the first in which it was found.
        workgroup: u64,
        /// The wave, by its number in the workgroup.
        wave: u32,
        /// The first lane that does it; `None` if it is about a whole wave.
        lane: Option<u32>,
        /// The kernel's code.
        code: Code,
        /// The instruction that has read them.
        read: Pc,
        /// The first of them.
        byte: UninitByte,
        /// The instruction that branches, accesses or stores.
        pc: Pc,
        /// How often it was found: lanes, or waves.
        count: u64,
        /// The allocation that the byte is in, if it is in one.
        near: Option<Near>,
    },
    /// An edge puts nodes in an order that no data needs.
    Needless {
        /// Where the nodes are, as in [`Party`], that it leads from and to.
        places: [String; 2],
        /// What they are.
        whats: [String; 2],
        /// How many pairs of nodes, these included, are in an order by it that they do not need.
        pairs: u64,
        /// What a launch costs with the edge, and without it but with all that data needs; `None` for edges of large graphs, and
        /// where there are many.
        costs: Option<(PlanCost, PlanCost)>,
        /// As of two commands that nothing orders.
        drawn: Vec<String>,
    },
    /// The program frees what is no allocation.
    BadFree {
        /// What it frees.
        address: u64,
        /// Whether it was an allocation before.
        again: bool,
        /// Where it does so.
        made: Made,
    },
    /// The host touches memory that it must not, or that a command in flight touches as well.
    Host {
        /// The command in flight that the host has not waited for; `None` for memory of a device.
        command: Option<Party>,
        /// How the host touches it.
        how: How,
        /// The first byte that it touches.
        address: u64,
        /// Where it does so, the innermost function first.
        frames: Vec<Frame>,
        /// An allocation there or near there.
        near: Option<Near>,
    },
    /// Something that the program has made is still there when the process ends.
    Leak {
        /// What it is: `stream`, `device memory`.
        what: String,
        /// How many there are of the same call from the same place.
        count: u64,
        /// Their bytes, if they are memory.
        bytes: u64,
        /// Where they were made.
        made: Made,
    },
}

const HOST_OF_COMMAND: &str = "graph/host";
const HOST_OF_DEVICE: &str = "memory/host";
const BAD_FREE: &str = "memory/bad-free";
const NEEDLESS: &str = "edges/needless";
const ARGUMENT: &str = "memory/argument";

const ACCESS_FAULTS: [AccessFault; 3] =
    [AccessFault::NoMemory, AccessFault::ReadOnly, AccessFault::Misaligned];

fn fault_rule(fault: AccessFault) -> &'static str {
    match fault {
        AccessFault::NoMemory => "memory/no-memory",
        AccessFault::ReadOnly => "memory/read-only",
        AccessFault::Misaligned => "memory/misaligned",
    }
}

const RACE_KINDS: [RaceKind; 4] = [RaceKind::Waves, RaceKind::Lanes, RaceKind::SameValue, RaceKind::Outside];

fn race_rule(kind: RaceKind) -> &'static str {
    match kind {
        RaceKind::Waves => "race/waves",
        RaceKind::Lanes => "race/lanes",
        RaceKind::SameValue => "race/same-value",
        RaceKind::Outside => "memory/outside",
    }
}

const SYNC_KINDS: [SyncKind; 4] =
    [SyncKind::DivergentBarrier, SyncKind::BarrierNotReached, SyncKind::InactiveLane, SyncKind::SplitLds];

fn sync_rule(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::DivergentBarrier => "sync/divergent-barrier",
        SyncKind::BarrierNotReached => "sync/barrier-not-reached",
        SyncKind::InactiveLane => "sync/inactive-lane",
        SyncKind::SplitLds => "sync/split-lds",
    }
}

const DEADLOCK: &str = "sync/deadlock";
const NOT_RESIDENT: &str = "sync/not-resident";

const UNINIT_KINDS: [UninitKind; 3] = [UninitKind::Branch, UninitKind::Address, UninitKind::Result];

fn uninit_rule(kind: UninitKind) -> &'static str {
    match kind {
        UninitKind::Branch => "init/branch",
        UninitKind::Address => "init/address",
        UninitKind::Result => "init/result",
    }
}

impl Finding {
    /// The tool that finds such.
    pub fn tool(&self) -> Tool {
        match self {
            Self::Unordered { .. } | Self::Host { command: Some(_), .. } => Tool::Graph,
            Self::Uninit { .. } | Self::Memory { misuse: Misuse::Unwritten, .. } => Tool::Init,
            Self::Memory { .. }
            | Self::Refused { .. }
            | Self::BadFree { .. }
            | Self::Argument { .. }
            | Self::Host { .. }
            | Self::Race { kind: RaceKind::Outside, .. } => Tool::Memory,
            Self::Race { kind: RaceKind::SameValue, .. } => Tool::SameValue,
            Self::Race { .. } => Tool::Race,
            Self::Sync { .. } | Self::Deadlock { .. } => Tool::Sync,
            Self::Leak { .. } => Tool::Leak,
            Self::Needless { .. } => Tool::Edges,
        }
    }

    /// The rule that the program breaks: the tool's word and one more.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Unordered { .. } => "graph/unordered",
            Self::Memory { misuse, .. } => misuse.rule(),
            Self::Refused { fault, .. } => fault_rule(*fault),
            Self::Host { command: Some(_), .. } => HOST_OF_COMMAND,
            Self::Host { .. } => HOST_OF_DEVICE,
            Self::BadFree { .. } => BAD_FREE,
            Self::Argument { .. } => ARGUMENT,
            Self::Needless { .. } => NEEDLESS,
            Self::Race { kind, .. } => race_rule(*kind),
            Self::Sync { kind, .. } => sync_rule(*kind),
            Self::Deadlock { waiting: 0, .. } => DEADLOCK,
            Self::Deadlock { .. } => NOT_RESIDENT,
            Self::Uninit { kind, .. } => uninit_rule(*kind),
            Self::Leak { bytes: 0, .. } => "leak/object",
            Self::Leak { .. } => "leak/memory",
        }
    }

    /// What suppressions know it by: the commands, or the command or object and the call that made the memory or the object.
    pub fn names(&self) -> [&str; 2] {
        match self {
            Self::Unordered { parties: [one, other], .. } => [&one.what, &other.what],
            Self::Memory { party, made, .. } => [&party.what, &made.call],
            Self::BadFree { made, .. } => ["free", &made.call],
            Self::Host { command: Some(command), .. } => ["the host", &command.what],
            Self::Host { near, .. } => ["the host", near.as_ref().map_or("", |near| &near.made.call)],
            Self::Needless { whats: [from, to], .. } => [from, to],
            Self::Refused { what, near: Some(near), .. }
            | Self::Argument { what, near: Some(near), .. }
            | Self::Uninit { what, near: Some(near), .. }
            | Self::Deadlock { what, near: Some(near), .. }
            | Self::Race { what, near: Some(near), .. } => [what, &near.made.call],
            Self::Refused { what, .. }
            | Self::Argument { what, .. }
            | Self::Uninit { what, .. }
            | Self::Race { what, .. }
            | Self::Deadlock { what, .. }
            | Self::Sync { what, .. } => [what, what],
            Self::Leak { what, made, .. } => [what, &made.call],
        }
    }

    /// The places in the program that it names: where memory or an object was made, was freed or is touched.
    pub fn frames_mut(&mut self) -> Vec<&mut Vec<Frame>> {
        let made = match self {
            Self::Host { frames, near, .. } => {
                return [frames]
                    .into_iter()
                    .chain(near.iter_mut().map(|near| &mut near.made.frames))
                    .collect();
            }
            Self::Unordered { .. } | Self::Sync { .. } | Self::Needless { .. } => None,
            Self::Refused { near, .. }
            | Self::Uninit { near, .. }
            | Self::Deadlock { near, .. }
            | Self::Argument { near, .. }
            | Self::Race { near, .. } => near.as_mut().map(|near| &mut near.made),
            Self::Memory { made, .. } | Self::BadFree { made, .. } | Self::Leak { made, .. } => Some(made),
        };
        made.map(|made| &mut made.frames).into_iter().collect()
    }

    /// The files that show its nodes.
    pub fn drawn(&self) -> &[String] {
        match self {
            Self::Unordered { drawn, .. } | Self::Needless { drawn, .. } => drawn,
            _ => &[],
        }
    }

    /// The instructions that it names, and the code that they are in, if it is about such.
    pub fn code_mut(&mut self) -> Option<(&Code, Vec<&mut Pc>)> {
        match self {
            Self::Refused { code, access, .. } | Self::Memory { code, access: Some(access), .. } => {
                Some((code, vec![&mut access.pc]))
            }
            Self::Race { code, access, other, .. } => {
                Some((code, [access].into_iter().chain(other).map(|access| &mut access.pc).collect()))
            }
            Self::Sync { code, pc, then, .. } => Some((code, vec![pc, then])),
            Self::Deadlock { code, pc, .. } => Some((code, vec![pc])),
            Self::Uninit { code, read, pc, .. } => Some((code, vec![read, pc])),
            _ => None,
        }
    }
}

fn word(how: How) -> &'static str {
    match how {
        How::Read => "reads",
        How::Write => "writes",
        How::Atomic => "changes by atomics",
    }
}
