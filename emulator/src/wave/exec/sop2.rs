//! SOP2: scalar operations on two sources (MI200 ISA, 12.1).

use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

/// Operations whose result goes to SDST; the closure may set SCC.
macro_rules! sop2 {
    ($($(#[$meta:meta])* $name:ident: $read:ident, $write:ident, |$w:ident, $a:ident, $b:ident| $value:expr;)*) => {$(
        $(#[$meta])*
        pub fn $name($w: &mut Wave, inst: &Inst) -> Flow {
            let $a = $w.$read(inst.src[0], inst);
            let $b = $w.$read(inst.src[1], inst);
            let value = $value;
            $w.$write(inst.dst, value);
            Flow::Next
        }
    )*};
}

/// 32-bit operations that set SCC when the result is not zero.
macro_rules! nonzero32 {
    ($($name:ident: |$a:ident, $b:ident| $value:expr;)*) => {
        sop2! {$(
            $name: scalar, set_scalar, |w, $a, $b| {
                let value: u32 = $value;
                w.scc = value != 0;
                value
            };
        )*}
    };
}

/// 64-bit operations on two 64-bit sources that set SCC when the result is not zero.
macro_rules! nonzero64 {
    ($($name:ident: |$a:ident, $b:ident| $value:expr;)*) => {
        sop2! {$(
            $name: scalar64, set_scalar64, |w, $a, $b| {
                let value: u64 = $value;
                w.scc = value != 0;
                value
            };
        )*}
    };
}

/// 64-bit operations whose second source is 32 bits wide and which set SCC when the result is not zero.
macro_rules! shift64 {
    ($($(#[$meta:meta])* $name:ident: $signed:literal, |$a:ident, $b:ident| $value:expr;)*) => {$(
        $(#[$meta])*
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $a = wide(w, inst, $signed);
            let $b = w.scalar(inst.src[1], inst);
            let value: u64 = $value;
            w.scc = value != 0;
            w.set_scalar64(inst.dst, value);
            Flow::Next
        }
    )*};
}

/// Source 0 as 64 bits; a literal extends by the operand's type.
#[inline(always)]
fn wide(w: &Wave, inst: &Inst, signed: bool) -> u64 {
    let value = w.scalar64(inst.src[0], inst);
    if signed && inst.src[0] == crate::isa::Operand::LITERAL {
        i64::from(value as u32 as i32) as u64
    } else {
        value
    }
}

sop2! {
    s_pack_hl_b32_b16: scalar, set_scalar, |w, a, b| a >> 16 | b << 16;
    s_add_nc_u64: scalar64, set_scalar64, |w, a, b| a.wrapping_add(b);
    s_sub_nc_u64: scalar64, set_scalar64, |w, a, b| a.wrapping_sub(b);
    s_mul_u64: scalar64, set_scalar64, |w, a, b| a.wrapping_mul(b);
    s_add_u32: scalar, set_scalar, |w, a, b| {
        let (value, carry) = a.overflowing_add(b);
        w.scc = carry;
        value
    };
    s_sub_u32: scalar, set_scalar, |w, a, b| {
        let (value, borrow) = a.overflowing_sub(b);
        w.scc = borrow;
        value
    };
    s_add_i32: scalar, set_scalar, |w, a, b| {
        let (value, overflow) = (a as i32).overflowing_add(b as i32);
        w.scc = overflow;
        value as u32
    };
    s_sub_i32: scalar, set_scalar, |w, a, b| {
        let (value, overflow) = (a as i32).overflowing_sub(b as i32);
        w.scc = overflow;
        value as u32
    };
    s_addc_u32: scalar, set_scalar, |w, a, b| {
        let sum = u64::from(a) + u64::from(b) + u64::from(w.scc);
        w.scc = sum >> 32 != 0;
        sum as u32
    };
    s_subb_u32: scalar, set_scalar, |w, a, b| {
        let difference = i64::from(a) - i64::from(b) - i64::from(w.scc);
        w.scc = difference < 0;
        difference as u32
    };
    s_min_i32: scalar, set_scalar, |w, a, b| {
        w.scc = (a as i32) < b as i32;
        if w.scc { a } else { b }
    };
    s_min_u32: scalar, set_scalar, |w, a, b| {
        w.scc = a < b;
        if w.scc { a } else { b }
    };
    s_max_i32: scalar, set_scalar, |w, a, b| {
        w.scc = a as i32 >= b as i32;
        if w.scc { a } else { b }
    };
    s_max_u32: scalar, set_scalar, |w, a, b| {
        w.scc = a >= b;
        if w.scc { a } else { b }
    };
    s_cselect_b32: scalar, set_scalar, |w, a, b| if w.scc { a } else { b };
    s_cselect_b64: scalar64, set_scalar64, |w, a, b| if w.scc { a } else { b };
    s_bfm_b32: scalar, set_scalar, |w, a, b| ((1u32 << (a & 31)) - 1) << (b & 31);
    s_mul_i32: scalar, set_scalar, |w, a, b| a.wrapping_mul(b);
    s_mul_hi_u32: scalar, set_scalar, |w, a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32;
    s_mul_hi_i32: scalar, set_scalar, |w, a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
    s_lshl1_add_u32: scalar, set_scalar, |w, a, b| shift_add(w, a, b, 1);
    s_lshl2_add_u32: scalar, set_scalar, |w, a, b| shift_add(w, a, b, 2);
    s_lshl3_add_u32: scalar, set_scalar, |w, a, b| shift_add(w, a, b, 3);
    s_lshl4_add_u32: scalar, set_scalar, |w, a, b| shift_add(w, a, b, 4);
    s_pack_ll_b32_b16: scalar, set_scalar, |w, a, b| a & 0xffff | b << 16;
    s_pack_lh_b32_b16: scalar, set_scalar, |w, a, b| a & 0xffff | b & 0xffff_0000;
    s_pack_hh_b32_b16: scalar, set_scalar, |w, a, b| a >> 16 | b & 0xffff_0000;
}

/// S_LSHLn_ADD_U32: SCC is set when the sum does not fit 32 bits.
#[inline(always)]
fn shift_add(w: &mut Wave, a: u32, b: u32, shift: u32) -> u32 {
    let sum = (u64::from(a) << shift) + u64::from(b);
    w.scc = sum >> 32 != 0;
    sum as u32
}

nonzero32! {
    s_and_b32: |a, b| a & b;
    s_or_b32: |a, b| a | b;
    s_xor_b32: |a, b| a ^ b;
    s_andn2_b32: |a, b| a & !b;
    s_orn2_b32: |a, b| a | !b;
    s_nand_b32: |a, b| !(a & b);
    s_nor_b32: |a, b| !(a | b);
    s_xnor_b32: |a, b| !(a ^ b);
    s_lshl_b32: |a, b| a << (b & 31);
    s_lshr_b32: |a, b| a >> (b & 31);
    s_ashr_i32: |a, b| (a as i32 >> (b & 31)) as u32;
    s_bfe_u32: |a, b| field(u64::from(a), b & 31, b >> 16 & 0x7f) as u32;
    s_bfe_i32: |a, b| signed_field(u64::from(a), b & 31, (b >> 16 & 0x7f).min(32 - (b & 31))) as u32;
    s_absdiff_i32: |a, b| (a as i32).wrapping_sub(b as i32).wrapping_abs() as u32;
}

nonzero64! {
    s_and_b64: |a, b| a & b;
    s_or_b64: |a, b| a | b;
    s_xor_b64: |a, b| a ^ b;
    s_andn2_b64: |a, b| a & !b;
    s_orn2_b64: |a, b| a | !b;
    s_nand_b64: |a, b| !(a & b);
    s_nor_b64: |a, b| !(a | b);
    s_xnor_b64: |a, b| !(a ^ b);
}

shift64! {
    s_lshl_b64: false, |a, b| a << (b & 63);
    s_lshr_b64: false, |a, b| a >> (b & 63);
    s_ashr_i64: true, |a, b| (a as i64 >> (b & 63)) as u64;
    s_bfe_u64: false, |a, b| field(a, b & 63, b >> 16 & 0x7f);
    s_bfe_i64: true, |a, b| signed_field(a, b & 63, (b >> 16 & 0x7f).min(64 - (b & 63)));
}

/// D = a mask of S0 bits, shifted left by S1.
pub fn s_bfm_b64(w: &mut Wave, inst: &Inst) -> Flow {
    let bits = w.scalar(inst.src[0], inst) & 63;
    let shift = w.scalar(inst.src[1], inst) & 63;
    w.set_scalar64(inst.dst, ((1u64 << bits) - 1) << shift);
    Flow::Next
}

/// `width` bits of `value` from bit `offset`; widths past the end take what is there.
#[inline(always)]
fn field(value: u64, offset: u32, width: u32) -> u64 {
    let value = value >> offset;
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// [`field`], sign-extended; `offset + width` must not exceed the value's size.
#[inline(always)]
fn signed_field(value: u64, offset: u32, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let unused = 64 - width.min(64);
    (((value >> offset) << unused) as i64 >> unused) as u64
}
