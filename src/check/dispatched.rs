//! What is found of a dispatch that has ended: within it, and of what it was given, copied and was ordered by.

#![forbid(unsafe_code)]

use std::{ops::Range, sync::Arc};

use emulator::{
    Awaited, Deadlock, Dispatched, How, RaceByte, RaceFinding, RaceKind, Refused, SyncFinding, Touched,
    UninitByte, UninitFinding, UninitKind,
};

use super::{
    allocations, code,
    command::{Command, Place},
    drawing::Marked,
    finding::{Bytes, Finding, Instruction, Misuse, Pc},
    needless::Needless,
    state::{State, Stray, instruction},
};
use crate::device::{Tool, checked, timeline::Work};

impl State {
    /// Says what is wrong within a dispatch, be it of a command that is known or not.
    pub(super) fn look_into(&mut self, command: Option<&Command>, dispatch: &Dispatched<'_>) {
        let named = || {
            let known = command.map(|command| (command.place(), command.what.clone()));
            known.unwrap_or_else(|| {
                let kernel = aqlipse_graph::dot::readable(&(dispatch.kernel)());
                ("a dispatch".into(), format!("kernel {kernel}"))
            })
        };
        let pc_of = |pc: u64| Pc::new(pc.wrapping_sub(dispatch.entry));
        if let Some(refused) = dispatch.refused.filter(|_| checked::is_on(Tool::Memory)) {
            let Refused { fault, address, bytes, how, workgroup, wave, pc } = refused;
            let (place, what) = named();
            let access = Instruction { workgroup, wave, how, pc: pc_of(pc) };
            let code = code::of(dispatch);
            let near = self.near(address);
            self.found.push(Finding::Refused { fault, place, what, address, bytes, code, access, near });
        }
        for &UninitFinding { kind, workgroup, wave, lane, pc, read, byte, count } in dispatch.uninit {
            // The runtime's wait for a value reads what is there before it is written, too.
            if kind == UninitKind::Branch && code::is_own(dispatch.kernel_object) {
                continue;
            }
            let (place, what) = named();
            let [pc, read] = [pc, read].map(pc_of);
            let names = [what.clone(), format!("{kind:?}"), pc.to_string(), read.to_string()];
            if self.known.insert(names) {
                let near = match byte {
                    UninitByte::Memory(address) => self.near(address),
                    UninitByte::Lds(_) | UninitByte::Scratch(_) => None,
                };
                self.found.push(Finding::Uninit {
                    kind,
                    place,
                    what,
                    workgroup,
                    wave,
                    lane,
                    code: code::of(dispatch),
                    read,
                    byte,
                    pc,
                    count,
                    near,
                });
            }
        }
        if let Some(Deadlock { workgroup, wave, pc, awaited, waiting }) = dispatch.deadlock {
            let (place, what) = named();
            let near = match awaited {
                Awaited::Memory(address) => self.near(address),
                Awaited::Lds(_) | Awaited::Grid | Awaited::Nothing => None,
            };
            let (code, pc) = (code::of(dispatch), pc_of(pc));
            self.found.push(Finding::Deadlock {
                place,
                what,
                workgroup,
                wave,
                code,
                pc,
                awaited,
                waiting,
                near,
            });
        }
        for &SyncFinding { kind, workgroup, wave, lane, pc, then, count } in dispatch.sync {
            if !checked::is_on(Tool::Sync) {
                break;
            }
            let (place, what) = named();
            let [pc, then] = [pc, then].map(pc_of);
            let names = [what.clone(), format!("{kind:?}"), pc.to_string(), String::new()];
            if self.known.insert(names) {
                self.found.push(Finding::Sync {
                    kind,
                    place,
                    what,
                    workgroup,
                    wave,
                    lane,
                    code: code::of(dispatch),
                    pc,
                    then,
                    count,
                });
            }
        }
        for &RaceFinding { kind, access, other, byte, count } in dispatch.races {
            // What the runtime has of its own in memory is not the program's.
            let near = match byte {
                RaceByte::Lds(_) | RaceByte::Scratch(_) => None,
                RaceByte::Memory(at)
                    if allocations::table().is_some_and(|table| table.extent(at).is_some()) =>
                {
                    self.near(at)
                }
                RaceByte::Memory(_) => continue,
            };
            let tool = match kind {
                RaceKind::Outside => Tool::Memory,
                RaceKind::SameValue => Tool::SameValue,
                RaceKind::Waves | RaceKind::Lanes => Tool::Race,
            };
            if !checked::is_on(tool) {
                continue;
            }
            let instruction = |access| instruction(dispatch, access);
            let (access, other) = (instruction(access), other.map(instruction));
            let (place, what) = named();
            let at = |instruction: &Instruction| instruction.pc.to_string();
            let of_memory = matches!(byte, RaceByte::Memory(_));
            let names = [
                what.clone(),
                format!("{kind:?} {of_memory}"),
                at(&access),
                other.as_ref().map(at).unwrap_or_default(),
            ];
            if self.known.insert(names) {
                let code = code::of(dispatch);
                self.found.push(Finding::Race { kind, place, what, code, byte, access, other, near, count });
            }
        }
    }

