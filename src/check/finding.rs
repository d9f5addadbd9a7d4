//! What is found, as data, as a line of a report and as text.

#![forbid(unsafe_code)]

use std::{fmt, ops::Range};

use emulator::{AccessFault, How, LocalKind, SyncKind, UninitByte, UninitKind};

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
}

impl Misuse {
    const ALL: [Self; 5] =
        [Self::OutOfBounds, Self::BeforeAllocation, Self::AfterFree, Self::UnorderedFree, Self::Unwritten];

    fn rule(self) -> &'static str {
        match self {
            Self::OutOfBounds => "memory/out-of-bounds",
            Self::BeforeAllocation => "memory/before-allocation",
            Self::AfterFree => "memory/after-free",
            Self::UnorderedFree => "memory/unordered-free",
            Self::Unwritten => "init/copied",
        }
    }
}

/// An instruction of a kernel that touches memory or LDS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
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
    },
    /// A command touches memory that it must not.
    Memory {
        /// What is wrong with it.
        misuse: Misuse,
        /// The command.
        party: Party,
        /// The command that allocates or frees the memory, and where that is; empty for [`Misuse::OutOfBounds`] and
        /// [`Misuse::Unwritten`].
        other: String,
        /// The bytes.
        bytes: Bytes,
        /// Where the memory was allocated.
        made: Made,
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
        /// The workgroup, by its number in the grid.
        workgroup: u64,
        /// The kernel's code.
        code: Code,
        /// The access.
        access: Instruction,
        /// An allocation there or near there.
        near: Option<Near>,
    },
    /// A kernel does to LDS what it must not.
    Local {
        /// What is wrong with it.
        kind: LocalKind,
        /// Where the command is, as in [`Party`].
        place: String,
        /// What it is.
        what: String,
        /// The workgroup, by its number in the grid; the first in which it was found.
        workgroup: u64,
        /// The kernel's code.
        code: Code,
        /// The first byte, as an offset into LDS.
        offset: u32,
        /// The access.
        access: Instruction,
        /// The access that it conflicts with.
        other: Option<Instruction>,
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

const BAD_FREE: &str = "memory/bad-free";
const NEEDLESS: &str = "edges/needless";

const ACCESS_FAULTS: [AccessFault; 3] =
    [AccessFault::NoMemory, AccessFault::ReadOnly, AccessFault::Misaligned];

fn fault_rule(fault: AccessFault) -> &'static str {
    match fault {
        AccessFault::NoMemory => "memory/no-memory",
        AccessFault::ReadOnly => "memory/read-only",
        AccessFault::Misaligned => "memory/misaligned",
    }
}

const LOCAL_KINDS: [LocalKind; 3] = [LocalKind::Waves, LocalKind::Lanes, LocalKind::Outside];

fn local_rule(kind: LocalKind) -> &'static str {
    match kind {
        LocalKind::Waves => "race/waves",
        LocalKind::Lanes => "race/lanes",
        LocalKind::Outside => "memory/outside-lds",
    }
}

const SYNC_KINDS: [SyncKind; 3] =
    [SyncKind::DivergentBarrier, SyncKind::BarrierNotReached, SyncKind::InactiveLane];

fn sync_rule(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::DivergentBarrier => "sync/divergent-barrier",
        SyncKind::BarrierNotReached => "sync/barrier-not-reached",
        SyncKind::InactiveLane => "sync/inactive-lane",
    }
}

const UNINIT_KINDS: [UninitKind; 3] = [UninitKind::Branch, UninitKind::Address, UninitKind::Result];

fn uninit_rule(kind: UninitKind) -> &'static str {
    match kind {
        UninitKind::Branch => "init/branch",
        UninitKind::Address => "init/address",
        UninitKind::Result => "init/result",
    }
}

/// What separates the fields of a line.
const SEPARATOR: char = '\t';

