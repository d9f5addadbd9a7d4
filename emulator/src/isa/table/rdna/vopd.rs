//! Halves of dual-issue instructions of RDNA; the first half has the opcodes below 16 only.
//!
//! A row begins with its opcodes on RDNA 2, 3, 3.5 and 4. The other columns are those of the tables of GFX9.

use super::super::prelude::*;

macro_rules! vopd {
    ($rows:ident) => {
        $rows! { VOPD, Vopd,
            [_, 0, 0, 0], "v_dual_fmac_f32", F32 = [F32, F32], 0, Some(float::v_fmac_f32);
            [_, 1, 1, 1], "v_dual_fmaak_f32", F32 = [F32, F32, F32], MADAK, Some(float::v_fmaak_f32);
            [_, 2, 2, 2], "v_dual_fmamk_f32", F32 = [F32, F32, F32], MADMK, Some(float::v_fmamk_f32);
            [_, 3, 3, 3], "v_dual_mul_f32", F32 = [F32, F32], 0, Some(float::v_mul_f32);
            [_, 4, 4, 4], "v_dual_add_f32", F32 = [F32, F32], 0, Some(float::v_add_f32);
            [_, 5, 5, 5], "v_dual_sub_f32", F32 = [F32, F32], 0, Some(float::v_sub_f32);
            [_, 6, 6, 6], "v_dual_subrev_f32", F32 = [F32, F32], 0, Some(float::v_subrev_f32);
            [_, 7, 7, 7], "v_dual_mul_dx9_zero_f32", F32 = [F32, F32], 0, Some(float::v_mul_legacy_f32);
            [_, 8, 8, 8], "v_dual_mov_b32", B32 = [B32], 0, Some(bits::v_mov_b32);
            [_, 9, 9, 9], "v_dual_cndmask_b32", B32 = [F32, F32, Mask], 0, Some(cross::v_cndmask_b32);
            [_, 10, 10, _], "v_dual_max_f32", F32 = [F32, F32], 0, Some(float::v_max_f32);
            [_, _, _, 10], "v_dual_max_num_f32", F32 = [F32, F32], 0, Some(float::v_max_f32);
            [_, 11, 11, _], "v_dual_min_f32", F32 = [F32, F32], 0, Some(float::v_min_f32);
            [_, _, _, 11], "v_dual_min_num_f32", F32 = [F32, F32], 0, Some(float::v_min_f32);
            [_, 12, 12, 12], "v_dual_dot2acc_f32_f16", F32 = [V2F16, V2F16], 0, Some(dot::dot2_f32_f16);
            [_, 13, 13, 13], "v_dual_dot2acc_f32_bf16", F32 = [V2Bf16, V2Bf16], 0, Some(dot::v_dot2_f32_bf16);
            [_, 16, 16, 16], "v_dual_add_nc_u32", B32 = [B32, B32], 0, Some(integer::v_add_u32);
            [_, 17, 17, 17], "v_dual_lshlrev_b32", B32 = [B32, B32], 0, Some(bits::v_lshlrev_b32);
            [_, 18, 18, 18], "v_dual_and_b32", B32 = [B32, B32], 0, Some(bits::v_and_b32);
        }
    };
}
pub(crate) use vopd;
vopd!(rows);
