//! What is loaded and stored: bits go with the data, and an address must not have any.

use super::Step;
use crate::{
    isa::{Family, Operand, Ty, flag},
    uninit::{Datum, Origin, ScalarShadow, Shadow, Uninit, UninitByte, UninitKind, VectorShadow, shadow},
    wave::{
        Wave,
        accesses::{self, Action, Data, Dwords, Part, Place, Places},
        exec::{kind::Kind, shape, to_lds},
    },
};

/// Follows an instruction of DS.
pub(super) fn local(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    check_address(uninit, step, wave.exec, accesses::address_rows(wave, step.inst));
    accesses::local(wave, step.inst, |part| perform(uninit, wave, step, part));
}

/// Follows an instruction of FLAT, GLOBAL or SCRATCH.
pub(super) fn flat(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let (family, scalar) = (inst.row.family, inst.src[2]);
    if inst.row.shape.has(flag::CACHE) {
        return;
    }
    if family != Family::Flat && scalar != Operand::NONE {
        check_scalar(uninit, step, scalar, if family == Family::Global { 2 } else { 1 });
    }
    check_address(uninit, step, wave.exec, accesses::address_rows(wave, inst));
    accesses::flat(wave, inst, |part| perform(uninit, wave, step, part));
}

/// Follows an instruction of MUBUF or MTBUF.
pub(super) fn buffer(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let shape = &inst.row.shape;
    if shape.has(flag::CACHE) || shape.src[1] == Ty::No {
        return;
    }
    check_scalar(uninit, step, inst.src[1], 4);
    check_scalar(uninit, step, inst.src[2], 1);
    check_address(uninit, step, wave.exec, accesses::address_rows(wave, inst));
    accesses::buffer(wave, inst, |part| perform(uninit, wave, step, part));
}

/// Follows an instruction of SMEM.
pub(super) fn scalar(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let shape = &inst.row.shape;
    if shape.has(flag::NO_ADDR) && !uninit.registers.has_scalars() || shape.dst == Ty::No {
        return;
    }
    let (loads, has_atomic) = (Dwords::loads(inst), shape.has(flag::ATOMIC));
    let is_buffer = Dwords::has_buffer(inst);
    if !shape.has(flag::NO_ADDR) {
        check_scalar(uninit, step, inst.src[0], if is_buffer { 4 } else { 2 });
        check_scalar(uninit, step, inst.src[1], 1);
    }
    let dwords = Dwords::of(wave, inst);
    let kind = dwords.as_ref().map_or(Kind::B32, |dwords| dwords.kind);
    let shadow = shadow();
    if let Some(start) = dwords.as_ref().filter(|_| loads && !is_buffer).and_then(|dwords| dwords.at(0))
        && !uninit.registers.has_scalars()
        && shadow.is_written(start, start.saturating_add(4 * u64::from(shape.dst.dwords()) - 1))
    {
        return;
    }
    for n in 0..shape.dst.dwords() {
        let at = dwords.as_ref().and_then(|dwords| dwords.at(n));
        let register = usize::from(inst.dst.0 + n);
        let old = uninit.registers.scalar(register);
        if shape.has(flag::STORE) {
            if let Some(at) = at {
                if old.bits != 0 && old.derived {
                    uninit.find(UninitKind::Result, step.pc, old.origin, None);
                }
                let copied = if old.derived { 0 } else { bytes_of(old.bits) };
                shadow.store(at, 4, copied);
            }
            continue;
        }
        let load = |at| kind.extend(bits_of(shadow.bytes(at, kind.bytes())), 0);
        let bits = at.filter(|_| loads).map_or(0, load);
        let origin = match at {
            Some(at) if bits != 0 => uninit.origin(step.pc, first_byte(at, bits)),
            _ => 0,
        };
        if register < 128 && register != NULL && (bits != 0 || old.bits != 0) {
            uninit.registers.set_scalar(register, ScalarShadow { bits, derived: false, origin });
        }
        if let Some(at) = at.filter(|_| has_atomic) {
            shadow.store(at, 4, 0);
        }
    }
}

/// The number of what is no register, and reads as 0.
const NULL: usize = 125;

fn first_byte(at: u64, bits: u32) -> UninitByte {
    UninitByte::Memory(at + u64::from(bits.trailing_zeros() / 8))
}

/// The bits of 4 bytes.
fn bits_of(bytes: u64) -> u32 {
    (0..4).filter(|n| bytes >> n & 1 == 1).fold(0, |bits, n| bits | 0xff << (8 * n))
}

/// The bytes of which any bit is set.
fn bytes_of(bits: u32) -> u64 {
    (0..4).filter(|n| bits >> (8 * n) & 0xff != 0).fold(0, |bytes, n| bytes | 1 << n)
}

