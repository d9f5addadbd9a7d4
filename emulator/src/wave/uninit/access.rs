//! What is loaded and stored: bits go with the data, and an address must not have any.

use std::sync::OnceLock;

use super::Step;
use crate::{
    isa::{Family, Operand, Row, Ty, flag},
    uninit::{Datum, Origin, ScalarShadow, Shadow, Uninit, UninitByte, UninitKind, VectorShadow, shadow},
    wave::{
        Wave,
        exec::{
            access::{Access, is_coherent},
            kind::Kind,
            scratch, shape, smem, to_lds,
        },
    },
};

/// Where a lane's datum lies.
#[derive(Clone, Copy)]
enum Place {
    Memory(u64),
    Lds(u32),
    Scratch(u32),
    /// Out of the range of a buffer: nothing is there.
    Nowhere,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Load,
    Store,
    /// An atomic that takes the place of what was there, whatever that was.
    Exchange,
    Atomic,
}

/// The lanes' places, by dwords.
type Places<'a> = &'a dyn Fn(usize, u32) -> Place;

/// The registers of an access.
struct Data {
    kind: Kind,
    /// Where data are loaded to or stored from.
    row: usize,
    /// Where an atomic puts what was there.
    returned: Option<usize>,
}

/// What an instruction does, and the width and conversion of a lane's datum.
type Described = (Action, Kind);

/// See [`Described`]: what its name says, once it was asked.
fn described(row: &Row) -> Described {
    /// By families and opcodes.
    static KNOWN: [[OnceLock<Described>; 256]; 17] = [const { [const { OnceLock::new() }; 256] }; 17];
    let known = &KNOWN[row.family as usize % 17][usize::from(row.opcode) % 256];
    *known.get_or_init(|| {
        let action = action(row);
        (action, kind(row, action))
    })
}

fn action(row: &Row) -> Action {
    let has = |word: &str| row.name.contains(word);
    match row.family {
        Family::Ds if row.name.starts_with("ds_read") => Action::Load,
        Family::Ds if row.name.starts_with("ds_write") => Action::Store,
        Family::Ds if has("wrxchg") => Action::Exchange,
        Family::Ds => Action::Atomic,
        _ if row.shape.has(flag::STORE) => Action::Store,
        _ if row.shape.has(flag::ATOMIC) && has("_swap") => Action::Exchange,
        _ if row.shape.has(flag::ATOMIC) => Action::Atomic,
        _ => Action::Load,
    }
}

fn kind(row: &Row, action: Action) -> Kind {
    let has = |words: &[&str]| words.iter().any(|word| row.name.contains(word));
    let (low, high) = (has(&["_d16"]), has(&["_d16_hi"]));
    let signed = has(&["sbyte", "_i8", "sshort", "_i16"]);
    let atomic = matches!(action, Action::Exchange | Action::Atomic);
    let byte = has(&["ubyte", "sbyte", "_u8", "_i8", "_b8", "store_byte"]);
    let short = has(&["short", "_u16", "_i16", "_b16"]);
    let wide = has(&["_x2", "_b64", "_u64", "_i64", "_f64"]);
    match (byte, short) {
        _ if atomic && wide => Kind::B64,
        _ if atomic => Kind::B32,
        (true, _) => match (low, high, signed) {
            (_, true, false) => Kind::U8Hi,
            (_, true, true) => Kind::I8Hi,
            (true, false, false) => Kind::U8Lo,
            (true, false, true) => Kind::I8Lo,
            (false, false, false) => Kind::U8,
            (false, false, true) => Kind::I8,
        },
        (_, true) => match (low, high, signed) {
            (_, true, _) => Kind::B16Hi,
            (true, false, _) => Kind::B16Lo,
            (false, false, false) => Kind::U16,
            (false, false, true) => Kind::I16,
        },
        // Of two data, which only DS has, each is as wide as the name says.
        _ if row.shape.has(flag::OFFSET2) => {
            if wide {
                Kind::B64
            } else {
                Kind::B32
            }
        }
        _ => {
            let buffer = matches!(row.family, Family::Mubuf | Family::Mtbuf);
            let ty = if action == Action::Load || buffer { row.shape.dst } else { row.shape.src[1] };
            match ty.dwords() {
                0 | 1 => Kind::B32,
                2 => Kind::B64,
                3 => Kind::B96,
                _ => Kind::B128,
            }
        }
    }
}

fn register(op: Operand) -> usize {
    op.row().unwrap_or(0)
}

