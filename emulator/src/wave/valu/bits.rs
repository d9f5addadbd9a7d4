//! Moves, logic, shifts and bit fields.

use std::ops::{BitAnd, BitXor};

use super::{
    half::F16,
    map::{instructions, lanes, map3, rare},
    modal::floats,
};

/// Bit field of `width` (0 to 31) from `offset`.
#[inline(always)]
fn field(x: u32, offset: u32, width: u32) -> u32 {
    x >> (offset & 31) & ((1 << (width & 31)) - 1)
}

/// Sign-extends from bit `width - 1`; a width of 0 gives 0.
#[inline(always)]
fn extend(x: u32, width: u32) -> i32 {
    let sign = (1u32 << (width & 31)) >> 1;
    (x ^ sign).wrapping_sub(sign) as i32
}

/// One byte of v_perm_b32: bytes 0 to 3 come from `b`, 4 to 7 from `a`; 8 to 11 repeat a sign, 12 is 0 and
/// the rest all ones.
#[inline(always)]
fn permuted_byte(a: u32, b: u32, select: u32) -> u32 {
    let select = select & 0xff;
    // Masks rather than branches, so that the lane loop vectorises.
    let from = |high: u32| {
        let mask = (high & 1).wrapping_neg();
        a & mask | b & !mask
    };
    let byte = from(select >> 2) >> (8 * (select & 3));
    let sign = (from(select >> 1) >> (16 * (select & 1) + 15) & 1).wrapping_neg();
    let mask = |set: bool| u32::from(set).wrapping_neg();
    let signs = mask(select >= 8) & mask(select < 12);
    (byte & mask(select < 8) | sign & signs | mask(select > 12)) & 0xff
}

#[inline(always)]
fn permute(a: u32, b: u32, select: u32) -> u32 {
    permuted_byte(a, b, select)
        | permuted_byte(a, b, select >> 8) << 8
        | permuted_byte(a, b, select >> 16) << 16
        | permuted_byte(a, b, select >> 24) << 24
}

/// Leading zeros, or all ones when there is no one.
#[inline(always)]
fn find_high(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.leading_zeros() }
}

/// The next of a sequence of random numbers (CDNA4 ISA, V_PRNG_B32).
#[inline(always)]
pub(super) fn prng(x: u32) -> u32 {
    x << 1 ^ if x >> 31 != 0 { 197 } else { 0 }
}

/// Three bits' entry in a table, for each bit; `table` has it as all ones or none.
#[inline(always)]
fn look_up<T: Copy + BitAnd<Output = T> + BitXor<Output = T>>(table: [T; 8], a: T, b: T, c: T) -> T {
    let choose = |bit: T, no: T, yes: T| no ^ bit & (no ^ yes);
    let pair = |n: usize| choose(c, table[n], table[n + 1]);
    choose(a, choose(b, pair(0), pair(2)), choose(b, pair(4), pair(6)))
}

instructions! {
    pub(crate) fn v_bitop3_b32(wave, inst) {
        let table = std::array::from_fn(|n| u32::from(inst.bitop3() >> n & 1).wrapping_neg());
        map3(wave, inst, |a: u32, b: u32, c: u32| look_up(table, a, b, c))
    }

    pub(crate) fn v_bitop3_b16(wave, inst) {
        let table = std::array::from_fn(|n| u16::from(inst.bitop3() >> n & 1).wrapping_neg());
        rare::map3(wave, inst, |a: u16, b: u16, c: u16| look_up(table, a, b, c))
    }
}

lanes! {
    v_prng_b32(a: u32) -> u32 { prng(a) };
    v_mov_b32(a: u32) -> u32 { a };
    v_mov_b64(a: u64) -> u64 { a };
    v_not_b32(a: u32) -> u32 { !a };
    v_and_b32(a: u32, b: u32) -> u32 { a & b };
    v_or_b32(a: u32, b: u32) -> u32 { a | b };
    v_xor_b32(a: u32, b: u32) -> u32 { a ^ b };
    v_or3_b32(a: u32, b: u32, c: u32) -> u32 { a | b | c };
    v_and_or_b32(a: u32, b: u32, c: u32) -> u32 { a & b | c };
    v_lshl_or_b32(a: u32, b: u32, c: u32) -> u32 { a << (b & 31) | c };

    v_lshlrev_b32(a: u32, b: u32) -> u32 { b << (a & 31) };
    v_lshrrev_b32(a: u32, b: u32) -> u32 { b >> (a & 31) };
    v_ashrrev_i32(a: u32, b: i32) -> i32 { b >> (a & 31) };
    v_lshlrev_b64(a: u32, b: u64) -> u64 { b << (a & 63) };
    v_lshrrev_b64(a: u32, b: u64) -> u64 { b >> (a & 63) };
    v_ashrrev_i64(a: u32, b: i64) -> i64 { b >> (a & 63) };

    v_bfe_u32(a: u32, b: u32, c: u32) -> u32 { field(a, b, c) };
    v_bfe_i32(a: i32, b: u32, c: u32) -> i32 { extend(field((a >> (b & 31)) as u32, 0, c), c) };
    v_bfi_b32(a: u32, b: u32, c: u32) -> u32 { a & b | !a & c };
    v_alignbit_b32(a: u32, b: u32, c: u32) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32 };
    v_perm_b32(a: u32, b: u32, c: u32) -> u32 { permute(a, b, c) };

    v_bfrev_b32(a: u32) -> u32 { a.reverse_bits() };
    v_bcnt_u32_b32(a: u32, b: u32) -> u32 { a.count_ones().wrapping_add(b) };
}

lanes! {
    once;
    v_xnor_b32(a: u32, b: u32) -> u32 { !(a ^ b) };
    v_lshlrev_b16(a: u16, b: u16) -> u16 { b << (a & 15) };
    v_lshrrev_b16(a: u16, b: u16) -> u16 { b >> (a & 15) };
    v_ashrrev_i16(a: u16, b: i16) -> i16 { b >> (a & 15) };
    v_bfm_b32(a: u32, b: u32) -> u32 { ((1 << (a & 31)) - 1) << (b & 31) };
    v_alignbyte_b32(a: u32, b: u32, c: u32) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32 };
    v_ffbh_u32(a: u32) -> u32 { find_high(a) };
    v_ffbl_b32(a: u32) -> u32 { if a == 0 { u32::MAX } else { a.trailing_zeros() } };
    v_ffbh_i32(a: i32) -> u32 { find_high((a ^ a >> 31) as u32) };
}

floats! {
    once;
    // The halves pass through as arithmetic results do: denormals flushed as MODE says, NaNs quiet.
    F16: v_pack_b32_f16(a: F16, b: F16) -> u32 { u32::from(a.quiet().0) | u32::from(b.quiet().0) << 16 };
}
