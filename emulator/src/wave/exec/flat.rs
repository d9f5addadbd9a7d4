//! FLAT, GLOBAL and SCRATCH (MI200 ISA, chapter 10).

use super::{
    access::fence_for,
    atomic::{self, Edges, Op},
    kind::{Kind, kind_of},
    lds,
    scratch::{self, Offsets},
    shape::{self, LOWER},
    to_lds,
    transfer::{self, Linear},
};
use crate::{
    isa::{Flow, Inst, Memory, Operand, inst::Form},
    os::hidden,
    wave::{FaultKind, Wave, multiversion::multiversion},
};

/// Where a wave's addresses lie.
enum Place {
    /// All live lanes at `base` plus a 32-bit register.
    Linear(Linear),
    /// Anywhere: a 64-bit register pair plus the instruction's offset.
    Anywhere { row: usize, offset: i64 },
}

#[inline(always)]
fn row(op: Operand) -> usize {
    op.row().unwrap_or(0)
}

/// Where a GLOBAL instruction points: SADDR + 32-bit VADDR + offset, or 64-bit VADDR + offset.
#[inline(always)]
fn global(w: &Wave, inst: &Inst) -> Place {
    let offset = i64::from(inst.imm);
    let row = row(inst.src[0]);
    if inst.src[2] != Operand::NONE {
        let base = w.scalar64(inst.src[2], inst).wrapping_add_signed(offset);
        return Place::Linear(Linear { base, row });
    }
    wide(w, row, offset)
}

/// 64-bit addresses that share their high halves are one base and 32-bit offsets.
#[inline(always)]
fn wide(w: &Wave, row: usize, offset: i64) -> Place {
    let high = w.row(row + 1);
    if w.exec != 0 && shape::uniform(high, w.exec) {
        let high = u64::from(high[w.exec.trailing_zeros() as usize & 63]) << 32;
        return Place::Linear(Linear { base: high.wrapping_add_signed(offset), row });
    }
    Place::Anywhere { row, offset }
}

/// The address of lane 0 if the first `N` lanes of a GLOBAL instruction lie one behind the other.
#[inline(always)]
fn straight<const N: usize>(w: &Wave, inst: &Inst, stride: u32) -> Option<u64> {
    let row = row(inst.src[0]);
    let start = if inst.src[2] == Operand::NONE {
        shape::straight::<N>(w.row(row), w.row(row + 1), stride)?
    } else {
        let offset = shape::straight_offsets::<N>(w.row(row), stride)?;
        w.scalar64(inst.src[2], inst).wrapping_add(u64::from(offset))
    };
    Some(start.wrapping_add_signed(i64::from(inst.imm)))
}

/// As [`straight`], of the live lanes, if they are all of a wave.
pub fn straight_lanes(w: &Wave, inst: &Inst, stride: u32) -> Option<u64> {
    match w.exec {
        u64::MAX => straight::<64>(w, inst, stride),
        LOWER => straight::<32>(w, inst, stride),
        _ => None,
    }
}

/// See [`straight`]; the lanes are live, and may be accessed.
#[inline(always)]
fn block<const K: u8, const N: usize>(w: &mut Wave, inst: &Inst, write: bool) -> Option<u64> {
    let stride = const { kind_of(K).bytes() };
    let start = straight::<N>(w, inst, stride)?;
    w.allows(start, start.wrapping_add(N as u64 * u64::from(stride) - 1), write).then_some(start)
}

/// The commonest load of all: every lane its own element of an array.
#[inline(always)]
fn global_load_block<const K: u8>(w: &mut Wave, inst: &Inst) -> bool {
    // The VGPRs need no second look.
    if inst.form.has(Form::sources(1) | Form::DESTINATION) || inst.memory.is_coherent() {
        return false;
    }
    match w.exec {
        u64::MAX => load_line::<K, 64>(w, inst),
        LOWER => load_line::<K, 32>(w, inst),
        _ => false,
    }
}