/// The rows of an address must not have such bits, nor have they then.
fn check_address(uninit: &mut Uninit, step: &Step<'_>, exec: u64, rows: impl IntoIterator<Item = usize>) {
    if !uninit.registers.has_vectors() {
        return;
    }
    for row in rows {
        let Some(VectorShadow { bits, origin, .. }) = uninit.registers.row(row) else { continue };
        let lanes =
            shape::lanes(exec).filter(|lane| bits[*lane] != 0).fold(0, |lanes, lane| lanes | 1 << lane);
        if lanes != 0 {
            uninit.find(UninitKind::Address, step.pc, *origin, Some(lanes));
            uninit.registers.clear_row(row, exec);
        }
    }
}

/// See [`check_address`], of scalar registers.
fn check_scalar(uninit: &mut Uninit, step: &Step<'_>, op: Operand, count: u16) {
    if !uninit.registers.has_scalars() || op.0 >= 128 {
        return;
    }
    for n in (op.0..op.0 + count).map(usize::from) {
        let scalar = uninit.registers.scalar(n);
        if scalar.bits != 0 {
            uninit.find(UninitKind::Address, step.pc, scalar.origin, None);
            uninit.registers.set_scalar(n, ScalarShadow::default());
        }
    }
}

fn perform(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>, part: &Part<'_>) {
    if wave.exec == 0 {
        return;
    }
    let &Part { action, kind, data, places, .. } = part;
    match (action, data) {
        (Action::Load, Data::Rows(row)) => load(uninit, wave, step, (kind, row), places),
        // What is converted as a format says counts as written.
        (Action::Load, Data::Formatted(row)) => {
            let rows = usize::from(step.inst.row.shape.dst.dwords());
            (row..row + rows).for_each(|row| uninit.registers.clear_row(row, wave.exec));
        }
        (Action::Load, Data::Lds(to)) => load_to_lds(uninit, wave, step, kind, to, places),
        (Action::Store, Data::Rows(row)) => {
            let taken = taken(uninit, kind, row);
            store(uninit, wave, step, kind, places, &taken);
        }
        (Action::Store, _) => {
            let kind = if step.inst.row.shape.dst.dwords() > 1 { Kind::B128 } else { Kind::B32 };
            store(uninit, wave, step, kind, places, &[]);
        }
        (Action::Exchange | Action::Atomic, data) => {
            let (Data::Rows(row) | Data::Formatted(row)) = data else { return };
            let taken = taken(uninit, kind, row);
            atomic(uninit, wave, step, part, &taken);
        }
    }
}

/// What the lanes store, if it has any such bits.
fn taken(uninit: &Uninit, kind: Kind, row: usize) -> Vec<Datum> {
    let rows: Vec<_> = (0..kind.registers()).map(|n| uninit.registers.row(row + n)).collect();
    if rows.iter().all(Option::is_none) {
        return Vec::new();
    }
    let datum = |lane: usize| {
        let mut datum = Datum::default();
        for (n, row) in rows.iter().enumerate() {
            let Some(row) = row else { continue };
            let bits = if n == 0 { kind.narrow(row.bits[lane]) } else { row.bits[lane] };
            let bits = bits & u32::MAX >> (32 - 8 * kind.bytes().min(4));
            if bits != 0 {
                datum.bits[n] = bits;
                datum.origin = row.origin;
                datum.derived |= row.derived >> lane & 1 == 1;
            }
        }
        datum
    };
    (0..64).map(datum).collect()
}

/// Whether nothing that the lanes touch holds such a byte.
fn is_written(uninit: &Uninit, wave: &Wave, shadow: &Shadow, kind: Kind, places: Places<'_>) -> bool {
    const NONE: (u64, u64) = (u64::MAX, 0);
    let extended = |(first, last): (u64, u64), at: u64| (first.min(at), last.max(at));
    let (mut memory, mut lds, mut scratch) = (NONE, NONE, NONE);
    for lane in shape::lanes(wave.exec) {
        match places(lane, 0) {
            Place::Memory(at) => memory = extended(memory, at),
            Place::Lds(at) => lds = extended(lds, at.into()),
            Place::Scratch(at) => scratch = extended(scratch, at.into()),
            Place::Nowhere => {}
        }
    }
    // Swizzled buffers have the dwords of a lane elsewhere.
    let is_linear = |lane: usize| match (places(lane, 0), places(lane, kind.bytes().next_multiple_of(4) - 4))
    {
        (Place::Memory(one), Place::Memory(other)) => other.wrapping_sub(one) < 16,
        _ => true,
    };
    /// Where lanes lie farther apart, each is looked at by itself.
    const MOST: u64 = 4096;
    let bytes = u64::from(kind.bytes());
    let near = |(first, last): (u64, u64)| last.saturating_sub(first) <= MOST;
    let range =
        |(first, last): (u64, u64), size: u64| (first * size) as usize..((last + bytes + 3) * size) as usize;
    (memory == NONE
        || is_linear(wave.exec.trailing_zeros() as usize & 63)
            && shadow.is_written(memory.0, memory.1.saturating_add(15)))
        && (lds == NONE || near(lds) && uninit.lds.lock().is_written(range(lds, 1)))
        && (scratch == NONE
            || near(scratch) && uninit.scratch.is_written(range((scratch.0 & !3, scratch.1), 64)))
}

