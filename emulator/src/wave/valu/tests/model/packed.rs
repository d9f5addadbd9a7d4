//! Packed arithmetic, mixed precision, dot products.

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Half, Single},
};

use super::{
    Ctx, Model, Out, Res, Without,
    ieee::{Format, flush, out, result, three, two},
    model,
};

fn element(x: u64, n: u32, bits: u32, signed: bool) -> i128 {
    let x = i128::from(x >> (n * bits)) & ((1 << bits) - 1);
    if signed && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
}

/// Two integer formulas of halves.
fn halves(name: &str, signed: bool, f: fn([i128; 3]) -> i128) -> Model {
    model(name, Res::PackedB16, move |c, v| {
        let exact = f(v.map(|x| element(x, 0, 16, signed)));
        let (low, high) = if signed { (-0x8000, 0x7fff) } else { (0, 0xffff) };
        Out::bits((if c.clamp { exact.clamp(low, high) } else { exact } & 0xffff) as u128)
    })
}

fn shift(name: &str, f: fn(u64, i64) -> u64) -> Model {
    model(name, Res::PackedB16, move |_, [a, b, _]| Out::bits(f(a % 16, i64::from(b as i16)) & 0xffff))
}

fn dot(name: &str, count: u32, bits: u32, signed: bool, accumulates: bool) -> Model {
    model(name, Res::B32, move |c, [a, b, d]| {
        let addend = element(if accumulates { c.old as u64 } else { d }, 0, 32, signed);
        let products = (0..count).map(|n| element(a, n, bits, signed) * element(b, n, bits, signed));
        let exact = addend + products.sum::<i128>();
        let (low, high) = if signed { (-(1 << 31), (1 << 31) - 1) } else { (0, (1 << 32) - 1) };
        Out::bits((if c.clamp { exact.clamp(low, high) } else { exact } & 0xffff_ffff) as u128)
    })
}

fn widened(x: u64) -> Single {
    Half::of(x).convert(&mut false).value
}

/// The sum of two half products onto a single, each step to nearest, denormal singles flushed whatever MODE says.
fn dot_of_halves(a: u64, b: u64, addend: u64) -> Out {
    let round = Round::NearestTiesToEven;
    let product = |shift: u32| widened(a >> shift).mul_r(widened(b >> shift), round).value;
    let sum = flush(flush(Single::of(addend), true).add_r(product(0), round).value, true);
    out(flush(sum.add_r(product(16), round).value, true))
}

/// As [`dot_of_halves`] of the upper halves of singles, which are flushed, too; the single is added first or last.
fn dot_of_upper_halves(a: u64, b: u64, addend: u64, addend_last: bool) -> Out {
    let round = Round::NearestTiesToEven;
    let single = |x: u64| flush(Single::of(x << 16 & 0xffff_0000), true);
    let product = |shift: u32| flush(single(a >> shift).mul_r(single(b >> shift), round).value, true);
    let addend = flush(Single::of(addend), true);
    let [x, y, z] =
        if addend_last { [product(0), product(16), addend] } else { [addend, product(0), product(16)] };
    let sum = flush(x.add_r(y, round).value, true);
    out(flush(sum.add_r(z, round).value, true))
}

/// A source of the mixed multiply-add: a half where op_sel_hi says so, with the sign that neg and abs make.
fn mixed(c: &Ctx, n: u32, bits: u64) -> Single {
    let bit = |field: u32| field >> n & 1 != 0;
    let x = if bit(c.op_sel_hi) {
        let half = Half::source(&c.modes, if bit(c.op_sel) { bits >> 16 } else { bits });
        half.convert(&mut false).value
    } else {
        Single::of(bits)
    };
    let x = if bit(c.abs) { x.abs() } else { x };
    let x = if bit(c.neg) { -x } else { x };
    flush(x, Single::flushes_input(&c.modes))
}

fn mix(c: &Ctx, v: [u64; 3]) -> Single {
    let [x, y, z] = [0, 1, 2].map(|n| mixed(c, n as u32, v[n]));
    result(&c.modes, x.mul_add_r(y, z, Single::round(&c.modes)))
}

fn mix_half(c: &Ctx, v: [u64; 3]) -> Out {
    out(result::<Half>(&c.modes, mix(c, v).convert_r(Half::round(&c.modes), &mut false)))
}

/// As the scalar instruction of the model's name, on both halves or words.
fn like(name: &'static str, scalar: &'static str, res: Res) -> Model {
    let f = super::float::models().into_iter().find(|model| model.name == scalar);
    // PANIC: the names below are those of models.
    let f = f.unwrap_or_else(|| panic!("no model {scalar}")).f;
    model(name, res, f)
}