#[inline(always)]
fn load_line<const K: u8, const N: usize>(w: &mut Wave, inst: &Inst) -> bool {
    let Some(start) = block::<K, N>(w, inst, false) else { return false };
    // SAFETY: the map allows reads of the lanes' data from `start` on; the registers are no device memory.
    unsafe { transfer::load_block::<K, N>(w, row(inst.dst), hidden::at(start)) };
    true
}

/// The commonest store of all.
#[inline(always)]
fn global_store_block<const K: u8>(w: &mut Wave, inst: &Inst) -> bool {
    if inst.form.has(Form::sources(2)) {
        return false;
    }
    match w.exec {
        u64::MAX => store_line::<K, 64>(w, inst),
        LOWER => store_line::<K, 32>(w, inst),
        _ => false,
    }
}

#[inline(always)]
fn store_line<const K: u8, const N: usize>(w: &mut Wave, inst: &Inst) -> bool {
    let Some(start) = block::<K, N>(w, inst, true) else { return false };
    // SAFETY: the map allows writes of the lanes' data from `start` on; the registers are no device memory.
    unsafe { transfer::store_block::<K, N>(w, row(inst.src[1]), hidden::at(start)) };
    true
}

#[inline(always)]
fn global_load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    if inst.dst == Operand::NONE {
        return to_lds::global_load::<K>(w, inst);
    }
    fence_for(w, inst);
    let dst = row(inst.dst);
    let result = match global(w, inst) {
        Place::Linear(from) => transfer::load::<K>(w, dst, from),
        Place::Anywhere { row, offset } => load_anywhere::<K>(w, dst, row, offset),
    };
    w.finish(inst, result)
}

#[inline(never)]
fn load_anywhere<const K: u8>(w: &mut Wave, dst: usize, row: usize, offset: i64) -> Result<(), FaultKind> {
    let addresses = addresses(w, row, offset);
    shape::lanes(w.exec).try_for_each(|lane| transfer::load_lane::<K>(w, dst, addresses[lane], lane))
}

#[inline(always)]
fn global_store<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let src = row(inst.src[1]);
    w.note_reach(inst);
    let result = match global(w, inst) {
        Place::Linear(to) => transfer::store::<K>(w, src, to),
        Place::Anywhere { row, offset } => store_anywhere::<K>(w, src, row, offset),
    };
    w.finish(inst, result)
}

#[inline(never)]
fn store_anywhere<const K: u8>(w: &mut Wave, src: usize, row: usize, offset: i64) -> Result<(), FaultKind> {
    shape::lanes(w.exec).try_for_each(|lane| {
        transfer::store_lane::<K>(w, src, shape::lane_address(w, row, offset, lane), lane)
    })
}

/// All lanes' addresses, before a load overwrites the registers that hold them.
#[inline(always)]
fn addresses(w: &Wave, row: usize, offset: i64) -> [u64; 64] {
    std::array::from_fn(|lane| shape::lane_address(w, row, offset, lane))
}

/// All lanes' addresses of a GLOBAL instruction.
pub fn global_addresses(w: &Wave, inst: &Inst) -> [u64; 64] {
    match global(w, inst) {
        Place::Linear(Linear { base, row }) => w.row(row).map(|offset| base.wrapping_add(offset.into())),
        Place::Anywhere { row, offset } => addresses(w, row, offset),
    }
}

/// Which part of the generic address space an address belongs to.
enum Segment {
    Memory,
    Lds,
    Scratch,
}

#[inline(always)]
fn segment(w: &Wave, address: u64) -> Segment {
    let apertures = &w.surroundings.apertures;
    match address >> 32 {
        high if high == apertures.shared >> 32 => Segment::Lds,
        high if high == apertures.private >> 32 => Segment::Scratch,
        _ => Segment::Memory,
    }
}

