//! Packed, dot-product and matrix instructions.
//!
//! The last column is the semantics, an [`Exec`](crate::isa::Exec): to implement an instruction, replace its
//! `None` by `Some(path::to::the_function)`. [`Shape`](crate::isa::Shape) explains the other columns.

use super::prelude::*;
use crate::wave::valu::{
    cross, dot,
    matrix::{
        Bf8Bf8, Bf8Fp8, Bf16, F16, F32, F64, Fp8Bf8, Fp8Fp8, I8, PairedBf16, PairedBf16Of1k, PairedF16, Xf32,
        mfma, smfmac,
    },
    mix, packed,
};

rows! { VOP3P, Vop3p,
      0, "v_pk_mad_i16",                 BOTH,   V2I16 = [V2I16, V2I16, V2I16], 0, Some(packed::v_pk_mad_i16);
      1, "v_pk_mul_lo_u16",              BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_mul_lo_u16);
      2, "v_pk_add_i16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_add_i16);
      3, "v_pk_sub_i16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_sub_i16);
      4, "v_pk_lshlrev_b16",             BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_lshlrev_b16);
      5, "v_pk_lshrrev_b16",             BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_lshrrev_b16);
      6, "v_pk_ashrrev_i16",             BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_ashrrev_i16);
      7, "v_pk_max_i16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_max_i16);
      8, "v_pk_min_i16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_min_i16);
      9, "v_pk_mad_u16",                 BOTH,   V2I16 = [V2I16, V2I16, V2I16], 0, Some(packed::v_pk_mad_u16);
     10, "v_pk_add_u16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_add_u16);
     11, "v_pk_sub_u16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_sub_u16);
     12, "v_pk_max_u16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_max_u16);
     13, "v_pk_min_u16",                 BOTH,   V2I16 = [V2I16, V2I16], 0, Some(packed::v_pk_min_u16);
     14, "v_pk_fma_f16",                 BOTH,   V2F16 = [V2F16, V2F16, V2F16], 0, Some(packed::v_pk_fma_f16);
     15, "v_pk_add_f16",                 BOTH,   V2F16 = [V2F16, V2F16], 0, Some(packed::v_pk_add_f16);
     16, "v_pk_mul_f16",                 BOTH,   V2F16 = [V2F16, V2F16], 0, Some(packed::v_pk_mul_f16);
     17, "v_pk_min_f16",                 BOTH,   V2F16 = [V2F16, V2F16], 0, Some(packed::v_pk_min_f16);
     18, "v_pk_max_f16",                 BOTH,   V2F16 = [V2F16, V2F16], 0, Some(packed::v_pk_max_f16);
     32, "v_fma_mix_f32",                BOTH,   F32 = [Mix, Mix, Mix], 0, Some(mix::v_fma_mix_f32);
     33, "v_fma_mixlo_f16",              BOTH,   F16 = [Mix, Mix, Mix], 0, Some(mix::v_fma_mixlo_f16);
     34, "v_fma_mixhi_f16",              BOTH,   F16 = [Mix, Mix, Mix], 0, Some(mix::v_fma_mixhi_f16);
     35, "v_dot2_f32_f16",               BOTH,   F32 = [V2F16, V2F16, F32], 0, Some(dot::v_dot2_f32_f16);
     38, "v_dot2_i32_i16",               BOTH,   B32 = [V2I16, V2I16, B32], 0, Some(dot::v_dot2_i32_i16);
     39, "v_dot2_u32_u16",               BOTH,   B32 = [V2I16, V2I16, B32], 0, Some(dot::v_dot2_u32_u16);
     40, "v_dot4_i32_i8",                BOTH,   B32 = [B32, B32, B32], 0, Some(dot::v_dot4_i32_i8);
     41, "v_dot4_u32_u8",                BOTH,   B32 = [B32, B32, B32], 0, Some(dot::v_dot4_u32_u8);
     42, "v_dot8_i32_i4",                BOTH,   B32 = [B32, B32, B32], 0, Some(dot::v_dot8_i32_i4);
     43, "v_dot8_u32_u4",                BOTH,   B32 = [B32, B32, B32], 0, Some(dot::v_dot8_u32_u4);
     48, "v_pk_fma_f32",                 BOTH,   V2F32 = [V2F32, V2F32, V2F32], 0, Some(packed::v_pk_fma_f32);
     49, "v_pk_mul_f32",                 BOTH,   V2F32 = [V2F32, V2F32], 0, Some(packed::v_pk_mul_f32);
     50, "v_pk_add_f32",                 BOTH,   V2F32 = [V2F32, V2F32], 0, Some(packed::v_pk_add_f32);
     51, "v_pk_mov_b32",                 BOTH,   V2B32 = [V2B32, V2B32], 0, Some(packed::v_pk_mov_b32);
     62, "v_mfma_f32_16x16x8_xf32",      GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Xf32, 16, 8, 1>);
     63, "v_mfma_f32_32x32x4_xf32",      GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Xf32, 32, 4, 1>);
     64, "v_mfma_f32_32x32x1f32",        GFX90A, B1024 = [B32, B32, B1024], MFMA, Some(mfma::<F32, 32, 1, 2>);
     64, "v_mfma_f32_32x32x1_2b_f32",    GFX942, B1024 = [B32, B32, B1024], MFMA, Some(mfma::<F32, 32, 1, 2>);
     65, "v_mfma_f32_16x16x1f32",        GFX90A, B512 = [B32, B32, B512], MFMA, Some(mfma::<F32, 16, 1, 4>);
     65, "v_mfma_f32_16x16x1_4b_f32",    GFX942, B512 = [B32, B32, B512], MFMA, Some(mfma::<F32, 16, 1, 4>);
     66, "v_mfma_f32_4x4x1f32",          GFX90A, B128 = [B32, B32, B128], MFMA, Some(mfma::<F32, 4, 1, 16>);
     66, "v_mfma_f32_4x4x1_16b_f32",     GFX942, B128 = [B32, B32, B128], MFMA, Some(mfma::<F32, 4, 1, 16>);
     68, "v_mfma_f32_32x32x2f32",        GFX90A, B512 = [B32, B32, B512], MFMA, Some(mfma::<F32, 32, 2, 1>);
     68, "v_mfma_f32_32x32x2_f32",       GFX942, B512 = [B32, B32, B512], MFMA, Some(mfma::<F32, 32, 2, 1>);
     69, "v_mfma_f32_16x16x4f32",        GFX90A, B128 = [B32, B32, B128], MFMA, Some(mfma::<F32, 16, 4, 1>);
     69, "v_mfma_f32_16x16x4_f32",       GFX942, B128 = [B32, B32, B128], MFMA, Some(mfma::<F32, 16, 4, 1>);
     72, "v_mfma_f32_32x32x4f16",        GFX90A, B1024 = [B64, B64, B1024], MFMA, Some(mfma::<PairedF16, 32, 4, 2>);
     72, "v_mfma_f32_32x32x4_2b_f16",    GFX942, B1024 = [B64, B64, B1024], MFMA, Some(mfma::<F16, 32, 4, 2>);
     73, "v_mfma_f32_16x16x4f16",        GFX90A, B512 = [B64, B64, B512], MFMA, Some(mfma::<PairedF16, 16, 4, 4>);
     73, "v_mfma_f32_16x16x4_4b_f16",    GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<F16, 16, 4, 4>);
     74, "v_mfma_f32_4x4x4f16",          GFX90A, B128 = [B64, B64, B128], MFMA, Some(mfma::<PairedF16, 4, 4, 16>);
     74, "v_mfma_f32_4x4x4_16b_f16",     GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<F16, 4, 4, 16>);
     76, "v_mfma_f32_32x32x8f16",        GFX90A, B512 = [B64, B64, B512], MFMA, Some(mfma::<PairedF16, 32, 8, 1>);
     76, "v_mfma_f32_32x32x8_f16",       GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<F16, 32, 8, 1>);
     77, "v_mfma_f32_16x16x16f16",       GFX90A, B128 = [B64, B64, B128], MFMA, Some(mfma::<PairedF16, 16, 16, 1>);
     77, "v_mfma_f32_16x16x16_f16",      GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<F16, 16, 16, 1>);
     80, "v_mfma_i32_32x32x4i8",         GFX90A, B1024 = [B32, B32, B1024], MFMA, Some(mfma::<I8, 32, 4, 2>);
     80, "v_mfma_i32_32x32x4_2b_i8",     GFX942, B1024 = [B32, B32, B1024], MFMA, Some(mfma::<I8, 32, 4, 2>);
     81, "v_mfma_i32_16x16x4i8",         GFX90A, B512 = [B32, B32, B512], MFMA, Some(mfma::<I8, 16, 4, 4>);
     81, "v_mfma_i32_16x16x4_4b_i8",     GFX942, B512 = [B32, B32, B512], MFMA, Some(mfma::<I8, 16, 4, 4>);
     82, "v_mfma_i32_4x4x4i8",           GFX90A, B128 = [B32, B32, B128], MFMA, Some(mfma::<I8, 4, 4, 16>);
     82, "v_mfma_i32_4x4x4_16b_i8",      GFX942, B128 = [B32, B32, B128], MFMA, Some(mfma::<I8, 4, 4, 16>);
     84, "v_mfma_i32_32x32x8i8",         GFX90A, B512 = [B32, B32, B512], MFMA, Some(mfma::<I8, 32, 8, 1>);
     85, "v_mfma_i32_16x16x16i8",        GFX90A, B128 = [B32, B32, B128], MFMA, Some(mfma::<I8, 16, 16, 1>);
     86, "v_mfma_i32_32x32x16_i8",       GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<I8, 32, 16, 1>);
     87, "v_mfma_i32_16x16x32_i8",       GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<I8, 16, 32, 1>);
     88, "v_accvgpr_read_b32",           BOTH,   B32 = [A32], ACCVGPR, Some(cross::v_accvgpr_read_b32);
     89, "v_accvgpr_write_b32",          BOTH,   A32 = [B32], ACCVGPR, Some(cross::v_accvgpr_write_b32);
     93, "v_mfma_f32_32x32x4_2b_bf16",   GFX942, B1024 = [B64, B64, B1024], MFMA, Some(mfma::<Bf16, 32, 4, 2>);
     94, "v_mfma_f32_16x16x4_4b_bf16",   GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Bf16, 16, 4, 4>);
     95, "v_mfma_f32_4x4x4_16b_bf16",    GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Bf16, 4, 4, 16>);
     96, "v_mfma_f32_32x32x8_bf16",      GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Bf16, 32, 8, 1>);
     97, "v_mfma_f32_16x16x16_bf16",     GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Bf16, 16, 16, 1>);
     98, "v_smfmac_f32_16x16x32_f16",    GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<F16, 16, 32>);
     99, "v_mfma_f32_32x32x4bf16_1k",    GFX90A, B1024 = [B64, B64, B1024], MFMA, Some(mfma::<PairedBf16Of1k, 32, 4, 2>);
    100, "v_mfma_f32_16x16x4bf16_1k",    GFX90A, B512 = [B64, B64, B512], MFMA, Some(mfma::<PairedBf16Of1k, 16, 4, 4>);
    100, "v_smfmac_f32_32x32x16_f16",    GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<F16, 32, 16>);
    101, "v_mfma_f32_4x4x4bf16_1k",      GFX90A, B128 = [B64, B64, B128], MFMA, Some(mfma::<PairedBf16Of1k, 4, 4, 16>);
    102, "v_mfma_f32_32x32x8bf16_1k",    GFX90A, B512 = [B64, B64, B512], MFMA, Some(mfma::<PairedBf16Of1k, 32, 8, 1>);
    102, "v_smfmac_f32_16x16x32_bf16",   GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Bf16, 16, 32>);
    103, "v_mfma_f32_16x16x16bf16_1k",   GFX90A, B128 = [B64, B64, B128], MFMA, Some(mfma::<PairedBf16Of1k, 16, 16, 1>);
    104, "v_mfma_f32_32x32x2bf16",       GFX90A, B1024 = [B32, B32, B1024], MFMA, Some(mfma::<PairedBf16, 32, 2, 2>);
    104, "v_smfmac_f32_32x32x16_bf16",   GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Bf16, 32, 16>);
    105, "v_mfma_f32_16x16x2bf16",       GFX90A, B512 = [B32, B32, B512], MFMA, Some(mfma::<PairedBf16, 16, 2, 4>);
    106, "v_smfmac_i32_16x16x64_i8",     GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<I8, 16, 64>);
    107, "v_mfma_f32_4x4x2bf16",         GFX90A, B128 = [B32, B32, B128], MFMA, Some(mfma::<PairedBf16, 4, 2, 16>);
    108, "v_mfma_f32_32x32x4bf16",       GFX90A, B512 = [B32, B32, B512], MFMA, Some(mfma::<PairedBf16, 32, 4, 1>);
    108, "v_smfmac_i32_32x32x32_i8",     GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<I8, 32, 32>);
    109, "v_mfma_f32_16x16x8bf16",       GFX90A, B128 = [B32, B32, B128], MFMA, Some(mfma::<PairedBf16, 16, 8, 1>);
    110, "v_mfma_f64_16x16x4f64",        GFX90A, F64x4 = [F64, F64, F64x4], MFMA, Some(mfma::<F64, 16, 4, 1>);
    110, "v_mfma_f64_16x16x4_f64",       GFX942, F64x4 = [F64, F64, F64x4], MFMA, Some(mfma::<F64, 16, 4, 1>);
    111, "v_mfma_f64_4x4x4f64",          GFX90A, F64 = [F64, F64, F64], MFMA, Some(mfma::<F64, 4, 4, 4>);
    111, "v_mfma_f64_4x4x4_4b_f64",      GFX942, F64 = [F64, F64, F64], MFMA, Some(mfma::<F64, 4, 4, 4>);
    112, "v_mfma_f32_16x16x32_bf8_bf8",  GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Bf8Bf8, 16, 32, 1>);
    113, "v_mfma_f32_16x16x32_bf8_fp8",  GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Bf8Fp8, 16, 32, 1>);
    114, "v_mfma_f32_16x16x32_fp8_bf8",  GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Fp8Bf8, 16, 32, 1>);
    115, "v_mfma_f32_16x16x32_fp8_fp8",  GFX942, B128 = [B64, B64, B128], MFMA, Some(mfma::<Fp8Fp8, 16, 32, 1>);
    116, "v_mfma_f32_32x32x16_bf8_bf8",  GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Bf8Bf8, 32, 16, 1>);
    117, "v_mfma_f32_32x32x16_bf8_fp8",  GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Bf8Fp8, 32, 16, 1>);
    118, "v_mfma_f32_32x32x16_fp8_bf8",  GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Fp8Bf8, 32, 16, 1>);
    119, "v_mfma_f32_32x32x16_fp8_fp8",  GFX942, B512 = [B64, B64, B512], MFMA, Some(mfma::<Fp8Fp8, 32, 16, 1>);
    120, "v_smfmac_f32_16x16x64_bf8_bf8", GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Bf8Bf8, 16, 64>);
    121, "v_smfmac_f32_16x16x64_bf8_fp8", GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Bf8Fp8, 16, 64>);
    122, "v_smfmac_f32_16x16x64_fp8_bf8", GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Fp8Bf8, 16, 64>);
    123, "v_smfmac_f32_16x16x64_fp8_fp8", GFX942, B128 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Fp8Fp8, 16, 64>);
    124, "v_smfmac_f32_32x32x32_bf8_bf8", GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Bf8Bf8, 32, 32>);
    125, "v_smfmac_f32_32x32x32_bf8_fp8", GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Bf8Fp8, 32, 32>);
    126, "v_smfmac_f32_32x32x32_fp8_bf8", GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Fp8Bf8, 32, 32>);
    127, "v_smfmac_f32_32x32x32_fp8_fp8", GFX942, B512 = [B64, B128, V32], MFMA | SPARSE, Some(smfmac::<Fp8Fp8, 32, 32>);
}
