//! What every row of the vector ALU computes, one line an instruction, written from AMD's manuals over LLVM's soft
//! floats and 128-bit integers; [`lanes`] runs the rows in every encoding of [`form`], with every modifier and MODE.

mod approx;
mod compare;
mod convert;
mod float;
mod form;
mod ieee;
mod integer;
mod lanes;
mod packed;
mod rdna;

use fastrand::Rng;

use super::FAMILIES;
use crate::isa::{Row, Target, table};

/// The fields of MODE that the vector ALU reads (MI200 ISA, 3.4).
#[derive(Clone, Copy, Debug)]
struct Modes {
    /// Of f32, then of f16 and f64.
    round: [u32; 2],
    denormals: [u32; 2],
    ieee: bool,
    dx10: bool,
    fp16_overflow: bool,
}

impl Modes {
    fn random(random: &mut Rng) -> Self {
        let mut field = || random.u32(..4);
        let (round, denormals) = ([field(), field()], [field(), field()]);
        let flags = random.u64(..);
        Self { round, denormals, ieee: flags & 1 != 0, dx10: flags & 2 != 0, fp16_overflow: flags & 12 == 12 }
    }

    fn bits(self) -> u32 {
        self.round[0]
            | self.round[1] << 2
            | self.denormals[0] << 4
            | self.denormals[1] << 6
            | u32::from(self.dx10) << 8
            | u32::from(self.ieee) << 9
            | u32::from(self.fp16_overflow) << 23
    }
}

/// What a model sees beside its sources.
struct Ctx {
    modes: Modes,
    lane: u32,
    /// Integer results saturate.
    clamp: bool,
    /// The lane's bit of the mask that the encoding names as carry or condition.
    carry: bool,
    /// The lane's bit of VCC.
    vcc: bool,
    /// The destination before; of a packed operation, the half that is computed.
    old: u128,
    literal: u32,
    op_sel: u32,
    op_sel_hi: u32,
    neg: u32,
    abs: u32,
    omod: u32,
}

/// What a model expects.
#[derive(Clone, Copy, Debug)]
enum Want {
    Bits(u128),
    /// Any quiet NaN of the result's format.
    Nan,
    /// These bits, or ones that differ by at most this many units in the last place.
    Near(u128, u64),
    /// No document says.
    Anything,
}

#[derive(Clone, Copy, Debug)]
struct Out {
    value: Want,
    /// The lane's bit of the scalar result.
    bit: bool,
}

impl Out {
    const ANYTHING: Self = Self { value: Want::Anything, bit: false };

    fn bits(value: impl Into<u128>) -> Self {
        Self { value: Want::Bits(value.into()), bit: false }
    }

    fn bit(bit: bool) -> Self {
        Self { value: Want::Anything, bit }
    }

    fn with(self, bit: bool) -> Self {
        Self { bit, ..self }
    }
}

/// Format of a result: what modifiers do to it, and how much of the destination it fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Res {
    B16,
    B32,
    B64,
    B128,
    F16,
    F32,
    F64,
    /// Two halves, each from one run of the model.
    PackedB16,
    PackedF16,
    /// Two words, each from one run of the model.
    PackedF32,
    /// A half of the destination, the other one stays: the low, the high one.
    LowF16,
    HighF16,
    /// A bit per lane into a scalar pair.
    Mask,
}

type Function = Box<dyn Fn(&Ctx, [u64; 3]) -> Out>;

struct Model {
    name: String,
    res: Res,
    f: Function,
    /// Undefined: neg and abs, the output modifier, SDWA, op_sel, saturation.
    without: Without,
}

#[derive(Clone, Copy, Default)]
struct Without {
    signs: bool,
    omod: bool,
    sdwa: bool,
    op_sel: bool,
    clamp: bool,
}

fn model(name: impl Into<String>, res: Res, f: impl Fn(&Ctx, [u64; 3]) -> Out + 'static) -> Model {
    Model { name: name.into(), res, f: Box::new(f), without: Without::default() }
}

/// Rows whose operands are not one value a lane; the tests beside this module run them.
const ELSEWHERE: [&str; 30] = [
    "v_nop",
    "v_clrexcp",
    "v_readfirstlane_b32",
    "v_readlane_b32",
    "v_writelane_b32",
    "v_swap_b32",
    "v_permlane16_swap_b32",
    "v_permlane32_swap_b32",
    "v_cvt_sr_f16_f32",
    "v_cvt_sr_bf16_f32",
    "v_accvgpr_mov_b32",
    "v_accvgpr_read_b32",
    "v_accvgpr_write_b32",
    "v_trig_preop_f64",
    // Of RDNA.
    "v_pipeflush",
    "v_movreld_b32",
    "v_movrels_b32",
    "v_movrelsd_b32",
    "v_movrelsd_2_b32",
    "v_swaprel_b32",
    "v_swap_b16",
    "v_permlane16_b32",
    "v_permlanex16_b32",
    "v_permlane16_var_b32",
    "v_permlanex16_var_b32",
    "v_permlane64_b32",
    "v_dot4_i32_iu8",
    "v_dot8_i32_iu4",
    "v_dot2_f16_f16",
    "v_dot2_bf16_bf16",
];