/// What one lane's datum holds.
fn read(
    uninit: &mut Uninit,
    step: &Step<'_>,
    shadow: &Shadow,
    kind: Kind,
    lane: usize,
    places: Places<'_>,
) -> Datum {
    let bytes = kind.bytes();
    match places(lane, 0) {
        Place::Lds(at) => {
            let datum = uninit.lds.lock().load(at as usize, bytes, 1);
            named(uninit, step, datum, |byte| UninitByte::Lds(at + byte))
        }
        Place::Scratch(at) => {
            let datum = uninit.scratch.load(swizzled(at, lane), bytes, 64);
            named(uninit, step, datum, |byte| UninitByte::Scratch(at + byte))
        }
        Place::Memory(_) | Place::Nowhere => {
            let mut datum = Datum::default();
            for n in 0..bytes.div_ceil(4) {
                let Place::Memory(at) = places(lane, 4 * n) else { continue };
                let bits = bits_of(shadow.bytes(at, bytes.min(4)));
                if bits != 0 && datum.origin == 0 {
                    datum.origin = uninit.origin(step.pc, first_byte(at, bits));
                }
                datum.bits[n as usize] = bits;
            }
            datum
        }
    }
}

/// A datum with the instruction that has read it, if nothing has stored it.
fn named(uninit: &Uninit, step: &Step<'_>, datum: Datum, byte: impl Fn(u32) -> UninitByte) -> Datum {
    let first = || {
        let bit =
            (0..4).find(|n| datum.bits[*n] != 0).map(|n| 32 * n as u32 + datum.bits[n].trailing_zeros());
        bit.unwrap_or(0) / 8
    };
    match (datum.is_any(), datum.origin) {
        (true, 0) => Datum { origin: uninit.origin(step.pc, byte(first())), ..datum },
        _ => datum,
    }
}

/// Where a lane's byte of scratch lies in the wave's.
fn swizzled(offset: u32, lane: usize) -> usize {
    (offset >> 2) as usize * 256 + lane * 4 + (offset & 3) as usize
}

fn load(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>, (kind, row): (Kind, usize), places: Places<'_>) {
    let shadow = shadow();
    let mut any = Vec::new();
    if !is_written(uninit, wave, &shadow, kind, places) {
        for lane in shape::lanes(wave.exec) {
            let datum = read(uninit, step, &shadow, kind, lane, places);
            if datum.is_any() {
                any.push((lane, datum));
            }
        }
    }
    if any.is_empty() && !uninit.registers.has_vectors() {
        return;
    }
    for n in 0..kind.registers() {
        let old = uninit.registers.row(row + n);
        if any.is_empty() && old.is_none() {
            continue;
        }
        let old = old.cloned().unwrap_or(VectorShadow { bits: [0; 64], derived: 0, origin: 0 });
        let narrow = kind.bytes() < 4;
        let mut new = old.clone();
        for lane in shape::lanes(wave.exec) {
            // What is loaded to one half leaves the other as it is.
            new.bits[lane] = if narrow { kind.extend(0, old.bits[lane]) } else { 0 };
        }
        new.derived &= !wave.exec;
        for (lane, datum) in &any {
            let bits = datum.bits[n];
            new.bits[*lane] = if narrow { kind.extend(bits, old.bits[*lane]) } else { bits };
            if bits != 0 {
                new.origin = datum.origin;
                new.derived |= u64::from(datum.derived) << lane;
            }
        }
        uninit.registers.set_row(row + n, wave.exec, &new);
    }
}

/// Stores what the lanes have, which is nothing that has such bits if there is none.
fn store(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>, kind: Kind, places: Places<'_>, taken: &[Datum]) {
    let shadow = shadow();
    if taken.is_empty() && is_written(uninit, wave, &shadow, kind, places) {
        return;
    }
    if taken.is_empty() && fill(wave, &shadow, kind, places) {
        return;
    }
    let mut results = Results::default();
    for lane in shape::lanes(wave.exec) {
        let datum = taken.get(lane).copied().unwrap_or_default();
        write(uninit, &shadow, kind, lane, places, datum, &mut results);
    }
    results.tell(uninit, step);
}

