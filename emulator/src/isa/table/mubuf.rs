//! Buffer instructions, untyped and typed.
//!
//! The last column is the semantics, which `wave::semantics` reads: to implement an instruction, replace its
//! `None` by `Some(path::to::the_function)`. [`Shape`](crate::isa::Shape) explains the other columns.

use super::prelude::*;

macro_rules! mubuf { ($rows:ident) => { $rows! { MUBUF, Mubuf,
      0, "buffer_load_format_x",       ALL,    B32 = [B32, B128, B32], LDS, Some(formatted::buffer_load_format_x);
      1, "buffer_load_format_xy",      ALL,    B64 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_xy);
      2, "buffer_load_format_xyz",     ALL,    B96 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_xyz);
      3, "buffer_load_format_xyzw",    ALL,    B128 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_xyzw);
      4, "buffer_store_format_x",      ALL,    B32 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_x);
      5, "buffer_store_format_xy",     ALL,    B64 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_xy);
      6, "buffer_store_format_xyz",    ALL,    B96 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_xyz);
      7, "buffer_store_format_xyzw",   ALL,    B128 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_xyzw);
      8, "buffer_load_format_d16_x",   ALL,    B32 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_d16_x);
      9, "buffer_load_format_d16_xy",  ALL,    B32 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_d16_xy);
     10, "buffer_load_format_d16_xyz", ALL,    B64 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_d16_xyz);
     11, "buffer_load_format_d16_xyzw", ALL,    B64 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_d16_xyzw);
     12, "buffer_store_format_d16_x",  ALL,    B32 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_d16_x);
     13, "buffer_store_format_d16_xy", ALL,    B32 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_d16_xy);
     14, "buffer_store_format_d16_xyz", ALL,    B64 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_d16_xyz);
     15, "buffer_store_format_d16_xyzw", ALL,    B64 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_d16_xyzw);
     16, "buffer_load_ubyte",          ALL,    B32 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_ubyte);
     17, "buffer_load_sbyte",          ALL,    B32 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_sbyte);
     18, "buffer_load_ushort",         ALL,    B32 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_ushort);
     19, "buffer_load_sshort",         ALL,    B32 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_sshort);
     20, "buffer_load_dword",          ALL,    B32 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_dword);
     21, "buffer_load_dwordx2",        ALL,    B64 = [B32, B128, B32], 0, Some(mubuf::buffer_load_dwordx2);
     22, "buffer_load_dwordx3",        ALL,    B96 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_dwordx3);
     23, "buffer_load_dwordx4",        ALL,    B128 = [B32, B128, B32], LDS, Some(mubuf::buffer_load_dwordx4);
     24, "buffer_store_byte",          ALL,    B32 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_byte);
     25, "buffer_store_byte_d16_hi",   ALL,    B32 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_byte_d16_hi);
     26, "buffer_store_short",         ALL,    B32 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_short);
     27, "buffer_store_short_d16_hi",  ALL,    B32 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_short_d16_hi);
     28, "buffer_store_dword",         ALL,    B32 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_dword);
     29, "buffer_store_dwordx2",       ALL,    B64 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_dwordx2);
     30, "buffer_store_dwordx3",       ALL,    B96 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_dwordx3);
     31, "buffer_store_dwordx4",       ALL,    B128 = [B32, B128, B32], STORE, Some(mubuf::buffer_store_dwordx4);
     32, "buffer_load_ubyte_d16",      ALL,    B32 = [B32, B128, B32], 0, Some(mubuf::buffer_load_ubyte_d16);
     33, "buffer_load_ubyte_d16_hi",   ALL,    B32 = [B32, B128, B32], 0, Some(mubuf::buffer_load_ubyte_d16_hi);
     34, "buffer_load_sbyte_d16",      ALL,    B32 = [B32, B128, B32], 0, Some(mubuf::buffer_load_sbyte_d16);
     35, "buffer_load_sbyte_d16_hi",   ALL,    B32 = [B32, B128, B32], 0, Some(mubuf::buffer_load_sbyte_d16_hi);
     36, "buffer_load_short_d16",      ALL,    B32 = [B32, B128, B32], 0, Some(mubuf::buffer_load_short_d16);
     37, "buffer_load_short_d16_hi",   ALL,    B32 = [B32, B128, B32], 0, Some(mubuf::buffer_load_short_d16_hi);
     38, "buffer_load_format_d16_hi_x", ALL,    B32 = [B32, B128, B32], 0, Some(formatted::buffer_load_format_d16_hi_x);
     39, "buffer_store_format_d16_hi_x", ALL,    B32 = [B32, B128, B32], STORE, Some(formatted::buffer_store_format_d16_hi_x);
     40, "buffer_wbl2",                ALL,    No = [], CACHE, Some(cached::buffer_wbl2);
     41, "buffer_invl2",               GFX90A, No = [], CACHE, Some(cached::buffer_invl2);
     41, "buffer_inv",                 GFX940, No = [], CACHE, Some(cached::buffer_inv);
     61, "buffer_store_lds_dword",     GFX90A, No = [B32, B128, B32], STORE | LDS, Some(mubuf::buffer_store_lds_dword);
     62, "buffer_wbinvl1",             GFX90A, No = [], CACHE, Some(cached::buffer_wbinvl1);
     63, "buffer_wbinvl1_vol",         GFX90A, No = [], CACHE, Some(cached::buffer_wbinvl1);
     64, "buffer_atomic_swap",         ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_swap);
     65, "buffer_atomic_cmpswap",      ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_cmpswap);
     66, "buffer_atomic_add",          ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_add);
     67, "buffer_atomic_sub",          ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_sub);
     68, "buffer_atomic_smin",         ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_smin);
     69, "buffer_atomic_umin",         ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_umin);
     70, "buffer_atomic_smax",         ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_smax);
     71, "buffer_atomic_umax",         ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_umax);
     72, "buffer_atomic_and",          ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_and);
     73, "buffer_atomic_or",           ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_or);
     74, "buffer_atomic_xor",          ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_xor);
     75, "buffer_atomic_inc",          ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_inc);
     76, "buffer_atomic_dec",          ALL,    B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_dec);
     77, "buffer_atomic_add_f32",      ALL,    B32 = [B32, B128, B32], ATOMIC | FLOAT, Some(mubuf::buffer_atomic_add_f32);
     78, "buffer_atomic_pk_add_f16",   ALL,    B32 = [B32, B128, B32], ATOMIC | FLOAT, Some(mubuf::buffer_atomic_pk_add_f16);
     79, "buffer_atomic_add_f64",      ALL,    B64 = [B32, B128, B32], ATOMIC | FLOAT, Some(mubuf::buffer_atomic_add_f64);
     80, "buffer_atomic_min_f64",      ALL,    B64 = [B32, B128, B32], ATOMIC | FLOAT, Some(mubuf::buffer_atomic_min_f64);
     81, "buffer_atomic_max_f64",      ALL,    B64 = [B32, B128, B32], ATOMIC | FLOAT, Some(mubuf::buffer_atomic_max_f64);
     82, "buffer_atomic_pk_add_bf16",  GFX950, B32 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_pk_add_bf16);
     96, "buffer_atomic_swap_x2",      ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_swap_x2);
     97, "buffer_atomic_cmpswap_x2",   ALL,    B128 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_cmpswap_x2);
     98, "buffer_atomic_add_x2",       ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_add_x2);
     99, "buffer_atomic_sub_x2",       ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_sub_x2);
    100, "buffer_atomic_smin_x2",      ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_smin_x2);
    101, "buffer_atomic_umin_x2",      ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_umin_x2);
    102, "buffer_atomic_smax_x2",      ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_smax_x2);
    103, "buffer_atomic_umax_x2",      ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_umax_x2);
    104, "buffer_atomic_and_x2",       ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_and_x2);
    105, "buffer_atomic_or_x2",        ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_or_x2);
    106, "buffer_atomic_xor_x2",       ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_xor_x2);
    107, "buffer_atomic_inc_x2",       ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_inc_x2);
    108, "buffer_atomic_dec_x2",       ALL,    B64 = [B32, B128, B32], ATOMIC, Some(mubuf::buffer_atomic_dec_x2);
} } }
pub(crate) use mubuf;
mubuf!(rows);