/// Rows of RDNA that GFX9 has under another name; [`gfx9_name`] has the rules beside.
const RENAMED: [(&str, &str); 22] = [
    ("v_add_nc_u32", "v_add_u32"),
    ("v_sub_nc_u32", "v_sub_u32"),
    ("v_subrev_nc_u32", "v_subrev_u32"),
    ("v_add_nc_i32", "v_add_i32"),
    ("v_sub_nc_i32", "v_sub_i32"),
    ("v_add_nc_u16", "v_add_u16"),
    ("v_sub_nc_u16", "v_sub_u16"),
    ("v_add_nc_i16", "v_add_i16"),
    ("v_sub_nc_i16", "v_sub_i16"),
    ("v_add_co_ci_u32", "v_addc_co_u32"),
    ("v_sub_co_ci_u32", "v_subb_co_u32"),
    ("v_subrev_co_ci_u32", "v_subbrev_co_u32"),
    ("v_mad_co_u64_u32", "v_mad_u64_u32"),
    ("v_mad_co_i64_i32", "v_mad_i64_i32"),
    ("v_mul_dx9_zero_f32", "v_mul_legacy_f32"),
    ("v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"),
    ("v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"),
    ("v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"),
    ("v_clz_i32_u32", "v_ffbh_u32"),
    ("v_ctz_i32_b32", "v_ffbl_b32"),
    ("v_cls_i32", "v_ffbh_i32"),
    ("v_dot2acc_f32_f16", "v_dot2c_f32_f16"),
];

/// What GFX9 calls an instruction of RDNA.
fn gfx9_name(name: &str) -> String {
    match RENAMED.iter().find(|(rdna, _)| *rdna == name) {
        Some((_, gfx9)) => (*gfx9).into(),
        None if name.contains("_t_f") => name.replace("_t_f", "_tru_f"),
        None => name.replace("_num_", "_").replace("_pk_norm_", "_pknorm_"),
    }
}

/// Matrix products, small floats and results in scalar registers have tests of their own.
fn is_special(row: &Row) -> bool {
    ["v_mfma", "v_smfmac", "v_wmma", "v_swmmac", "v_s_"].iter().any(|prefix| row.name.starts_with(prefix))
        || ["fp8", "bf8", "scalef32"].iter().any(|format| row.name.contains(format))
}

/// All rows of GFX9 and of RDNA.
fn rows() -> impl Iterator<Item = &'static Row> {
    let tables = [Target::Gfx90a, Target::Gfx1030].into_iter().flat_map(table::of);
    tables.filter(|(family, _)| FAMILIES.contains(family)).flat_map(|(_, rows)| rows.iter())
}

impl Model {
    fn describes(&self, row: &Row) -> bool {
        self.name == row.name || row.is_rdna() && self.name == gfx9_name(row.name)
    }
}

fn all() -> Vec<Model> {
    [
        float::models(),
        approx::models(),
        convert::models(),
        integer::models(),
        compare::models(),
        packed::models(),
        rdna::models(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_row_has_a_model_or_a_test_of_its_own() {
    let models = all();
    for row in rows().filter(|row| !is_special(row) && !ELSEWHERE.contains(&row.name)) {
        let found = models.iter().filter(|model| model.describes(row)).count();
        assert_eq!(found, 1, "{} models of {}", found, row.name);
    }
    for model in &models {
        assert!(rows().any(|row| model.describes(row)), "{} is no row", model.name);
    }
}

/// Runs every model of `models` on its row, `AQLIPSE_VALU_SAMPLES` times as long as usual where that is set.
fn run(models: Vec<Model>, rounds: u32) {
    let samples = std::env::var("AQLIPSE_VALU_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let rounds = rounds * samples;
    let mut wrong = Vec::new();
    for model in models {
        for row in rows().filter(|row| model.describes(row)) {
            if let Err(text) = lanes::check(row, &model, rounds) {
                wrong.push(text);
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn floating_point_rows_match_their_models() {
    run(float::models(), 96);
}

#[test]
fn approximate_rows_stay_within_a_unit_of_the_last_place() {
    run(approx::models(), 64);
}

#[test]
fn conversion_rows_match_their_models() {
    run(convert::models(), 96);
}

#[test]
fn integer_rows_match_their_models() {
    run(integer::models(), 48);
}

#[test]
fn comparison_rows_match_their_models() {
    run(compare::models(), 16);
}

#[test]
fn rows_that_came_with_rdna_match_their_models() {
    run(rdna::models(), 96);
}

#[test]
fn packed_rows_match_their_models() {
    run(packed::models(), 64);
}
