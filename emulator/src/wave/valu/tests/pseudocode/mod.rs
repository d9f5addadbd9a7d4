//! AMD's published pseudocode as an oracle: every instruction of the vector and the scalar ALU that it describes, on random
//! sources, on a device of each generation.
//!
//! The text is not ours and not in this repository. The Python package tinygrad carries it, made from AMD's manuals;
//! `cargo xtask valu-oracle` installs it under the build folder and names its folder in `AQLIPSE_PSEUDOCODE`.
//!
//! The default MODE only: the pseudocode knows neither rounding modes nor denormals.

mod eval;
mod number;
mod scalar;
mod syntax;
mod vector;

use std::{collections::BTreeMap, path::Path};

use fastrand::Rng;

use syntax::{Statement, Value};

use super::{DEFAULT_MODE, FAMILIES, Lab};
use crate::{
    isa::{Family, Row, Target, table},
    wave::Mode,
};

/// Targets, each with the folders of the manuals that describe its instructions, of which the first that has one counts. RDNA 3's
/// has the scalar floats of RDNA 3.5. There is no text for RDNA 2: an instruction of its name in the manual of a neighbour is
/// taken to be the same.
const MANUALS: [(Target, &[&str]); 7] = [
    (Target::Gfx90a, &["cdna"]),
    (Target::Gfx942, &["cdna"]),
    (Target::Gfx950, &["cdna"]),
    (Target::Gfx1030, &["rdna3", "cdna"]),
    (Target::Gfx1100, &["rdna3"]),
    (Target::Gfx1150, &["rdna3"]),
    (Target::Gfx1200, &["rdna4"]),
];

/// Instructions whose pseudocode is not to be taken at its word, by what is wrong or missing in it.
const OTHERWISE: [(&str, &[&str]); 12] = [
    (
        "approximations: no document defines the last place, denormal singles are flushed",
        &["v_exp_", "v_log_", "v_sin_", "v_cos_", "v_rcp_", "v_rsq_", "v_sqrt_"],
    ),
    ("the limit below 1", &["v_fract_"]),
    ("registers that a wave asks for while it runs, which none may", &["s_alloc_vgpr"]),
    (
        "a sum that must not round, the sign of zero",
        &["v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32", "_rndne_", "v_fma_dx9_zero_f32"],
    ),
    ("the addend, which is the third source of another encoding", &["v_fmac_dx9_zero_f32"]),
    ("the exponent of zero, which LLVM folds to 0", &["v_frexp_exp_"]),
    (
        "denormals that unfused multiply-adds and dot products flush",
        &["v_mac_f16", "v_mad_f16", "v_mad_legacy_f16", "v_dot2_f32_f16", "v_dot2c_f32_f16"],
    ),
    ("products that may or may not be rounded", &["v_dot2_f16_f16"]),
    ("the multiply-add of mixed precision is fused on these targets", &["v_fma_mix"]),
    ("the unscaled operand, the direction of scaling, quotients that overflow", &["v_div_"]),
    (
        "tables, rounding toward zero, quiet NaNs",
        &[
            "v_cvt_off_f32_i4",
            "v_trig_preop_f64",
            "cvt_pkrtz_f16_f32",
            "cvt_pk_rtz_f16_f32",
            "v_pack_b32_f16",
        ],
    ),
    (
        "operands that this test does not have: 128 bits, bytes, small and bf16 floats, other lanes, registers by number",
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
            "v_movrel",
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
        let of_alu = family.starts_with("VOP") || family.starts_with("SOP");
        if of_alu && (family == "VOP3SD" || !texts.contains_key(&name)) {
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

fn is_to_be_taken_at_its_word(row: &Row) -> bool {
    !OTHERWISE.iter().any(|(_, names)| names.iter().any(|name| row.name.contains(name)))
}

/// Runs a row on the emulator and its pseudocode once, on random operands; says where they differ.
type Compare = fn(&'static Row, &[Statement], &mut Lab, &mut Rng) -> Result<(), String>;

/// How a row is run, if this test can.
fn comparison(row: &'static Row) -> Option<Compare> {
    crate::wave::semantics(row)?;
    match row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc => {
            scalar::applies(row).then_some(scalar::compare)
        }
        family if FAMILIES.contains(&family) => vector::applies(row).then_some(vector::compare),
        _ => None,
    }
}

#[test]
fn rows_do_what_their_pseudocode_says() {
    let Some(folder) = std::env::var_os("AQLIPSE_PSEUDOCODE") else {
        eprintln!("skipped: AQLIPSE_PSEUDOCODE names no folder");
        return;
    };
    let mut wrong = Vec::new();
    for (target, manuals) in MANUALS {
        let mut texts_of_target = BTreeMap::new();
        for manual in manuals.iter().rev() {
            let path = Path::new(&folder).join(manual).join("str_pcode.py");
            texts_of_target.extend(texts(&std::fs::read_to_string(path).unwrap()));
        }
        let mut described = 0;
        let rows = table::of(target).iter().flat_map(|(_, rows)| rows.iter());
        for row in rows.filter(|row| row.targets.has(target) && is_to_be_taken_at_its_word(row)) {
            let (Some(text), Some(compare)) = (texts_of_target.get(row.name), comparison(row)) else {
                continue;
            };
            described += 1;
            let result = syntax::parse(text).and_then(|code| {
                let seed = u64::from(row.opcode_on(target)) + 1000 * row.family as u64;
                let mut random = Rng::with_seed(seed);
                let mut lab = Lab::on(target);
                for mode in [DEFAULT_MODE, DEFAULT_MODE & !0x200] {
                    lab.wave.mode = Mode::of(target, mode);
                    (0..8).try_for_each(|_| compare(row, &code, &mut lab, &mut random))?;
                }
                Ok(())
            });
            wrong.extend(result.err().map(|error| format!("{target:?} {} {error}", row.name)));
        }
        assert!(described > 300, "only {described} rows of {target:?} are described");
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}
