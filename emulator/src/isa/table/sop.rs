//! Scalar ALU and control instructions.
//!
//! The last column is the semantics, which `wave::semantics` reads: to implement an instruction, replace its
//! `None` by `Some(path::to::the_function)`. [`Shape`](crate::isa::Shape) explains the other columns.

use super::prelude::*;

macro_rules! sop2 {
    ($rows:ident) => {
        $rows! { SOP2, Sop2,
             0, "s_add_u32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_add_u32);
             1, "s_sub_u32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_sub_u32);
             2, "s_add_i32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_add_i32);
             3, "s_sub_i32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_sub_i32);
             4, "s_addc_u32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_addc_u32);
             5, "s_subb_u32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_subb_u32);
             6, "s_min_i32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_min_i32);
             7, "s_min_u32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_min_u32);
             8, "s_max_i32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_max_i32);
             9, "s_max_u32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_max_u32);
            10, "s_cselect_b32",     ALL,  B32 = [B32, B32], 0, Some(sop2::s_cselect_b32);
            11, "s_cselect_b64",     ALL,  B64 = [B64, B64], 0, Some(sop2::s_cselect_b64);
            12, "s_and_b32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_and_b32);
            13, "s_and_b64",         ALL,  B64 = [B64, B64], 0, Some(sop2::s_and_b64);
            14, "s_or_b32",          ALL,  B32 = [B32, B32], 0, Some(sop2::s_or_b32);
            15, "s_or_b64",          ALL,  B64 = [B64, B64], 0, Some(sop2::s_or_b64);
            16, "s_xor_b32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_xor_b32);
            17, "s_xor_b64",         ALL,  B64 = [B64, B64], 0, Some(sop2::s_xor_b64);
            18, "s_andn2_b32",       ALL,  B32 = [B32, B32], 0, Some(sop2::s_andn2_b32);
            19, "s_andn2_b64",       ALL,  B64 = [B64, B64], 0, Some(sop2::s_andn2_b64);
            20, "s_orn2_b32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_orn2_b32);
            21, "s_orn2_b64",        ALL,  B64 = [B64, B64], 0, Some(sop2::s_orn2_b64);
            22, "s_nand_b32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_nand_b32);
            23, "s_nand_b64",        ALL,  B64 = [B64, B64], 0, Some(sop2::s_nand_b64);
            24, "s_nor_b32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_nor_b32);
            25, "s_nor_b64",         ALL,  B64 = [B64, B64], 0, Some(sop2::s_nor_b64);
            26, "s_xnor_b32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_xnor_b32);
            27, "s_xnor_b64",        ALL,  B64 = [B64, B64], 0, Some(sop2::s_xnor_b64);
            28, "s_lshl_b32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_lshl_b32);
            29, "s_lshl_b64",        ALL,  B64 = [B64, B32], 0, Some(sop2::s_lshl_b64);
            30, "s_lshr_b32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_lshr_b32);
            31, "s_lshr_b64",        ALL,  B64 = [B64, B32], 0, Some(sop2::s_lshr_b64);
            32, "s_ashr_i32",        ALL,  B32 = [B32, B32], 0, Some(sop2::s_ashr_i32);
            33, "s_ashr_i64",        ALL,  B64 = [B64, B32], 0, Some(sop2::s_ashr_i64);
            34, "s_bfm_b32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_bfm_b32);
            35, "s_bfm_b64",         ALL,  B64 = [B32, B32], 0, Some(sop2::s_bfm_b64);
            36, "s_mul_i32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_mul_i32);
            37, "s_bfe_u32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_bfe_u32);
            38, "s_bfe_i32",         ALL,  B32 = [B32, B32], 0, Some(sop2::s_bfe_i32);
            39, "s_bfe_u64",         ALL,  B64 = [B64, B32], 0, Some(sop2::s_bfe_u64);
            40, "s_bfe_i64",         ALL,  B64 = [B64, B32], 0, Some(sop2::s_bfe_i64);
            41, "s_cbranch_g_fork",  ALL,  No = [B64, B64],  0, Some(fork::s_cbranch_g_fork);
            42, "s_absdiff_i32",     ALL,  B32 = [B32, B32], 0, Some(sop2::s_absdiff_i32);
            43, "s_rfe_restore_b64", ALL,  No = [B64, B32],  0, Some(fork::return_from_exception);
            44, "s_mul_hi_u32",      ALL,  B32 = [B32, B32], 0, Some(sop2::s_mul_hi_u32);
            45, "s_mul_hi_i32",      ALL,  B32 = [B32, B32], 0, Some(sop2::s_mul_hi_i32);
            46, "s_lshl1_add_u32",   ALL,  B32 = [B32, B32], 0, Some(sop2::s_lshl1_add_u32);
            47, "s_lshl2_add_u32",   ALL,  B32 = [B32, B32], 0, Some(sop2::s_lshl2_add_u32);
            48, "s_lshl3_add_u32",   ALL,  B32 = [B32, B32], 0, Some(sop2::s_lshl3_add_u32);
            49, "s_lshl4_add_u32",   ALL,  B32 = [B32, B32], 0, Some(sop2::s_lshl4_add_u32);
            50, "s_pack_ll_b32_b16", ALL,  B32 = [B32, B32], 0, Some(sop2::s_pack_ll_b32_b16);
            51, "s_pack_lh_b32_b16", ALL,  B32 = [B32, B32], 0, Some(sop2::s_pack_lh_b32_b16);
            52, "s_pack_hh_b32_b16", ALL,  B32 = [B32, B32], 0, Some(sop2::s_pack_hh_b32_b16);
        }
    };
}
pub(crate) use sop2;
sop2!(rows);