impl Finding {
    /// The tool that finds such.
    pub fn tool(&self) -> Tool {
        match self {
            Self::Unordered { .. } => Tool::Graph,
            Self::Uninit { .. } | Self::Memory { misuse: Misuse::Unwritten, .. } => Tool::Init,
            Self::Memory { .. }
            | Self::Refused { .. }
            | Self::BadFree { .. }
            | Self::Local { kind: LocalKind::Outside, .. } => Tool::Memory,
            Self::Local { .. } => Tool::Race,
            Self::Sync { .. } => Tool::Sync,
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
            Self::BadFree { .. } => BAD_FREE,
            Self::Needless { .. } => NEEDLESS,
            Self::Local { kind, .. } => local_rule(*kind),
            Self::Sync { kind, .. } => sync_rule(*kind),
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
            Self::Needless { whats: [from, to], .. } => [from, to],
            Self::Refused { what, near: Some(near), .. } | Self::Uninit { what, near: Some(near), .. } => {
                [what, &near.made.call]
            }
            Self::Refused { what, .. }
            | Self::Uninit { what, .. }
            | Self::Local { what, .. }
            | Self::Sync { what, .. } => [what, what],
            Self::Leak { what, made, .. } => [what, &made.call],
        }
    }

    /// Where the memory or the object was made, or was freed, if it is about such.
    pub fn made_mut(&mut self) -> Option<&mut Made> {
        match self {
            Self::Unordered { .. } | Self::Local { .. } | Self::Sync { .. } | Self::Needless { .. } => None,
            Self::Refused { near, .. } | Self::Uninit { near, .. } => {
                near.as_mut().map(|near| &mut near.made)
            }
            Self::Memory { made, .. } | Self::BadFree { made, .. } | Self::Leak { made, .. } => Some(made),
        }
    }

    /// The instructions that it names, and the code that they are in, if it is about such.
    pub fn code_mut(&mut self) -> Option<(&Code, Vec<&mut Pc>)> {
        match self {
            Self::Refused { code, access, .. } => Some((code, vec![&mut access.pc])),
            Self::Local { code, access, other, .. } => {
                Some((code, [access].into_iter().chain(other).map(|access| &mut access.pc).collect()))
            }
            Self::Sync { code, pc, then, .. } => Some((code, vec![pc, then])),
            Self::Uninit { code, read, pc, .. } => Some((code, vec![read, pc])),
            _ => None,
        }
    }

