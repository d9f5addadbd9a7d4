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

use fastrand::Rng;

use crate::isa::{Family, Row, table};

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
    /// Undefined: neg and abs, the output modifier, SDWA, op_sel.
    without: Without,
}

#[derive(Clone, Copy, Default)]
struct Without {
    signs: bool,
    omod: bool,
    sdwa: bool,
    op_sel: bool,
}

fn model(name: impl Into<String>, res: Res, f: impl Fn(&Ctx, [u64; 3]) -> Out + 'static) -> Model {
    Model { name: name.into(), res, f: Box::new(f), without: Without::default() }
}

/// Rows whose operands are not one value a lane; the tests beside this module run them.
const ELSEWHERE: [&str; 14] = [
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
];

/// Matrix products and small floats have tests of their own.
fn is_matrix(row: &Row) -> bool {
    ["v_mfma", "v_smfmac"].iter().any(|prefix| row.name.starts_with(prefix))
        || ["fp8", "bf8", "scalef32"].iter().any(|format| row.name.contains(format))
}

fn rows() -> impl Iterator<Item = &'static Row> {
    [Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3, Family::Vop3p].into_iter().flat_map(table::rows)
}

fn all() -> Vec<Model> {
    [
        float::models(),
        approx::models(),
        convert::models(),
        integer::models(),
        compare::models(),
        packed::models(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_row_has_a_model_or_a_test_of_its_own() {
    let models = all();
    for row in rows().filter(|row| !is_matrix(row) && !ELSEWHERE.contains(&row.name)) {
        let found = models.iter().filter(|model| model.name == row.name).count();
        assert_eq!(found, 1, "{} models of {}", found, row.name);
    }
    for model in &models {
        assert!(rows().any(|row| row.name == model.name), "{} is no row", model.name);
    }
}

/// Runs every model of `models` on its row, `AQLIPSE_VALU_SAMPLES` times as long as usual where that is set.
fn run(models: Vec<Model>, rounds: u32) {
    let samples = std::env::var("AQLIPSE_VALU_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let rounds = rounds * samples;
    let mut wrong = Vec::new();
    for model in models {
        for row in rows().filter(|row| row.name == model.name) {
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
fn packed_rows_match_their_models() {
    run(packed::models(), 64);
}
