//! DS: LDS and lane exchange (MI200 ISA, chapter 11 and 12.12).

use super::{
    atomic::{self, Edges, Op},
    kind::{Kind, kind_of},
    lds,
    shape::{self, LOWER},
};
use crate::{
    isa::{Flow, Generation, Inst, Operand},
    wave::{FaultKind, Wave, multiversion::multiversion},
};

#[inline(always)]
pub fn row(op: Operand) -> usize {
    op.row().unwrap_or(0)
}

/// LDS offsets of all lanes: ADDR + offset.
#[inline(always)]
pub fn offsets(w: &Wave, inst: &Inst, offset: u32) -> [u32; 64] {
    w.row(row(inst.src[0])).map(|address| address.wrapping_add(offset))
}

/// Loads from one or two places beyond the lanes' addresses.
#[inline(always)]
fn load<const K: u8>(w: &mut Wave, inst: &Inst, places: &[u32]) -> Flow {
    let (dst, address) = (row(inst.dst), row(inst.src[0]));
    let done = match w.exec {
        u64::MAX => lds::load_all::<K, 64>(w, dst, address, places),
        LOWER => lds::load_all::<K, 32>(w, dst, address, places),
        _ => false,
    };
    if !done {
        load_some::<K>(w, inst, places);
    }
    Flow::Next
}

#[inline(never)]
fn load_some<const K: u8>(w: &mut Wave, inst: &Inst, places: &[u32]) {
    // A copy: results may overwrite the address register.
    let addresses = offsets(w, inst, 0);
    for (n, place) in places.iter().enumerate() {
        let offsets = addresses.map(|address| address.wrapping_add(*place));
        lds::load::<K>(w, row(inst.dst) + n * const { kind_of(K).registers() }, &offsets);
    }
}

/// Stores the registers of a source to one place beyond the lanes' addresses.
#[inline(always)]
fn store<const K: u8>(w: &mut Wave, inst: &Inst, source: Operand, place: u32) {
    let (src, address) = (row(source), row(inst.src[0]));
    let done = match w.exec {
        u64::MAX => lds::store_all::<K, 64>(w, src, address, place),
        LOWER => lds::store_all::<K, 32>(w, src, address, place),
        _ => false,
    };
    if !done {
        store_some::<K>(w, inst, src, place);
    }
}

#[inline(never)]
fn store_some<const K: u8>(w: &mut Wave, inst: &Inst, src: usize, place: u32) {
    let offsets = offsets(w, inst, place);
    lds::store::<K>(w, src, &offsets);
}

#[inline(always)]
fn read<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    load::<K>(w, inst, &[inst.imm as u32])
}

#[inline(always)]
fn write<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    store::<K>(w, inst, inst.src[1], inst.imm as u32);
    Flow::Next
}

/// The two byte offsets of a two-address instruction; `UNIT` is 1 or 64 elements.
#[inline(always)]
pub fn pair<const K: u8, const UNIT: u32>(inst: &Inst) -> (u32, u32) {
    let scale = const { kind_of(K).bytes() } * UNIT;
    (inst.imm as u32 * scale, inst.literal * scale)
}

#[inline(always)]
fn read2<const K: u8, const UNIT: u32>(w: &mut Wave, inst: &Inst) -> Flow {
    let (first, second) = pair::<K, UNIT>(inst);
    load::<K>(w, inst, &[first, second])
}

#[inline(always)]
fn write2<const K: u8, const UNIT: u32>(w: &mut Wave, inst: &Inst) -> Flow {
    let (first, second) = pair::<K, UNIT>(inst);
    store::<K>(w, inst, inst.src[1], first);
    // Two offsets that are one name one write, of the first data (MI200 ISA, 11.3.1).
    if inst.imm as u32 != inst.literal {
        store::<K>(w, inst, inst.src[2], second);
    }
    Flow::Next
}

