//! What instructions of GFX9 are called on RDNA (LLVM's tables).

use emulator::isa::{Generation, Target};

/// Loads behind `load_`, stores behind `store_`.
const MEMORY: [(&str, &str); 20] = [
    ("load_ubyte_d16_hi", "load_d16_hi_u8"),
    ("load_ubyte_d16", "load_d16_u8"),
    ("load_ubyte", "load_u8"),
    ("load_sbyte_d16_hi", "load_d16_hi_i8"),
    ("load_sbyte_d16", "load_d16_i8"),
    ("load_sbyte", "load_i8"),
    ("load_short_d16_hi", "load_d16_hi_b16"),
    ("load_short_d16", "load_d16_b16"),
    ("load_ushort", "load_u16"),
    ("load_sshort", "load_i16"),
    ("store_byte_d16_hi", "store_d16_hi_b8"),
    ("store_byte", "store_b8"),
    ("store_short_d16_hi", "store_d16_hi_b16"),
    ("store_short", "store_b16"),
    ("dwordx16", "b512"),
    ("dwordx8", "b256"),
    ("dwordx4", "b128"),
    ("dwordx3", "b96"),
    ("dwordx2", "b64"),
    ("dword", "b32"),
];

/// Instructions of the scalar ALU.
const SCALAR: [(&str, &str); 13] = [
    ("s_ff1_i32_b", "s_ctz_i32_b"),
    ("s_flbit_i32_b", "s_clz_i32_u"),
    ("s_flbit_i32", "s_cls_i32"),
    ("s_andn1_", "s_and_not0_"),
    ("s_orn1_", "s_or_not0_"),
    ("s_andn2_", "s_and_not1_"),
    ("s_orn2_", "s_or_not1_"),
    // RDNA 4's from here on.
    ("s_addc_u32", "s_add_co_ci_u32"),
    ("s_subb_u32", "s_sub_co_ci_u32"),
    ("s_add_u32", "s_add_co_u32"),
    ("s_sub_u32", "s_sub_co_u32"),
    ("s_add_i32", "s_add_co_i32"),
    ("s_sub_i32", "s_sub_co_i32"),
];

/// Instructions of LDS.
const LDS: [(&str, &str); 9] = [
    ("ds_read2st64", "ds_load_2addr_stride64"),
    ("ds_read2", "ds_load_2addr"),
    ("ds_read", "ds_load"),
    ("ds_write2st64", "ds_store_2addr_stride64"),
    ("ds_write2", "ds_store_2addr"),
    ("ds_write", "ds_store"),
    ("wrxchg2st64", "storexchg_2addr_stride64"),
    ("wrxchg2", "storexchg_2addr"),
    ("wrxchg", "storexchg"),
];

/// Atomics behind `atomic_`: types of 32 and of 64 bits.
const ATOMICS: [(&str, [&str; 2]); 17] = [
    ("swap", ["swap_b32", "swap_b64"]),
    ("cmpswap", ["cmpswap_b32", "cmpswap_b64"]),
    ("add", ["add_u32", "add_u64"]),
    ("sub", ["sub_u32", "sub_u64"]),
    ("smin", ["min_i32", "min_i64"]),
    ("umin", ["min_u32", "min_u64"]),
    ("smax", ["max_i32", "max_i64"]),
    ("umax", ["max_u32", "max_u64"]),
    ("and", ["and_b32", "and_b64"]),
    ("or", ["or_b32", "or_b64"]),
    ("xor", ["xor_b32", "xor_b64"]),
    ("inc", ["inc_u32", "inc_u64"]),
    ("dec", ["dec_u32", "dec_u64"]),
    ("csub", ["csub_u32", ""]),
    // RDNA 2's.
    ("fcmpswap", ["cmpswap_f32", ""]),
    ("fmin", ["min_f32", ""]),
    ("fmax", ["max_f32", ""]),
];

/// The name on a target of what GFX9, or RDNA 2, calls `name`.
pub fn on(target: Target, name: &str) -> String {
    let generation = target.generation();
    if generation <= Generation::Gfx10 {
        return name.into();
    }
    if let Some((family, atomic)) = name.split_once("_atomic_") {
        let (stem, width) = match atomic.strip_suffix("_x2") {
            Some(stem) => (stem, 1),
            None => (atomic, 0),
        };
        let renamed = ATOMICS.iter().find(|(old, _)| *old == stem).map_or(atomic, |(_, new)| new[width]);
        let renamed = match generation {
            Generation::Gfx12 => renamed
                .replace("csub", "sub_clamp")
                .replace("min_f", "min_num_f")
                .replace("max_f", "max_num_f"),
            _ => renamed.into(),
        };
        return format!("{family}_atomic_{renamed}");
    }
    let mut name = name.to_owned();
    if name.starts_with("ds_") {
        if let Some((old, new)) = LDS.iter().find(|(old, _)| name.contains(old)) {
            name = name.replace(old, new);
        }
        name = name.replace("cmpst_", "cmpstore_");
        if generation == Generation::Gfx12 && name.contains("_f") {
            name = name.replace("ds_min_", "ds_min_num_").replace("ds_max_", "ds_max_num_");
        }
    } else if name.starts_with("s_") && !name.contains("load") {
        let count = if generation == Generation::Gfx12 { SCALAR.len() } else { 7 };
        if let Some((old, new)) = SCALAR[..count].iter().find(|(old, _)| name.starts_with(old)) {
            name = name.replace(old, new);
        }
        if generation == Generation::Gfx12 {
            name = name.replace("s_addk_i32", "s_addk_co_i32");
        }
    } else if let Some((family, rest)) = name.split_once("_format_d16_") {
        let (high, components) =
            rest.strip_prefix("hi_").map_or(("", rest), |components| ("hi_", components));
        name = format!("{family}_d16_{high}format_{components}");
    } else if let Some((old, new)) = MEMORY.iter().find(|(old, _)| name.contains(old)) {
        name = name.replace(old, new);
    }
    name
}