/// An LDS access through the aperture must be inside, unlike one by a DS instruction.
#[inline(always)]
fn aperture(w: &Wave, address: u64, bytes: u32, lane: usize) -> Result<u32, FaultKind> {
    let offset = address as u32;
    if lds::fits(w, offset, bytes) {
        Ok(offset)
    } else {
        Err(FaultKind::Aperture { address, lane: lane as u8 })
    }
}

#[inline(always)]
fn flat_load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let dst = row(inst.dst);
    let (address, offset) = (row(inst.src[0]), i64::from(inst.imm));
    if let Place::Linear(from) = wide(w, address, offset) {
        match segment(w, from.base.wrapping_add_signed(-offset)) {
            Segment::Memory => {
                fence_for(w, inst);
                let result = transfer::load::<K>(w, dst, from);
                return w.finish(inst, result);
            }
            Segment::Scratch => {
                let result = scratch_load_from::<K>(w, dst, address, offset as u32);
                return w.finish(inst, result);
            }
            // Lane by lane: bounds are faults here.
            Segment::Lds => {}
        }
    }
    fence_for(w, inst);
    let result = flat_load_lanes::<K>(w, dst, address, offset);
    w.finish(inst, result)
}

/// Loads from scratch at a register plus an offset.
#[inline(never)]
pub fn scratch_load_from<const K: u8>(
    w: &mut Wave,
    dst: usize,
    row: usize,
    offset: u32,
) -> Result<(), FaultKind> {
    let offsets = w.row(row).map(|o| o.wrapping_add(offset));
    scratch::load::<K>(w, dst, Offsets::PerLane(&offsets))
}

/// Loads lane by lane, each from its own segment.
#[inline(never)]
fn flat_load_lanes<const K: u8>(w: &mut Wave, dst: usize, row: usize, offset: i64) -> Result<(), FaultKind> {
    let addresses = addresses(w, row, offset);
    let bytes = const { kind_of(K).bytes() };
    shape::lanes(w.exec).try_for_each(|lane| {
        let address = addresses[lane];
        match segment(w, address) {
            Segment::Memory => transfer::load_lane::<K>(w, dst, address, lane)?,
            Segment::Lds => {
                let offset = aperture(w, address, bytes, lane)?;
                lds::load_lane::<K>(w, dst, offset, lane);
            }
            Segment::Scratch => scratch::load_lane::<K>(w, dst, address as u32, lane)?,
        }
        Ok(())
    })
}

#[inline(always)]
fn flat_store<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    w.note_reach(inst);
    let src = row(inst.src[1]);
    let (address, offset) = (row(inst.src[0]), i64::from(inst.imm));
    if let Place::Linear(to) = wide(w, address, offset) {
        match segment(w, to.base.wrapping_add_signed(-offset)) {
            Segment::Memory => {
                let result = transfer::store::<K>(w, src, to);
                return w.finish(inst, result);
            }
            Segment::Scratch => {
                let result = scratch_store_to::<K>(w, src, address, offset as u32);
                return w.finish(inst, result);
            }
            Segment::Lds => {}
        }
    }
    let result = flat_store_lanes::<K>(w, src, address, offset);
    w.finish(inst, result)
}

/// Stores to scratch at a register plus an offset.
#[inline(never)]
pub fn scratch_store_to<const K: u8>(
    w: &mut Wave,
    src: usize,
    row: usize,
    offset: u32,
) -> Result<(), FaultKind> {
    let offsets = w.row(row).map(|o| o.wrapping_add(offset));
    scratch::store::<K>(w, src, Offsets::PerLane(&offsets))
}

