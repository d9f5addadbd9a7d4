//! AMD's published pseudocode as an oracle: every instruction that it describes, on random sources.
//!
//! The text is not ours and not in this repository. The Python package tinygrad carries it, made from AMD's manuals;
//! `cargo xtask valu-oracle` installs it under the build folder and names its file in `AQLIPSE_PSEUDOCODE`.
//!
//! The default MODE only: the pseudocode knows neither rounding modes nor denormals.

mod eval;
mod number;
mod syntax;

use std::collections::{BTreeMap, HashMap};

use fastrand::Rng;

use eval::Machine;
use syntax::Value;

use super::{CARRY, DEFAULT_MODE, DST, Fields, Lab, SDST, bit_pattern};
use crate::{
    isa::{Family, Row, Ty, flag, table},
    wave::Mode,
};

/// Instructions whose pseudocode is not to be taken at its word, by what is wrong or missing in it.
const OTHERWISE: [(&str, &[&str]); 9] = [
    (
        "approximations: no document defines the last place, denormal singles are flushed",
        &["v_exp_", "v_log_", "v_sin_", "v_cos_", "v_rcp_", "v_rsq_", "v_sqrt_"],
    ),
    ("the limit below 1", &["v_fract_"]),
    ("a sum that must not round, the sign of zero", &["v_cvt_rpi_i32_f32", "v_rndne_"]),
    ("the exponent of zero, which LLVM folds to 0", &["v_frexp_exp_"]),
    (
        "denormals that unfused multiply-adds and dot products flush",
        &["v_mac_f16", "v_mad_f16", "v_mad_legacy_f16", "v_dot2_f32_f16", "v_dot2c_f32_f16"],
    ),
    ("the multiply-add of mixed precision is fused on these targets", &["v_fma_mix"]),
    ("the unscaled operand, the direction of scaling, quotients that overflow", &["v_div_"]),
    (
        "tables, rounding toward zero, quiet NaNs",
        &["v_cvt_off_f32_i4", "v_trig_preop_f64", "v_cvt_pkrtz_f16_f32", "v_pack_b32_f16"],
    ),
    (
        "operands that this test does not have: 128 bits, bytes, small and bf16 floats, other lanes, op_sel",
        &[
            "v_mqsad_u32_u8",
            "_fp8",
            "_bf8",
            "_bf16",
            "v_cvt_scalef32",
            "v_cvt_sr",
            "v_permlane",
            "v_readlane",
            "v_writelane",
            "v_pk_mov_b32",
        ],
    ),
];

/// The pseudocode by mnemonic, read out of a Python dictionary of one entry a line.
fn texts(file: &str) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for line in file.lines() {
        let Some((key, text)) = line.trim().split_once(": ") else { continue };
        let Some((family, name)) = key.split_once("Op.") else { continue };
        let quote = text.chars().next().unwrap_or(' ');
        let Some(text) = text.trim_end_matches(',').strip_prefix(quote).and_then(|t| t.strip_suffix(quote))
        else {
            continue;
        };
        let name = name.to_lowercase();
        let name = name.trim_end_matches("_e32").trim_end_matches("_e64").to_owned();
        // v_bitop3_b32 and _b16 name their destination D.
        let text = text.replace("\\n", "\n").replace("\\'", "'").replace("\nD.", "\nD0.");
        // Where both forms are described, the one with the scalar destination says more.
        if family.starts_with("VOP") && (family == "VOP3SD" || !texts.contains_key(&name)) {
            texts.insert(name, text);
        }
    }
    texts
}

fn raw(bits: u64) -> Value {
    Value { bits: bits.into(), width: 64, float: false }
}

/// Whether both are the same, any NaN of the format standing for any other.
fn agree(name: &str, got: u64, want: u64, width: u32) -> bool {
    let is_nan = |x: u64, width: u32| match width {
        16 => x & 0x7fff > 0x7c00,
        32 => f32::from_bits(x as u32).is_nan(),
        _ => f64::from_bits(x).is_nan(),
    };
    let part = if name.contains("_f16") && !name.contains("_f32_") {
        16
    } else if name.contains("_f32") {
        32
    } else {
        64
    };
    let floats = name.contains("_f") && part <= width;
    (0..width).step_by(part as usize).all(|at| {
        let bits = part.min(width);
        let [got, want] = [got, want].map(|x| x >> at & (u64::MAX >> (64 - bits)));
        got == want || floats && is_nan(got, part) && is_nan(want, part)
    })
}

fn applies(row: &'static Row) -> bool {
    let shape = &row.shape;
    crate::wave::semantics(row).is_some()
        && !shape.has(flag::NO_E64 | flag::MFMA | flag::ACCVGPR)
        && shape.src[0] != Ty::No
        && !OTHERWISE.iter().any(|(_, names)| names.iter().any(|name| row.name.contains(name)))
}

