//! What came with RDNA (RDNA 3 ISA and RDNA 4 ISA, 16).

use rustc_apfloat::{
    Float, Round,
    ieee::{Double, Half, Single},
};

use super::{
    Ctx, Model, Out, Res, Want,
    float::{extreme, onto, pick, selected},
    ieee::{Format, flush, out, three, two},
    integer::formula,
    model,
};

/// The least or greatest of two; any NaN makes the result one.
fn either<F: Format>(c: &Ctx, [a, b, _]: [u64; 3], minimum: bool) -> Out {
    extreme::<F>(c, [a, b, b], minimum)
}

/// One of [`either`] after the other.
fn both<F: Format>(c: &Ctx, v: [u64; 3], minimum: bool) -> Out {
    match either::<F>(c, v, minimum).value {
        Want::Bits(first) => either::<F>(c, [first as u64, v[2], 0], !minimum),
        value => Out { value, bit: false },
    }
}

fn of_floats<F: Format>(res: Res) -> Vec<Model> {
    let name = |stem: &str| format!("v_{stem}_f{}", F::WIDTH);
    vec![
        model(name("minimum"), res, |c, v| either::<F>(c, v, true)),
        model(name("maximum"), res, |c, v| either::<F>(c, v, false)),
        model(name("minimummaximum"), res, |c, v| both::<F>(c, v, true)),
        model(name("maximumminimum"), res, |c, v| both::<F>(c, v, false)),
        model(name("minmax"), res, |c, v| {
            selected::<F>(c, v, |[x, y, z]| pick(c, pick(c, x, y, true), z, false))
        }),
        model(name("maxmin"), res, |c, v| {
            selected::<F>(c, v, |[x, y, z]| pick(c, pick(c, x, y, false), z, true))
        }),
    ]
}

/// Zero times anything is +0.
fn fma_dx9(c: &Ctx, v: [u64; 3]) -> Out {
    three::<Single>(c, v, |a, b, d, r| {
        if a.is_zero() || b.is_zero() { Single::ZERO.add_r(d, r) } else { a.mul_add_r(b, d, r) }
    })
}

fn fma_half(c: &Ctx, v: [u64; 3]) -> Out {
    three::<Half>(c, v, |a, b, d, r| a.mul_add_r(b, d, r))
}

/// To 16 bits, towards zero; NaN gives 0.
fn to_short(c: &Ctx, bits: u64, low: i128, high: i128) -> u64 {
    let x = Single::source(&c.modes, bits);
    let value = match x.is_nan() {
        true => 0,
        false if x.is_infinite() => {
            if x.is_negative() {
                low
            } else {
                high
            }
        }
        false => x.to_i128_r(100, Round::TowardZero, &mut false).value.clamp(low, high),
    };
    value as u64 & 0xffff
}

pub(super) fn models() -> Vec<Model> {
    let mut list = vec![
        formula("v_xor3_b32", false, [32; 3], 32, |[a, b, c]| a ^ b ^ c),
        formula("v_minmax_u32", false, [32; 3], 32, |[a, b, c]| a.min(b).max(c)),
        formula("v_maxmin_u32", false, [32; 3], 32, |[a, b, c]| a.max(b).min(c)),
        formula("v_minmax_i32", true, [32; 3], 32, |[a, b, c]| a.min(b).max(c)),
        formula("v_maxmin_i32", true, [32; 3], 32, |[a, b, c]| a.max(b).min(c)),
        formula("v_mov_b16", false, [16, 0, 0], 16, |[a, ..]| a),
        formula("v_not_b16", false, [16, 0, 0], 16, |[a, ..]| !a),
        formula("v_and_b16", false, [16, 16, 0], 16, |[a, b, _]| a & b),
        formula("v_or_b16", false, [16, 16, 0], 16, |[a, b, _]| a | b),
        formula("v_xor_b16", false, [16, 16, 0], 16, |[a, b, _]| a ^ b),
        formula("v_cvt_i32_i16", true, [16, 0, 0], 32, |[a, ..]| a),
        formula("v_cvt_u32_u16", false, [16, 0, 0], 32, |[a, ..]| a),
        model("v_cndmask_b16", Res::B16, |c, [a, b, _]| Out::bits((if c.carry { b } else { a }) as u16)),
        model("v_cvt_pk_i16_f32", Res::B32, |c, [a, b, _]| {
            let [a, b] = [a, b].map(|x| to_short(c, x, -0x8000, 0x7fff));
            Out::bits(a | b << 16)
        }),
        model("v_cvt_pk_u16_f32", Res::B32, |c, [a, b, _]| {
            let [a, b] = [a, b].map(|x| to_short(c, x, 0, 0xffff));
            Out::bits(a | b << 16)
        }),
        model("v_fma_dx9_zero_f32", Res::F32, fma_dx9),
        model("v_fma_legacy_f32", Res::F32, fma_dx9),
        model("v_fmac_dx9_zero_f32", Res::F32, |c, v| fma_dx9(c, onto(c, v))),
        model("v_fmac_legacy_f32", Res::F32, |c, v| fma_dx9(c, onto(c, v))),
        // Onto the half that is written.
        model("v_fmac_f16", Res::F16, |c, [a, b, _]| {
            fma_half(c, [a, b, c.old as u64 >> (2 * (c.op_sel & 8))])
        }),
        model("v_fmamk_f16", Res::F16, |c, [a, b, _]| fma_half(c, [a, c.literal.into(), b])),
        model("v_fmaak_f16", Res::F16, |c, [a, b, _]| fma_half(c, [a, b, c.literal.into()])),
        model("v_minimum3_f16", Res::F16, |c, v| extreme::<Half>(c, v, true)),
        model("v_maximum3_f16", Res::F16, |c, v| extreme::<Half>(c, v, false)),
        model("v_pk_minimum_f16", Res::PackedF16, |c, v| either::<Half>(c, v, true)),
        model("v_pk_maximum_f16", Res::PackedF16, |c, v| either::<Half>(c, v, false)),
        // Nothing is lit where the exponent is not a number above all that there are, or there is no light.
        model("v_mullit_f32", Res::F32, |c, v| {
            let [_, b, light] = v.map(|x| Single::source(&c.modes, x));
            let least = -Single::largest();
            if b.is_nan() || light.is_nan() || b <= least || light <= Single::ZERO {
                return out(flush(least, Single::flushes_output(&c.modes)));
            }
            two::<Single>(c, v, |a, b, r| a.mul_r(b, r))
        }),
    ];
    list.extend(of_floats::<Half>(Res::F16));
    list.extend(of_floats::<Single>(Res::F32));
    // Of doubles there are only these two.
    list.extend(of_floats::<Double>(Res::F64).into_iter().take(2));
    for model in &mut list {
        model.without.omod = matches!(model.res, Res::B16 | Res::B32);
    }
    list
}
