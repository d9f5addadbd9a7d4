//! Vector instructions of two sources; their VOP3 form is opcode 0x100 + n.
//!
//! The last column is the semantics, which `wave::semantics` reads: to implement an instruction, replace its
//! `None` by `Some(path::to::the_function)`. [`Shape`](crate::isa::Shape) explains the other columns.

use super::prelude::*;

macro_rules! vop2 { ($rows:ident) => { $rows! { VOP2, Vop2,
     0, "v_cndmask_b32",  ALL,    B32 = [F32, F32, Mask], 0, Some(cross::v_cndmask_b32);
     1, "v_add_f32",      ALL,    F32 = [F32, F32], CLAMP | OMOD, Some(float::v_add_f32);
     2, "v_sub_f32",      ALL,    F32 = [F32, F32], CLAMP | OMOD, Some(float::v_sub_f32);
     3, "v_subrev_f32",   ALL,    F32 = [F32, F32], CLAMP | OMOD, Some(float::v_subrev_f32);
     4, "v_fmac_f64",     ALL,    F64 = [F64, F64], CLAMP | OMOD | NO_SDWA, Some(double::v_fmac_f64);
     5, "v_mul_f32",      ALL,    F32 = [F32, F32], CLAMP | OMOD, Some(float::v_mul_f32);
     6, "v_mul_i32_i24",  ALL,    B32 = [B32, B32], CLAMP, Some(integer::v_mul_i32_i24);
     7, "v_mul_hi_i32_i24", ALL,    B32 = [B32, B32], 0, Some(integer::v_mul_hi_i32_i24);
     8, "v_mul_u32_u24",  ALL,    B32 = [B32, B32], CLAMP, Some(integer::v_mul_u32_u24);
     9, "v_mul_hi_u32_u24", ALL,    B32 = [B32, B32], 0, Some(integer::v_mul_hi_u32_u24);
    10, "v_min_f32",      ALL,    F32 = [F32, F32], CLAMP | OMOD, Some(float::v_min_f32);
    11, "v_max_f32",      ALL,    F32 = [F32, F32], CLAMP | OMOD, Some(float::v_max_f32);
    12, "v_min_i32",      ALL,    B32 = [B32, B32], 0, Some(integer::v_min_i32);
    13, "v_max_i32",      ALL,    B32 = [B32, B32], 0, Some(integer::v_max_i32);
    14, "v_min_u32",      ALL,    B32 = [B32, B32], 0, Some(integer::v_min_u32);
    15, "v_max_u32",      ALL,    B32 = [B32, B32], 0, Some(integer::v_max_u32);
    16, "v_lshrrev_b32",  ALL,    B32 = [B32, B32], 0, Some(bits::v_lshrrev_b32);
    17, "v_ashrrev_i32",  ALL,    B32 = [B32, B32], 0, Some(bits::v_ashrrev_i32);
    18, "v_lshlrev_b32",  ALL,    B32 = [B32, B32], 0, Some(bits::v_lshlrev_b32);
    19, "v_and_b32",      ALL,    B32 = [B32, B32], 0, Some(bits::v_and_b32);
    20, "v_or_b32",       ALL,    B32 = [B32, B32], 0, Some(bits::v_or_b32);
    21, "v_xor_b32",      ALL,    B32 = [B32, B32], 0, Some(bits::v_xor_b32);
    22, "v_mac_f32",      GFX90A, F32 = [F32, F32], CLAMP | OMOD | NO_SDWA, Some(float::v_mac_f32);
    22, "v_dot2c_f32_bf16", GFX950, F32 = [V2Bf16, V2Bf16], CLAMP | OMOD | NO_SDWA, Some(dot::v_dot2c_f32_bf16);
    23, "v_madmk_f32",    GFX90A, F32 = [F32, F32, F32], NO_E64 | MADMK | NO_SDWA | NO_DPP, Some(float::v_madmk_f32);
    23, "v_fmamk_f32",    GFX940, F32 = [F32, F32, F32], NO_E64 | MADMK | NO_SDWA | NO_DPP, Some(float::v_fmamk_f32);
    24, "v_madak_f32",    GFX90A, F32 = [F32, F32, F32], NO_E64 | MADAK | NO_SDWA | NO_DPP, Some(float::v_madak_f32);
    24, "v_fmaak_f32",    GFX940, F32 = [F32, F32, F32], NO_E64 | MADAK | NO_SDWA | NO_DPP, Some(float::v_fmaak_f32);
    25, "v_add_co_u32",   ALL,    B32 + Mask = [B32, B32], CLAMP, Some(carry::v_add_co_u32);
    26, "v_sub_co_u32",   ALL,    B32 + Mask = [B32, B32], CLAMP, Some(carry::v_sub_co_u32);
    27, "v_subrev_co_u32", ALL,    B32 + Mask = [B32, B32], CLAMP, Some(carry::v_subrev_co_u32);
    28, "v_addc_co_u32",  ALL,    B32 + Mask = [B32, B32, Mask], CLAMP, Some(carry::v_addc_co_u32);
    29, "v_subb_co_u32",  ALL,    B32 + Mask = [B32, B32, Mask], CLAMP, Some(carry::v_subb_co_u32);
    30, "v_subbrev_co_u32", ALL,    B32 + Mask = [B32, B32, Mask], CLAMP, Some(carry::v_subbrev_co_u32);
    31, "v_add_f16",      ALL,    F16 = [F16, F16], CLAMP | OMOD, Some(float::v_add_f16);
    32, "v_sub_f16",      ALL,    F16 = [F16, F16], CLAMP | OMOD, Some(float::v_sub_f16);
    33, "v_subrev_f16",   ALL,    F16 = [F16, F16], CLAMP | OMOD, Some(float::v_subrev_f16);
    34, "v_mul_f16",      ALL,    F16 = [F16, F16], CLAMP | OMOD, Some(float::v_mul_f16);
    35, "v_mac_f16",      ALL,    F16 = [F16, F16], CLAMP | OMOD | NO_SDWA, Some(float::v_mac_f16);
    36, "v_madmk_f16",    ALL,    F16 = [F16, F16, F16], NO_E64 | MADMK | NO_SDWA | NO_DPP, Some(float::v_madmk_f16);
    37, "v_madak_f16",    ALL,    F16 = [F16, F16, F16], NO_E64 | MADAK | NO_SDWA | NO_DPP, Some(float::v_madak_f16);
    38, "v_add_u16",      ALL,    B32 = [I16, I16], CLAMP, Some(integer::v_add_u16);
    39, "v_sub_u16",      ALL,    B32 = [I16, I16], CLAMP, Some(integer::v_sub_u16);
    40, "v_subrev_u16",   ALL,    B32 = [I16, I16], CLAMP, Some(integer::v_subrev_u16);
    41, "v_mul_lo_u16",   ALL,    B32 = [I16, I16], 0, Some(integer::v_mul_lo_u16);
    42, "v_lshlrev_b16",  ALL,    B32 = [I16, I16], 0, Some(bits::v_lshlrev_b16);
    43, "v_lshrrev_b16",  ALL,    B32 = [I16, I16], 0, Some(bits::v_lshrrev_b16);
    44, "v_ashrrev_i16",  ALL,    B32 = [I16, I16], 0, Some(bits::v_ashrrev_i16);
    45, "v_max_f16",      ALL,    F16 = [F16, F16], CLAMP | OMOD, Some(float::v_max_f16);
    46, "v_min_f16",      ALL,    F16 = [F16, F16], CLAMP | OMOD, Some(float::v_min_f16);
    47, "v_max_u16",      ALL,    B32 = [I16, I16], 0, Some(integer::v_max_u16);
    48, "v_max_i16",      ALL,    B32 = [I16, I16], 0, Some(integer::v_max_i16);
    49, "v_min_u16",      ALL,    B32 = [I16, I16], 0, Some(integer::v_min_u16);
    50, "v_min_i16",      ALL,    B32 = [I16, I16], 0, Some(integer::v_min_i16);
    51, "v_ldexp_f16",    ALL,    F16 = [F16, B32], MODS_IGNORED | CLAMP | OMOD, Some(float::v_ldexp_f16);
    52, "v_add_u32",      ALL,    B32 = [B32, B32], CLAMP, Some(integer::v_add_u32);
    53, "v_sub_u32",      ALL,    B32 = [B32, B32], CLAMP, Some(integer::v_sub_u32);
    54, "v_subrev_u32",   ALL,    B32 = [B32, B32], CLAMP, Some(integer::v_subrev_u32);
    55, "v_dot2c_f32_f16", ALL,    F32 = [V2F16, V2F16], CLAMP | OMOD | NO_SDWA, Some(dot::dot2_f32_f16);
    56, "v_dot2c_i32_i16", ALL,    B32 = [B32, B32], MODS_IGNORED | CLAMP | NO_SDWA, Some(dot::v_dot2c_i32_i16);
    57, "v_dot4c_i32_i8", ALL,    B32 = [B32, B32], MODS_IGNORED | CLAMP | NO_SDWA, Some(dot::v_dot4c_i32_i8);
    58, "v_dot8c_i32_i4", ALL,    B32 = [B32, B32], MODS_IGNORED | CLAMP | NO_SDWA, Some(dot::v_dot8c_i32_i4);
    59, "v_fmac_f32",     ALL,    F32 = [F32, F32], CLAMP | OMOD | NO_SDWA, Some(float::v_fmac_f32);
    60, "v_pk_fmac_f16",  ALL,    V2F16 = [V2F16, V2F16], CLAMP | OMOD | MODS_IGNORED, Some(packed::v_pk_fmac_f16);
    61, "v_xnor_b32",     ALL,    B32 = [B32, B32], 0, Some(bits::v_xnor_b32);
} } }
pub(crate) use vop2;
vop2!(rows);
