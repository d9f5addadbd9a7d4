//! Read-modify-write instructions one by one, in inline assembly, against a model.

use emulator::isa::Target;
use fastrand::Rng;

use crate::harness::{Level, TARGETS, input, kernel, output};

pub struct Case {
    /// Name of the DS form that returns nothing, if there is one.
    pub ds: Option<&'static str>,
    /// Name of the DS form that returns the old value.
    pub ds_rtn: Option<&'static str>,
    /// Name behind `global_atomic_` and the like.
    pub memory: Option<&'static str>,
    pub wide: bool,
    /// Memory, data, comparand or second operand to new memory.
    pub model: fn(u64, u64, u64) -> u64,
}

const fn case(wide: bool, [ds, ds_rtn, memory]: [&'static str; 3], model: fn(u64, u64, u64) -> u64) -> Case {
    const fn some(name: &'static str) -> Option<&'static str> {
        if name.is_empty() { None } else { Some(name) }
    }
    Case { ds: some(ds), ds_rtn: some(ds_rtn), memory: some(memory), wide, model }
}

fn s32(v: u64) -> i64 {
    v as u32 as i32 as i64
}

fn f32s(a: u64, b: u64, f: fn(f32, f32) -> f32) -> u64 {
    f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into()
}

fn f64s(a: u64, b: u64, f: fn(f64, f64) -> f64) -> u64 {
    f(f64::from_bits(a), f64::from_bits(b)).to_bits()
}

pub const CASES: &[Case] = &[
    case(false, ["ds_add_u32", "ds_add_rtn_u32", "add"], |m, a, _| m.wrapping_add(a)),
    case(false, ["ds_sub_u32", "ds_sub_rtn_u32", "sub"], |m, a, _| m.wrapping_sub(a)),
    case(false, ["ds_rsub_u32", "ds_rsub_rtn_u32", ""], |m, a, _| a.wrapping_sub(m)),
    case(false, ["ds_inc_u32", "ds_inc_rtn_u32", "inc"], |m, a, _| if m >= a { 0 } else { m + 1 }),
    case(false, ["ds_dec_u32", "ds_dec_rtn_u32", "dec"], |m, a, _| if m == 0 || m > a { a } else { m - 1 }),
    case(false, ["ds_min_i32", "ds_min_rtn_i32", "smin"], |m, a, _| if s32(m) < s32(a) { m } else { a }),
    case(false, ["ds_max_i32", "ds_max_rtn_i32", "smax"], |m, a, _| if s32(m) > s32(a) { m } else { a }),
    case(false, ["ds_min_u32", "ds_min_rtn_u32", "umin"], |m, a, _| m.min(a)),
    case(false, ["ds_max_u32", "ds_max_rtn_u32", "umax"], |m, a, _| m.max(a)),
    case(false, ["ds_and_b32", "ds_and_rtn_b32", "and"], |m, a, _| m & a),
    case(false, ["ds_or_b32", "ds_or_rtn_b32", "or"], |m, a, _| m | a),
    case(false, ["ds_xor_b32", "ds_xor_rtn_b32", "xor"], |m, a, _| m ^ a),
    case(false, ["", "ds_wrxchg_rtn_b32", "swap"], |_, a, _| a),
    case(false, ["ds_mskor_b32", "ds_mskor_rtn_b32", ""], |m, a, b| m & !a | b),
    case(false, ["", "ds_wrap_rtn_b32", ""], |m, a, b| if m >= a { m - a } else { m + b }),
    case(true, ["ds_add_u64", "ds_add_rtn_u64", "add_x2"], |m, a, _| m.wrapping_add(a)),
    case(true, ["ds_sub_u64", "ds_sub_rtn_u64", "sub_x2"], |m, a, _| m.wrapping_sub(a)),
    case(true, ["ds_rsub_u64", "ds_rsub_rtn_u64", ""], |m, a, _| a.wrapping_sub(m)),
    case(true, ["ds_inc_u64", "ds_inc_rtn_u64", "inc_x2"], |m, a, _| if m >= a { 0 } else { m + 1 }),
    case(true, ["ds_dec_u64", "ds_dec_rtn_u64", "dec_x2"], |m, a, _| if m == 0 || m > a { a } else { m - 1 }),
    case(
        true,
        ["ds_min_i64", "ds_min_rtn_i64", "smin_x2"],
        |m, a, _| if (m as i64) < a as i64 { m } else { a },
    ),
    case(
        true,
        ["ds_max_i64", "ds_max_rtn_i64", "smax_x2"],
        |m, a, _| if m as i64 > a as i64 { m } else { a },
    ),
    case(true, ["ds_min_u64", "ds_min_rtn_u64", "umin_x2"], |m, a, _| m.min(a)),
    case(true, ["ds_max_u64", "ds_max_rtn_u64", "umax_x2"], |m, a, _| m.max(a)),
    case(true, ["ds_and_b64", "ds_and_rtn_b64", "and_x2"], |m, a, _| m & a),
    case(true, ["ds_or_b64", "ds_or_rtn_b64", "or_x2"], |m, a, _| m | a),
    case(true, ["ds_xor_b64", "ds_xor_rtn_b64", "xor_x2"], |m, a, _| m ^ a),
    case(true, ["", "ds_wrxchg_rtn_b64", "swap_x2"], |_, a, _| a),
    case(true, ["ds_mskor_b64", "ds_mskor_rtn_b64", ""], |m, a, b| m & !a | b),
    // DS takes the comparand first, memory instructions last.
    case(false, ["ds_cmpst_b32", "ds_cmpst_rtn_b32", ""], |m, a, b| if m == a { b } else { m }),
    case(true, ["ds_cmpst_b64", "ds_cmpst_rtn_b64", ""], |m, a, b| if m == a { b } else { m }),
    case(false, ["", "", "cmpswap"], |m, a, b| if m == b { a } else { m }),
    case(true, ["", "", "cmpswap_x2"], |m, a, b| if m == b { a } else { m }),
];

/// As [`CASES`], on numbers: neither NaN nor denormal, whose treatment depends on more than the operands.
pub const FLOAT_CASES: &[Case] = &[
    case(false, ["ds_add_f32", "ds_add_rtn_f32", "add_f32"], |m, a, _| f32s(m, a, |m, a| m + a)),
    case(false, ["ds_min_f32", "ds_min_rtn_f32", ""], |m, a, _| f32s(m, a, |m, a| if a < m { a } else { m })),
    case(false, ["ds_max_f32", "ds_max_rtn_f32", ""], |m, a, _| f32s(m, a, |m, a| if a > m { a } else { m })),
    case(true, ["ds_add_f64", "ds_add_rtn_f64", "add_f64"], |m, a, _| f64s(m, a, |m, a| m + a)),
    case(true, ["ds_min_f64", "ds_min_rtn_f64", "min_f64"], |m, a, _| {
        f64s(m, a, |m, a| if a < m { a } else { m })
    }),
    case(true, ["ds_max_f64", "ds_max_rtn_f64", "max_f64"], |m, a, _| {
        f64s(m, a, |m, a| if a > m { a } else { m })
    }),
];

/// What came with RDNA.
pub const RDNA_CASES: &[Case] =
    &[
        case(false, ["ds_sub_clamp_u32", "ds_sub_clamp_rtn_u32", "csub"], |m, a, _| m.saturating_sub(a)),
        case(false, ["ds_cond_sub_u32", "ds_cond_sub_rtn_u32", "cond_sub_u32"], |m, a, _| {
            if m >= a { m - a } else { m }
        }),
    ];

/// As [`FLOAT_CASES`], of RDNA, by RDNA 2's names.
pub const RDNA_FLOAT_CASES: &[Case] = &[
    case(false, ["", "", "fmin"], |m, a, _| f32s(m, a, |m, a| if a < m { a } else { m })),
    case(false, ["", "", "fmax"], |m, a, _| f32s(m, a, |m, a| if a > m { a } else { m })),
    case(false, ["", "", "fcmpswap"], |m, a, b| {
        if f32::from_bits(m as u32) == f32::from_bits(b as u32) { a } else { m }
    }),
    case(true, ["", "", "fmin_x2"], |m, a, _| f64s(m, a, |m, a| if a < m { a } else { m })),
    case(true, ["", "", "fmax_x2"], |m, a, _| f64s(m, a, |m, a| if a > m { a } else { m })),
    case(true, ["", "", "fcmpswap_x2"], |m, a, b| if f64::from_bits(m) == f64::from_bits(b) { a } else { m }),
];

/// Mnemonics that the tests of this module run on each target that has them.
pub fn rows() -> impl Iterator<Item = String> {
    CASES.iter().chain(FLOAT_CASES).flat_map(|case| {
        let memory = |family: &str| case.memory.map(|name| format!("{family}_atomic_{name}"));
        let ds = [case.ds, case.ds_rtn].map(|name| name.map(str::to_owned));
        ds.into_iter().chain([memory("global"), memory("flat")]).flatten()
    })
}

/// Assembly of one access, and whether it returns the old value.
fn forms(case: &Case, target: Target) -> Vec<(String, bool)> {
    let mut forms = vec![];
    let second = ["mskor", "wrap", "cmpst"].iter().any(|n| case.ds_rtn.is_some_and(|name| name.contains(n)));
    let tail = if second { "%[a], %[b]" } else { "%[a]" };
    let wait = "s_waitcnt vmcnt(0) lgkmcnt(0)\\n";
    let size = if case.wide { "b64" } else { "b32" };
    let lds = |instruction: String| {
        format!(
            "ds_write_{size} %[l], %[m]\\n{wait}{instruction} offset:16\\n{wait}ds_read_{size} %[n], %[l]\\n{wait}"
        )
        .replace("_b32 %[l], %[m]", "_b32 %[l], %[m] offset:16")
        .replace("_b64 %[l], %[m]", "_b64 %[l], %[m] offset:16")
        .replace("%[n], %[l]", "%[n], %[l] offset:16")
    };
    if let Some(name) = case.ds {
        forms.push((lds(format!("{name} %[l], {tail}")), false));
    }
    if let Some(name) = case.ds_rtn {
        forms.push((lds(format!("{name} %[o], %[l], {tail}")), true));
    }
    let Some(name) = case.memory else { return forms };
    let returns = if target == Target::Gfx90a { "glc" } else { "sc0" };
    let dwords = if case.wide { "dwordx2" } else { "dword" };
    let data = if name.starts_with("cmpswap") { "%[ab]" } else { "%[a]" };
    for (family, off) in [("global", ", off"), ("flat", "")] {
        // Only gfx942 has this one with a generic address.
        if family == "flat" && name == "add_f32" && target == Target::Gfx90a {
            continue;
        }
        for (result, flag) in [("", ""), ("%[o], ", returns)] {
            let text = format!(
                "{family}_store_{dwords} %[p], %[m]{off}\\n{wait}\
                 {family}_atomic_{name} {result}%[p], {data}{off} {flag}\\n{wait}\
                 {family}_load_{dwords} %[n], %[p]{off}\\n{wait}"
            );
            forms.push((text, !flag.is_empty()));
        }
    }
    forms
}

fn check(cases: &[Case], rows: &[[u64; 3]]) {
    for target in TARGETS {
        let mut source = String::from(
            "typedef u32 v2 __attribute__((ext_vector_type(2)));
             typedef u64 w2 __attribute__((ext_vector_type(2)));\n",
        );
        let mut names = vec![];
        for (i, case) in cases.iter().enumerate() {
            for (j, (text, returns)) in forms(case, target).into_iter().enumerate() {
                let (ty, pair) = if case.wide { ("u64", "w2") } else { ("u32", "v2") };
                let name = format!("k{i}_{j}");
                source += &format!(
                    "KERNEL {name}(const u64 *in, u64 *out, u64 *room) {{
                        {ty} m = in[3 * tid], a = in[3 * tid + 1], b = in[3 * tid + 2], o = 0, n;
                        {pair} ab = {{a, b}};
                        asm volatile(\"{text}\" : [o] \"+&v\"(o), [n] \"=&v\"(n) : [m] \"v\"(m), [a] \"v\"(a),
                            [b] \"v\"(b), [ab] \"v\"(ab), [l] \"v\"(tid * 8), [p] \"v\"(room + tid) : \"memory\");
                        out[2 * tid] = o; out[2 * tid + 1] = n;
                    }}\n"
                );
                names.push((name, case, text, returns));
            }
        }
        for (name, case, text, returns) in names {
            let Some(kernel) = kernel(&source, &name, target, Level::O1) else { return };
            let mask = if case.wide { u64::MAX } else { u32::MAX.into() };
            for rows in rows.chunks(256) {
                let (mut out, mut room) = (vec![[0u64; 2]; rows.len()], vec![0u64; rows.len()]);
                let size = rows.len() as u16;
                let mut args = [input(rows), output(&mut out), output(&mut room)];
                kernel
                    .run([1, 1, 1], [size, 1, 1], &mut args, 4096)
                    .unwrap_or_else(|e| panic!("{e}\n{text}"));
                for (row, out) in rows.iter().zip(&out) {
                    let [m, a, b] = row.map(|v| v & mask);
                    let expected = [if returns { m } else { 0 }, (case.model)(m, a, b) & mask];
                    assert_eq!(*out, expected, "{target:?} {m:#x} {a:#x} {b:#x}\n{text}");
                }
            }
        }
    }
}

#[test]
fn integer_read_modify_write_instructions_agree_with_the_model() {
    let mut random = Rng::with_seed(5);
    let edges = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX, 1 << 63];
    let mut rows: Vec<_> = edges.iter().flat_map(|a| edges.map(|b| [*a, b, a ^ b])).collect();
    rows.extend(edges.iter().flat_map(|a| edges.map(|b| [*a, b, *a])));
    rows.extend((0..100).map(|_| [0; 3].map(|_: u64| random.u64(..))));
    check(CASES, &rows);
}

#[test]
fn floating_point_read_modify_write_instructions_agree_with_the_model() {
    let numbers = [0.0, 1.5, -1.5, 3e30, -7e-20, 0.1, 1e10, -65504.0f32];
    let singles: Vec<_> = numbers
        .iter()
        .flat_map(|a| numbers.map(|b| [u64::from(a.to_bits()), b.to_bits().into(), 0]))
        .collect();
    check(&FLOAT_CASES[..3], &singles);
    let doubles: Vec<_> = numbers
        .iter()
        .flat_map(|a| numbers.map(|b| [f64::from(*a).to_bits(), f64::from(b).to_bits(), 0]))
        .collect();
    check(&FLOAT_CASES[3..], &doubles);
}