macro_rules! moves {
    ($($name:ident: $generic:ident, $kind:ident $(, $unit:literal)?;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<{ Kind::$kind as u8 } $(, $unit)?>(w, inst)
        }
    )*};
}

moves! {
    ds_read_b96: read, B96;
    ds_read_u8: read, U8;
    ds_read_i8: read, I8;
    ds_read_u16: read, U16;
    ds_read_i16: read, I16;
    ds_read_u8_d16: read, U8Lo;
    ds_read_u8_d16_hi: read, U8Hi;
    ds_read_i8_d16: read, I8Lo;
    ds_read_i8_d16_hi: read, I8Hi;
    ds_read_u16_d16: read, B16Lo;
    ds_read_u16_d16_hi: read, B16Hi;
    ds_read2st64_b64: read2, B64, 64;
    ds_write_b8: write, U8;
    ds_write_b16: write, U16;
    ds_write_b8_d16_hi: write, U8Hi;
    ds_write_b16_d16_hi: write, B16Hi;
    ds_write_b96: write, B96;
    ds_write2_b64: write2, B64, 1;
    ds_write2st64_b64: write2, B64, 64;
}

multiversion! {
    pub fn ds_read_b32(w, inst) { read::<{ Kind::B32 as u8 }>(w, inst) }
    pub fn ds_read_b64(w, inst) { read::<{ Kind::B64 as u8 }>(w, inst) }
    pub fn ds_read_b128(w, inst) { read::<{ Kind::B128 as u8 }>(w, inst) }
    pub fn ds_read2_b32(w, inst) { read2::<{ Kind::B32 as u8 }, 1>(w, inst) }
    pub fn ds_read2_b64(w, inst) { read2::<{ Kind::B64 as u8 }, 1>(w, inst) }
    pub fn ds_write_b32(w, inst) { write::<{ Kind::B32 as u8 }>(w, inst) }
    pub fn ds_write_b64(w, inst) { write::<{ Kind::B64 as u8 }>(w, inst) }
    pub fn ds_write_b128(w, inst) { write::<{ Kind::B128 as u8 }>(w, inst) }
    pub fn ds_read2st64_b32(w, inst) { read2::<{ Kind::B32 as u8 }, 64>(w, inst) }
    pub fn ds_write2_b32(w, inst) { write2::<{ Kind::B32 as u8 }, 1>(w, inst) }
    pub fn ds_write2st64_b32(w, inst) { write2::<{ Kind::B32 as u8 }, 64>(w, inst) }
}

/// The compare-and-store family of RDNA 3 and 4, whose comparand is the second data.
macro_rules! compare_and_store {
    ($($name:ident: $of_gfx9:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let [address, data, comparand] = inst.src;
            $of_gfx9(w, &Inst { src: [address, comparand, data], ..*inst })
        }
    )*};
}

compare_and_store! {
    ds_cmpstore_b32: ds_cmpst_b32;
    ds_cmpstore_rtn_b32: ds_cmpst_rtn_b32;
    ds_cmpstore_f32: ds_cmpst_f32;
    ds_cmpstore_rtn_f32: ds_cmpst_rtn_f32;
    ds_cmpstore_b64: ds_cmpst_b64;
    ds_cmpstore_rtn_b64: ds_cmpst_rtn_b64;
    ds_cmpstore_f64: ds_cmpst_f64;
    ds_cmpstore_rtn_f64: ds_cmpst_rtn_f64;
}

/// Lane n's dword is at M0 + offset + 4n.
fn by_thread(w: &Wave, inst: &Inst) -> [u32; 64] {
    let base = (w.m0() & 0xffff).wrapping_add(inst.imm as u32);
    std::array::from_fn(|lane| base.wrapping_add(4 * lane as u32))
}

/// Reads the dword that belongs to the lane's number.
pub fn ds_read_addtid_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let offsets = by_thread(w, inst);
    lds::load::<{ Kind::B32 as u8 }>(w, row(inst.dst), &offsets);
    Flow::Next
}