macro_rules! sopk {
    ($rows:ident) => {
        $rows! { SOPK, Sopk,
             0, "s_movk_i32",         ALL,  B32 = [], 0,                       Some(sopk::s_movk_i32);
             1, "s_cmovk_i32",        ALL,  B32 = [], 0,                       Some(sopk::s_cmovk_i32);
             2, "s_cmpk_eq_i32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_eq_i32);
             3, "s_cmpk_lg_i32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_lg_i32);
             4, "s_cmpk_gt_i32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_gt_i32);
             5, "s_cmpk_ge_i32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_ge_i32);
             6, "s_cmpk_lt_i32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_lt_i32);
             7, "s_cmpk_le_i32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_le_i32);
             8, "s_cmpk_eq_u32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_eq_u32);
             9, "s_cmpk_lg_u32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_lg_u32);
            10, "s_cmpk_gt_u32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_gt_u32);
            11, "s_cmpk_ge_u32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_ge_u32);
            12, "s_cmpk_lt_u32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_lt_u32);
            13, "s_cmpk_le_u32",      ALL,  B32 = [], 0,                       Some(sopk::s_cmpk_le_u32);
            14, "s_addk_i32",         ALL,  B32 = [], 0,                       Some(sopk::s_addk_i32);
            15, "s_mulk_i32",         ALL,  B32 = [], 0,                       Some(sopk::s_mulk_i32);
            16, "s_cbranch_i_fork",   ALL,  B64 = [], BRANCH,                  Some(fork::s_cbranch_i_fork);
            17, "s_getreg_b32",       ALL,  B32 = [], HWREG,                   Some(sopk::s_getreg_b32);
            18, "s_setreg_b32",       ALL,  B32 = [], HWREG | WRITE,           Some(sopk::s_setreg_b32);
            20, "s_setreg_imm32_b32", ALL,  No = [],  HWREG | WRITE | LITERAL, Some(sopk::s_setreg_imm32_b32);
            21, "s_call_b64",         ALL,  B64 = [], BRANCH,                  Some(sopk::s_call_b64);
        }
    };
}
pub(crate) use sopk;
sopk!(rows);