/// Stores lane by lane, each to its own segment.
#[inline(never)]
fn flat_store_lanes<const K: u8>(w: &mut Wave, src: usize, row: usize, offset: i64) -> Result<(), FaultKind> {
    let bytes = const { kind_of(K).bytes() };
    shape::lanes(w.exec).try_for_each(|lane| {
        let address = shape::lane_address(w, row, offset, lane);
        match segment(w, address) {
            Segment::Memory => transfer::store_lane::<K>(w, src, address, lane)?,
            Segment::Lds => {
                let offset = aperture(w, address, bytes, lane)?;
                lds::store_lane::<K>(w, src, offset, lane);
            }
            Segment::Scratch => scratch::store_lane::<K>(w, src, address as u32, lane)?,
        }
        Ok(())
    })
}

#[inline(always)]
fn scratch_load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    if inst.dst == Operand::NONE {
        return to_lds::scratch_load::<K>(w, inst);
    }
    let dst = row(inst.dst);
    let result = match scratch::offsets(w, inst) {
        (base, None) => scratch::load::<K>(w, dst, Offsets::Uniform(base)),
        (base, Some(row)) => scratch_load_from::<K>(w, dst, row, base),
    };
    w.finish(inst, result)
}

#[inline(always)]
fn scratch_store<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let src = row(inst.src[1]);
    let result = match scratch::offsets(w, inst) {
        (base, None) => scratch::store::<K>(w, src, Offsets::Uniform(base)),
        (base, Some(row)) => scratch_store_to::<K>(w, src, row, base),
    };
    w.finish(inst, result)
}

macro_rules! moves {
    ($($name:ident: $generic:ident, $kind:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<{ Kind::$kind as u8 }>(w, inst)
        }
    )*};
}

macro_rules! wide_moves {
    ($($name:ident: $generic:ident, $kind:ident;)*) => {
        multiversion! {$(
            pub fn $name(w, inst) {
                $generic::<{ Kind::$kind as u8 }>(w, inst)
            }
        )*}
    };
}

// Whole dwords move row by row where addresses allow, which vector instructions speed up.
wide_moves! {
    flat_load_dword: flat_load, B32;
    flat_load_dwordx2: flat_load, B64;
    flat_load_dwordx3: flat_load, B96;
    flat_load_dwordx4: flat_load, B128;
    flat_store_dword: flat_store, B32;
    flat_store_dwordx2: flat_store, B64;
    flat_store_dwordx3: flat_store, B96;
    flat_store_dwordx4: flat_store, B128;
}

macro_rules! block_moves {
    ($($name:ident: $block:ident, $generic:ident, $kind:ident;)*) => {$(
        multiversion! {
            pub fn $name(w, inst) {
                if $block::<{ Kind::$kind as u8 }>(w, inst) {
                    return Flow::Next;
                }
                // Apart, so that the short way saves no registers on the stack.
                multiversion! {
                    fn other(w, inst) {
                        $generic::<{ Kind::$kind as u8 }>(w, inst)
                    }
                }
                other(w, inst)
            }
        }
    )*};
}

block_moves! {
    global_load_dword: global_load_block, global_load, B32;
    global_load_dwordx2: global_load_block, global_load, B64;
    global_load_dwordx3: global_load_block, global_load, B96;
    global_load_dwordx4: global_load_block, global_load, B128;
    global_store_dword: global_store_block, global_store, B32;
    global_store_dwordx2: global_store_block, global_store, B64;
    global_store_dwordx3: global_store_block, global_store, B96;
    global_store_dwordx4: global_store_block, global_store, B128;
}

