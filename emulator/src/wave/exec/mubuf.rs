//! MUBUF: untyped buffer accesses (MI200 ISA, 9.1 and 12.13).

use super::{
    access::{Access, fence_for},
    atomic::{self, Edges, Op},
    flat,
    kind::{self, Kind, kind_of},
    lds,
    scratch::{self, Offsets},
    shape, to_lds, transfer,
};
use crate::{
    isa::{Flow, Inst, Memory, Operand},
    wave::{FaultKind, Wave, multiversion::multiversion},
};

#[inline(always)]
fn row(op: Operand) -> usize {
    op.row().unwrap_or(0)
}

#[inline(always)]
fn load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let kind = const { kind_of(K) };
    let access = Access::new(w, inst);
    if inst.memory.has(Memory::TO_LDS) {
        return load_to_lds::<K>(w, inst, &access);
    }
    let dst = row(inst.dst);
    if let Some(start) = access.scratch(w) {
        let result = match access.offsets {
            None => scratch::load::<K>(w, dst, Offsets::Uniform(start)),
            Some(row) => flat::scratch_load_from::<K>(w, dst, row, start),
        };
        return w.finish(inst, result);
    }
    fence_for(w, inst);
    if let Some(from) = access.linear(w, kind.bytes()) {
        let result = transfer::load::<K>(w, dst, from);
        return w.finish(inst, result);
    }
    let result = load_lanes::<K>(w, dst, &access);
    w.finish(inst, result)
}

#[inline(never)]
fn load_lanes<const K: u8>(w: &mut Wave, dst: usize, access: &Access) -> Result<(), FaultKind> {
    let lanes: [(u32, u32); 64] = std::array::from_fn(|lane| access.lane(w, lane));
    shape::lanes(w.exec).try_for_each(|lane| load_lane::<K>(w, dst, access, lanes[lane], lane))
}

/// Loads one lane, dword by dword: those out of range read 0.
fn load_lane<const K: u8>(
    w: &mut Wave,
    dst: usize,
    access: &Access,
    start: (u32, u32),
    lane: usize,
) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    let mut words = [0; 4];
    let part = if kind.bytes() < 4 { kind } else { Kind::B32 };
    for (i, word) in words.iter_mut().enumerate().take(kind.registers()) {
        let place = access.advance(start, 4 * i as u32);
        if !access.excludes(place, part.bytes()) {
            let at = access.host(w, place, part.bytes(), lane, false)?;
            // SAFETY: `host` checked the access.
            *word = unsafe { w.load_datum(part, at) }[0];
        }
    }
    kind::put(w, kind, dst, lane, words);
    Ok(())
}

#[inline(always)]
fn store<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let kind = const { kind_of(K) };
    let access = Access::new(w, inst);
    let src = row(inst.dst);
    if let Some(start) = access.scratch(w) {
        let result = match access.offsets {
            None => scratch::store::<K>(w, src, Offsets::Uniform(start)),
            Some(row) => flat::scratch_store_to::<K>(w, src, row, start),
        };
        return w.finish(inst, result);
    }
    w.note_reach(inst);
    if let Some(to) = access.linear(w, kind.bytes()) {
        let result = transfer::store::<K>(w, src, to);
        return w.finish(inst, result);
    }
    let result = store_lanes::<K>(w, src, &access);
    w.finish(inst, result)
}

#[inline(never)]
fn store_lanes<const K: u8>(w: &mut Wave, src: usize, access: &Access) -> Result<(), FaultKind> {
    shape::lanes(w.exec).try_for_each(|lane| store_lane::<K>(w, src, access, lane))
}

/// Stores one lane, dword by dword: those out of range are dropped.
fn store_lane<const K: u8>(w: &mut Wave, src: usize, access: &Access, lane: usize) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    let words = kind::take(w, kind, src, lane);
    let start = access.lane(w, lane);
    let part = if kind.bytes() < 4 { kind } else { Kind::B32 };
    for (i, word) in words.into_iter().enumerate().take(kind.registers()) {
        let place = access.advance(start, 4 * i as u32);
        if !access.excludes(place, part.bytes()) {
            let at = access.host(w, place, part.bytes(), lane, true)?;
            // SAFETY: `host` checked the access.
            unsafe { w.store_datum(part, at, [word, 0, 0, 0]) };
        }
    }
    Ok(())
}

/// Loads straight to LDS. What is out of range reads 0.
fn load_to_lds<const K: u8>(w: &mut Wave, inst: &Inst, access: &Access) -> Flow {
    let kind = const { kind_of(K) };
    fence_for(w, inst);
    let result = to_lds::Place::of_buffer(w, inst, kind).fill(w, |w, lane| {
        let place = access.lane(w, lane);
        if access.excludes(place, kind.bytes()) {
            return Ok([0; 4]);
        }
        let at = access.host(w, place, kind.bytes(), lane, false)?;
        // SAFETY: `host` checked the access.
        let words = unsafe { w.load_datum(kind, at) };
        Ok([kind.extend(words[0], 0), words[1], words[2], words[3]])
    });
    w.finish(inst, result)
}

/// Stores dwords from LDS, where lane n's is at M0 + offset + 4n; those outside of LDS are not stored.
pub fn buffer_store_lds_dword(w: &mut Wave, inst: &Inst) -> Flow {
    let access = Access::new(w, inst);
    let from = to_lds::Place::of_buffer(w, inst, Kind::B32);
    w.note_reach(inst);
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let place = access.lane(w, lane);
        let Some(offset) = from.lane(w, lane).filter(|_| !access.excludes(place, 4)) else { return Ok(()) };
        let at = access.host(w, place, 4, lane, true)?;
        // SAFETY: `host` checked the destination, `lane` the source.
        unsafe {
            let word = lds::at(w, offset).cast::<u32>().read_unaligned();
            w.store_datum(Kind::B32, at, [word, 0, 0, 0]);
        }
        Ok(())
    });
    w.finish(inst, result)
}

