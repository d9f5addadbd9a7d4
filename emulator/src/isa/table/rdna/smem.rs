//! Scalar memory instructions of RDNA.
//!
//! A row begins with its opcodes on RDNA 2, 3, 3.5 and 4. The other columns are those of the tables of GFX9.

use super::super::prelude::*;

macro_rules! smem { ($rows:ident) => { $rows! { SMEM, Smem,
    [   _,    0,    0,    0], "s_load_b32", B32 = [B64], 0, Some(smem::s_load_dword);
    [   0,    _,    _,    _], "s_load_dword", B32 = [B64], 0, Some(smem::s_load_dword);
    [   _,    1,    1,    1], "s_load_b64", B64 = [B64], 0, Some(smem::s_load_dwordx2);
    [   1,    _,    _,    _], "s_load_dwordx2", B64 = [B64], 0, Some(smem::s_load_dwordx2);
    [   _,    2,    2,    2], "s_load_b128", B128 = [B64], 0, Some(smem::s_load_dwordx4);
    [   2,    _,    _,    _], "s_load_dwordx4", B128 = [B64], 0, Some(smem::s_load_dwordx4);
    [   _,    3,    3,    3], "s_load_b256", B256 = [B64], 0, Some(smem::s_load_dwordx8);
    [   3,    _,    _,    _], "s_load_dwordx8", B256 = [B64], 0, Some(smem::s_load_dwordx8);
    [   _,    4,    4,    4], "s_load_b512", B512 = [B64], 0, Some(smem::s_load_dwordx16);
    [   4,    _,    _,    _], "s_load_dwordx16", B512 = [B64], 0, Some(smem::s_load_dwordx16);
    [   _,    _,    _,    5], "s_load_b96", B96 = [B64], 0, Some(smem::s_load_b96);
    [   _,    8,    8,   16], "s_buffer_load_b32", B32 = [B128], 0, Some(smem::s_buffer_load_dword);
    [   8,    _,    _,    _], "s_buffer_load_dword", B32 = [B128], 0, Some(smem::s_buffer_load_dword);
    [   _,    _,    _,    8], "s_load_i8", B32 = [B64], 0, Some(smem::s_load_i8);
    [   _,    9,    9,   17], "s_buffer_load_b64", B64 = [B128], 0, Some(smem::s_buffer_load_dwordx2);
    [   9,    _,    _,    _], "s_buffer_load_dwordx2", B64 = [B128], 0, Some(smem::s_buffer_load_dwordx2);
    [   _,    _,    _,    9], "s_load_u8", B32 = [B64], 0, Some(smem::s_load_u8);
    [   _,   10,   10,   18], "s_buffer_load_b128", B128 = [B128], 0, Some(smem::s_buffer_load_dwordx4);
    [  10,    _,    _,    _], "s_buffer_load_dwordx4", B128 = [B128], 0, Some(smem::s_buffer_load_dwordx4);
    [   _,    _,    _,   10], "s_load_i16", B32 = [B64], 0, Some(smem::s_load_i16);
    [   _,   11,   11,   19], "s_buffer_load_b256", B256 = [B128], 0, Some(smem::s_buffer_load_dwordx8);
    [  11,    _,    _,    _], "s_buffer_load_dwordx8", B256 = [B128], 0, Some(smem::s_buffer_load_dwordx8);
    [   _,    _,    _,   11], "s_load_u16", B32 = [B64], 0, Some(smem::s_load_u16);
    [   _,   12,   12,   20], "s_buffer_load_b512", B512 = [B128], 0, Some(smem::s_buffer_load_dwordx16);
    [  12,    _,    _,    _], "s_buffer_load_dwordx16", B512 = [B128], 0, Some(smem::s_buffer_load_dwordx16);
    [   _,    _,    _,   21], "s_buffer_load_b96", B96 = [B128], 0, Some(smem::s_buffer_load_b96);
    [   _,    _,    _,   24], "s_buffer_load_i8", B32 = [B128], 0, Some(smem::s_buffer_load_i8);
    [   _,    _,    _,   25], "s_buffer_load_u8", B32 = [B128], 0, Some(smem::s_buffer_load_u8);
    [   _,    _,    _,   26], "s_buffer_load_i16", B32 = [B128], 0, Some(smem::s_buffer_load_i16);
    [   _,    _,    _,   27], "s_buffer_load_u16", B32 = [B128], 0, Some(smem::s_buffer_load_u16);
    [  31,   32,   32,    _], "s_gl1_inv", No = [], NO_ADDR, Some(sopp::no_effect);
    [  32,   33,   33,   33], "s_dcache_inv", No = [], NO_ADDR, Some(sopp::no_effect);
    [  38,   34,   34,   34], "s_atc_probe", No = [B64], PROBE, Some(sopp::no_effect);
    [  39,   35,   35,   35], "s_atc_probe_buffer", No = [B128], PROBE, Some(sopp::no_effect);
    [  36,    _,    _,    _], "s_memtime", B64 = [], NO_ADDR, Some(smem::s_memtime);
    [   _,    _,    _,   36], "s_prefetch_inst", No = [B64], PREFETCH, Some(sopp::no_effect);
    [  37,    _,    _,    _], "s_memrealtime", B64 = [], NO_ADDR, Some(smem::s_memrealtime);
    [   _,    _,    _,   37], "s_prefetch_inst_pc_rel", No = [], PREFETCH, Some(sopp::no_effect);
    [   _,    _,    _,   38], "s_prefetch_data", No = [B64], PREFETCH, Some(sopp::no_effect);
    [   _,    _,    _,   39], "s_buffer_prefetch_data", No = [B128], PREFETCH, Some(sopp::no_effect);
    [   _,    _,    _,   40], "s_prefetch_data_pc_rel", No = [], PREFETCH, Some(sopp::no_effect);
} } }
pub(crate) use smem;
smem!(rows);