moves! {
    flat_load_ubyte: flat_load, U8;
    flat_load_sbyte: flat_load, I8;
    flat_load_ushort: flat_load, U16;
    flat_load_sshort: flat_load, I16;
    flat_load_ubyte_d16: flat_load, U8Lo;
    flat_load_ubyte_d16_hi: flat_load, U8Hi;
    flat_load_sbyte_d16: flat_load, I8Lo;
    flat_load_sbyte_d16_hi: flat_load, I8Hi;
    flat_load_short_d16: flat_load, B16Lo;
    flat_load_short_d16_hi: flat_load, B16Hi;
    flat_store_byte: flat_store, U8;
    flat_store_byte_d16_hi: flat_store, U8Hi;
    flat_store_short: flat_store, U16;
    flat_store_short_d16_hi: flat_store, B16Hi;
    global_load_ubyte: global_load, U8;
    global_load_sbyte: global_load, I8;
    global_load_ushort: global_load, U16;
    global_load_sshort: global_load, I16;
    global_load_ubyte_d16: global_load, U8Lo;
    global_load_ubyte_d16_hi: global_load, U8Hi;
    global_load_sbyte_d16: global_load, I8Lo;
    global_load_sbyte_d16_hi: global_load, I8Hi;
    global_load_short_d16: global_load, B16Lo;
    global_load_short_d16_hi: global_load, B16Hi;
    global_store_byte: global_store, U8;
    global_store_byte_d16_hi: global_store, U8Hi;
    global_store_short: global_store, U16;
    global_store_short_d16_hi: global_store, B16Hi;
    scratch_load_ubyte: scratch_load, U8;
    scratch_load_sbyte: scratch_load, I8;
    scratch_load_ushort: scratch_load, U16;
    scratch_load_sshort: scratch_load, I16;
    scratch_load_dword: scratch_load, B32;
    scratch_load_dwordx2: scratch_load, B64;
    scratch_load_dwordx3: scratch_load, B96;
    scratch_load_dwordx4: scratch_load, B128;
    scratch_load_ubyte_d16: scratch_load, U8Lo;
    scratch_load_ubyte_d16_hi: scratch_load, U8Hi;
    scratch_load_sbyte_d16: scratch_load, I8Lo;
    scratch_load_sbyte_d16_hi: scratch_load, I8Hi;
    scratch_load_short_d16: scratch_load, B16Lo;
    scratch_load_short_d16_hi: scratch_load, B16Hi;
    scratch_store_byte: scratch_store, U8;
    scratch_store_byte_d16_hi: scratch_store, U8Hi;
    scratch_store_short: scratch_store, U16;
    scratch_store_short_d16_hi: scratch_store, B16Hi;
    scratch_store_dword: scratch_store, B32;
    scratch_store_dwordx2: scratch_store, B64;
    scratch_store_dwordx3: scratch_store, B96;
    scratch_store_dwordx4: scratch_store, B128;
}

/// A lane's atomic at a generic or global address.
fn atomic<const OP: u8, const WIDE: bool, const FLAT: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let (row, offset) = (row(inst.src[0]), i64::from(inst.imm));
    let scalar = (inst.src[2] != Operand::NONE && !FLAT)
        .then(|| w.scalar64(inst.src[2], inst).wrapping_add_signed(offset));
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let address = match scalar {
            Some(base) => base.wrapping_add(u64::from(w.row(row)[lane])),
            None => shape::lane_address(w, row, offset, lane),
        };
        atomic_lane::<OP, WIDE, FLAT>(w, inst, address, lane)
    });
    w.finish(inst, result)
}

#[inline(always)]
fn atomic_lane<const OP: u8, const WIDE: bool, const FLAT: bool>(
    w: &mut Wave,
    inst: &Inst,
    address: u64,
    lane: usize,
) -> Result<(), FaultKind> {
    let op = const { atomic::op_of(OP) };
    let bytes = if WIDE { 8u32 } else { 4 };
    if !address.is_multiple_of(u64::from(bytes)) {
        return Err(FaultKind::Misaligned { address, lane: lane as u8, bytes: bytes as u8 });
    }
    let segment = if FLAT { segment(w, address) } else { Segment::Memory };
    let at = match segment {
        Segment::Memory => {
            w.check_atomic(address, bytes, lane)?;
            address as *mut u8
        }
        Segment::Lds => {
            let offset = aperture(w, address, bytes, lane)?;
            lds::at(w, offset)
        }
        Segment::Scratch if WIDE => return scratch_wide(w, inst, op, address as u32, lane),
        Segment::Scratch => scratch::dword_at(w, address as u32, lane)?,
    };
    let edges = match segment {
        Segment::Lds => Edges::in_lds(w.target, w.mode),
        _ => Edges::in_memory(w.target),
    };
    // SAFETY: `at` is writable and aligned: global memory by the check, LDS and scratch by their bounds, both of
    // whose backings are aligned to more than 8.
    let operate = |w: &mut Wave, at| unsafe { atomic_at::<WIDE>(w, inst, op, at, lane, edges) };
    match segment {
        Segment::Memory => w.at_device(at, bytes, operate),
        Segment::Lds | Segment::Scratch => operate(w, at),
    }
    Ok(())
}