/// Runs one row on 64 lanes and its pseudocode on each.
fn compare(row: &Row, code: &[syntax::Statement], lab: &mut Lab, random: &mut Rng) -> Result<(), String> {
    let grain = |ty: Ty| match ty {
        Ty::F16 | Ty::I16 | Ty::V2F16 | Ty::V2I16 => 16,
        Ty::F64 | Ty::B64 => 64,
        _ => 32u32,
    };
    let mut lanes = Vec::new();
    for lane in 0..64 {
        let mut values: [u64; 3] = std::array::from_fn(|n| {
            let bits = grain(row.shape.src[n]);
            (0..64 / bits).fold(0, |value, part| value | bit_pattern(random, bits) << (bits * part))
        });
        if random.usize(..4) == 0 {
            values[random.usize(..3)] = values[random.usize(..3)];
        }
        for (n, value) in values.into_iter().enumerate() {
            lab.set(2 * n, lane, value);
        }
        let old = random.u64(..);
        lab.set(DST, lane, old);
        lanes.push((values, old));
    }
    let carry = random.u64(..);
    lab.set_mask(CARRY, carry);
    lab.set_mask(106, carry);
    lab.wave.exec = u64::MAX;
    let op_sel_hi = if row.family == Family::Vop3p { 7 } else { 0 };
    let mut fields = Fields { op_sel_hi, ..Fields::default() };
    if row.shape.has(flag::BITOP3) {
        (fields.neg, fields.abs, fields.omod) = (random.u32(..8), random.u32(..8), random.u32(..4));
    }
    lab.run_with(row.name, fields);
    for (lane, (values, old)) in lanes.into_iter().enumerate() {
        let compares = row.family == Family::Vopc;
        let mut names = HashMap::new();
        for (n, value) in values.into_iter().enumerate() {
            names.insert(format!("S{n}"), raw(value));
        }
        let masks = raw(carry & 1 << lane);
        for (name, value) in [
            ("D0", raw(if compares { 0 } else { old })),
            ("D1", raw(0)),
            ("VCC", masks),
            ("EXEC", raw(0)),
            ("laneId", raw(lane as u64)),
            ("IEEE", raw(u64::from(lab.wave.mode.ieee()))),
            ("OPSEL", raw(0)),
            ("ROUND_MODE", raw(0)),
            ("ROUND_NEAREST_EVEN", raw(0)),
            ("NEG", raw(fields.neg.into())),
            ("ABS", raw(fields.abs.into())),
            ("OMOD", raw(fields.omod.into())),
        ] {
            names.insert(name.into(), value);
        }
        let mut machine = Machine::new(names);
        machine.run(code)?;
        let bit = |name: &str| machine.names[name].bits >> if name == "D1" { 0 } else { lane } & 1 != 0;
        let got_bit = lab.mask(SDST) >> lane & 1 != 0;
        let want_bit = match row.name {
            _ if compares => Some(bit(if row.name.starts_with("v_cmpx") { "EXEC" } else { "D0" })),
            name if name.contains("_co_") => Some(bit("VCC")),
            "v_mad_u64_u32" | "v_mad_i64_i32" => Some(bit("D1")),
            _ => None,
        };
        let width = machine.written.min(64);
        let want = machine.names["D0"].bits as u64 & (u64::MAX >> (64 - width.max(1)));
        let got = lab.get(DST, lane) & (u64::MAX >> (64 - width.max(1)));
        let right = compares || width > 0 && agree(row.name, got, want, width);
        if !right || want_bit.is_some_and(|want| want != got_bit) {
            return Err(format!("of {values:x?} over {old:x}: {got:x} {got_bit}, not {want:x} {want_bit:?}"));
        }
    }
    Ok(())
}

#[test]
fn rows_do_what_their_pseudocode_says() {
    let Some(path) = std::env::var_os("AQLIPSE_PSEUDOCODE") else {
        eprintln!("skipped: AQLIPSE_PSEUDOCODE names no file");
        return;
    };
    let texts = texts(&std::fs::read_to_string(path).unwrap());
    let (mut described, mut wrong) = (0, Vec::new());
    for row in [Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3, Family::Vop3p]
        .into_iter()
        .flat_map(table::rows)
        .filter(|row| applies(row))
    {
        let Some(text) = texts.get(row.name) else { continue };
        described += 1;
        let result = syntax::parse(text).and_then(|code| {
            let mut random = Rng::with_seed(u64::from(row.opcode) + 1000 * row.family as u64);
            let mut lab = Lab::new();
            for mode in [DEFAULT_MODE, DEFAULT_MODE & !0x200] {
                lab.wave.mode = Mode(mode);
                (0..8).try_for_each(|_| compare(row, &code, &mut lab, &mut random))?;
            }
            Ok(())
        });
        wrong.extend(result.err().map(|error| format!("{} {error}", row.name)));
    }
    assert!(described > 300, "only {described} rows are described");
    assert!(wrong.is_empty(), "{} of {described} rows:\n{}", wrong.len(), wrong.join("\n"));
}
