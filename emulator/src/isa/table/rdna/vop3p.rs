//! Packed, dot-product and matrix instructions of RDNA.
//!
//! A row begins with its opcodes on RDNA 2, 3, 3.5 and 4. The other columns are those of the tables of GFX9.

use super::super::prelude::*;

macro_rules! vop3p { ($rows:ident) => { $rows! { VOP3P, Vop3p,
    [   0,    0,    0,    0], "v_pk_mad_i16", V2I16 = [V2I16, V2I16, V2I16], NO_DPP, Some(packed::v_pk_mad_i16);
    [   1,    1,    1,    1], "v_pk_mul_lo_u16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_mul_lo_u16);
    [   2,    2,    2,    2], "v_pk_add_i16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_add_i16);
    [   3,    3,    3,    3], "v_pk_sub_i16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_sub_i16);
    [   4,    4,    4,    4], "v_pk_lshlrev_b16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_lshlrev_b16);
    [   5,    5,    5,    5], "v_pk_lshrrev_b16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_lshrrev_b16);
    [   6,    6,    6,    6], "v_pk_ashrrev_i16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_ashrrev_i16);
    [   7,    7,    7,    7], "v_pk_max_i16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_max_i16);
    [   8,    8,    8,    8], "v_pk_min_i16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_min_i16);
    [   9,    9,    9,    9], "v_pk_mad_u16", V2I16 = [V2I16, V2I16, V2I16], NO_DPP, Some(packed::v_pk_mad_u16);
    [  10,   10,   10,   10], "v_pk_add_u16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_add_u16);
    [  11,   11,   11,   11], "v_pk_sub_u16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_sub_u16);
    [  12,   12,   12,   12], "v_pk_max_u16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_max_u16);
    [  13,   13,   13,   13], "v_pk_min_u16", V2I16 = [V2I16, V2I16], NO_DPP, Some(packed::v_pk_min_u16);
    [  14,   14,   14,   14], "v_pk_fma_f16", V2F16 = [V2F16, V2F16, V2F16], NO_DPP, Some(packed::v_pk_fma_f16);
    [  15,   15,   15,   15], "v_pk_add_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_add_f16);
    [  16,   16,   16,   16], "v_pk_mul_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_mul_f16);
    [  17,   17,   17,    _], "v_pk_min_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_min_f16);
    [  18,   18,   18,    _], "v_pk_max_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_max_f16);
    [  19,   19,   19,   19], "v_dot2_f32_f16", F32 = [V2F16, V2F16, F32], 0, Some(dot::dot2_f32_f16);
    [  20,    _,    _,    _], "v_dot2_i32_i16", B32 = [V2I16, V2I16, B32], NO_DPP, Some(dot::v_dot2_i32_i16);
    [  21,    _,    _,    _], "v_dot2_u32_u16", B32 = [V2I16, V2I16, B32], NO_DPP, Some(dot::v_dot2_u32_u16);
    [  22,    _,    _,    _], "v_dot4_i32_i8", B32 = [B32, B32, B32], NO_DPP, Some(dot::v_dot4_i32_i8);
    [   _,   22,   22,   22], "v_dot4_i32_iu8", B32 = [B32, B32, B32], CLAMP | NEG_SIGN | NO_DPP, Some(rdna::v_dot4_i32_iu8);
    [  23,   23,   23,   23], "v_dot4_u32_u8", B32 = [B32, B32, B32], NO_DPP, Some(dot::v_dot4_u32_u8);
    [  24,    _,    _,    _], "v_dot8_i32_i4", B32 = [B32, B32, B32], NO_DPP, Some(dot::v_dot8_i32_i4);
    [   _,   24,   24,   24], "v_dot8_i32_iu4", B32 = [B32, B32, B32], CLAMP | NEG_SIGN | NO_DPP, Some(rdna::v_dot8_i32_iu4);
    [  25,   25,   25,   25], "v_dot8_u32_u4", B32 = [B32, B32, B32], NO_DPP, Some(dot::v_dot8_u32_u4);
    [   _,   26,   26,   26], "v_dot2_f32_bf16", F32 = [V2Bf16, V2Bf16, F32], 0, Some(dot::v_dot2_f32_bf16);
    [   _,    _,    _,   27], "v_pk_min_num_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_min_f16);
    [   _,    _,    _,   28], "v_pk_max_num_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_max_f16);
    [   _,    _,    _,   29], "v_pk_minimum_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_minimum_f16);
    [   _,    _,    _,   30], "v_pk_maximum_f16", V2F16 = [V2F16, V2F16], NO_DPP, Some(packed::v_pk_maximum_f16);
    [  32,   32,   32,   32], "v_fma_mix_f32", F32 = [Mix, Mix, Mix], 0, Some(mix::v_fma_mix_f32);
    [  33,   33,   33,   33], "v_fma_mixlo_f16", F16 = [Mix, Mix, Mix], 0, Some(mix::v_fma_mixlo_f16);
    [  34,   34,   34,   34], "v_fma_mixhi_f16", F16 = [Mix, Mix, Mix], 0, Some(mix::v_fma_mixhi_f16);
    [   _,    _,    _,   36], "v_dot4_f32_fp8_bf8", F32 = [B32, B32, F32], 0, Some(rdna::v_dot4_f32_fp8_bf8);
    [   _,    _,    _,   37], "v_dot4_f32_bf8_fp8", F32 = [B32, B32, F32], 0, Some(rdna::v_dot4_f32_bf8_fp8);
    [   _,    _,    _,   38], "v_dot4_f32_fp8_fp8", F32 = [B32, B32, F32], 0, Some(rdna::v_dot4_f32_fp8_fp8);
    [   _,    _,    _,   39], "v_dot4_f32_bf8_bf8", F32 = [B32, B32, F32], 0, Some(rdna::v_dot4_f32_bf8_bf8);
    [   _,   64,   64,    _], "v_wmma_f32_16x16x16_f16", B256 = [B256, B256, B256], WMMA, Some(wmma::v_wmma_f32_16x16x16_f16);
    [   _,   65,   65,    _], "v_wmma_f32_16x16x16_bf16", B256 = [B256, B256, B256], WMMA, Some(wmma::v_wmma_f32_16x16x16_bf16);
    [   _,   66,   66,    _], "v_wmma_f16_16x16x16_f16", B256 = [B256, B256, B256], WMMA | OP_SEL, Some(wmma::v_wmma_f16_16x16x16_f16);
    [   _,   67,   67,    _], "v_wmma_bf16_16x16x16_bf16", B256 = [B256, B256, B256], WMMA | OP_SEL, Some(wmma::v_wmma_bf16_16x16x16_bf16);
    [   _,   68,   68,    _], "v_wmma_i32_16x16x16_iu8", B256 = [B128, B128, B256], WMMA | NEG_SIGN | CLAMP | NO_DPP, Some(wmma::v_wmma_i32_16x16x16_iu8);
    [   _,   69,   69,    _], "v_wmma_i32_16x16x16_iu4", B256 = [B64, B64, B256], WMMA | NEG_SIGN | CLAMP | NO_DPP, Some(wmma::v_wmma_i32_16x16x16_iu4);
    [   _,    _,    _,   64], "v_wmma_f32_16x16x16_f16", B256 = [B128, B128, B256], WMMA | NO_DPP, Some(wmma::v_wmma_f32_16x16x16_f16);
    [   _,    _,    _,   65], "v_wmma_f32_16x16x16_bf16", B256 = [B128, B128, B256], WMMA | NO_DPP, Some(wmma::v_wmma_f32_16x16x16_bf16);
    [   _,    _,    _,   66], "v_wmma_f16_16x16x16_f16", B128 = [B128, B128, B128], WMMA | NO_DPP, Some(wmma::v_wmma_f16_16x16x16_f16);
    [   _,    _,    _,   67], "v_wmma_bf16_16x16x16_bf16", B128 = [B128, B128, B128], WMMA | NO_DPP, Some(wmma::v_wmma_bf16_16x16x16_bf16);
    [   _,    _,    _,   68], "v_wmma_i32_16x16x16_iu8", B256 = [B64, B64, B256], WMMA | NEG_SIGN | CLAMP | NO_DPP, Some(wmma::v_wmma_i32_16x16x16_iu8);
    [   _,    _,    _,   69], "v_wmma_i32_16x16x16_iu4", B256 = [B32, B32, B256], WMMA | NEG_SIGN | CLAMP, Some(wmma::v_wmma_i32_16x16x16_iu4);
    [   _,    _,    _,   70], "v_wmma_f32_16x16x16_fp8_fp8", B256 = [B64, B64, B256], WMMA | NO_DPP, Some(wmma::v_wmma_f32_16x16x16_fp8_fp8);
    [   _,    _,    _,   71], "v_wmma_f32_16x16x16_fp8_bf8", B256 = [B64, B64, B256], WMMA | NO_DPP, Some(wmma::v_wmma_f32_16x16x16_fp8_bf8);
    [   _,    _,    _,   72], "v_wmma_f32_16x16x16_bf8_fp8", B256 = [B64, B64, B256], WMMA | NO_DPP, Some(wmma::v_wmma_f32_16x16x16_bf8_fp8);
    [   _,    _,    _,   73], "v_wmma_f32_16x16x16_bf8_bf8", B256 = [B64, B64, B256], WMMA | NO_DPP, Some(wmma::v_wmma_f32_16x16x16_bf8_bf8);
    [   _,    _,    _,   74], "v_wmma_i32_16x16x32_iu4", B256 = [B64, B64, B256], WMMA | NEG_SIGN | CLAMP | NO_DPP, Some(wmma::v_wmma_i32_16x16x32_iu4);
    [   _,    _,    _,   80], "v_swmmac_f32_16x16x32_f16", B256 = [B128, B256, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f32_16x16x32_f16);
    [   _,    _,    _,   81], "v_swmmac_f32_16x16x32_bf16", B256 = [B128, B256, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f32_16x16x32_bf16);
    [   _,    _,    _,   82], "v_swmmac_f16_16x16x32_f16", B128 = [B128, B256, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f16_16x16x32_f16);
    [   _,    _,    _,   83], "v_swmmac_bf16_16x16x32_bf16", B128 = [B128, B256, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_bf16_16x16x32_bf16);
    [   _,    _,    _,   84], "v_swmmac_i32_16x16x32_iu8", B256 = [B64, B128, V32], WMMA | NEG_SIGN | CLAMP | SPARSE | NO_DPP, Some(wmma::v_swmmac_i32_16x16x32_iu8);
    [   _,    _,    _,   85], "v_swmmac_i32_16x16x32_iu4", B256 = [B32, B64, V32], WMMA | NEG_SIGN | CLAMP | SPARSE | NO_DPP, Some(wmma::v_swmmac_i32_16x16x32_iu4);
    [   _,    _,    _,   86], "v_swmmac_i32_16x16x64_iu4", B256 = [B64, B128, V32], WMMA | NEG_SIGN | CLAMP | SPARSE | NO_DPP, Some(wmma::v_swmmac_i32_16x16x64_iu4);
    [   _,    _,    _,   87], "v_swmmac_f32_16x16x32_fp8_fp8", B256 = [B64, B128, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f32_16x16x32_fp8_fp8);
    [   _,    _,    _,   88], "v_swmmac_f32_16x16x32_fp8_bf8", B256 = [B64, B128, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f32_16x16x32_fp8_bf8);
    [   _,    _,    _,   89], "v_swmmac_f32_16x16x32_bf8_fp8", B256 = [B64, B128, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f32_16x16x32_bf8_fp8);
    [   _,    _,    _,   90], "v_swmmac_f32_16x16x32_bf8_bf8", B256 = [B64, B128, V32], WMMA | SPARSE | NO_DPP, Some(wmma::v_swmmac_f32_16x16x32_bf8_bf8);
} } }
pub(crate) use vop3p;
vop3p!(rows);