/// Performs a lane's atomic at a host address.
///
/// # Safety
/// `at` is valid for reads and writes of 8 bytes if `WIDE`, else 4, and a multiple of that.
#[inline(always)]
pub unsafe fn atomic_at<const WIDE: bool>(
    w: &mut Wave,
    inst: &Inst,
    op: Op,
    at: *mut u8,
    lane: usize,
    edges: Edges,
) {
    let (data, dst) = (row(inst.src[1]), row(inst.dst));
    let returns = inst.memory.has(Memory::RETURNS);
    if WIDE {
        let pair = |w: &Wave, r: usize| u64::from(w.row(r)[lane]) | u64::from(w.row(r + 1)[lane]) << 32;
        // SAFETY: as the caller says.
        let old = unsafe { atomic::memory64(at.cast(), op, pair(w, data), pair(w, data + 2), edges) };
        if returns {
            w.row_mut(dst)[lane] = old as u32;
            w.row_mut(dst + 1)[lane] = (old >> 32) as u32;
        }
    } else {
        let (value, second) = (w.row(data)[lane], w.row(data + 1)[lane]);
        // SAFETY: as the caller says.
        let old = unsafe { atomic::memory32(at.cast(), op, value, second, edges) };
        if returns {
            w.row_mut(dst)[lane] = old;
        }
    }
}

/// A 64-bit atomic on a private stack, whose two dwords do not adjoin.
#[cold]
fn scratch_wide(w: &mut Wave, inst: &Inst, op: Op, offset: u32, lane: usize) -> Result<(), FaultKind> {
    let low = scratch::dword_at(w, offset, lane)?.cast::<u32>();
    let high = scratch::dword_at(w, offset + 4, lane)?.cast::<u32>();
    let data = row(inst.src[1]);
    let pair = |r: usize| u64::from(w.row(r)[lane]) | u64::from(w.row(r + 1)[lane]) << 32;
    let (value, second) = (pair(data), pair(data + 2));
    // SAFETY: both dwords lie in the wave's scratch, which nobody else touches.
    let old = unsafe { u64::from(low.read()) | u64::from(high.read()) << 32 };
    let new = atomic::apply64(op, old, value, second, Edges::in_memory(w.target));
    // SAFETY: as above.
    unsafe {
        low.write(new as u32);
        high.write((new >> 32) as u32);
    }
    if inst.memory.has(Memory::RETURNS) {
        let dst = row(inst.dst);
        w.row_mut(dst)[lane] = old as u32;
        w.row_mut(dst + 1)[lane] = (old >> 32) as u32;
    }
    Ok(())
}

macro_rules! atomics {
    ($($flat:ident, $global:ident: $op:ident, $wide:literal;)*) => {$(
        pub fn $flat(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, $wide, true>(w, inst)
        }
        pub fn $global(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, $wide, false>(w, inst)
        }
    )*};
}

