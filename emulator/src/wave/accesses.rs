//! What an instruction accesses, lane by lane, for tools that look at instructions before they are executed.

use std::sync::OnceLock;

use super::{
    Wave,
    exec::{self, access::Access, ds, kind::Kind, scratch, shape, smem, to_lds},
};
use crate::isa::{Family, Inst, Memory, Operand, Row, Ty, flag, table};

/// Where a lane's datum lies.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Memory(u64),
    Lds(u32),
    Scratch(u32),
    /// Out of the range of a buffer: nothing is there.
    Nowhere,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Load,
    Store,
    /// An atomic that takes the place of what was there, whatever that was.
    Exchange,
    Atomic,
}

/// The lanes' places, by dwords.
pub(super) type Places<'a> = &'a dyn Fn(usize, u32) -> Place;

/// What becomes of the data of a load, or where those of a store come from.
#[derive(Clone, Copy)]
pub(super) enum Data {
    /// Registers from this row on.
    Rows(usize),
    /// As [`Data::Rows`], converted as a format says or exchanged between lanes.
    Formatted(usize),
    /// LDS.
    Lds(to_lds::Place),
}

/// Data that an instruction moves, one for each live lane.
pub(super) struct Part<'a> {
    pub(super) action: Action,
    /// Width and conversion of a lane's datum.
    pub(super) kind: Kind,
    pub(super) data: Data,
    /// Where an atomic puts what was there.
    pub(super) returned: Option<usize>,
    pub(super) places: Places<'a>,
    /// Whether the dwords of a lane lie one behind the other.
    pub(super) is_linear: bool,
    /// The address of the first lane if it is known that all live ones lie one behind the other in memory.
    pub(super) straight: Option<u64>,
}

/// What an instruction does, and the width and conversion of a lane's datum.
type Described = (Action, Kind);

/// See [`Described`]: what its name says, once it was asked.
fn described(row: &'static Row) -> Described {
    /// By generations, GFX9 and later ones, families and positions in their tables.
    static KNOWN: [[[OnceLock<Described>; 256]; 19]; 2] =
        [const { [const { [const { OnceLock::new() }; 256] }; 19] }; 2];
    let describe = || {
        let action = action(row);
        (action, kind(row, action))
    };
    let known = table::position(row)
        .and_then(|place| KNOWN[usize::from(row.is_rdna())].get(row.family as usize)?.get(place));
    known.map_or_else(describe, |known| *known.get_or_init(describe))
}

/// What an instruction that reaches memory or LDS does there.
pub(super) fn action_of(row: &'static Row) -> Action {
    described(row).0
}