macro_rules! sop1 {
    ($rows:ident) => {
        $rows! { SOP1, Sop1,
             0, "s_mov_b32",              ALL,  B32 = [B32], 0, Some(sop1::s_mov_b32);
             1, "s_mov_b64",              ALL,  B64 = [B64], 0, Some(sop1::s_mov_b64);
             2, "s_cmov_b32",             ALL,  B32 = [B32], 0, Some(sop1::s_cmov_b32);
             3, "s_cmov_b64",             ALL,  B64 = [B64], 0, Some(sop1::s_cmov_b64);
             4, "s_not_b32",              ALL,  B32 = [B32], 0, Some(sop1::s_not_b32);
             5, "s_not_b64",              ALL,  B64 = [B64], 0, Some(sop1::s_not_b64);
             6, "s_wqm_b32",              ALL,  B32 = [B32], 0, Some(sop1::s_wqm_b32);
             7, "s_wqm_b64",              ALL,  B64 = [B64], 0, Some(sop1::s_wqm_b64);
             8, "s_brev_b32",             ALL,  B32 = [B32], 0, Some(sop1::s_brev_b32);
             9, "s_brev_b64",             ALL,  B64 = [B64], 0, Some(sop1::s_brev_b64);
            10, "s_bcnt0_i32_b32",        ALL,  B32 = [B32], 0, Some(sop1::s_bcnt0_i32_b32);
            11, "s_bcnt0_i32_b64",        ALL,  B32 = [B64], 0, Some(sop1::s_bcnt0_i32_b64);
            12, "s_bcnt1_i32_b32",        ALL,  B32 = [B32], 0, Some(sop1::s_bcnt1_i32_b32);
            13, "s_bcnt1_i32_b64",        ALL,  B32 = [B64], 0, Some(sop1::s_bcnt1_i32_b64);
            14, "s_ff0_i32_b32",          ALL,  B32 = [B32], 0, Some(sop1::s_ff0_i32_b32);
            15, "s_ff0_i32_b64",          ALL,  B32 = [B64], 0, Some(sop1::s_ff0_i32_b64);
            16, "s_ff1_i32_b32",          ALL,  B32 = [B32], 0, Some(sop1::s_ff1_i32_b32);
            17, "s_ff1_i32_b64",          ALL,  B32 = [B64], 0, Some(sop1::s_ff1_i32_b64);
            18, "s_flbit_i32_b32",        ALL,  B32 = [B32], 0, Some(sop1::s_flbit_i32_b32);
            19, "s_flbit_i32_b64",        ALL,  B32 = [B64], 0, Some(sop1::s_flbit_i32_b64);
            20, "s_flbit_i32",            ALL,  B32 = [B32], 0, Some(sop1::s_flbit_i32);
            21, "s_flbit_i32_i64",        ALL,  B32 = [B64], 0, Some(sop1::s_flbit_i32_i64);
            22, "s_sext_i32_i8",          ALL,  B32 = [B32], 0, Some(sop1::s_sext_i32_i8);
            23, "s_sext_i32_i16",         ALL,  B32 = [B32], 0, Some(sop1::s_sext_i32_i16);
            24, "s_bitset0_b32",          ALL,  B32 = [B32], 0, Some(sop1::s_bitset0_b32);
            25, "s_bitset0_b64",          ALL,  B64 = [B32], 0, Some(sop1::s_bitset0_b64);
            26, "s_bitset1_b32",          ALL,  B32 = [B32], 0, Some(sop1::s_bitset1_b32);
            27, "s_bitset1_b64",          ALL,  B64 = [B32], 0, Some(sop1::s_bitset1_b64);
            28, "s_getpc_b64",            ALL,  B64 = [],    0, Some(sop1::s_getpc_b64);
            29, "s_setpc_b64",            ALL,  No = [S64],  0, Some(sop1::s_setpc_b64);
            30, "s_swappc_b64",           ALL,  B64 = [B64], 0, Some(sop1::s_swappc_b64);
            31, "s_rfe_b64",              ALL,  No = [S64],  0, Some(fork::return_from_exception);
            32, "s_and_saveexec_b64",     ALL,  B64 = [B64], 0, Some(sop1::s_and_saveexec_b64);
            33, "s_or_saveexec_b64",      ALL,  B64 = [B64], 0, Some(sop1::s_or_saveexec_b64);
            34, "s_xor_saveexec_b64",     ALL,  B64 = [B64], 0, Some(sop1::s_xor_saveexec_b64);
            35, "s_andn2_saveexec_b64",   ALL,  B64 = [B64], 0, Some(sop1::s_andn2_saveexec_b64);
            36, "s_orn2_saveexec_b64",    ALL,  B64 = [B64], 0, Some(sop1::s_orn2_saveexec_b64);
            37, "s_nand_saveexec_b64",    ALL,  B64 = [B64], 0, Some(sop1::s_nand_saveexec_b64);
            38, "s_nor_saveexec_b64",     ALL,  B64 = [B64], 0, Some(sop1::s_nor_saveexec_b64);
            39, "s_xnor_saveexec_b64",    ALL,  B64 = [B64], 0, Some(sop1::s_xnor_saveexec_b64);
            40, "s_quadmask_b32",         ALL,  B32 = [B32], 0, Some(sop1::s_quadmask_b32);
            41, "s_quadmask_b64",         ALL,  B64 = [B64], 0, Some(sop1::s_quadmask_b64);
            42, "s_movrels_b32",          ALL,  B32 = [S32], 0, Some(sop1::s_movrels_b32);
            43, "s_movrels_b64",          ALL,  B64 = [S64], 0, Some(sop1::s_movrels_b64);
            44, "s_movreld_b32",          ALL,  B32 = [B32], 0, Some(sop1::s_movreld_b32);
            45, "s_movreld_b64",          ALL,  B64 = [B64], 0, Some(sop1::s_movreld_b64);
            46, "s_cbranch_join",         ALL,  No = [S32],  0, Some(fork::s_cbranch_join);
            48, "s_abs_i32",              ALL,  B32 = [B32], 0, Some(sop1::s_abs_i32);
            50, "s_set_gpr_idx_idx",      ALL,  No = [B32],  0, Some(sop1::s_set_gpr_idx_idx);
            51, "s_andn1_saveexec_b64",   ALL,  B64 = [B64], 0, Some(sop1::s_andn1_saveexec_b64);
            52, "s_orn1_saveexec_b64",    ALL,  B64 = [B64], 0, Some(sop1::s_orn1_saveexec_b64);
            53, "s_andn1_wrexec_b64",     ALL,  B64 = [B64], 0, Some(sop1::s_andn1_wrexec_b64);
            54, "s_andn2_wrexec_b64",     ALL,  B64 = [B64], 0, Some(sop1::s_andn2_wrexec_b64);
            55, "s_bitreplicate_b64_b32", ALL,  B64 = [B32], 0, Some(sop1::s_bitreplicate_b64_b32);
        }
    };
}
pub(crate) use sop1;
sop1!(rows);

