//! Vector instructions of two sources of RDNA.
//!
//! A row begins with its opcodes on RDNA 2, 3, 3.5 and 4. The other columns are those of the tables of GFX9.

use super::super::prelude::*;

macro_rules! vop2 { ($rows:ident) => { $rows! { VOP2, Vop2,
    [   1,    1,    1,    1], "v_cndmask_b32", B32 = [F32, F32, Mask], 0, Some(cross::v_cndmask_b32);
    [   _,    _,    _,    2], "v_add_f64", F64 = [F64, F64], CLAMP | OMOD | NO_DPP, Some(double::v_add_f64);
    [   _,    2,    2,    _], "v_dot2acc_f32_f16", F32 = [V2F16, V2F16], CLAMP | OMOD | NO_SDWA | NO_E64, Some(dot::dot2_f32_f16);
    [   2,    _,    _,    _], "v_dot2c_f32_f16", F32 = [V2F16, V2F16], CLAMP | OMOD | NO_SDWA | NO_E64, Some(dot::dot2_f32_f16);
    [   3,    3,    3,    3], "v_add_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_add_f32);
    [   4,    4,    4,    4], "v_sub_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_sub_f32);
    [   5,    5,    5,    5], "v_subrev_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_subrev_f32);
    [   _,    6,    6,    _], "v_fmac_dx9_zero_f32", F32 = [F32, F32], CLAMP | OMOD | NO_SDWA | NO_DPP, Some(rdna::v_fmac_dx9_zero_f32);
    [   6,    _,    _,    _], "v_fmac_legacy_f32", F32 = [F32, F32], CLAMP | OMOD | NO_SDWA | NO_DPP, Some(rdna::v_fmac_dx9_zero_f32);
    [   _,    _,    _,    6], "v_mul_f64", F64 = [F64, F64], CLAMP | OMOD | NO_DPP, Some(double::v_mul_f64);
    [   _,    7,    7,    7], "v_mul_dx9_zero_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_mul_legacy_f32);
    [   7,    _,    _,    _], "v_mul_legacy_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_mul_legacy_f32);
    [   8,    8,    8,    8], "v_mul_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_mul_f32);
    [   9,    9,    9,    9], "v_mul_i32_i24", B32 = [B32, B32], CLAMP, Some(integer::v_mul_i32_i24);
    [  10,   10,   10,   10], "v_mul_hi_i32_i24", B32 = [B32, B32], 0, Some(integer::v_mul_hi_i32_i24);
    [  11,   11,   11,   11], "v_mul_u32_u24", B32 = [B32, B32], CLAMP, Some(integer::v_mul_u32_u24);
    [  12,   12,   12,   12], "v_mul_hi_u32_u24", B32 = [B32, B32], 0, Some(integer::v_mul_hi_u32_u24);
    [  13,    _,    _,    _], "v_dot4c_i32_i8", B32 = [B32, B32], MODS_IGNORED | CLAMP | NO_SDWA | NO_E64, Some(dot::v_dot4c_i32_i8);
    [   _,    _,    _,   13], "v_min_num_f64", F64 = [F64, F64], CLAMP | OMOD | NO_DPP, Some(float::v_min_f64);
    [   _,    _,    _,   14], "v_max_num_f64", F64 = [F64, F64], CLAMP | OMOD | NO_DPP, Some(float::v_max_f64);
    [  15,   15,   15,    _], "v_min_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_min_f32);
    [  16,   16,   16,    _], "v_max_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_max_f32);
    [  17,   17,   17,   17], "v_min_i32", B32 = [B32, B32], 0, Some(integer::v_min_i32);
    [  18,   18,   18,   18], "v_max_i32", B32 = [B32, B32], 0, Some(integer::v_max_i32);
    [  19,   19,   19,   19], "v_min_u32", B32 = [B32, B32], 0, Some(integer::v_min_u32);
    [  20,   20,   20,   20], "v_max_u32", B32 = [B32, B32], 0, Some(integer::v_max_u32);
    [   _,    _,    _,   21], "v_min_num_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_min_f32);
    [   _,    _,    _,   22], "v_max_num_f32", F32 = [F32, F32], CLAMP | OMOD, Some(float::v_max_f32);
    [  26,   24,   24,   24], "v_lshlrev_b32", B32 = [B32, B32], 0, Some(bits::v_lshlrev_b32);
    [  22,   25,   25,   25], "v_lshrrev_b32", B32 = [B32, B32], 0, Some(bits::v_lshrrev_b32);
    [  24,   26,   26,   26], "v_ashrrev_i32", B32 = [B32, B32], 0, Some(bits::v_ashrrev_i32);
    [  27,   27,   27,   27], "v_and_b32", B32 = [B32, B32], 0, Some(bits::v_and_b32);
    [  28,   28,   28,   28], "v_or_b32", B32 = [B32, B32], 0, Some(bits::v_or_b32);
    [  29,   29,   29,   29], "v_xor_b32", B32 = [B32, B32], 0, Some(bits::v_xor_b32);
    [  30,   30,   30,   30], "v_xnor_b32", B32 = [B32, B32], 0, Some(bits::v_xnor_b32);
    [   _,    _,    _,   31], "v_lshlrev_b64", B64 = [B32, B64], NO_DPP, Some(bits::v_lshlrev_b64);
    [  40,   32,   32,   32], "v_add_co_ci_u32", B32 + Mask = [B32, B32, Mask], CLAMP, Some(carry::v_addc_co_u32);
    [  41,   33,   33,   33], "v_sub_co_ci_u32", B32 + Mask = [B32, B32, Mask], CLAMP, Some(carry::v_subb_co_u32);
    [  42,   34,   34,   34], "v_subrev_co_ci_u32", B32 + Mask = [B32, B32, Mask], CLAMP, Some(carry::v_subbrev_co_u32);
    [  37,   37,   37,   37], "v_add_nc_u32", B32 = [B32, B32], CLAMP, Some(integer::v_add_u32);
    [  38,   38,   38,   38], "v_sub_nc_u32", B32 = [B32, B32], CLAMP, Some(integer::v_sub_u32);
    [  39,   39,   39,   39], "v_subrev_nc_u32", B32 = [B32, B32], CLAMP, Some(integer::v_subrev_u32);
    [  43,   43,   43,   43], "v_fmac_f32", F32 = [F32, F32], CLAMP | OMOD | NO_SDWA, Some(float::v_fmac_f32);
    [  44,   44,   44,   44], "v_fmamk_f32", F32 = [F32, F32, F32], MADMK | NO_SDWA | NO_DPP | NO_E64, Some(float::v_fmamk_f32);
    [  45,   45,   45,   45], "v_fmaak_f32", F32 = [F32, F32, F32], MADAK | NO_SDWA | NO_DPP | NO_E64, Some(float::v_fmaak_f32);
    [   _,   47,   47,   47], "v_cvt_pk_rtz_f16_f32", V2F16 = [F32, F32], CLAMP | OMOD, Some(convert::v_cvt_pkrtz_f16_f32);
    [  47,    _,    _,    _], "v_cvt_pkrtz_f16_f32", V2F16 = [F32, F32], CLAMP | OMOD, Some(convert::v_cvt_pkrtz_f16_f32);
    [   _,    _,    _,   48], "v_min_num_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_min_f16);
    [   _,    _,    _,   49], "v_max_num_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_max_f16);
    [  50,   50,   50,   50], "v_add_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_add_f16);
    [  51,   51,   51,   51], "v_sub_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_sub_f16);
    [  52,   52,   52,   52], "v_subrev_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_subrev_f16);
    [  53,   53,   53,   53], "v_mul_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_mul_f16);
    [  54,   54,   54,   54], "v_fmac_f16", F16 = [F16, F16], CLAMP | OMOD | NO_SDWA, Some(rdna::v_fmac_f16);
    [  55,   55,   55,   55], "v_fmamk_f16", F16 = [F16, F16, F16], MADMK | NO_SDWA | NO_DPP | NO_E64, Some(rdna::v_fmamk_f16);
    [  56,   56,   56,   56], "v_fmaak_f16", F16 = [F16, F16, F16], MADAK | NO_SDWA | NO_DPP | NO_E64, Some(rdna::v_fmaak_f16);
    [  57,   57,   57,    _], "v_max_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_max_f16);
    [  58,   58,   58,    _], "v_min_f16", F16 = [F16, F16], CLAMP | OMOD, Some(float::v_min_f16);
    [  59,   59,   59,   59], "v_ldexp_f16", F16 = [F16, I16], MODS_IGNORED | CLAMP | OMOD | OTHER_CONSTANTS, Some(float::v_ldexp_f16);
    [  60,    _,    _,    _], "v_pk_fmac_f16", V2F16 = [V2F16, V2F16], CLAMP | OMOD | MODS_IGNORED | NO_E64, Some(packed::v_pk_fmac_f16);
    [   _,   60,   60,   60], "v_pk_fmac_f16", V2F16 = [V2F16, V2F16], CLAMP | OMOD | MODS_IGNORED | NO_E64 | NO_DPP, Some(packed::v_pk_fmac_f16);
} } }
pub(crate) use vop2;
vop2!(rows);
