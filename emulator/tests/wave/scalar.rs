//! Scalar instructions one by one, in inline assembly, against a model in plain integer arithmetic.

use fastrand::Rng;

use crate::harness::{Level, TARGETS, input, kernel, output, value};

/// Result and SCC from S0, S1, the old D and the old SCC.
pub type Model = fn(u64, u64, u64, bool) -> (u64, bool);

pub struct Case {
    /// Mnemonic; operands follow as the widths say.
    pub name: &'static str,
    /// Dwords of D, S0, S1; no S1 if 0.
    pub widths: [u8; 3],
    pub model: Model,
}

pub const fn case(name: &'static str, widths: [u8; 3], model: Model) -> Case {
    Case { name, widths, model }
}

fn s32(v: u64) -> i64 {
    v as u32 as i32 as i64
}

fn nz(v: u64) -> (u64, bool) {
    (v, v != 0)
}

/// The result as 32 bits.
fn nz32(v: u64) -> (u64, bool) {
    nz(v & 0xffff_ffff)
}

fn overflows(v: i64) -> (u64, bool) {
    (v as u64 & 0xffff_ffff, v != v as i32 as i64)
}

fn carries(v: u64) -> (u64, bool) {
    (v & 0xffff_ffff, v > 0xffff_ffff)
}

fn lowest(bits: u64, size: u32) -> u64 {
    (0..size).find(|i| bits >> i & 1 == 1).map_or(0xffff_ffff, u64::from)
}

fn highest(bits: u64, size: u32) -> u64 {
    (0..size).rev().find(|i| bits >> i & 1 == 1).map_or(0xffff_ffff, |i| u64::from(size - 1 - i))
}

fn flip_if_negative(v: u64, size: u32) -> u64 {
    let mask = if size == 64 { u64::MAX } else { (1 << size) - 1 };
    if v >> (size - 1) & 1 == 1 { !v & mask } else { v }
}

/// Bits `offset..offset + width` of a value of `size` bits, extended to the size by bit `offset + width - 1`.
fn extract(v: u64, spec: u64, size: u32, signed: bool) -> u64 {
    let offset = (spec as u32) & (size - 1);
    let width = ((spec >> 16) as u32 & 0x7f).min(size - offset);
    let mut r = 0u64;
    for i in 0..width {
        r |= (v >> (offset + i) & 1) << i;
    }
    if signed && width > 0 && r >> (width - 1) & 1 == 1 {
        for i in width..size {
            r |= 1 << i;
        }
    }
    r
}

fn quads(v: u64) -> impl Iterator<Item = bool> {
    (0..16).map(move |q| v >> (4 * q) & 15 != 0)
}

