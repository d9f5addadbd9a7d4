//! A finding as text.

#![forbid(unsafe_code)]

use std::{fmt, ops::Range};

use emulator::{AccessFault, Awaited, How, RaceByte, RaceKind, SyncKind, UninitByte, UninitKind};

use super::{Bytes, Finding, Instruction, Made, Misuse, Near, Party, Pc, word};

impl fmt::Display for Pc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset.cast_signed() {
            before @ ..0 => write!(f, "kernel-{:#x}", before.unsigned_abs())?,
            behind => write!(f, "kernel+{behind:#x}")?,
        }
        self.line.as_ref().map_or(Ok(()), |line| write!(f, " ({line})"))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, total, allocation } = self;
        let at = first.start;
        write!(
            f,
            "{total} bytes, the first at {at:#x}: {} an allocation of {} bytes at {:#x}",
            place(at, allocation),
            allocation.end - allocation.start,
            allocation.start
        )
    }
}

/// Where an address is beside an allocation.
fn place(address: u64, Range { start, end }: &Range<u64>) -> String {
    match address {
        _ if address < *start => format!("{} bytes before", start - address),
        _ if address < *end => format!("byte {} of", address - start),
        _ => format!("{} bytes behind", address - end),
    }
}

impl Near {
    /// Says where an address is beside the allocation.
    fn describe(&self, address: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocation, is_freed, made } = self;
        let Range { start, end } = allocation;
        let place = place(address, allocation);
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
            Self::Unordered { parties: [one, other], of_one_launch, bytes, captured, .. } => {
                let said = if *of_one_launch { "no edge orders" } else { "nothing orders" };
                writeln!(f, "{said} {} ({}) and {} ({})", one.place, one.what, other.place, other.what)?;
                writeln!(f, "    the one {} and the other {} {bytes}", word(one.how), word(other.how))?;
                // The number of the graph stands before that of the node.
                let graph = |party: &Party| party.place.split('.').next().map(str::to_owned);
                match of_one_launch {
                    true if graph(one) != graph(other) => write!(
                        f,
                        "    an edge between the nodes of one graph that they are, or are in, would order them"
                    ),
                    true => write!(f, "    an edge from {} to {} would order them", one.place, other.place),
                    false => write!(
                        f,
                        "    an event that is recorded behind the one and waited for before the other would order them"
                    ),
                }?;
                captured.iter().try_for_each(|sentence| write!(f, "\n    {sentence}"))
            }
            Self::Memory {
                misuse, party: Party { place, what, how }, other, bytes, made, access, ..
            } => {
                let how = word(*how);
                match misuse {
                    Misuse::OutOfBounds => {
                        write!(f, "{place} ({what}) {how} memory outside of an allocation")?;
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
                    Misuse::Constant => {
                        write!(f, "{place} ({what}) {how} memory that is constant for kernels")?;
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
                if let Some(Instruction { workgroup, wave, pc, .. }) = access {
                    write!(f, "\n    wave {wave} at {pc}, workgroup {workgroup}")?;
                }
                write!(f, "\n    {bytes}")?;
                if *misuse == Misuse::Constant { Ok(()) } else { write!(f, "\n    allocated by {made}") }
            }
            Self::Refused { fault, place, what, address, bytes, access, near, .. } => {
                let Instruction { workgroup, wave, how, pc } = access;
                let why = match fault {
                    AccessFault::NoMemory => "where no memory is".into(),
                    AccessFault::ReadOnly => "where memory may only be read".into(),
                    AccessFault::Misaligned => format!("which is no multiple of {bytes}"),
                };
                writeln!(f, "{place} ({what}) {} {bytes} bytes at {address:#x}, {why}", word(*how))?;
                write!(f, "    wave {wave} at {pc}, workgroup {workgroup}")?;
                near.as_ref().map_or(Ok(()), |near| near.describe(*address, f))
            }
            Self::Argument { place, what, number, address, is_freed, near } => {
                let to = if *is_freed { "into memory that is freed" } else { "to no memory" };
                write!(
                    f,
                    "{place} ({what}) gets {address:#x} as argument {}, which points {to}",
                    number + 1
                )?;
                near.as_ref().map_or(Ok(()), |near| near.describe(*address, f))
            }
            Self::Race { kind, place, what, byte, access, other, near, count, .. } => {
                let of_memory = matches!(byte, RaceByte::Memory(_));
                let access_at = |Instruction { workgroup, wave, how, pc }: &Instruction| {
                    let workgroup = if of_memory { format!("workgroup {workgroup} ") } else { String::new() };
                    format!("{workgroup}wave {wave} {} at {pc}", word(*how))
                };
                let bytes = match byte {
                    RaceByte::Memory(_) => "memory",
                    RaceByte::Lds(_) => "LDS",
                    RaceByte::Scratch(_) => "scratch",
                };
                let accesses = other.iter().chain([access]).map(access_at);
                match kind {
                    RaceKind::Waves if of_memory => {
                        write!(
                            f,
                            "waves of {place} ({what}) touch the same bytes of memory, and nothing orders them"
                        )?;
                    }
                    RaceKind::Waves => {
                        write!(
                            f,
                            "waves of {place} ({what}) touch the same bytes of LDS, and no barrier is between"
                        )?;
                    }
                    RaceKind::SameValue => {
                        write!(
                            f,
                            "waves of {place} ({what}) write the same value to the same bytes of {bytes}, and nothing orders them"
                        )?;
                    }
                    RaceKind::Lanes => {
                        write!(
                            f,
                            "lanes of {place} ({what}) write different values to the same bytes of {bytes}"
                        )?;
                    }
                    RaceKind::Outside => {
                        let how = word(access.how);
                        let end = match byte {
                            RaceByte::Scratch(_) => "what a lane has of it",
                            _ => "the LDS that was asked for",
                        };
                        write!(f, "{place} ({what}) {how} {bytes} beyond {end}")?;
                    }
                }
                let accesses: Vec<_> = match kind {
                    RaceKind::Lanes => vec![access_at(access)],
                    RaceKind::Waves | RaceKind::SameValue | RaceKind::Outside => accesses.collect(),
                };
                write!(f, "\n    {}, first ", accesses.join(", "))?;
                let times = if *kind == RaceKind::Outside { "accesses" } else { "bytes" };
                match byte {
                    RaceByte::Memory(address) => {
                        write!(f, "at {address:#x}; {count} {times} in all")?;
                        near.as_ref().map_or(Ok(()), |near| near.describe(*address, f))
                    }
                    RaceByte::Lds(offset) | RaceByte::Scratch(offset) => {
                        // What is before it is far behind as an unsigned number.
                        let (workgroup, offset) = (access.workgroup, offset.cast_signed());
                        write!(f, "in workgroup {workgroup} at offset {offset}; {count} {times} in all")
                    }
                }
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
                    SyncKind::SplitLds => write!(
                        f,
                        "workgroups of {place} ({what}) have LDS, which their waves do not share\n    \
                         they may be on different compute units (tgsplit)"
                    )?,
                }
                let times = match kind {
                    SyncKind::DivergentBarrier => "barriers",
                    SyncKind::BarrierNotReached => "waves",
                    SyncKind::InactiveLane => "lanes",
                    SyncKind::SplitLds => "workgroups",
                };
                write!(f, ", first in workgroup {workgroup}; {count} {times} in all")
            }
            Self::Deadlock { place, what, workgroup, wave, pc, awaited, waiting, near, .. } => {
                let (does, at) = match awaited {
                    Awaited::Memory(address) => (format!("loads memory at {address:#x}"), Some(*address)),
                    Awaited::Lds(offset) => (format!("loads LDS at offset {offset}"), None),
                    Awaited::Grid => ("waits for the grid".into(), None),
                    Awaited::Nothing => ("goes round in a loop that loads nothing".into(), None),
                };
                writeln!(f, "{place} ({what}) waits for what no wave will do, and was ended")?;
                write!(
                    f,
                    "    wave {wave} of workgroup {workgroup} {does} at {pc}, and no other wave does more"
                )?;
                match waiting {
                    0 => {}
                    1 => write!(f, "\n    1 workgroup has no place on the device before others end")?,
                    _ => {
                        write!(f, "\n    {waiting} workgroups have no place on the device before others end")?
                    }
                }
                match (near, at) {
                    (Some(near), Some(address)) => near.describe(address, f),
                    _ => Ok(()),
                }
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
            Self::Needless { places: [from, to], whats: [one, other], pairs, costs, .. } => {
                let (pairs, are) =
                    if *pairs == 1 { ("1 pair".into(), "is") } else { (format!("{pairs} pairs"), "are") };
                write!(f, "an edge orders {from} ({one}) before {to} ({other}), and no data needs that")?;
                write!(f, "\n    {pairs} of nodes {are} in an order by it and could run side by side")?;
                let Some((with, without)) = costs else { return self.say_drawn(f) };
                write!(
                    f,
                    "\n    with it a launch takes {} ns by the cost table, without it {} ns",
                    with.ns, without.ns
                )?;
                let others = with.named().into_iter().zip(without.named()).skip(1);
                others.filter(|(with, without)| with != without).try_for_each(
                    |((name, with), (_, without))| write!(f, "; {name}: {with}, without it {without}"),
                )
            }
            Self::Host { command, how, address, frames, near } => {
                let how = word(*how);
                match command {
                    Some(Party { place, what, how: other }) => {
                        let has = if *other == How::Read { "reads" } else { "writes" };
                        write!(
                            f,
                            "the host {how} memory that {place} ({what}) {has}, and has not waited for it"
                        )?;
                    }
                    None => write!(f, "the host {how} memory of a device at {address:#x}")?,
                }
                frames.iter().try_for_each(|frame| write!(f, "\n        {frame}"))?;
                near.as_ref().map_or(Ok(()), |near| near.describe(*address, f))
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
        }?;
        self.say_drawn(f)
    }
}

impl Finding {
    fn say_drawn(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.drawn().iter().try_for_each(|name| write!(f, "\n    drawn in {name}"))
    }
}