fn action(row: &Row) -> Action {
    let has = |word: &str| row.name.contains(word);
    let starts = |words: [&str; 2]| words.iter().any(|word| row.name.starts_with(word));
    match row.family {
        Family::Ds if starts(["ds_read", "ds_load"]) => Action::Load,
        Family::Ds if starts(["ds_write", "ds_store_"]) => Action::Store,
        Family::Ds if has("wrxchg") || has("storexchg") => Action::Exchange,
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
    let transposes = has(&["_tr_"]);
    let wide = has(&["_x2", "_b64", "_u64", "_i64", "_f64"]);
    match (byte, short) {
        _ if atomic && wide => Kind::B64,
        _ if atomic => Kind::B32,
        _ if transposes && row.shape.dst == Ty::B96 => Kind::B96,
        _ if transposes => Kind::B64,
        _ if has(&["lds_dwordx3"]) => Kind::B96,
        _ if has(&["lds_dwordx4"]) => Kind::B128,
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

/// The vector registers that hold the addresses of an instruction of DS, LDSDIR, FLAT, GLOBAL, SCRATCH, MUBUF or MTBUF.
pub(super) fn address_rows(wave: &Wave, inst: &Inst) -> impl Iterator<Item = usize> {
    let (family, first) = (inst.row.family, inst.src[0].row());
    let (first, wide, second) = match family {
        Family::Ds if has_no_address(inst) || is_gws(inst) => (None, false, None),
        Family::LdsDirect => (None, false, None),
        Family::Ds => (first, false, None),
        Family::Mubuf | Family::Mtbuf => {
            let access = Access::new(wave, inst);
            let mut rows = access.registers();
            (rows.next(), false, rows.next())
        }
        Family::Flat => (first, true, None),
        Family::Global => (first, inst.src[2] == Operand::NONE, None),
        _ => (scratch::offsets(wave, inst).1, false, None),
    };
    first.into_iter().flat_map(move |row| row..=row + usize::from(wide)).chain(second)
}

/// Whether an instruction of DS moves data between lanes and leaves LDS alone.
pub(super) fn is_permutation(inst: &Inst) -> bool {
    // Opcodes of DS (MI200 ISA, 12.11), and those that rows of RDNA have.
    match inst.row.is_rdna() {
        false => matches!(inst.row.opcode, 61..=63),
        true => matches!(inst.row.opcode, 53 | 178 | 179 | 205),
    }
}

/// Whether an instruction of DS is about a resource of global wave sync.
pub(super) fn is_gws(inst: &Inst) -> bool {
    inst.row.name.starts_with("ds_gws_")
}

/// Whether an instruction of DS has its address in M0.
fn has_no_address(inst: &Inst) -> bool {
    let name = inst.row.name;
    name.contains("addtid") || matches!(name, "ds_append" | "ds_consume")
}

/// Tells `each` what an instruction of DS or LDSDIR accesses.
pub(super) fn local(wave: &Wave, inst: &Inst, mut each: impl FnMut(&Part<'_>)) {
    if inst.row.family == Family::LdsDirect {
        return direct(wave, inst, each);
    }
    let name = inst.row.name;
    if is_gws(inst) || is_permutation(inst) || name == "ds_nop" {
        return;
    }
    let m0 = wave.m0() & 0xffff;
    let in_m0 = has_no_address(inst);
    let by_lane = in_m0 && name.contains("addtid");
    let [address, data, second] = inst.src;
    let at = |lane: usize, offset: u32| match in_m0 {
        // CAST: below 64.
        true if by_lane => m0.wrapping_add(offset).wrapping_add(4 * lane as u32),
        true => m0.wrapping_add(offset),
        false => wave.row(register(address))[lane].wrapping_add(offset),
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
        let is_far = name.contains("st64") || name.contains("stride64");
        let unit = kind.bytes() * if is_far { 64 } else { 1 };
        let both = [(inst.imm as u32, 0), (inst.literal, kind.registers())];
        for (offset, behind) in both {
            let row = match action {
                Action::Load => row + behind,
                _ if behind > 0 => register(second),
                _ => row,
            };
            let returned = dst.filter(|_| action == Action::Exchange).map(|dst| dst + behind);
            let places = |lane, on| Place::Lds(at(lane, offset * unit).wrapping_add(on));
            each(&Part {
                action,
                kind,
                data: Data::Rows(row),
                returned,
                places: &places,
                is_linear: true,
                straight: None,
            });
        }
        return;
    }
    let returned = dst.filter(|_| action != Action::Load);
    let places = |lane, on| Place::Lds(at(lane, inst.imm as u32).wrapping_add(on));
    let data = if name.contains("_tr_") { Data::Formatted(row) } else { Data::Rows(row) };
    each(&Part { action, kind, data, returned, places: &places, is_linear: true, straight: None });
}

/// As [`local`], of one that loads one datum for all lanes.
fn direct(wave: &Wave, inst: &Inst, mut each: impl FnMut(&Part<'_>)) {
    let Some((at, kind)) = ds::direct(wave.m0()) else { return };
    let data = Data::Rows(register(inst.dst));
    let places = |_, on| Place::Lds(at.wrapping_add(on));
    let (action, returned, straight) = (Action::Load, None, None);
    each(&Part { action, kind, data, returned, places: &places, is_linear: true, straight });
}

/// Tells `each` what an instruction of FLAT, GLOBAL or SCRATCH accesses.
pub(super) fn flat(wave: &Wave, inst: &Inst, mut each: impl FnMut(&Part<'_>)) {
    let (row, family) = (inst.row, inst.row.family);
    let [address, data, scalar] = inst.src;
    if row.shape.has(flag::CACHE) {
        return;
    }
    let first = register(address);
    let has_scalar = family == Family::Global && scalar != Operand::NONE;
    let by_lane = row.shape.has(flag::ADDTID);
    let (base, offsets) = match family {
        Family::Scratch => scratch::offsets(wave, inst),
        _ => (0, None),
    };
    let scalar = if has_scalar { wave.scalar64(scalar, inst) } else { 0 };
    let offset = i64::from(inst.imm);
    let apertures = &wave.surroundings.apertures;
    let places = |lane: usize, on: u32| match family {
        Family::Scratch => {
            let lane = offsets.map_or(0, |row| wave.row(row)[lane]);
            Place::Scratch(base.wrapping_add(lane).wrapping_add(on))
        }
        Family::Global if has_scalar => {
            let lane = if by_lane { 4 * lane as u64 } else { wave.row(first)[lane].into() };
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
    let moved = match action {
        Action::Load if inst.dst == Operand::NONE => Data::Lds(to_lds::Place::of_flat(wave, inst, kind)),
        Action::Load => Data::Rows(register(inst.dst)),
        _ => Data::Rows(register(data)),
    };
    let returned = inst.dst.row().filter(|_| matches!(action, Action::Exchange | Action::Atomic));
    let is_global = family == Family::Global && !by_lane;
    let straight = is_global.then(|| exec::flat::straight_lanes(wave, inst, kind.bytes())).flatten();
    each(&Part { action, kind, data: moved, returned, places: &places, is_linear: true, straight });
}

/// Tells `each` what an instruction of MUBUF or MTBUF accesses.
pub(super) fn buffer(wave: &Wave, inst: &Inst, mut each: impl FnMut(&Part<'_>)) {
    let (row, shape) = (inst.row, &inst.row.shape);
    if shape.has(flag::CACHE) || shape.src[1] == Ty::No {
        return;
    }
    let is_formatted = row.name.contains("format");
    let access = if is_formatted { Access::formatted(wave, inst) } else { Access::new(wave, inst) };
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
    let first = register(inst.dst);
    let is_lds = action == Action::Load && inst.memory.has(Memory::TO_LDS) || row.name.contains("_lds_");
    let data = match is_lds {
        true => Data::Lds(to_lds::Place::of_buffer(wave, inst, kind)),
        false if is_formatted => Data::Formatted(first),
        false => Data::Rows(first),
    };
    let returns = inst.memory.has(Memory::RETURNS);
    each(&Part {
        action,
        kind,
        data,
        returned: returns.then_some(first),
        places: &places,
        is_linear: false,
        straight: None,
    });
}

/// The dwords that an instruction of SMEM accesses, or the byte or two.
pub(super) struct Dwords {
    pub(super) count: u16,
    /// Width and conversion of each.
    pub(super) kind: Kind,
    buffer: Option<smem::Buffer>,
    start: u64,
}

impl Dwords {
    /// The dwords, if it is one that has an address.
    pub(super) fn of(wave: &Wave, inst: &Inst) -> Option<Self> {
        let shape = &inst.row.shape;
        if shape.has(flag::NO_ADDR) || shape.dst == Ty::No {
            return None;
        }
        // A byte or two have addresses that are no multiples of 4.
        let (_, kind) = described(inst.row);
        let is_narrow = kind.bytes() < 4;
        let buffer = Self::has_buffer(inst).then(|| smem::Buffer::new(wave, inst, is_narrow));
        let start = match inst.row.name.contains("scratch") {
            true => smem::address::<64>(wave, inst),
            false if is_narrow => smem::narrow_address(wave, inst),
            false => smem::address::<1>(wave, inst),
        };
        let kind = if is_narrow { kind } else { Kind::B32 };
        Some(Self { count: shape.dst.dwords(), kind, buffer, start })
    }

    /// Whether the instruction reaches memory through a buffer resource.
    pub(super) fn has_buffer(inst: &Inst) -> bool {
        inst.row.shape.src[0] == Ty::B128
    }

    /// Whether it loads and does nothing else.
    pub(super) fn loads(inst: &Inst) -> bool {
        !inst.row.shape.has(flag::STORE | flag::ATOMIC | flag::NO_ADDR)
    }

    /// The address of one of them, unless it is out of the range of a buffer.
    pub(super) fn at(&self, n: u16) -> Option<u64> {
        let on = 4 * u64::from(n);
        match &self.buffer {
            Some(buffer) => buffer.address(on, self.kind.bytes().into()),
            None => Some(self.start.wrapping_add(on)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{
        isa::{Target, decode},
        wave::semantics,
    };

    #[test]
    fn permutations_are_told_from_what_accesses_lds() {
        for row in [Target::Gfx950, Target::Gfx1201].into_iter().flat_map(|target| table::of(target)[11].1) {
            let inst = Inst { row, ..decode(Target::Gfx90a, &[0]).expect("an instruction") };
            let expected = row.shape.has(flag::SWIZZLE) || row.name.contains("permute");
            assert_eq!(is_permutation(&inst), expected, "{}", row.name);
        }
    }

    /// Instructions that are one function access the same, whatever they are called.
    #[test]
    fn rows_of_rdna_access_what_their_likes_on_gfx9_do() {
        use Family::{Ds, Flat, Global, Mubuf, Scratch, Smem};
        let rows = |target| {
            let all = table::of(target).iter().flat_map(|(_, rows)| rows.iter());
            all.filter(|row| matches!(row.family, Ds | Flat | Global | Mubuf | Scratch | Smem))
                .filter_map(|row| Some((semantics(row)? as usize, row)))
        };
        let known: HashMap<_, _> = rows(Target::Gfx950).map(|(exec, row)| (exec, described(row))).collect();
        let mut count = 0;
        for (exec, row) in
            rows(Target::Gfx1100).filter(|(_, row)| row.shape.dst != Ty::No || row.shape.src[1] != Ty::No)
        {
            if let Some(&(action, kind)) = known.get(&exec) {
                let (mine, my_kind) = described(row);
                assert!(mine == action && my_kind == kind, "{}", row.name);
                count += 1;
            }
        }
        assert!(count > 500, "{count}");
    }
}