pub const CASES: &[Case] = &[
    case("s_add_u32", [1, 1, 1], |a, b, _, _| carries(a + b)),
    case("s_sub_u32", [1, 1, 1], |a, b, _, _| (a.wrapping_sub(b) & 0xffff_ffff, b > a)),
    case("s_add_i32", [1, 1, 1], |a, b, _, _| overflows(s32(a) + s32(b))),
    case("s_sub_i32", [1, 1, 1], |a, b, _, _| overflows(s32(a) - s32(b))),
    case("s_addc_u32", [1, 1, 1], |a, b, _, c| carries(a + b + c as u64)),
    case("s_subb_u32", [1, 1, 1], |a, b, _, c| {
        (a.wrapping_sub(b).wrapping_sub(c as u64) & 0xffff_ffff, b + c as u64 > a)
    }),
    case("s_min_i32", [1, 1, 1], |a, b, _, _| if s32(a) < s32(b) { (a, true) } else { (b, false) }),
    case("s_min_u32", [1, 1, 1], |a, b, _, _| if a < b { (a, true) } else { (b, false) }),
    case("s_max_i32", [1, 1, 1], |a, b, _, _| if s32(a) >= s32(b) { (a, true) } else { (b, false) }),
    case("s_max_u32", [1, 1, 1], |a, b, _, _| if a >= b { (a, true) } else { (b, false) }),
    case("s_cselect_b32", [1, 1, 1], |a, b, _, c| (if c { a } else { b }, c)),
    case("s_cselect_b64", [2, 2, 2], |a, b, _, c| (if c { a } else { b }, c)),
    case("s_and_b32", [1, 1, 1], |a, b, _, _| nz(a & b)),
    case("s_and_b64", [2, 2, 2], |a, b, _, _| nz(a & b)),
    case("s_or_b32", [1, 1, 1], |a, b, _, _| nz(a | b)),
    case("s_or_b64", [2, 2, 2], |a, b, _, _| nz(a | b)),
    case("s_xor_b32", [1, 1, 1], |a, b, _, _| nz(a ^ b)),
    case("s_xor_b64", [2, 2, 2], |a, b, _, _| nz(a ^ b)),
    case("s_andn2_b32", [1, 1, 1], |a, b, _, _| nz(a & !b)),
    case("s_andn2_b64", [2, 2, 2], |a, b, _, _| nz(a & !b)),
    case("s_orn2_b32", [1, 1, 1], |a, b, _, _| nz32(a | !b)),
    case("s_orn2_b64", [2, 2, 2], |a, b, _, _| nz(a | !b)),
    case("s_nand_b32", [1, 1, 1], |a, b, _, _| nz32(!(a & b))),
    case("s_nand_b64", [2, 2, 2], |a, b, _, _| nz(!(a & b))),
    case("s_nor_b32", [1, 1, 1], |a, b, _, _| nz32(!(a | b))),
    case("s_nor_b64", [2, 2, 2], |a, b, _, _| nz(!(a | b))),
    case("s_xnor_b32", [1, 1, 1], |a, b, _, _| nz32(!(a ^ b))),
    case("s_xnor_b64", [2, 2, 2], |a, b, _, _| nz(!(a ^ b))),
    case("s_lshl_b32", [1, 1, 1], |a, b, _, _| nz32(a << (b % 32))),
    case("s_lshl_b64", [2, 2, 1], |a, b, _, _| nz(a << (b % 64))),
    case("s_lshr_b32", [1, 1, 1], |a, b, _, _| nz(a >> (b % 32))),
    case("s_lshr_b64", [2, 2, 1], |a, b, _, _| nz(a >> (b % 64))),
    case("s_ashr_i32", [1, 1, 1], |a, b, _, _| nz32((s32(a) >> (b % 32)) as u64)),
    case("s_ashr_i64", [2, 2, 1], |a, b, _, _| nz((a as i64 >> (b % 64)) as u64)),
    case("s_bfm_b32", [1, 1, 1], |a, b, _, c| ((((1 << (a % 32)) - 1) << (b % 32)) & 0xffff_ffff, c)),
    case("s_bfm_b64", [2, 1, 1], |a, b, _, c| (((1 << (a % 64)) - 1) << (b % 64), c)),
    case("s_mul_i32", [1, 1, 1], |a, b, _, c| ((a * b) & 0xffff_ffff, c)),
    case("s_bfe_u32", [1, 1, 1], |a, b, _, _| nz(extract(a, b, 32, false))),
    case("s_bfe_i32", [1, 1, 1], |a, b, _, _| nz(extract(a, b, 32, true))),
    case("s_bfe_u64", [2, 2, 1], |a, b, _, _| nz(extract(a, b, 64, false))),
    case("s_bfe_i64", [2, 2, 1], |a, b, _, _| nz(extract(a, b, 64, true))),
    case("s_absdiff_i32", [1, 1, 1], |a, b, _, _| {
        // The difference wraps before its sign is looked at: the manual's own examples.
        nz32(s32((s32(a) - s32(b)) as u64).unsigned_abs())
    }),
    case("s_mul_hi_u32", [1, 1, 1], |a, b, _, c| ((a * b) >> 32, c)),
    case("s_mul_hi_i32", [1, 1, 1], |a, b, _, c| ((s32(a) * s32(b)) as u64 >> 32, c)),
    case("s_lshl1_add_u32", [1, 1, 1], |a, b, _, _| carries((a << 1) + b)),
    case("s_lshl2_add_u32", [1, 1, 1], |a, b, _, _| carries((a << 2) + b)),
    case("s_lshl3_add_u32", [1, 1, 1], |a, b, _, _| carries((a << 3) + b)),
    case("s_lshl4_add_u32", [1, 1, 1], |a, b, _, _| carries((a << 4) + b)),
    case("s_pack_ll_b32_b16", [1, 1, 1], |a, b, _, c| (a & 0xffff | (b & 0xffff) << 16, c)),
    case("s_pack_lh_b32_b16", [1, 1, 1], |a, b, _, c| (a & 0xffff | b & 0xffff_0000, c)),
    case("s_pack_hh_b32_b16", [1, 1, 1], |a, b, _, c| (a >> 16 | b & 0xffff_0000, c)),
    case("s_mov_b32", [1, 1, 0], |a, _, _, c| (a, c)),
    case("s_mov_b64", [2, 2, 0], |a, _, _, c| (a, c)),
    case("s_cmov_b32", [1, 1, 0], |a, _, d, c| (if c { a } else { d }, c)),
    case("s_cmov_b64", [2, 2, 0], |a, _, d, c| (if c { a } else { d }, c)),
    case("s_not_b32", [1, 1, 0], |a, _, _, _| nz32(!a)),
    case("s_not_b64", [2, 2, 0], |a, _, _, _| nz(!a)),
    case("s_wqm_b32", [1, 1, 0], |a, _, _, _| {
        nz32(quads(a).enumerate().map(|(i, any)| (15 * any as u64) << (4 * i)).sum())
    }),
    case("s_wqm_b64", [2, 2, 0], |a, _, _, _| {
        nz(quads(a).enumerate().map(|(i, any)| (15 * any as u64) << (4 * i)).sum())
    }),
    case("s_quadmask_b32", [1, 1, 0], |a, _, _, _| {
        nz(quads(a).enumerate().map(|(i, any)| (any as u64) << i).sum())
    }),
    case("s_quadmask_b64", [2, 2, 0], |a, _, _, _| {
        nz(quads(a).enumerate().map(|(i, any)| (any as u64) << i).sum())
    }),
    case("s_brev_b32", [1, 1, 0], |a, _, _, c| ((0..32).map(|i| (a >> i & 1) << (31 - i)).sum(), c)),
    case("s_brev_b64", [2, 2, 0], |a, _, _, c| ((0..64).map(|i| (a >> i & 1) << (63 - i)).sum(), c)),
    case("s_bcnt0_i32_b32", [1, 1, 0], |a, _, _, _| nz((0..32).map(|i| !a >> i & 1).sum())),
    case("s_bcnt0_i32_b64", [1, 2, 0], |a, _, _, _| nz((0..64).map(|i| !a >> i & 1).sum())),
    case("s_bcnt1_i32_b32", [1, 1, 0], |a, _, _, _| nz((0..32).map(|i| a >> i & 1).sum())),
    case("s_bcnt1_i32_b64", [1, 2, 0], |a, _, _, _| nz((0..64).map(|i| a >> i & 1).sum())),
    case("s_ff0_i32_b32", [1, 1, 0], |a, _, _, c| (lowest(!a, 32), c)),
    case("s_ff0_i32_b64", [1, 2, 0], |a, _, _, c| (lowest(!a, 64), c)),
    case("s_ff1_i32_b32", [1, 1, 0], |a, _, _, c| (lowest(a, 32), c)),
    case("s_ff1_i32_b64", [1, 2, 0], |a, _, _, c| (lowest(a, 64), c)),
    case("s_flbit_i32_b32", [1, 1, 0], |a, _, _, c| (highest(a, 32), c)),
    case("s_flbit_i32_b64", [1, 2, 0], |a, _, _, c| (highest(a, 64), c)),
    case("s_flbit_i32", [1, 1, 0], |a, _, _, c| (highest(flip_if_negative(a, 32), 32), c)),
    case("s_flbit_i32_i64", [1, 2, 0], |a, _, _, c| (highest(flip_if_negative(a, 64), 64), c)),
    case("s_sext_i32_i8", [1, 1, 0], |a, _, _, c| (extract(a, 8 << 16, 32, true), c)),
    case("s_sext_i32_i16", [1, 1, 0], |a, _, _, c| (extract(a, 16 << 16, 32, true), c)),
    case("s_bitset0_b32", [1, 1, 0], |a, _, d, c| (d & !(1 << (a % 32)), c)),
    case("s_bitset0_b64", [2, 1, 0], |a, _, d, c| (d & !(1 << (a % 64)), c)),
    case("s_bitset1_b32", [1, 1, 0], |a, _, d, c| (d | 1 << (a % 32), c)),
    case("s_bitset1_b64", [2, 1, 0], |a, _, d, c| (d | 1 << (a % 64), c)),
    case("s_abs_i32", [1, 1, 0], |a, _, _, _| nz32(s32(a).unsigned_abs())),
    case("s_bitreplicate_b64_b32", [2, 1, 0], |a, _, _, c| {
        ((0..32).map(|i| (3 * (a >> i & 1)) << (2 * i)).sum(), c)
    }),
    // Compares have no D: it keeps its value.
    case("s_cmp_eq_i32", [0, 1, 1], |a, b, d, _| (d, a == b)),
    case("s_cmp_lg_i32", [0, 1, 1], |a, b, d, _| (d, a != b)),
    case("s_cmp_gt_i32", [0, 1, 1], |a, b, d, _| (d, s32(a) > s32(b))),
    case("s_cmp_ge_i32", [0, 1, 1], |a, b, d, _| (d, s32(a) >= s32(b))),
    case("s_cmp_lt_i32", [0, 1, 1], |a, b, d, _| (d, s32(a) < s32(b))),
    case("s_cmp_le_i32", [0, 1, 1], |a, b, d, _| (d, s32(a) <= s32(b))),
    case("s_cmp_eq_u32", [0, 1, 1], |a, b, d, _| (d, a == b)),
    case("s_cmp_lg_u32", [0, 1, 1], |a, b, d, _| (d, a != b)),
    case("s_cmp_gt_u32", [0, 1, 1], |a, b, d, _| (d, a > b)),
    case("s_cmp_ge_u32", [0, 1, 1], |a, b, d, _| (d, a >= b)),
    case("s_cmp_lt_u32", [0, 1, 1], |a, b, d, _| (d, a < b)),
    case("s_cmp_le_u32", [0, 1, 1], |a, b, d, _| (d, a <= b)),
    case("s_cmp_eq_u64", [0, 2, 2], |a, b, d, _| (d, a == b)),
    case("s_cmp_lg_u64", [0, 2, 2], |a, b, d, _| (d, a != b)),
    case("s_bitcmp0_b32", [0, 1, 1], |a, b, d, _| (d, a >> (b % 32) & 1 == 0)),
    case("s_bitcmp1_b32", [0, 1, 1], |a, b, d, _| (d, a >> (b % 32) & 1 == 1)),
    case("s_bitcmp0_b64", [0, 2, 1], |a, b, d, _| (d, a >> (b % 64) & 1 == 0)),
    case("s_bitcmp1_b64", [0, 2, 1], |a, b, d, _| (d, a >> (b % 64) & 1 == 1)),
    // SOPK: the immediate is fixed.
    case("s_movk_i32 {d}, 0x8001", [1, 0, 0], |_, _, _, c| (0xffff_8001, c)),
    case("s_cmovk_i32 {d}, 0x7fff", [1, 0, 0], |_, _, d, c| (if c { 0x7fff } else { d }, c)),
    case("s_addk_i32 {d}, 0xfff0", [1, 0, 0], |_, _, d, _| overflows(s32(d) - 16)),
    case("s_mulk_i32 {d}, 0xfffd", [1, 0, 0], |_, _, d, c| ((s32(d) * -3) as u64 & 0xffff_ffff, c)),
    case("s_cmpk_eq_i32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, s32(d) == -1)),
    case("s_cmpk_lg_i32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, s32(d) != -1)),
    case("s_cmpk_gt_i32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, s32(d) > -1)),
    case("s_cmpk_ge_i32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, s32(d) >= -1)),
    case("s_cmpk_lt_i32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, s32(d) < -1)),
    case("s_cmpk_le_i32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, s32(d) <= -1)),
    case("s_cmpk_eq_u32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, d == 0xffff)),
    case("s_cmpk_lg_u32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, d != 0xffff)),
    case("s_cmpk_gt_u32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, d > 0xffff)),
    case("s_cmpk_ge_u32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, d >= 0xffff)),
    case("s_cmpk_lt_u32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, d < 0xffff)),
    case("s_cmpk_le_u32 {d}, 0xffff", [1, 0, 0], |_, _, d, _| (d, d <= 0xffff)),
    case("s_mov_b64 {d}, 0.5", [2, 0, 0], |_, _, _, c| (0.5f64.to_bits(), c)),
    case("s_mov_b64 {d}, -16", [2, 0, 0], |_, _, _, c| (-16i64 as u64, c)),
    case("s_mov_b64 {d}, 0x12345678", [2, 0, 0], |_, _, _, c| (0x1234_5678, c)),
    case("s_mov_b32 {d}, 0.15915494", [1, 0, 0], |_, _, _, c| (0x3e22_f983, c)),
    case("s_mov_b32 {d}, -4.0", [1, 0, 0], |_, _, _, c| ((-4f32).to_bits().into(), c)),
    case("s_mov_b64 {d}, src_shared_base", [2, 0, 0], |_, _, _, c| (1 << 48, c)),
    case("s_mov_b64 {d}, src_private_base", [2, 0, 0], |_, _, _, c| (2 << 48, c)),
];

/// The new EXEC from S0 and the old EXEC.
pub type Exec = fn(u64, u64) -> u64;

/// Instructions that change EXEC, and whether D is the old one or the new one.
pub const EXEC_CASES: &[(&str, Exec, bool)] = &[
    ("s_and_saveexec_b64", |s, e| s & e, true),
    ("s_or_saveexec_b64", |s, e| s | e, true),
    ("s_xor_saveexec_b64", |s, e| s ^ e, true),
    ("s_andn2_saveexec_b64", |s, e| s & !e, true),
    ("s_orn2_saveexec_b64", |s, e| s | !e, true),
    ("s_nand_saveexec_b64", |s, e| !(s & e), true),
    ("s_nor_saveexec_b64", |s, e| !(s | e), true),
    ("s_xnor_saveexec_b64", |s, e| !(s ^ e), true),
    ("s_andn1_saveexec_b64", |s, e| !s & e, true),
    ("s_orn1_saveexec_b64", |s, e| !s | e, true),
    ("s_andn1_wrexec_b64", |s, e| !s & e, false),
    ("s_andn2_wrexec_b64", |s, e| s & !e, false),
];

/// Mnemonics that the tests of this module run on both targets.
pub fn rows() -> impl Iterator<Item = String> {
    let cases = CASES.iter().filter_map(|case| case.name.split(' ').next());
    cases.chain(EXEC_CASES.iter().map(|case| case.0)).map(str::to_owned)
}

/// Tells the compiler that a value belongs in scalar registers.
const UNIFORM: &str = "FN u64 uniform(u64 v) {
    u32 low = __builtin_amdgcn_readfirstlane((int)v), high = __builtin_amdgcn_readfirstlane((int)(v >> 32));
    return low | (u64)high << 32;
}\n";

pub fn inputs() -> Vec<[u64; 4]> {
    let mut random = Rng::with_seed(4);
    let edges =
        [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff, u64::MAX, 1 << 63, 0x0010_0007, 0x0040_0003];
    let mut rows = vec![];
    for a in edges {
        for b in edges {
            rows.push([a, b, a ^ b.rotate_left(9), (a ^ b) >> 1 & 1]);
        }
    }
    for _ in 0..100 {
        rows.push([random.u64(..), random.u64(..), random.u64(..), random.u64(..) & 1]);
    }
    rows
}

pub fn mask(value: u64, dwords: u8) -> u64 {
    if dwords == 1 { value & 0xffff_ffff } else { value }
}

#[test]
fn scalar_instructions_agree_with_the_model() {
    let ty = |dwords: u8| if dwords == 2 { "u64" } else { "u32" };
    let mut source = UNIFORM.to_owned();
    for (i, case) in CASES.iter().enumerate() {
        let [d, _, s1] = case.widths;
        let text = match (case.name.contains(' '), d, s1) {
            (true, ..) => case.name.replace("{d}", "%[d]"),
            (_, 0, _) => format!("{} %[a], %[b]", case.name),
            (_, _, 0) => format!("{} %[d], %[a]", case.name),
            _ => format!("{} %[d], %[a], %[b]", case.name),
        };
        let [d, a, b] = case.widths.map(ty);
        source += &format!(
            "KERNEL k{i}(const u64 *in, u64 *out, u32 n) {{
                for (u32 i = 0; i < n; i++) {{
                    {a} a = uniform(in[4 * i]); {b} b = uniform(in[4 * i + 1]); {d} d = uniform(in[4 * i + 2]);
                    u32 c = uniform(in[4 * i + 3]), s;
                    asm volatile(\"s_cmp_lg_u32 %[c], 0\\n{text}\\ns_cselect_b32 %[s], 1, 0\"
                        : [d] \"+&s\"(d), [s] \"=&s\"(s) : [a] \"s\"(a), [b] \"s\"(b), [c] \"s\"(c) : \"scc\");
                    out[2 * i] = d; out[2 * i + 1] = s;
                }}
            }}\n"
        );
    }
    let rows = inputs();
    for target in TARGETS {
        for (i, case) in CASES.iter().enumerate() {
            let Some(kernel) = kernel(&source, &format!("k{i}"), target, Level::O1) else { return };
            let mut out = vec![[0u64; 2]; rows.len()];
            let mut args = [input(&rows), output(&mut out), value(rows.len() as u32)];
            kernel.run([1, 1, 1], [1, 1, 1], &mut args, 0).unwrap_or_else(|e| panic!("{} {e}", case.name));
            let [d, s0, s1] = case.widths.map(|w| w.max(1));
            for (row, out) in rows.iter().zip(&out) {
                let (a, b, old) = (mask(row[0], s0), mask(row[1], s1), mask(row[2], d));
                let (value, scc) = (case.model)(a, b, old, row[3] == 1);
                assert_eq!(
                    *out,
                    [value, scc.into()],
                    "{} {target:?} {a:#x} {b:#x} {old:#x} {}",
                    case.name,
                    row[3]
                );
            }
        }
    }
}

#[test]
fn exec_mask_instructions_agree_with_the_model() {
    let mut source = UNIFORM.to_owned();
    for (name, ..) in EXEC_CASES {
        source += &format!(
            "KERNEL {name}(const u64 *in, u64 *out, u32 n) {{
                for (u32 i = 0; i < n; i++) {{
                    u64 a = uniform(in[4 * i]), e = uniform(in[4 * i + 1]), d, x, saved;
                    u32 s;
                    asm volatile(\"s_mov_b64 %[saved], exec\\ns_mov_b64 exec, %[e]\\n{name} %[d], %[a]\\n\"
                        \"s_cselect_b32 %[s], 1, 0\\ns_mov_b64 %[x], exec\\ns_mov_b64 exec, %[saved]\"
                        : [d] \"=&s\"(d), [x] \"=&s\"(x), [s] \"=&s\"(s), [saved] \"=&s\"(saved)
                        : [a] \"s\"(a), [e] \"s\"(e) : \"scc\");
                    out[3 * i] = d; out[3 * i + 1] = x; out[3 * i + 2] = s;
                }}
            }}\n"
        );
    }
    let rows = inputs();
    for target in TARGETS {
        for (name, model, saves) in EXEC_CASES {
            let Some(kernel) = kernel(&source, name, target, Level::O1) else { return };
            let mut out = vec![[0u64; 3]; rows.len()];
            let mut args = [input(&rows), output(&mut out), value(rows.len() as u32)];
            kernel.run([1, 1, 1], [1, 1, 1], &mut args, 0).unwrap();
            for (row, out) in rows.iter().zip(&out) {
                let new = model(row[0], row[1]);
                let d = if *saves { row[1] } else { new };
                assert_eq!(*out, [d, new, (new != 0).into()], "{name} {:#x} {:#x}", row[0], row[1]);
            }
        }
    }
}

#[test]
fn relative_moves_add_m0_to_the_register_number() {
    let source = "KERNEL rel(u32 *out) {
        u32 a, b;
        asm volatile(\"s_mov_b32 s20, 11\\ns_mov_b32 s21, 12\\ns_mov_b32 s22, 13\\ns_mov_b32 m0, 2\\n\"
            \"s_movrels_b32 %0, s20\\ns_movreld_b32 s20, s21\\ns_mov_b32 %1, s22\"
            : \"=&s\"(a), \"=&s\"(b) :: \"s20\", \"s21\", \"s22\");
        out[0] = a; out[1] = b;
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "rel", target, Level::O1) else { return };
        let mut out = vec![0u32; 2];
        kernel.run([1, 1, 1], [1, 1, 1], &mut [output(&mut out)], 0).unwrap();
        assert_eq!(out, [13, 12]);
    }
}

#[test]
fn mode_fields_can_be_written_and_read_back() {
    let source = "KERNEL mode(u32 *out) {
        u32 before, after, round, status;
        asm volatile(\"s_getreg_b32 %0, hwreg(HW_REG_MODE)\\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0xe\\n\"
            \"s_getreg_b32 %2, hwreg(HW_REG_MODE, 2, 2)\\ns_getreg_b32 %1, hwreg(HW_REG_MODE)\\n\"
            \"s_setreg_b32 hwreg(HW_REG_MODE), %0\\ns_cmp_eq_u32 0, 0\\n\"
            \"s_getreg_b32 %3, hwreg(HW_REG_STATUS, 0, 1)\"
            : \"=&s\"(before), \"=&s\"(after), \"=&s\"(round), \"=&s\"(status) :: \"scc\");
        out[0] = before & 0xff; out[1] = after & 0xff; out[2] = round; out[3] = status;
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "mode", target, Level::O1) else { return };
        let mut out = vec![0u32; 4];
        kernel.run([1, 1, 1], [1, 1, 1], &mut [output(&mut out)], 0).unwrap();
        // Denormals are kept and rounding is to nearest where HIP kernels begin.
        assert_eq!(out, [0xf0, 0xfe, 3, 1]);
    }
}

#[test]
fn hardware_registers_describe_the_dispatch() {
    let source = "KERNEL hardware(u32 *out) {
        u32 alloc, status, lds;
        asm volatile(\"v_mov_b32 v40, 0\\ns_getreg_b32 %0, hwreg(HW_REG_GPR_ALLOC)\\n\"
            \"s_getreg_b32 %1, hwreg(HW_REG_STATUS, 11, 1)\\ns_getreg_b32 %2, hwreg(HW_REG_LDS_ALLOC, 12, 9)\"
            : \"=s\"(alloc), \"=s\"(status), \"=s\"(lds) :: \"v40\");
        out[0] = alloc >> 6 & 63; out[1] = alloc >> 12 & 63; out[2] = status; out[3] = lds;
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "hardware", target, Level::O1) else { return };
        for waves in [1, 2] {
            let mut out = vec![0u32; 4];
            kernel.run([1, 1, 1], [64 * waves, 1, 1], &mut [output(&mut out)], 1000).unwrap();
            // v0 to v40 are 41 registers, 48 in eights and 44 in fours; 1000 bytes are 1024 where LDS comes
            // in 512.
            assert_eq!(out, [48 / 8 - 1, 44 / 4 - 1, u32::from(waves > 1), 1024 / 256], "{target:?}");
        }
    }
}