/// Writes the dword that belongs to the lane's number.
pub fn ds_write_addtid_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let offsets = by_thread(w, inst);
    // The data stand in DATA0, there is no address.
    let data = if inst.src[1] == Operand::NONE { inst.src[0] } else { inst.src[1] };
    lds::store::<{ Kind::B32 as u8 }>(w, row(data), &offsets);
    Flow::Next
}

/// Replaces the word at `offset` by `f(old)`; outside of LDS nothing happens and 0 is returned.
#[inline(always)]
pub fn update32(w: &mut Wave, offset: u32, f: impl FnOnce(u32) -> u32) -> u32 {
    if !lds::fits(w, offset, 4) {
        return 0;
    }
    let at = lds::at(w, offset).cast::<u32>();
    // SAFETY: inside of LDS, which only this thread touches.
    unsafe {
        let old = at.read_unaligned();
        at.write_unaligned(f(old));
        old
    }
}

/// [`update32`] for 64 bits.
#[inline(always)]
pub fn update64(w: &mut Wave, offset: u32, f: impl FnOnce(u64) -> u64) -> u64 {
    if !lds::fits(w, offset, 8) {
        return 0;
    }
    let at = lds::at(w, offset).cast::<u64>();
    // SAFETY: inside of LDS, which only this thread touches.
    unsafe {
        let old = at.read_unaligned();
        at.write_unaligned(f(old));
        old
    }
}

#[inline(always)]
pub fn wide(w: &Wave, row: usize, lane: usize) -> u64 {
    u64::from(w.row(row)[lane]) | u64::from(w.row(row + 1)[lane]) << 32
}

/// The operands of an LDS atomic. The compare-and-store family takes the comparand first.
#[inline(always)]
fn operands<T>(op: Op, data0: T, data1: T) -> (T, T) {
    if matches!(op, Op::CmpSwap | Op::CmpSwapF) { (data1, data0) } else { (data0, data1) }
}

/// Atomics must be aligned to their size, in LDS as in memory (MI200 ISA, 3.11).
#[cold]
fn misaligned(w: &mut Wave, inst: &Inst, offset: u32, lane: usize, bytes: u8) -> Flow {
    w.fault(inst, FaultKind::Misaligned { address: offset.into(), lane: lane as u8, bytes })
}

fn atomic32<const OP: u8, const RETURN: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let op = const { atomic::op_of(OP) };
    let offsets = offsets(w, inst, inst.imm as u32);
    let edges = Edges::in_lds(w.target, w.mode);
    let (data0, data1) = (row(inst.src[1]), row(inst.src[2]));
    for lane in shape::lanes(w.exec) {
        if !offsets[lane].is_multiple_of(4) {
            return misaligned(w, inst, offsets[lane], lane, 4);
        }
        let (data, second) = operands(op, w.row(data0)[lane], w.row(data1)[lane]);
        let old = update32(w, offsets[lane], |old| atomic::apply32(op, old, data, second, edges));
        if RETURN {
            w.row_mut(row(inst.dst))[lane] = old;
        }
    }
    Flow::Next
}

fn atomic64<const OP: u8, const RETURN: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let op = const { atomic::op_of(OP) };
    let offsets = offsets(w, inst, inst.imm as u32);
    let edges = Edges::in_lds(w.target, w.mode);
    let (data0, data1) = (row(inst.src[1]), row(inst.src[2]));
    for lane in shape::lanes(w.exec) {
        if !offsets[lane].is_multiple_of(8) {
            return misaligned(w, inst, offsets[lane], lane, 8);
        }
        let (data, second) = operands(op, wide(w, data0, lane), wide(w, data1, lane));
        let old = update64(w, offsets[lane], |old| atomic::apply64(op, old, data, second, edges));
        if RETURN {
            let dst = row(inst.dst);
            w.row_mut(dst)[lane] = old as u32;
            w.row_mut(dst + 1)[lane] = (old >> 32) as u32;
        }
    }
    Flow::Next
}