    /// The finding as a line of fields; [`Finding::from_line`] reads it.
    pub(super) fn line(&self) -> String {
        let mut fields = Fields(vec![self.rule().to_owned()]);
        match self {
            Self::Unordered { parties, of_one_launch, bytes } => {
                fields.put(of_one_launch);
                parties.iter().for_each(|party| fields.party(party));
                fields.bytes(bytes);
            }
            Self::Memory { party, other, bytes, made, .. } => {
                fields.party(party);
                fields.put(other);
                fields.bytes(bytes);
                fields.made(made);
            }
            Self::Refused { place, what, address, bytes, workgroup, code, access, near, .. } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                [address, bytes, workgroup].iter().for_each(|number| fields.put(number));
                fields.instruction(access);
                fields.near(near.as_ref());
            }
            Self::Local { place, what, workgroup, code, offset, access, other, count, .. } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                [*workgroup, u64::from(*offset), *count].iter().for_each(|number| fields.put(number));
                [access].into_iter().chain(other).for_each(|access| fields.instruction(access));
            }
            Self::Sync { place, what, workgroup, wave, lane, code, pc, then, count, .. } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                [workgroup, &pc.offset, &then.offset, count].iter().for_each(|number| fields.put(number));
                fields.put(wave);
                lane.iter().for_each(|lane| fields.put(lane));
            }
            Self::Uninit {
                place, what, workgroup, wave, lane, code, read, byte, pc, count, near, ..
            } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                let (memory, at) = match *byte {
                    UninitByte::Memory(address) => ("memory", address),
                    UninitByte::Lds(offset) => ("LDS", offset.into()),
                    UninitByte::Scratch(offset) => ("scratch", offset.into()),
                };
                fields.put(memory);
                [workgroup, &at, &read.offset, &pc.offset, count]
                    .iter()
                    .for_each(|number| fields.put(number));
                fields.put(wave);
                fields.put(lane.map_or("-".into(), |lane| lane.to_string()));
                fields.near(near.as_ref());
            }
            Self::Needless { places, whats, pairs } => {
                places.iter().chain(whats).for_each(|text| fields.put(text));
                fields.put(pairs);
            }
            Self::BadFree { address, again, made } => {
                fields.put(address);
                fields.put(again);
                fields.made(made);
            }
            Self::Leak { what, count, bytes, made } => {
                fields.put(what);
                fields.put(count);
                fields.put(bytes);
                fields.made(made);
            }
        }
        fields.0.join(&SEPARATOR.to_string())
    }

    /// A finding from a line of a [report](super::REPORT_VARIABLE); `None` if it is none.
    pub fn from_line(line: &str) -> Option<Self> {
        let mut fields = Read(line.split(SEPARATOR));
        let rule = fields.0.next()?;
        let finding = match rule {
            "graph/unordered" => {
                let of_one_launch = fields.next()?;
                let parties = [fields.party()?, fields.party()?];
                Self::Unordered { parties, of_one_launch, bytes: fields.bytes()? }
            }
            "leak/object" | "leak/memory" => {
                let (what, count, bytes) = (fields.next()?, fields.next()?, fields.next()?);
                Self::Leak { what, count, bytes, made: fields.made()? }
            }
            NEEDLESS => {
                let places = [fields.next()?, fields.next()?];
                Self::Needless { places, whats: [fields.next()?, fields.next()?], pairs: fields.next()? }
            }
            BAD_FREE => {
                Self::BadFree { address: fields.next()?, again: fields.next()?, made: fields.made()? }
            }
            _ if let Some(fault) = ACCESS_FAULTS.into_iter().find(|fault| fault_rule(*fault) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (address, bytes, workgroup) = (fields.next()?, fields.next()?, fields.next()?);
                let (access, near) = (fields.instruction()?, fields.near()?);
                Self::Refused { fault, place, what, address, bytes, workgroup, code, access, near }
            }
            _ if let Some(kind) = LOCAL_KINDS.into_iter().find(|kind| local_rule(*kind) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (workgroup, offset, count) = (fields.next()?, fields.next()?, fields.next()?);
                let access = fields.instruction()?;
                let other = if kind == LocalKind::Outside { None } else { Some(fields.instruction()?) };
                Self::Local { kind, place, what, workgroup, code, offset, access, other, count }
            }
            _ if let Some(kind) = SYNC_KINDS.into_iter().find(|kind| sync_rule(*kind) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (workgroup, pc, then) = (fields.next()?, fields.pc()?, fields.pc()?);
                let (count, wave) = (fields.next()?, fields.next()?);
                let lane = if kind == SyncKind::BarrierNotReached { None } else { Some(fields.next()?) };
                Self::Sync { kind, place, what, workgroup, wave, lane, code, pc, then, count }
            }
            _ if let Some(kind) = UNINIT_KINDS.into_iter().find(|kind| uninit_rule(*kind) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (memory, workgroup) = (fields.next::<String>()?, fields.next()?);
                let byte = match memory.as_str() {
                    "memory" => UninitByte::Memory(fields.next()?),
                    "LDS" => UninitByte::Lds(fields.next()?),
                    _ => UninitByte::Scratch(fields.next()?),
                };
                let (read, pc, count) = (fields.pc()?, fields.pc()?, fields.next()?);
                let (wave, lane) = (fields.next()?, fields.next::<String>()?);
                let lane = if lane == "-" { None } else { Some(lane.parse().ok()?) };
                let near = fields.near()?;
                Self::Uninit { kind, place, what, workgroup, wave, lane, code, read, byte, pc, count, near }
            }
            _ => {
                let misuse = Misuse::ALL.into_iter().find(|misuse| misuse.rule() == rule)?;
                let (party, other) = (fields.party()?, fields.next()?);
                Self::Memory { misuse, party, other, bytes: fields.bytes()?, made: fields.made()? }
            }
        };
        fields.0.next().is_none().then_some(finding)
    }
}

