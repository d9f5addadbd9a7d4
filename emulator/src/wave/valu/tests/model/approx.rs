//! Reciprocals, roots, exponentials, logarithms, sines: within a unit of the last place of the exact value.

use std::f64::consts::PI;

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Double, Half, Quad, Single},
};

use super::{
    Ctx, Model, Out, Res, Want,
    ieee::{Format, flush, out},
    model,
};

/// Rounds `x`, which is good to far more places than the format has.
fn near<F: Format>(c: &Ctx, x: f64, flushes: bool, source_infinite: bool) -> Out {
    let wide: Quad = Double::from_bits(x.to_bits().into()).convert(&mut false).value;
    let nearest = F::narrow(wide, Round::NearestTiesToEven).value;
    let overflowed = nearest.is_infinite() && x.is_finite() && !source_infinite;
    let rounded = if overflowed && F::IS_HALF && c.modes.fp16_overflow {
        F::largest().copy_sign(nearest)
    } else {
        flush(nearest, flushes)
    };
    match out(rounded) {
        Out { value: Want::Bits(bits), bit } if rounded.is_finite_non_zero() => {
            Out { value: Want::Near(bits, 1), bit }
        }
        exact => exact,
    }
}

fn wide<F: Format>(x: F) -> f64 {
    let wide: Quad = x.convert(&mut false).value;
    f64::from_bits(Double::narrow(wide, Round::NearestTiesToEven).value.to_bits() as u64)
}

/// sin(2 pi x) or the cosine; whole turns and the nearest quarter leave exactly.
fn turns(x: f64, cosine: bool) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    if x == 0.0 && !cosine {
        return x;
    }
    let turn = x - x.round_ties_even();
    let quarters = (4.0 * turn).round_ties_even();
    let (sin, cos) = (2.0 * PI * (turn - quarters / 4.0)).sin_cos();
    match (quarters as i32 + i32::from(cosine)).rem_euclid(4) {
        0 => sin,
        1 => cos,
        2 => 0.0 - sin,
        _ => -cos,
    }
}

/// Finite for all arguments, which tells overflow from infinity.
fn exp2(x: f64) -> f64 {
    x.clamp(-1000.0, 1000.0).exp2()
}

fn root(x: f64) -> f64 {
    1.0 / x.sqrt()
}

fn log2(x: f64) -> f64 {
    x.log2()
}

type Function = fn(f64) -> f64;

const FUNCTIONS: [(&str, Function); 7] = [
    ("v_rcp", |x| 1.0 / x),
    ("v_rsq", root),
    ("v_sqrt", f64::sqrt),
    ("v_exp", exp2),
    ("v_log", log2),
    ("v_sin", |x| turns(x, false)),
    ("v_cos", |x| turns(x, true)),
];

/// Singles flush denormals whatever MODE says.
fn single(name: &str, f: Function) -> Model {
    model(name, Res::F32, move |c, v| {
        let x = flush(Single::of(v[0]), true);
        near::<Single>(c, f(wide(x)), true, x.is_infinite())
    })
}

pub(super) fn models() -> Vec<Model> {
    let mut list = Vec::new();
    for (name, f) in FUNCTIONS {
        list.push(single(&format!("{name}_f32"), f));
        list.push(model(format!("{name}_f16"), Res::F16, move |c, v| {
            let x = Half::source(&c.modes, v[0]);
            near::<Half>(c, f(wide(x)), Half::flushes_output(&c.modes), x.is_infinite())
        }));
    }
    list.push(single("v_rcp_iflag_f32", |x| 1.0 / x));
    list.push(single("v_exp_legacy_f32", exp2));
    list.push(single("v_log_legacy_f32", log2));
    for (name, f) in &FUNCTIONS[..3] {
        let f = *f;
        list.push(model(format!("{name}_f64"), Res::F64, move |c, v| {
            let x = Double::source(&c.modes, v[0]);
            near::<Double>(c, f(wide(x)), Double::flushes_output(&c.modes), x.is_infinite())
        }));
    }
    list
}