macro_rules! atomics {
    ($($name:ident, $rtn:ident: $generic:ident, $op:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<{ Op::$op as u8 }, false>(w, inst)
        }
        pub fn $rtn(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<{ Op::$op as u8 }, true>(w, inst)
        }
    )*};
}

atomics! {
    ds_add_u32, ds_add_rtn_u32: atomic32, Add;
    ds_sub_u32, ds_sub_rtn_u32: atomic32, Sub;
    ds_rsub_u32, ds_rsub_rtn_u32: atomic32, Rsub;
    ds_inc_u32, ds_inc_rtn_u32: atomic32, Inc;
    ds_dec_u32, ds_dec_rtn_u32: atomic32, Dec;
    ds_min_i32, ds_min_rtn_i32: atomic32, Smin;
    ds_max_i32, ds_max_rtn_i32: atomic32, Smax;
    ds_min_u32, ds_min_rtn_u32: atomic32, Umin;
    ds_max_u32, ds_max_rtn_u32: atomic32, Umax;
    ds_and_b32, ds_and_rtn_b32: atomic32, And;
    ds_or_b32, ds_or_rtn_b32: atomic32, Or;
    ds_xor_b32, ds_xor_rtn_b32: atomic32, Xor;
    ds_cond_sub_u32, ds_cond_sub_rtn_u32: atomic32, CondSub;
    ds_sub_clamp_u32, ds_sub_clamp_rtn_u32: atomic32, SubClamp;
    ds_mskor_b32, ds_mskor_rtn_b32: atomic32, Mskor;
    ds_cmpst_b32, ds_cmpst_rtn_b32: atomic32, CmpSwap;
    ds_cmpst_f32, ds_cmpst_rtn_f32: atomic32, CmpSwapF;
    ds_min_f32, ds_min_rtn_f32: atomic32, MinF;
    ds_max_f32, ds_max_rtn_f32: atomic32, MaxF;
    ds_add_f32, ds_add_rtn_f32: atomic32, AddF;
    ds_pk_add_f16, ds_pk_add_rtn_f16: atomic32, PkAddF16;
    ds_pk_add_bf16, ds_pk_add_rtn_bf16: atomic32, PkAddBf16;
    ds_add_u64, ds_add_rtn_u64: atomic64, Add;
    ds_sub_u64, ds_sub_rtn_u64: atomic64, Sub;
    ds_rsub_u64, ds_rsub_rtn_u64: atomic64, Rsub;
    ds_inc_u64, ds_inc_rtn_u64: atomic64, Inc;
    ds_dec_u64, ds_dec_rtn_u64: atomic64, Dec;
    ds_min_i64, ds_min_rtn_i64: atomic64, Smin;
    ds_max_i64, ds_max_rtn_i64: atomic64, Smax;
    ds_min_u64, ds_min_rtn_u64: atomic64, Umin;
    ds_max_u64, ds_max_rtn_u64: atomic64, Umax;
    ds_and_b64, ds_and_rtn_b64: atomic64, And;
    ds_or_b64, ds_or_rtn_b64: atomic64, Or;
    ds_xor_b64, ds_xor_rtn_b64: atomic64, Xor;
    ds_mskor_b64, ds_mskor_rtn_b64: atomic64, Mskor;
    ds_cmpst_b64, ds_cmpst_rtn_b64: atomic64, CmpSwap;
    ds_cmpst_f64, ds_cmpst_rtn_f64: atomic64, CmpSwapF;
    ds_min_f64, ds_min_rtn_f64: atomic64, MinF;
    ds_max_f64, ds_max_rtn_f64: atomic64, MaxF;
    ds_add_f64, ds_add_rtn_f64: atomic64, AddF;
}

/// Exchanges a word and returns the old one.
pub fn ds_wrxchg_rtn_b32(w: &mut Wave, inst: &Inst) -> Flow {
    atomic32::<{ Op::Swap as u8 }, true>(w, inst)
}