macro_rules! mtbuf { ($rows:ident) => { $rows! { MTBUF, Mtbuf,
     0, "tbuffer_load_format_x",         ALL,  B32 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_x);
     1, "tbuffer_load_format_xy",        ALL,  B64 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_xy);
     2, "tbuffer_load_format_xyz",       ALL,  B96 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_xyz);
     3, "tbuffer_load_format_xyzw",      ALL,  B128 = [B32, B128, B32], 0,     Some(formatted::tbuffer_load_format_xyzw);
     4, "tbuffer_store_format_x",        ALL,  B32 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_x);
     5, "tbuffer_store_format_xy",       ALL,  B64 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_xy);
     6, "tbuffer_store_format_xyz",      ALL,  B96 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_xyz);
     7, "tbuffer_store_format_xyzw",     ALL,  B128 = [B32, B128, B32], STORE, Some(formatted::tbuffer_store_format_xyzw);
     8, "tbuffer_load_format_d16_x",     ALL,  B32 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_d16_x);
     9, "tbuffer_load_format_d16_xy",    ALL,  B32 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_d16_xy);
    10, "tbuffer_load_format_d16_xyz",   ALL,  B64 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_d16_xyz);
    11, "tbuffer_load_format_d16_xyzw",  ALL,  B64 = [B32, B128, B32],  0,     Some(formatted::tbuffer_load_format_d16_xyzw);
    12, "tbuffer_store_format_d16_x",    ALL,  B32 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_d16_x);
    13, "tbuffer_store_format_d16_xy",   ALL,  B32 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_d16_xy);
    14, "tbuffer_store_format_d16_xyz",  ALL,  B64 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_d16_xyz);
    15, "tbuffer_store_format_d16_xyzw", ALL,  B64 = [B32, B128, B32],  STORE, Some(formatted::tbuffer_store_format_d16_xyzw);
} } }
pub(crate) use mtbuf;
mtbuf!(rows);