macro_rules! sopc {
    ($rows:ident) => {
        $rows! { SOPC, Sopc,
             0, "s_cmp_eq_i32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_eq_i32);
             1, "s_cmp_lg_i32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_lg_i32);
             2, "s_cmp_gt_i32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_gt_i32);
             3, "s_cmp_ge_i32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_ge_i32);
             4, "s_cmp_lt_i32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_lt_i32);
             5, "s_cmp_le_i32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_le_i32);
             6, "s_cmp_eq_u32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_eq_u32);
             7, "s_cmp_lg_u32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_lg_u32);
             8, "s_cmp_gt_u32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_gt_u32);
             9, "s_cmp_ge_u32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_ge_u32);
            10, "s_cmp_lt_u32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_lt_u32);
            11, "s_cmp_le_u32",     ALL,  No = [B32, B32], 0,       Some(sopc::s_cmp_le_u32);
            12, "s_bitcmp0_b32",    ALL,  No = [B32, B32], 0,       Some(sopc::s_bitcmp0_b32);
            13, "s_bitcmp1_b32",    ALL,  No = [B32, B32], 0,       Some(sopc::s_bitcmp1_b32);
            14, "s_bitcmp0_b64",    ALL,  No = [B64, B32], 0,       Some(sopc::s_bitcmp0_b64);
            15, "s_bitcmp1_b64",    ALL,  No = [B64, B32], 0,       Some(sopc::s_bitcmp1_b64);
            16, "s_setvskip",       ALL,  No = [B32, B32], 0,       Some(sopc::s_setvskip);
            17, "s_set_gpr_idx_on", ALL,  No = [B32],      GPR_IDX, Some(sopc::s_set_gpr_idx_on);
            18, "s_cmp_eq_u64",     ALL,  No = [B64, B64], 0,       Some(sopc::s_cmp_eq_u64);
            19, "s_cmp_lg_u64",     ALL,  No = [B64, B64], 0,       Some(sopc::s_cmp_lg_u64);
        }
    };
}
pub(crate) use sopc;
sopc!(rows);