/// Follows an instruction of DS.
pub(super) fn local(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let name = inst.row.name;
    if name.starts_with("ds_gws_") || name == "ds_nop" {
        return;
    }
    let m0 = wave.m0() & 0xffff;
    let by_lane = name.contains("addtid");
    let counts = matches!(name, "ds_append" | "ds_consume");
    let [address, data, second] = inst.src;
    if !by_lane && !counts {
        check_address(uninit, step, wave.exec, [register(address)]);
    }
    let at = |lane: usize, offset: u32| match (by_lane, counts) {
        // CAST: below 64.
        (true, _) => m0.wrapping_add(offset).wrapping_add(4 * lane as u32),
        (_, true) => m0.wrapping_add(offset),
        _ => wave.row(register(address))[lane].wrapping_add(offset),
    };
    let (action, kind) = described(inst.row);
    let dst = inst.dst.row();
    let row = match action {
        Action::Load => register(inst.dst),
        // The data of `ds_write_addtid_b32` stand where others have the address.
        _ if data == Operand::NONE => register(address),
        _ => register(data),
    };
    if inst.row.shape.has(flag::OFFSET2) {
        let unit = kind.bytes() * if name.contains("st64") { 64 } else { 1 };
        let both = [(inst.imm as u32, 0), (inst.literal, kind.registers())];
        for (offset, behind) in both {
            let row = match action {
                Action::Load => row + behind,
                _ if behind > 0 => register(second),
                _ => row,
            };
            let returned = dst.filter(|_| action == Action::Exchange).map(|dst| dst + behind);
            let places = |lane, on| Place::Lds(at(lane, offset * unit).wrapping_add(on));
            perform(uninit, wave, step, action, &Data { kind, row, returned }, &places);
        }
        return;
    }
    let returned = dst.filter(|_| action != Action::Load);
    let places = |lane, on| Place::Lds(at(lane, inst.imm as u32).wrapping_add(on));
    perform(uninit, wave, step, action, &Data { kind, row, returned }, &places);
}

/// Follows an instruction of FLAT, GLOBAL or SCRATCH.
pub(super) fn flat(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let (row, family) = (inst.row, inst.row.family);
    let [address, data, scalar] = inst.src;
    if row.shape.has(flag::CACHE) {
        return;
    }
    let first = register(address);
    let has_scalar = family != Family::Flat && scalar != Operand::NONE;
    if has_scalar {
        check_scalar(uninit, step, scalar, if family == Family::Global { 2 } else { 1 });
    }
    let (base, offsets) =
        if family == Family::Scratch { scratch::offsets(wave, inst) } else { (0, address.row()) };
    let wide = family == Family::Flat || family == Family::Global && !has_scalar;
    check_address(uninit, step, wave.exec, offsets.into_iter().flat_map(|row| row..=row + usize::from(wide)));
    let scalar = if has_scalar && family == Family::Global { wave.scalar64(scalar, inst) } else { 0 };
    let offset = i64::from(inst.imm);
    let apertures = &wave.surroundings.apertures;
    let places = |lane: usize, on: u32| match family {
        Family::Scratch => {
            let lane = offsets.map_or(0, |row| wave.row(row)[lane]);
            Place::Scratch(base.wrapping_add(lane).wrapping_add(on))
        }
        Family::Global if has_scalar => {
            let lane = u64::from(wave.row(first)[lane]);
            Place::Memory(scalar.wrapping_add_signed(offset).wrapping_add(lane).wrapping_add(on.into()))
        }
        Family::Global => {
            Place::Memory(shape::lane_address(wave, first, offset, lane).wrapping_add(on.into()))
        }
        _ => {
            let at = shape::lane_address(wave, first, offset, lane).wrapping_add(on.into());
            // CAST: what is within an aperture.
            match at >> 32 {
                high if high == apertures.shared >> 32 => Place::Lds(at as u32),
                high if high == apertures.private >> 32 => Place::Scratch(at as u32),
                _ => Place::Memory(at),
            }
        }
    };
    let (action, kind) = described(row);
    if action == Action::Load && inst.dst == Operand::NONE {
        let to = to_lds::Place::of_flat(wave, inst);
        load_to_lds(uninit, wave, step, kind, to, &places);
        return;
    }
    let from = if action == Action::Load { register(inst.dst) } else { register(data) };
    let returned = inst.dst.row().filter(|_| matches!(action, Action::Exchange | Action::Atomic));
    perform(uninit, wave, step, action, &Data { kind, row: from, returned }, &places);
}

/// Follows an instruction of MUBUF or MTBUF. What is converted as a format says counts as written.
pub(super) fn buffer(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let (row, shape) = (inst.row, &inst.row.shape);
    if shape.has(flag::CACHE) || shape.src[1] == Ty::No {
        return;
    }
    let access =
        if row.name.contains("format") { Access::formatted(wave, inst) } else { Access::new(wave, inst) };
    check_scalar(uninit, step, inst.src[1], 4);
    check_scalar(uninit, step, inst.src[2], 1);
    check_address(uninit, step, wave.exec, access.registers());
    let start = access.scratch(wave);
    let places = |lane: usize, on: u32| match start {
        Some(start) => {
            let lane = access.offsets.map_or(0, |row| wave.row(row)[lane]);
            Place::Scratch(start.wrapping_add(lane).wrapping_add(on))
        }
        None => {
            let place = access.advance(access.lane(wave, lane), on);
            if access.excludes(place, 1) { Place::Nowhere } else { Place::Memory(access.address(place)) }
        }
    };
    let (action, kind) = described(row);
    let data = Data { kind, row: register(inst.dst), returned: None };
    let to_lds = inst.word0 & 1 << 16 != 0;
    match action {
        Action::Load if row.name.contains("format") => {
            (0..usize::from(shape.dst.dwords()))
                .for_each(|n| uninit.registers.clear_row(data.row + n, wave.exec));
        }
        Action::Load if to_lds => {
            let to = to_lds::Place::of_buffer(wave, inst);
            load_to_lds(uninit, wave, step, kind, to, &places);
        }
        Action::Store if row.name.contains("format") || row.name.contains("_lds_") => {
            let kind = if shape.dst.dwords() > 1 { Kind::B128 } else { Kind::B32 };
            store(uninit, wave, step, kind, &places, &[]);
        }
        _ => {
            let returns = !matches!(action, Action::Load | Action::Store) && is_coherent(inst);
            let returned = returns.then_some(data.row);
            perform(uninit, wave, step, action, &Data { returned, ..data }, &places);
        }
    }
}