struct Fields(Vec<String>);

impl Fields {
    fn put(&mut self, field: impl ToString) {
        // A name may hold anything.
        self.0.push(field.to_string().replace([SEPARATOR, '\n'], " "));
    }

    fn party(&mut self, Party { place, what, how }: &Party) {
        [place, what, word(*how)].iter().for_each(|text| self.put(text));
    }

    fn instruction(&mut self, Instruction { wave, how, pc }: &Instruction) {
        self.put(wave);
        self.put(word(*how));
        self.put(pc.offset);
    }

    fn code(&mut self, Code { object, descriptor, entry }: &Code) {
        [object, descriptor].iter().for_each(|text| self.put(text));
        self.put(entry);
    }

    fn made(&mut self, Made { call, frames }: &Made) {
        self.put(call);
        for Frame { object, offset, symbol, .. } in frames {
            self.put(object);
            self.put(offset);
            self.put(symbol);
        }
    }

    /// Ends the line.
    fn near(&mut self, near: Option<&Near>) {
        if let Some(Near { allocation, is_freed, made }) = near {
            [allocation.start, allocation.end].iter().for_each(|number| self.put(number));
            self.put(is_freed);
            self.made(made);
        }
    }

    fn bytes(&mut self, Bytes { first, total, allocation }: &Bytes) {
        [first.start, first.end, *total, allocation.start, allocation.end].iter().for_each(|n| self.put(n));
    }
}

struct Read<'a>(std::str::Split<'a, char>);

impl Read<'_> {
    fn next<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let first = self.next()?..self.next()?;
        Some(Bytes { first, total: self.next()?, allocation: self.next()?..self.next()? })
    }

    /// What the line ends with.
    fn made(&mut self) -> Option<Made> {
        let mut made = Made { call: self.next()?, frames: Vec::new() };
        while let Some(object) = self.next() {
            let (offset, symbol) = (self.next()?, self.next()?);
            made.frames.push(Frame { object, offset, symbol, line: None });
        }
        Some(made)
    }

    /// What the line ends with, if anything.
    fn near(&mut self) -> Option<Option<Near>> {
        let Some(start) = self.0.next() else { return Some(None) };
        let allocation = start.parse().ok()?..self.next()?;
        Some(Some(Near { allocation, is_freed: self.next()?, made: self.made()? }))
    }

    fn how(&mut self) -> Option<How> {
        let name = self.0.next()?;
        [How::Read, How::Write, How::Atomic].into_iter().find(|how| word(*how) == name)
    }

    fn party(&mut self) -> Option<Party> {
        Some(Party { place: self.next()?, what: self.next()?, how: self.how()? })
    }

    fn instruction(&mut self) -> Option<Instruction> {
        Some(Instruction { wave: self.next()?, how: self.how()?, pc: self.pc()? })
    }

    fn pc(&mut self) -> Option<Pc> {
        self.next().map(Pc::new)
    }

    fn code(&mut self) -> Option<Code> {
        Some(Code { object: self.next()?, descriptor: self.next()?, entry: self.next()? })
    }
}

impl fmt::Display for Pc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset.cast_signed() {
            before @ ..0 => write!(f, "kernel-{:#x}", before.unsigned_abs())?,
            behind => write!(f, "kernel+{behind:#x}")?,
        }
        self.line.as_ref().map_or(Ok(()), |line| write!(f, " ({line})"))
    }
}