/// Exchanges a qword and returns the old one.
pub fn ds_wrxchg_rtn_b64(w: &mut Wave, inst: &Inst) -> Flow {
    atomic64::<{ Op::Swap as u8 }, true>(w, inst)
}

/// Memory - DATA0 where that is no negative number, else memory + DATA1.
pub fn ds_wrap_rtn_b32(w: &mut Wave, inst: &Inst) -> Flow {
    atomic32::<{ Op::Wrap as u8 }, true>(w, inst)
}

/// Adds (or subtracts) the number of live lanes to the word at M0[15:0] + offset; every lane gets the old
/// value. M0 holds the address as LLVM's llvm.amdgcn.ds.append puts it there.
fn count<const SUBTRACT: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let live = w.exec.count_ones();
    let offset = (w.m0() & 0xffff).wrapping_add(inst.imm as u32);
    let old =
        update32(w, offset, |old| if SUBTRACT { old.wrapping_sub(live) } else { old.wrapping_add(live) });
    for lane in shape::lanes(w.exec) {
        w.row_mut(row(inst.dst))[lane] = old;
    }
    Flow::Next
}

/// Takes as many entries as there are live lanes.
pub fn ds_append(w: &mut Wave, inst: &Inst) -> Flow {
    count::<false>(w, inst)
}

/// Gives back as many entries as there are live lanes.
pub fn ds_consume(w: &mut Wave, inst: &Inst) -> Flow {
    count::<true>(w, inst)
}

/// Lanes among which one names another: all of the wave, but on RDNA 2 and 3 those of its own half. RDNA 3's pseudocode says that
/// lanes count modulo 32; LLVM reaches the other half by v_permlane64 there (`supportsWaveWideBPermute`).
pub fn within_reach(w: &Wave) -> usize {
    if matches!(w.target.generation(), Generation::Gfx10 | Generation::Gfx11) { 32 } else { w.lanes }
}

/// The lane that `lane` names by a number of which the low bits count.
#[inline(always)]
pub fn named(lane: usize, number: u32, reach: usize) -> usize {
    lane & !(reach - 1) & 63 | number as usize & (reach - 1) & 63
}

multiversion! {
    /// Lane n gets the data of the lane that its address names; a dead lane gives 0.
    pub fn ds_bpermute_b32(w, inst) {
        let (exec, lanes, reach) = (w.exec, w.lanes, within_reach(w));
        let mut data = *w.row(row(inst.src[1]));
        if !w.all_live() {
            let masks = shape::masks(exec);
            for lane in 0..64 {
                data[lane] &= masks[lane];
            }
        }
        let offsets = offsets(w, inst, inst.imm as u32);
        let dst = w.row_mut(row(inst.dst));
        for lane in 0..lanes {
            let value = data[named(lane, offsets[lane] >> 2, reach)];
            if exec >> lane & 1 == 1 {
                dst[lane] = value;
            }
        }
        Flow::Next
    }
}

/// As [`ds_bpermute_b32`], and dead lanes give what they hold.
pub fn ds_bpermute_fi_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let data = *w.row(row(inst.src[1]));
    let offsets = offsets(w, inst, inst.imm as u32);
    let last = w.lanes - 1;
    for lane in shape::lanes(w.exec) {
        w.row_mut(row(inst.dst))[lane] = data[(offsets[lane] >> 2) as usize & last];
    }
    Flow::Next
}

/// The datum that `lds_direct_load` loads: its address stands in bits 15..0 of M0, its type in bits 18..16.
pub fn direct(m0: u32) -> Option<(u32, Kind)> {
    let kind = match m0 >> 16 & 7 {
        0 => Kind::U8,
        1 => Kind::U16,
        2 => Kind::B32,
        4 => Kind::I8,
        5 => Kind::I16,
        _ => return None,
    };
    Some((m0 & 0xffff, kind))
}