pub(super) fn models() -> Vec<Model> {
    let mut list = vec![
        halves("v_pk_mad_i16", true, |[a, b, c]| a * b + c),
        halves("v_pk_mad_u16", false, |[a, b, c]| a * b + c),
        halves("v_pk_mul_lo_u16", false, |[a, b, _]| a * b),
        halves("v_pk_add_i16", true, |[a, b, _]| a + b),
        halves("v_pk_add_u16", false, |[a, b, _]| a + b),
        halves("v_pk_sub_i16", true, |[a, b, _]| a - b),
        halves("v_pk_sub_u16", false, |[a, b, _]| a - b),
        halves("v_pk_max_i16", true, |[a, b, _]| a.max(b)),
        halves("v_pk_max_u16", false, |[a, b, _]| a.max(b)),
        halves("v_pk_min_i16", true, |[a, b, _]| a.min(b)),
        halves("v_pk_min_u16", false, |[a, b, _]| a.min(b)),
        shift("v_pk_lshlrev_b16", |n, x| (x << n) as u64),
        shift("v_pk_lshrrev_b16", |n, x| (x & 0xffff) as u64 >> n),
        shift("v_pk_ashrrev_i16", |n, x| (x >> n) as u64),
        like("v_pk_add_f16", "v_add_f16", Res::PackedF16),
        like("v_pk_mul_f16", "v_mul_f16", Res::PackedF16),
        like("v_pk_fma_f16", "v_fma_f16", Res::PackedF16),
        like("v_pk_min_f16", "v_min_f16", Res::PackedF16),
        like("v_pk_max_f16", "v_max_f16", Res::PackedF16),
        model("v_pk_minimum3_f16", Res::PackedF16, |c, v| super::float::extreme::<Half>(c, v, true)),
        model("v_pk_maximum3_f16", Res::PackedF16, |c, v| super::float::extreme::<Half>(c, v, false)),
        model("v_pk_add_f32", Res::PackedF32, |c, v| two::<Single>(c, v, |a, b, r| a.add_r(b, r))),
        model("v_pk_mul_f32", Res::PackedF32, |c, v| two::<Single>(c, v, |a, b, r| a.mul_r(b, r))),
        model("v_pk_fma_f32", Res::PackedF32, |c, v| {
            three::<Single>(c, v, |a, b, d, r| a.mul_add_r(b, d, r))
        }),
        // The low result is a word of source 0, the high one of source 1.
        model("v_pk_mov_b32", Res::B64, |c, [a, b, _]| {
            let word = |x: u64, n: u32| x >> (32 * (c.op_sel >> n & 1)) & 0xffff_ffff;
            Out::bits(word(a, 0) | word(b, 1) << 32)
        }),
        model("v_fma_mix_f32", Res::F32, |c, v| out(mix(c, v))),
        model("v_fma_mixlo_f16", Res::LowF16, mix_half),
        model("v_fma_mixhi_f16", Res::HighF16, mix_half),
        dot("v_dot2_i32_i16", 2, 16, true, false),
        dot("v_dot2_u32_u16", 2, 16, false, false),
        dot("v_dot4_i32_i8", 4, 8, true, false),
        dot("v_dot4_u32_u8", 4, 8, false, false),
        dot("v_dot8_i32_i4", 8, 4, true, false),
        dot("v_dot8_u32_u4", 8, 4, false, false),
        dot("v_dot2c_i32_i16", 2, 16, true, true),
        dot("v_dot4c_i32_i8", 4, 8, true, true),
        dot("v_dot8c_i32_i4", 8, 4, true, true),
        model("v_dot2_f32_bf16", Res::F32, |_, [a, b, d]| dot_of_upper_halves(a, b, d, true)),
        model("v_dot2_f32_f16", Res::F32, |_, [a, b, d]| dot_of_halves(a, b, d)),
    ];
    // No document says what signs and modifiers do to the short forms of packed operands.
    let short = [
        model("v_dot2c_f32_f16", Res::F32, |c, [a, b, _]| dot_of_halves(a, b, c.old as u64)),
        model("v_dot2c_f32_bf16", Res::F32, |c, [a, b, _]| dot_of_upper_halves(a, b, c.old as u64, false)),
        model("v_pk_fmac_f16", Res::PackedF16, |c, [a, b, _]| {
            three::<Half>(c, [a, b, c.old as u64], |a, b, d, r| a.mul_add_r(b, d, r))
        }),
    ];
    for model in short {
        let omod = model.res == Res::PackedF16;
        list.push(Model {
            without: Without { signs: true, omod, sdwa: true, op_sel: true, clamp: false },
            ..model
        });
    }
    list
}