fn word(how: How) -> &'static str {
    match how {
        How::Read => "reads",
        How::Write => "writes",
        How::Atomic => "changes by atomics",
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, total, allocation } = self;
        write!(
            f,
            "{total} bytes, the first at {:#x}: byte {} of an allocation of {} bytes at {:#x}",
            first.start,
            first.start - allocation.start,
            allocation.end - allocation.start,
            allocation.start
        )
    }
}

impl Near {
    /// Says where an address is beside the allocation.
    fn describe(&self, address: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocation: Range { start, end }, is_freed, made } = self;
        let place = match address {
            _ if address < *start => format!("{} bytes before", start - address),
            _ if address < *end => format!("byte {} of", address - start),
            _ => format!("{} bytes behind", address - end),
        };
        let freed = if *is_freed { ", which is freed" } else { "" };
        write!(f, "\n    {place} an allocation of {} bytes at {start:#x}{freed}", end - start)?;
        write!(f, "\n    allocated by {made}")
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.call.is_empty() { "a call of the Rust interface" } else { &self.call })?;
        self.frames.iter().try_for_each(|frame| write!(f, "\n        {frame}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unordered { parties: [one, other], of_one_launch, bytes } => {
                let said = if *of_one_launch { "no edge orders" } else { "nothing orders" };
                writeln!(f, "{said} {} ({}) and {} ({})", one.place, one.what, other.place, other.what)?;
                writeln!(f, "    the one {} and the other {} {bytes}", word(one.how), word(other.how))?;
                match of_one_launch {
                    true => write!(f, "    an edge from {} to {} would order them", one.place, other.place),
                    false => write!(
                        f,
                        "    an event that is recorded behind the one and waited for before the other would order them"
                    ),
                }
            }
            Self::Memory { misuse, party: Party { place, what, how }, other, bytes, made } => {
                let how = word(*how);
                match misuse {
                    Misuse::OutOfBounds => {
                        let behind = bytes.first.start - bytes.allocation.end;
                        write!(f, "{place} ({what}) {how} memory {behind} bytes behind an allocation")?;
                    }
                    Misuse::BeforeAllocation => {
                        write!(
                            f,
                            "{place} ({what}) {how} memory and is not behind its allocation by {other}"
                        )?;
                    }
                    Misuse::AfterFree => {
                        write!(f, "{place} ({what}) {how} memory behind its free by {other}")?
                    }
                    Misuse::Unwritten => {
                        write!(f, "{place} ({what}) copies to the host memory that nothing has written")?;
                    }
                    Misuse::UnorderedFree => {
                        write!(
                            f,
                            "{place} ({what}) {how} memory, and nothing orders that with its free by {other}"
                        )?;
                    }
                }
                write!(f, "\n    {bytes}\n    allocated by {made}")
            }
            Self::Refused { fault, place, what, address, bytes, workgroup, access, near, .. } => {
                let Instruction { wave, how, pc } = access;
                let why = match fault {
                    AccessFault::NoMemory => "where no memory is".into(),
                    AccessFault::ReadOnly => "where memory may only be read".into(),
                    AccessFault::Misaligned => format!("which is no multiple of {bytes}"),
                };
                writeln!(f, "{place} ({what}) {} {bytes} bytes at {address:#x}, {why}", word(*how))?;
                write!(f, "    wave {wave} at {pc}, workgroup {workgroup}")?;
                near.as_ref().map_or(Ok(()), |near| near.describe(*address, f))
            }
            Self::Local { kind, place, what, workgroup, offset, access, other, count, .. } => {
                let access_at = |Instruction { wave, how, pc }: &Instruction| {
                    format!("wave {wave} {} at {pc}", word(*how))
                };
                let said = match kind {
                    LocalKind::Waves => "touch the same bytes of LDS, and no barrier is between",
                    LocalKind::Lanes => "write different values to the same bytes of LDS",
                    LocalKind::Outside => "beyond the LDS that was asked for",
                };
                match (kind, other) {
                    (LocalKind::Waves, Some(other)) => {
                        write!(
                            f,
                            "waves of {place} ({what}) {said}\n    {}, {}",
                            access_at(other),
                            access_at(access)
                        )?;
                    }
                    (LocalKind::Lanes, _) => {
                        write!(f, "lanes of {place} ({what}) {said}\n    {}", access_at(access))?;
                    }
                    _ => write!(
                        f,
                        "{place} ({what}) {} LDS {said}\n    {}",
                        word(access.how),
                        access_at(access)
                    )?,
                }
                let times = if *kind == LocalKind::Outside { "accesses" } else { "bytes" };
                write!(f, ", first in workgroup {workgroup} at offset {offset}; {count} {times} in all")
            }
            Self::Sync { kind, place, what, workgroup, wave, lane, pc, then, count, .. } => {
                let lane = lane.unwrap_or_default();
                match kind {
                    SyncKind::DivergentBarrier => write!(
                        f,
                        "waves of {place} ({what}) wait at a barrier with lanes off that go on behind it\n    \
                         wave {wave} waits at {pc}, its lane {lane} goes on at {then}"
                    )?,
                    SyncKind::BarrierNotReached => write!(
                        f,
                        "waves of {place} ({what}) go on behind a barrier that others wait at\n    \
                         wave {wave} goes on at {then}, others wait at {pc}"
                    )?,
                    SyncKind::InactiveLane => write!(
                        f,
                        "lanes of {place} ({what}) use what they read from lanes that are off\n    \
                         wave {wave} reads at {pc}, its lane {lane} uses that at {then}"
                    )?,
                }
                let times = match kind {
                    SyncKind::DivergentBarrier => "barriers",
                    SyncKind::BarrierNotReached => "waves",
                    SyncKind::InactiveLane => "lanes",
                };
                write!(f, ", first in workgroup {workgroup}; {count} {times} in all")
            }
            Self::Uninit {
                kind, place, what, workgroup, wave, lane, read, byte, pc, count, near, ..
            } => {
                let (depends, does) = match kind {
                    UninitKind::Branch => ("goes a way", "branches"),
                    UninitKind::Address => ("accesses an address", "accesses it"),
                    UninitKind::Result => ("stores a result", "stores"),
                };
                let from = match byte {
                    UninitByte::Memory(address) => format!("memory at {address:#x}"),
                    UninitByte::Lds(offset) => format!("LDS at offset {offset}"),
                    UninitByte::Scratch(offset) => format!("scratch at offset {offset}"),
                };
                let (who, all) = match lane {
                    Some(lane) => (format!("its lane {lane}"), "lanes"),
                    None => ("it".into(), "waves"),
                };
                writeln!(f, "{place} ({what}) {depends} that depends on bytes that nothing has written")?;
                write!(f, "    wave {wave} reads {from} at {read}, {who} {does} at {pc}")?;
                write!(f, ", first in workgroup {workgroup}; {count} {all} in all")?;
                match (near, byte) {
                    (Some(near), UninitByte::Memory(address)) => near.describe(*address, f),
                    _ => Ok(()),
                }
            }
            Self::Needless { places: [from, to], whats: [one, other], pairs } => {
                let (pairs, are) =
                    if *pairs == 1 { ("1 pair".into(), "is") } else { (format!("{pairs} pairs"), "are") };
                write!(f, "an edge orders {from} ({one}) before {to} ({other}), and no data needs that")?;
                write!(f, "\n    {pairs} of nodes {are} in an order by it and could run side by side")
            }
            Self::BadFree { address, again, made } => {
                let again = if *again { "was freed before" } else { "is no allocation" };
                write!(f, "{address:#x} is freed and {again}\n    by {made}")
            }
            Self::Leak { what, count, bytes, made } => {
                let (what, is) = match count {
                    1 => (what.clone(), "is"),
                    _ => (format!("{count} of {what}"), "are"),
                };
                let of = if *bytes > 0 { format!(" of {bytes} bytes") } else { String::new() };
                write!(f, "{what}{of} {is} still there at the end\n    made by {made}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_read_as_they_were_written() {
        let party = |what: &str, how| Party { place: "stream 1".into(), what: what.into(), how };
        let code = || Code { object: "report-1.co".into(), descriptor: "f.kd".into(), entry: 4096 };
        let frame = Frame { object: "/bin/p".into(), offset: 16, symbol: String::new(), line: None };
        let findings = [
            Finding::Unordered {
                parties: [party("memset", How::Write), party("kernel f(int*)", How::Atomic)],
                of_one_launch: true,
                bytes: Bytes { first: 16..20, total: 8, allocation: 0..64 },
            },
            Finding::Local {
                kind: LocalKind::Waves,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                code: code(),
                offset: 16,
                access: Instruction { wave: 1, how: How::Read, pc: Pc::new(64) },
                other: Some(Instruction { wave: 0, how: How::Write, pc: Pc::new(16) }),
                count: 128,
            },
            Finding::Refused {
                fault: AccessFault::NoMemory,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                address: 128,
                bytes: 4,
                workgroup: 3,
                code: code(),
                access: Instruction { wave: 1, how: How::Read, pc: Pc::new(64) },
                near: Some(Near {
                    allocation: 16..64,
                    is_freed: true,
                    made: Made { call: "hipMalloc".into(), frames: vec![frame.clone()] },
                }),
            },
            Finding::Refused {
                fault: AccessFault::Misaligned,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                address: 3,
                bytes: 4,
                workgroup: 3,
                code: code(),
                access: Instruction { wave: 1, how: How::Atomic, pc: Pc::new(64) },
                near: None,
            },
            Finding::Sync {
                kind: SyncKind::DivergentBarrier,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: Some(5),
                code: code(),
                pc: Pc::new(64),
                then: Pc::new(96),
                count: 2,
            },
            Finding::Sync {
                kind: SyncKind::BarrierNotReached,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: None,
                code: code(),
                pc: Pc::new(64),
                then: Pc::new(96),
                count: 2,
            },
            Finding::Uninit {
                kind: UninitKind::Result,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: Some(7),
                code: code(),
                read: Pc::new(64),
                byte: UninitByte::Memory(4096),
                pc: Pc::new(96),
                count: 2,
                near: Some(Near {
                    allocation: 4096..4100,
                    is_freed: false,
                    made: Made { call: "hipMalloc".into(), frames: vec![frame.clone()] },
                }),
            },
            Finding::Uninit {
                kind: UninitKind::Branch,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: None,
                code: code(),
                read: Pc::new(64),
                byte: UninitByte::Lds(8),
                pc: Pc::new(96),
                count: 2,
                near: None,
            },
            Finding::Needless {
                places: ["node 0.1 of executable 1".into(), "node 0.2 of executable 1".into()],
                whats: ["memset".into(), "kernel f()".into()],
                pairs: 3,
            },
            Finding::Leak {
                what: "stream".into(),
                count: 2,
                bytes: 0,
                made: Made { call: "hipStreamCreate".into(), frames: vec![frame.clone(), frame] },
            },
        ];
        for finding in findings {
            let line = finding.line();
            assert_eq!(Finding::from_line(&line), Some(finding), "{line}");
            for end in line.match_indices(SEPARATOR).map(|(end, _)| end) {
                // What lists calls, and what is near or not, may end sooner.
                let may_end = ["leak", "memory/no-memory", "init"].iter().any(|rule| line.starts_with(rule));
                assert!(Finding::from_line(&line[..end]).is_none_or(|_| may_end), "{line}");
            }
            assert_eq!(Finding::from_line(&format!("{line}\tmore")), None);
        }
    }

    #[test]
    fn names_cannot_break_a_line() {
        let made = Made { call: "a\tb\nc".into(), frames: Vec::new() };
        let finding = Finding::Leak { what: "event".into(), count: 1, bytes: 0, made };
        assert_eq!(
            Finding::from_line(&finding.line()).map(|read| read.names()[1].to_owned()),
            Some("a b c".into())
        );
    }
}