macro_rules! sopp { ($rows:ident) => { $rows! { SOPP, Sopp,
     0, "s_nop",                      ALL,  No = [], 0,            Some(sopp::no_effect);
     1, "s_endpgm",                   ALL,  No = [], OPTIONAL_IMM, Some(sopp::s_endpgm);
     2, "s_branch",                   ALL,  No = [], BRANCH,       Some(sopp::s_branch);
     3, "s_wakeup",                   ALL,  No = [], NO_IMM,       Some(sopp::no_effect);
     4, "s_cbranch_scc0",             ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_scc0);
     5, "s_cbranch_scc1",             ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_scc1);
     6, "s_cbranch_vccz",             ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_vccz);
     7, "s_cbranch_vccnz",            ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_vccnz);
     8, "s_cbranch_execz",            ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_execz);
     9, "s_cbranch_execnz",           ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_execnz);
    10, "s_barrier",                  ALL,  No = [], NO_IMM,       Some(sopp::s_barrier);
    11, "s_setkill",                  ALL,  No = [], 0,            Some(sopp::s_setkill);
    12, "s_waitcnt",                  ALL,  No = [], WAITCNT,      Some(cached::s_waitcnt);
    13, "s_sethalt",                  ALL,  No = [], 0,            Some(sopp::s_sethalt);
    14, "s_sleep",                    ALL,  No = [], 0,            Some(sopp::s_sleep);
    15, "s_setprio",                  ALL,  No = [], 0,            Some(sopp::s_setprio);
    16, "s_sendmsg",                  ALL,  No = [], SENDMSG,      Some(sopp::s_sendmsg);
    17, "s_sendmsghalt",              ALL,  No = [], SENDMSG,      Some(sopp::s_sendmsghalt);
    18, "s_trap",                     ALL,  No = [], 0,            Some(sopp::s_trap);
    19, "s_icache_inv",               ALL,  No = [], NO_IMM,       Some(sopp::no_effect);
    20, "s_incperflevel",             ALL,  No = [], 0,            Some(sopp::no_effect);
    21, "s_decperflevel",             ALL,  No = [], 0,            Some(sopp::no_effect);
    22, "s_ttracedata",               ALL,  No = [], NO_IMM,       Some(sopp::no_effect);
    23, "s_cbranch_cdbgsys",          ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_cdbgsys);
    24, "s_cbranch_cdbguser",         ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_cdbguser);
    25, "s_cbranch_cdbgsys_or_user",  ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_cdbgsys_or_user);
    26, "s_cbranch_cdbgsys_and_user", ALL,  No = [], BRANCH,       Some(sopp::s_cbranch_cdbgsys_and_user);
    27, "s_endpgm_saved",             ALL,  No = [], NO_IMM,       Some(sopp::s_endpgm);
    28, "s_set_gpr_idx_off",          ALL,  No = [], NO_IMM,       Some(sopp::s_set_gpr_idx_off);
    29, "s_set_gpr_idx_mode",         ALL,  No = [], GPR_IDX,      Some(sopp::s_set_gpr_idx_mode);
    30, "s_endpgm_ordered_ps_done",   ALL,  No = [], NO_IMM,       Some(sopp::s_endpgm);
} } }
pub(crate) use sopp;
sopp!(rows);