/// Follows an instruction of SMEM.
pub(super) fn scalar(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>) {
    let inst = step.inst;
    let (shape, opcode) = (&inst.row.shape, inst.row.opcode);
    if shape.has(flag::NO_ADDR) && !uninit.registers.has_scalars() || shape.dst == Ty::No {
        return;
    }
    // Opcodes of SMEM (MI200 ISA, 12.6).
    let loads = opcode < 16;
    let (is_buffer, is_scratch) =
        (matches!(opcode, 8..=12 | 24..=26 | 64..=108), matches!(opcode, 5..=7 | 21..=23));
    let has_atomic = shape.has(flag::ATOMIC);
    let dwords = shape.dst.dwords();
    if !shape.has(flag::NO_ADDR) {
        check_scalar(uninit, step, inst.src[0], if is_buffer { 4 } else { 2 });
        check_scalar(uninit, step, inst.src[1], 1);
    }
    let buffer = is_buffer.then(|| smem::Buffer::new(wave, inst));
    let start = match is_scratch {
        _ if shape.has(flag::NO_ADDR) => 0,
        true => smem::address::<64>(wave, inst),
        false => smem::address::<1>(wave, inst),
    };
    let shadow = shadow();
    let last = start.saturating_add(4 * u64::from(dwords) - 1);
    if loads && !is_buffer && !uninit.registers.has_scalars() && shadow.is_written(start, last) {
        return;
    }
    for n in 0..dwords {
        let on = 4 * u64::from(n);
        let at = match &buffer {
            Some(buffer) => buffer.address(on, 4),
            None => Some(start.wrapping_add(on)),
        };
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
        let bits =
            at.filter(|_| loads && !shape.has(flag::NO_ADDR)).map_or(0, |at| bits_of(shadow.bytes(at, 4)));
        let origin = match at {
            Some(at) if bits != 0 => uninit.origin(step.pc, first_byte(at, bits)),
            _ => 0,
        };
        if register < 128 && (bits != 0 || old.bits != 0) {
            uninit.registers.set_scalar(register, ScalarShadow { bits, derived: false, origin });
        }
        if let Some(at) = at.filter(|_| has_atomic) {
            shadow.store(at, 4, 0);
        }
    }
}

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

fn perform(
    uninit: &mut Uninit,
    wave: &Wave,
    step: &Step<'_>,
    action: Action,
    data: &Data,
    places: Places<'_>,
) {
    if wave.exec == 0 {
        return;
    }
    match action {
        Action::Load => load(uninit, wave, step, data, places),
        Action::Store => {
            let taken = taken(uninit, data);
            store(uninit, wave, step, data.kind, places, &taken);
        }
        Action::Exchange | Action::Atomic => atomic(uninit, wave, step, action, data, places),
    }
}

/// What the lanes store, if it has any such bits.
fn taken(uninit: &Uninit, data: &Data) -> Vec<Datum> {
    let rows: Vec<_> = (0..data.kind.registers()).map(|n| uninit.registers.row(data.row + n)).collect();
    if rows.iter().all(Option::is_none) {
        return Vec::new();
    }
    let datum = |lane: usize| {
        let mut datum = Datum::default();
        for (n, row) in rows.iter().enumerate() {
            let Some(row) = row else { continue };
            let bits = if n == 0 { data.kind.narrow(row.bits[lane]) } else { row.bits[lane] };
            let bits = bits & u32::MAX >> (32 - 8 * data.kind.bytes().min(4));
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

fn load(uninit: &mut Uninit, wave: &Wave, step: &Step<'_>, data: &Data, places: Places<'_>) {
    let &Data { kind, row, .. } = data;
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

fn atomic(
    uninit: &mut Uninit,
    wave: &Wave,
    step: &Step<'_>,
    action: Action,
    data: &Data,
    places: Places<'_>,
) {
    let kind = data.kind;
    let shadow = shadow();
    let taken = taken(uninit, data);
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
    if let Some(row) = data.returned {
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
        let bits = kind.extend(datum.bits[0], 0);
        uninit.lds.lock().store(offset as usize, 4, 1, Datum { bits: [bits, 0, 0, 0], ..datum });
    }
}
