//! Integer addition, multiplication, minimum and maximum.

use super::map::lanes;

/// The low 24 bits, sign-extended.
#[inline(always)]
fn i24(x: i32) -> i32 {
    x << 8 >> 8
}

#[inline(always)]
fn u24(x: u32) -> u32 {
    x & 0xff_ffff
}

/// The middle one of three.
#[inline(always)]
fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.max(b).min(a.min(b).max(c))
}

#[inline(always)]
fn saturate_u32(x: u64) -> u32 {
    x.min(u64::from(u32::MAX)) as u32
}

#[inline(always)]
fn saturate_i32(x: i64) -> i32 {
    x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[inline(always)]
fn saturate_u16(x: u32) -> u16 {
    x.min(u32::from(u16::MAX)) as u16
}

#[inline(always)]
fn saturate_i16(x: i32) -> i16 {
    x.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

lanes! {
    v_add_u32(a: u32, b: u32) -> u32 { a.wrapping_add(b) }, clamp { a.saturating_add(b) };
    v_sub_u32(a: u32, b: u32) -> u32 { a.wrapping_sub(b) }, clamp { a.saturating_sub(b) };
    v_subrev_u32(a: u32, b: u32) -> u32 { b.wrapping_sub(a) }, clamp { b.saturating_sub(a) };
    v_add_u16(a: u16, b: u16) -> u16 { a.wrapping_add(b) }, clamp { a.saturating_add(b) };
    v_sub_u16(a: u16, b: u16) -> u16 { a.wrapping_sub(b) }, clamp { a.saturating_sub(b) };

    v_add3_u32(a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b).wrapping_add(c) };
    v_xad_u32(a: u32, b: u32, c: u32) -> u32 { (a ^ b).wrapping_add(c) };
    v_lshl_add_u32(a: u32, b: u32, c: u32) -> u32 { (a << (b & 31)).wrapping_add(c) };
    v_add_lshl_u32(a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b) << (c & 31) };
    v_lshl_add_u64(a: u64, b: u32, c: u64) -> u64 { (a << (b & 7)).wrapping_add(c) };

    v_mul_lo_u32(a: u32, b: u32) -> u32 { a.wrapping_mul(b) };
    v_mul_hi_u32(a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 };
    v_mul_hi_i32(a: i32, b: i32) -> i32 { ((i64::from(a) * i64::from(b)) >> 32) as i32 };
    v_mul_i32_i24(a: i32, b: i32) -> i32 { i24(a).wrapping_mul(i24(b)) },
        clamp { saturate_i32(i64::from(i24(a)) * i64::from(i24(b))) };
    v_mul_u32_u24(a: u32, b: u32) -> u32 { u24(a).wrapping_mul(u24(b)) },
        clamp { saturate_u32(u64::from(u24(a)) * u64::from(u24(b))) };
    v_mad_i32_i24(a: i32, b: i32, c: i32) -> i32 { i24(a).wrapping_mul(i24(b)).wrapping_add(c) },
        clamp { saturate_i32(i64::from(i24(a)) * i64::from(i24(b)) + i64::from(c)) };
    v_mad_u32_u24(a: u32, b: u32, c: u32) -> u32 { u24(a).wrapping_mul(u24(b)).wrapping_add(c) },
        clamp { saturate_u32(u64::from(u24(a)) * u64::from(u24(b)) + u64::from(c)) };

    v_min_i32(a: i32, b: i32) -> i32 { a.min(b) };
    v_max_i32(a: i32, b: i32) -> i32 { a.max(b) };
    v_min_u32(a: u32, b: u32) -> u32 { a.min(b) };
    v_max_u32(a: u32, b: u32) -> u32 { a.max(b) };
    v_med3_i32(a: i32, b: i32, c: i32) -> i32 { median(a, b, c) };
}

lanes! {
    once;
    v_add_i32(a: i32, b: i32) -> i32 { a.wrapping_add(b) }, clamp { a.saturating_add(b) };
    v_sub_i32(a: i32, b: i32) -> i32 { a.wrapping_sub(b) }, clamp { a.saturating_sub(b) };
    v_subrev_u16(a: u16, b: u16) -> u16 { b.wrapping_sub(a) }, clamp { b.saturating_sub(a) };
    v_add_i16(a: i16, b: i16) -> i16 { a.wrapping_add(b) }, clamp { a.saturating_add(b) };
    v_sub_i16(a: i16, b: i16) -> i16 { a.wrapping_sub(b) }, clamp { a.saturating_sub(b) };
    v_mul_lo_u16(a: u16, b: u16) -> u16 { a.wrapping_mul(b) };
    v_mul_hi_i32_i24(a: i32, b: i32) -> i32 { ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as i32 };
    v_mul_hi_u32_u24(a: u32, b: u32) -> u32 { ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32 };
    v_mad_u16(a: u16, b: u16, c: u16) -> u16 { a.wrapping_mul(b).wrapping_add(c) },
        clamp { saturate_u16((u32::from(a) * u32::from(b)).saturating_add(u32::from(c))) };
    v_mad_i16(a: i16, b: i16, c: i16) -> i16 { a.wrapping_mul(b).wrapping_add(c) },
        clamp { saturate_i16((i32::from(a) * i32::from(b)).saturating_add(i32::from(c))) };
    v_mad_u32_u16(a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) },
        clamp { (u32::from(a) * u32::from(b)).saturating_add(c) };
    v_mad_i32_i16(a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) },
        clamp { (i32::from(a) * i32::from(b)).saturating_add(c) };
    v_min_i16(a: i16, b: i16) -> i16 { a.min(b) };
    v_max_i16(a: i16, b: i16) -> i16 { a.max(b) };
    v_min_u16(a: u16, b: u16) -> u16 { a.min(b) };
    v_max_u16(a: u16, b: u16) -> u16 { a.max(b) };
    v_min3_i32(a: i32, b: i32, c: i32) -> i32 { a.min(b).min(c) };
    v_max3_i32(a: i32, b: i32, c: i32) -> i32 { a.max(b).max(c) };
    v_min3_u32(a: u32, b: u32, c: u32) -> u32 { a.min(b).min(c) };
    v_max3_u32(a: u32, b: u32, c: u32) -> u32 { a.max(b).max(c) };
    v_med3_u32(a: u32, b: u32, c: u32) -> u32 { median(a, b, c) };
    v_min3_i16(a: i16, b: i16, c: i16) -> i16 { a.min(b).min(c) };
    v_max3_i16(a: i16, b: i16, c: i16) -> i16 { a.max(b).max(c) };
    v_med3_i16(a: i16, b: i16, c: i16) -> i16 { median(a, b, c) };
    v_min3_u16(a: u16, b: u16, c: u16) -> u16 { a.min(b).min(c) };
    v_max3_u16(a: u16, b: u16, c: u16) -> u16 { a.max(b).max(c) };
    v_med3_u16(a: u16, b: u16, c: u16) -> u16 { median(a, b, c) };
}