macro_rules! moves {
    ($($name:ident: $generic:ident, $kind:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<{ Kind::$kind as u8 }>(w, inst)
        }
    )*};
}

moves! {
    buffer_load_ubyte: load, U8;
    buffer_load_sbyte: load, I8;
    buffer_load_ushort: load, U16;
    buffer_load_sshort: load, I16;
    buffer_load_dwordx2: load, B64;
    buffer_load_dwordx3: load, B96;
    buffer_load_ubyte_d16: load, U8Lo;
    buffer_load_ubyte_d16_hi: load, U8Hi;
    buffer_load_sbyte_d16: load, I8Lo;
    buffer_load_sbyte_d16_hi: load, I8Hi;
    buffer_load_short_d16: load, B16Lo;
    buffer_load_short_d16_hi: load, B16Hi;
    buffer_store_byte: store, U8;
    buffer_store_byte_d16_hi: store, U8Hi;
    buffer_store_short: store, U16;
    buffer_store_short_d16_hi: store, B16Hi;
    buffer_store_dwordx2: store, B64;
    buffer_store_dwordx3: store, B96;
}

multiversion! {
    pub fn buffer_load_dword(w, inst) { load::<{ Kind::B32 as u8 }>(w, inst) }
    pub fn buffer_load_dwordx4(w, inst) { load::<{ Kind::B128 as u8 }>(w, inst) }
    pub fn buffer_store_dword(w, inst) { store::<{ Kind::B32 as u8 }>(w, inst) }
    pub fn buffer_store_dwordx4(w, inst) { store::<{ Kind::B128 as u8 }>(w, inst) }
}

/// An atomic per lane; lanes out of range do nothing and return 0.
fn atomic<const OP: u8, const WIDE: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let access = Access::new(w, inst);
    let op = const { atomic::op_of(OP) };
    let bytes = if WIDE { 8u32 } else { 4 };
    let data = row(inst.dst);
    let returns = inst.memory.has(Memory::RETURNS);
    let edges = Edges::in_memory(w.target);
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let place = access.lane(w, lane);
        let mut old = 0;
        if !access.excludes(place, bytes) {
            let address = access.address(place);
            if !address.is_multiple_of(u64::from(bytes)) {
                return Err(FaultKind::Misaligned { address, lane: lane as u8, bytes: bytes as u8 });
            }
            let at = access.host_of_atomic(w, place, bytes, lane)?;
            old = w.at_device(at, bytes, |w, at| {
                let word = |r: usize| w.row(r)[lane];
                let pair = |r: usize| u64::from(word(r)) | u64::from(word(r + 1)) << 32;
                // SAFETY: checked to be writable and aligned.
                unsafe {
                    if WIDE {
                        atomic::memory64(at.cast(), op, pair(data), pair(data + 2), edges)
                    } else {
                        u64::from(atomic::memory32(at.cast(), op, word(data), word(data + 1), edges))
                    }
                }
            });
        }
        if returns {
            w.row_mut(data)[lane] = old as u32;
            if WIDE {
                w.row_mut(data + 1)[lane] = (old >> 32) as u32;
            }
        }
        Ok(())
    });
    w.finish(inst, result)
}

macro_rules! atomics {
    ($($name:ident: $op:ident, $wide:literal;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, $wide>(w, inst)
        }
    )*};
}

atomics! {
    buffer_atomic_swap: Swap, false;
    buffer_atomic_cmpswap: CmpSwap, false;
    buffer_atomic_add: Add, false;
    buffer_atomic_sub: Sub, false;
    buffer_atomic_smin: Smin, false;
    buffer_atomic_umin: Umin, false;
    buffer_atomic_smax: Smax, false;
    buffer_atomic_umax: Umax, false;
    buffer_atomic_and: And, false;
    buffer_atomic_or: Or, false;
    buffer_atomic_xor: Xor, false;
    buffer_atomic_inc: Inc, false;
    buffer_atomic_dec: Dec, false;
    buffer_atomic_add_f32: AddF, false;
    buffer_atomic_pk_add_f16: PkAddF16, false;
    buffer_atomic_pk_add_bf16: PkAddBf16, false;
    buffer_atomic_add_f64: AddF, true;
    buffer_atomic_min_f64: MinF, true;
    buffer_atomic_max_f64: MaxF, true;
    buffer_atomic_min_f32: MinF, false;
    buffer_atomic_max_f32: MaxF, false;
    buffer_atomic_cmpswap_f32: CmpSwapF, false;
    buffer_atomic_cmpswap_f64: CmpSwapF, true;
    buffer_atomic_csub_u32: SubClamp, false;
    buffer_atomic_cond_sub_u32: CondSub, false;
    buffer_atomic_swap_x2: Swap, true;
    buffer_atomic_cmpswap_x2: CmpSwap, true;
    buffer_atomic_add_x2: Add, true;
    buffer_atomic_sub_x2: Sub, true;
    buffer_atomic_smin_x2: Smin, true;
    buffer_atomic_umin_x2: Umin, true;
    buffer_atomic_smax_x2: Smax, true;
    buffer_atomic_umax_x2: Umax, true;
    buffer_atomic_and_x2: And, true;
    buffer_atomic_or_x2: Or, true;
    buffer_atomic_xor_x2: Xor, true;
    buffer_atomic_inc_x2: Inc, true;
    buffer_atomic_dec_x2: Dec, true;
}