atomics! {
    flat_atomic_swap, global_atomic_swap: Swap, false;
    flat_atomic_cmpswap, global_atomic_cmpswap: CmpSwap, false;
    flat_atomic_add, global_atomic_add: Add, false;
    flat_atomic_sub, global_atomic_sub: Sub, false;
    flat_atomic_smin, global_atomic_smin: Smin, false;
    flat_atomic_umin, global_atomic_umin: Umin, false;
    flat_atomic_smax, global_atomic_smax: Smax, false;
    flat_atomic_umax, global_atomic_umax: Umax, false;
    flat_atomic_and, global_atomic_and: And, false;
    flat_atomic_or, global_atomic_or: Or, false;
    flat_atomic_xor, global_atomic_xor: Xor, false;
    flat_atomic_inc, global_atomic_inc: Inc, false;
    flat_atomic_dec, global_atomic_dec: Dec, false;
    flat_atomic_add_f32, global_atomic_add_f32: AddF, false;
    flat_atomic_pk_add_f16, global_atomic_pk_add_f16: PkAddF16, false;
    flat_atomic_pk_add_bf16, global_atomic_pk_add_bf16: PkAddBf16, false;
    flat_atomic_add_f64, global_atomic_add_f64: AddF, true;
    flat_atomic_min_f64, global_atomic_min_f64: MinF, true;
    flat_atomic_max_f64, global_atomic_max_f64: MaxF, true;
    flat_atomic_min_f32, global_atomic_min_f32: MinF, false;
    flat_atomic_max_f32, global_atomic_max_f32: MaxF, false;
    flat_atomic_cmpswap_f32, global_atomic_cmpswap_f32: CmpSwapF, false;
    flat_atomic_cmpswap_f64, global_atomic_cmpswap_f64: CmpSwapF, true;
    flat_atomic_csub_u32, global_atomic_csub_u32: SubClamp, false;
    flat_atomic_cond_sub_u32, global_atomic_cond_sub_u32: CondSub, false;
    flat_atomic_swap_x2, global_atomic_swap_x2: Swap, true;
    flat_atomic_cmpswap_x2, global_atomic_cmpswap_x2: CmpSwap, true;
    flat_atomic_add_x2, global_atomic_add_x2: Add, true;
    flat_atomic_sub_x2, global_atomic_sub_x2: Sub, true;
    flat_atomic_smin_x2, global_atomic_smin_x2: Smin, true;
    flat_atomic_umin_x2, global_atomic_umin_x2: Umin, true;
    flat_atomic_smax_x2, global_atomic_smax_x2: Smax, true;
    flat_atomic_umax_x2, global_atomic_umax_x2: Umax, true;
    flat_atomic_and_x2, global_atomic_and_x2: And, true;
    flat_atomic_or_x2, global_atomic_or_x2: Or, true;
    flat_atomic_xor_x2, global_atomic_xor_x2: Xor, true;
    flat_atomic_inc_x2, global_atomic_inc_x2: Inc, true;
    flat_atomic_dec_x2, global_atomic_dec_x2: Dec, true;
}

/// The address of a lane's dword: SADDR + offset + 4 times the lane's number.
fn by_lane(w: &Wave, inst: &Inst, lane: usize) -> u64 {
    let base = if inst.src[2] == Operand::NONE { 0 } else { w.scalar64(inst.src[2], inst) };
    base.wrapping_add_signed(i64::from(inst.imm)).wrapping_add(4 * lane as u64)
}

/// Loads the dword that belongs to the lane's number.
pub fn global_load_addtid_b32(w: &mut Wave, inst: &Inst) -> Flow {
    fence_for(w, inst);
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let address = by_lane(w, inst, lane);
        transfer::load_lane::<{ Kind::B32 as u8 }>(w, row(inst.dst), address, lane)
    });
    w.finish(inst, result)
}

/// Stores the dword that belongs to the lane's number.
pub fn global_store_addtid_b32(w: &mut Wave, inst: &Inst) -> Flow {
    fence_for(w, inst);
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let address = by_lane(w, inst, lane);
        transfer::store_lane::<{ Kind::B32 as u8 }>(w, row(inst.src[1]), address, lane)
    });
    w.finish(inst, result)
}