    /// Says which pointers of a dispatch that has ended point nowhere, unless it was seen to follow such.
    pub(super) fn tell_strays(&mut self, command: &Command, dispatch: &Dispatched<'_>, strays: Vec<Stray>) {
        if dispatch.refused.is_some() || !dispatch.firsts.is_empty() {
            return;
        }
        for Stray { number, address, is_freed } in strays {
            let (place, what) = (command.place(), command.what.clone());
            let names = [what.clone(), format!("argument {number}"), is_freed.to_string(), String::new()];
            if self.known.insert(names) {
                let near = self.near(address);
                self.found.push(Finding::Argument { place, what, number, address, is_freed, near });
            }
        }
    }

    /// Says so if a command copies to the host what nothing has written: all of it, or more in a row than padding takes.
    pub(super) fn look_at_copy(&mut self, command: &Command, touched: &Touched) {
        /// Bytes in a row that may be padding.
        const PADDING: u64 = 64;
        let table = allocations::table().filter(|_| command.what == Work::COPY);
        let written = touched.ranges(How::Write);
        let Some(first) = written.first().map(|range| range.start) else { return };
        if table.is_none_or(|table| table.is_of_device(first)) {
            return;
        }
        let unwritten = touched.ranges(How::Read).into_iter().flat_map(emulator::uninitialized_in);
        let unwritten: Vec<Range<u64>> = unwritten.collect();
        let count = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        let all = count(&unwritten) == count(&written);
        let Some(first) = unwritten.iter().find(|run| all || run.end - run.start >= PADDING).cloned() else {
            return;
        };
        let Some((allocation, _, site)) = self.lives.near(first.start) else { return };
        let (allocation, made) = (allocation.clone(), site.look_up());
        let party = command.party(How::Read);
        let misuse = Misuse::Unwritten;
        let names = [&party.place, &party.what, &made.to_string(), &format!("{misuse:?}")].map(String::clone);
        if self.known.insert(names) {
            let bytes = Bytes { first, total: count(&unwritten), allocation };
            let (other, code, access) = Default::default();
            self.found.push(Finding::Memory { misuse, party, other, bytes, made, code, access });
        }
    }

    /// Says which edges of a launch no data needs, if a command was the last of its dispatches.
    pub(super) fn look_at_edges(&mut self, command: &Command, touched: &Touched) {
        let Place::Node { launch, place, .. } = &command.place else { return };
        let Some(number) = self.looked.iter().position(|looked| Arc::ptr_eq(&looked.launch, launch)) else {
            return;
        };
        if !self.looked[number].end(*place, touched, &command.what) {
            return;
        }
        let looked = self.looked.swap_remove(number);
        let (Some(edges), Some(table)) = (&launch.order.edges, allocations::table()) else { return };
        for Needless { from, to, pairs, costs } in looked.needless(edges, |at| table.extent(at).is_some()) {
            let ends = [from, to];
            let [one, other] = ends.map(|end| &*launch.order.names[end as usize]);
            let drawing = launch.order.drawing.as_ref();
            let mark = Some(Marked::Needless(one, other));
            let drawn = drawing.and_then(|drawing| drawing.write(launch.executable, &[one, other], mark));
            self.found.push(Finding::Needless {
                places: ends.map(|end| {
                    format!("node {} of executable {}", launch.order.names[end as usize], launch.executable)
                }),
                whats: ends.map(|end| looked.what(end).to_owned()),
                pairs: pairs as u64,
                costs,
                drawn: drawn.into_iter().collect(),
            });
        }
    }
}