/// The lanes in which a result gets to memory that depends on such bits, and where the last of those come from.
#[derive(Default)]
struct Results {
    lanes: u64,
    origin: Origin,
}

impl Results {
    fn add(&mut self, lane: usize, origin: Origin) {
        *self = Self { lanes: self.lanes | 1 << lane, origin };
    }

    fn tell(self, uninit: &Uninit, step: &Step<'_>) {
        if self.lanes != 0 {
            uninit.find(UninitKind::Result, step.pc, self.origin, Some(self.lanes));
        }
    }
}

/// Stores to memory where lanes lie one behind the other; `false` if some do not.
fn fill(wave: &Wave, shadow: &Shadow, kind: Kind, places: Places<'_>) -> bool {
    let bytes = u64::from(kind.bytes());
    let last = kind.bytes().next_multiple_of(4) - 4;
    let mut run: Option<(u64, u64)> = None;
    for lane in shape::lanes(wave.exec) {
        let (Place::Memory(at), Place::Memory(end)) = (places(lane, 0), places(lane, last)) else {
            return false;
        };
        let is_whole = end == at.wrapping_add(last.into());
        match &mut run {
            None if is_whole => run = Some((at, bytes)),
            Some((start, size)) if is_whole && start.wrapping_add(*size) == at => *size += bytes,
            _ => return false,
        }
    }
    if let Some((start, size)) = run {
        shadow.fill(start, size);
    }
    true
}

/// Stores one lane's datum, and says if that is a result in memory.
fn write(
    uninit: &mut Uninit,
    shadow: &Shadow,
    kind: Kind,
    lane: usize,
    places: Places<'_>,
    datum: Datum,
    results: &mut Results,
) {
    let bytes = kind.bytes();
    match places(lane, 0) {
        Place::Lds(at) => uninit.lds.lock().store(at as usize, bytes, 1, datum),
        Place::Scratch(at) => uninit.scratch.store(swizzled(at, lane), bytes, 64, datum),
        Place::Memory(_) | Place::Nowhere => {
            for n in 0..bytes.div_ceil(4) {
                let Place::Memory(at) = places(lane, 4 * n) else { continue };
                let bits = datum.bits[n as usize];
                shadow.store(at, bytes.min(4), if datum.derived { 0 } else { bytes_of(bits) });
            }
            if datum.is_any() && datum.derived {
                results.add(lane, datum.origin);
            }
        }
    }
}

fn atomic(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>, part: &Part<'_>, taken: &[Datum]) {
    let &Part { action, kind, places, .. } = part;
    let shadow = shadow();
    let mut returned = VectorShadow { bits: [0; 64], derived: 0, origin: 0 };
    let mut high = returned.clone();
    if !taken.is_empty() || !is_written(uninit, wave, &shadow, kind, places) {
        let mut results = Results::default();
        for lane in shape::lanes(wave.exec) {
            let old = read(uninit, step, &shadow, kind, lane, places);
            let new = taken.get(lane).copied().unwrap_or_default();
            if action == Action::Exchange && !step.inst.row.name.contains("cmp") {
                (returned.bits[lane], high.bits[lane]) = (old.bits[0], old.bits[1]);
                if old.is_any() {
                    (returned.origin, high.origin) = (old.origin, old.origin);
                }
                write(uninit, &shadow, kind, lane, places, new, &mut results);
                continue;
            }
            let bad = if old.is_any() { old } else { new };
            if bad.is_any() {
                results.add(lane, bad.origin);
            }
            write(uninit, &shadow, kind, lane, places, Datum::default(), &mut results);
        }
        results.tell(uninit, step);
    }
    if let Some(row) = part.returned {
        uninit.registers.set_row(row, wave.exec, &returned);
        if kind == Kind::B64 {
            uninit.registers.set_row(row + 1, wave.exec, &high);
        }
    }
}

/// A load whose data go to LDS.
fn load_to_lds(
    uninit: &mut Uninit,
    wave: &Wave,
    step: &Step<'_>,
    kind: Kind,
    to: to_lds::Place,
    places: Places<'_>,
) {
    let shadow = shadow();
    for lane in shape::lanes(wave.exec) {
        let Some(offset) = to.lane(wave, lane) else { continue };
        let datum = read(uninit, step, &shadow, kind, lane, places);
        let mut bits = datum.bits;
        bits[0] = kind.extend(bits[0], 0);
        uninit.lds.lock().store(offset as usize, to.bytes(), 1, Datum { bits, ..datum });
    }
}