/// Loads one datum of LDS into all live lanes.
pub fn lds_direct_load(w: &mut Wave, inst: &Inst) -> Flow {
    let dst = row(inst.dst);
    let direct = direct(w.m0()).map(|(at, kind)| ([at; 64], kind));
    match direct {
        Some((offsets, Kind::U8)) => lds::load::<{ Kind::U8 as u8 }>(w, dst, &offsets),
        Some((offsets, Kind::U16)) => lds::load::<{ Kind::U16 as u8 }>(w, dst, &offsets),
        Some((offsets, Kind::I8)) => lds::load::<{ Kind::I8 as u8 }>(w, dst, &offsets),
        Some((offsets, Kind::I16)) => lds::load::<{ Kind::I16 as u8 }>(w, dst, &offsets),
        Some((offsets, _)) => lds::load::<{ Kind::B32 as u8 }>(w, dst, &offsets),
        None => return w.fault(inst, FaultKind::Unimplemented { name: inst.row.name }),
    }
    Flow::Next
}

/// Lane n's data go to the lane that its address names; a lane that no address names gets 0.
pub fn ds_permute_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let offsets = offsets(w, inst, inst.imm as u32);
    let data = *w.row(row(inst.src[1]));
    let (mut result, reach) = ([0; 64], within_reach(w));
    for lane in shape::lanes(w.exec) {
        result[named(lane, offsets[lane] >> 2, reach)] = data[lane];
    }
    for lane in shape::lanes(w.exec) {
        w.row_mut(row(inst.dst))[lane] = result[lane];
    }
    Flow::Next
}

/// Lane n gets the data of the lane that the offset's pattern names; a dead lane gives 0.
pub fn ds_swizzle_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let exec = w.exec;
    let data = *w.row(row(inst.src[0]));
    for lane in shape::lanes(exec) {
        let from = swizzle(inst.imm as u32 & 0xffff, lane as u32) as usize & 63;
        w.row_mut(row(inst.dst))[lane] = if exec >> from & 1 == 1 { data[from] } else { 0 };
    }
    Flow::Next
}

/// The lane that `lane` reads from (MI200 ISA, 12.12, DS_SWIZZLE_B32; 11.3 for the modes).
fn swizzle(pattern: u32, lane: u32) -> u32 {
    let (half, in_half) = (lane & 32, lane & 31);
    let from = match pattern {
        // FFT decomposition.
        0xe000.. => {
            let mask = pattern & 31;
            (in_half.reverse_bits() >> 27) >> mask.count_ones() | in_half & mask
        }
        // Rotation within the groups that the mask leaves.
        0xc000.. => {
            let mask = pattern & 31;
            let by = pattern >> 5 & 31;
            let rotated = if pattern >> 10 & 1 == 1 { in_half.wrapping_sub(by) } else { in_half + by };
            in_half & mask | rotated & !mask & 31
        }
        // Any lane of the same quad.
        0x8000.. => in_half & !3 | pattern >> ((in_half & 3) * 2) & 3,
        _ => (in_half & pattern | pattern >> 5) & 31 ^ pattern >> 10 & 31,
    };
    half | from & 31
}

#[cfg(test)]
mod tests {
    use super::swizzle;

    #[test]
    fn swizzle_patterns_name_the_lanes_that_the_manual_says() {
        let swap_neighbours = 0x041f;
        assert_eq!(swizzle(swap_neighbours, 6), 7);
        let reverse_8 = 0x1c1f;
        assert_eq!(swizzle(reverse_8, 33), 38);
        let broadcast_lane_3_of_8 = 3 << 5 | 0x18;
        assert_eq!(swizzle(broadcast_lane_3_of_8, 14), 11);
        let quad_reverse = 0x8000 | 0b0001_1011;
        assert_eq!(swizzle(quad_reverse, 61), 62);
        let rotate_by_1 = 0xc000 | 1 << 5;
        assert_eq!(swizzle(rotate_by_1, 31), 0);
    }
}
