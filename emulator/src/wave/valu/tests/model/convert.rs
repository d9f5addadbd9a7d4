//! Conversions between number formats.

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{BFloat, Double, Half, Single},
};

use super::{
    Ctx, Model, Out, Res,
    ieee::{Format, out, result, rounding},
    model,
};

/// To an integer between the bounds; NaN gives 0.
fn integer<F: Format>(c: &Ctx, bits: u64, round: Round, low: i128, high: i128) -> i128 {
    let x = F::source(&c.modes, bits);
    if x.is_nan() {
        return 0;
    }
    if x.is_infinite() {
        return if x.is_negative() { low } else { high };
    }
    // 100 bits hold what is near the bounds; larger magnitudes saturate there already.
    let value = x.to_i128_r(100, round, &mut false).value;
    value.clamp(low, high)
}

const I32: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);
const U32: (i128, i128) = (0, u32::MAX as i128);

fn to_integer<F: Format>(name: &str, res: Res, round: Round, (low, high): (i128, i128)) -> Model {
    let all = if res == Res::B16 { 0xffff } else { 0xffff_ffff };
    model(name, res, move |c, v| Out::bits(integer::<F>(c, v[0], round, low, high) as u128 & all))
}

fn from_integer<F: Format>(name: &str, res: Res, value: fn(u64) -> i128) -> Model {
    model(name, res, move |c, v| out(result(&c.modes, F::from_i128_r(value(v[0]), F::round(&c.modes)))))
}

fn convert<F: Format + FloatConvert<G>, G: Format>(name: &str, res: Res) -> Model {
    model(name, res, |c, v| {
        let x = F::source(&c.modes, v[0]);
        out(result::<G>(&c.modes, x.convert_r(G::round(&c.modes), &mut false)))
    })
}

/// A fraction of 1 in 16 bits: signed of 32767 parts, unsigned of 65535, to nearest even.
fn norm<F: Format>(bits: u64, signed: bool) -> u64 {
    let x = F::of(bits);
    if x.is_nan() {
        return 0;
    }
    let parts = if signed { 32767 } else { 65535 };
    let low = if signed { -parts } else { 0 };
    if x.is_infinite() {
        return (if x.is_negative() { low } else { parts }) as u64 & 0xffff;
    }
    let wide: rustc_apfloat::ieee::Quad = x.convert(&mut false).value;
    let scaled =
        wide.mul_r(rustc_apfloat::ieee::Quad::from_i128(parts).value, Round::NearestTiesToEven).value;
    let value = scaled.to_i128_r(100, Round::NearestTiesToEven, &mut false).value;
    value.clamp(low, parts) as u64 & 0xffff
}

fn pair(f: impl Fn(&Ctx, u64) -> u64 + 'static) -> impl Fn(&Ctx, [u64; 3]) -> Out {
    move |c, [a, b, _]| Out::bits(f(c, a) | f(c, b) << 16)
}

/// A single in 16 bits, to nearest even whatever MODE says.
fn nearest<F: Float>(c: &Ctx, x: u64, flushes: bool) -> u64
where
    Single: FloatConvert<F>,
{
    let x = Single::source(&c.modes, x);
    let rounded = x.convert_r(Round::NearestTiesToEven, &mut false);
    let is_half = F::PRECISION == Half::PRECISION;
    if rounded.value.is_nan() {
        // The sign and the top of the payload stay, the NaN is quiet.
        let (bits, fraction) = (x.to_bits() as u64, F::PRECISION - 1);
        let payload = bits >> (23 - fraction) & ((1 << fraction) - 1) | 1 << (fraction - 1);
        return bits >> 16 & 0x8000 | (F::INFINITY.to_bits() as u64) | payload;
    }
    if is_half && c.modes.fp16_overflow && rounded.value.is_infinite() && !x.is_infinite() {
        return F::largest().copy_sign(rounded.value).to_bits() as u64;
    }
    super::ieee::flush(rounded.value, flushes).to_bits() as u64
}

/// The byte of a single, rounded as MODE says, put where the second source points.
fn byte(c: &Ctx, x: u64, select: u64, old: u64) -> Out {
    let byte = integer::<Single>(c, x, rounding(c.modes.round[0]), 0, 255) as u64;
    let shift = select % 4 * 8;
    Out::bits(old & 0xffff_ffff & !(0xff << shift) | byte << shift)
}

pub(super) fn models() -> Vec<Model> {
    use Round::{TowardNegative, TowardZero};
    let mut list = vec![
        to_integer::<Single>("v_cvt_i32_f32", Res::B32, TowardZero, I32),
        to_integer::<Single>("v_cvt_u32_f32", Res::B32, TowardZero, U32),
        to_integer::<Double>("v_cvt_i32_f64", Res::B32, TowardZero, I32),
        to_integer::<Double>("v_cvt_u32_f64", Res::B32, TowardZero, U32),
        to_integer::<Half>("v_cvt_i16_f16", Res::B16, TowardZero, (i16::MIN.into(), i16::MAX.into())),
        to_integer::<Half>("v_cvt_u16_f16", Res::B16, TowardZero, (0, u16::MAX.into())),
        to_integer::<Single>("v_cvt_flr_i32_f32", Res::B32, TowardNegative, I32),
        // Ties go up: to nearest with ties away, but for the negative ones.
        model("v_cvt_rpi_i32_f32", Res::B32, |c, v| {
            let double = Single::source(&c.modes, v[0]).scalbn(1).to_bits() as u64;
            let twice = if Single::of(v[0]).is_finite() {
                integer::<Single>(c, double, TowardNegative, i128::MIN >> 1, i128::MAX >> 1)
            } else {
                integer::<Single>(c, v[0], TowardNegative, I32.0 * 4, I32.1 * 4)
            };
            Out::bits(((twice + 1) >> 1).clamp(I32.0, I32.1) as u32)
        }),
        from_integer::<Single>("v_cvt_f32_i32", Res::F32, |x| (x as i32).into()),
        from_integer::<Single>("v_cvt_f32_u32", Res::F32, |x| (x as u32).into()),
        from_integer::<Double>("v_cvt_f64_i32", Res::F64, |x| (x as i32).into()),
        from_integer::<Double>("v_cvt_f64_u32", Res::F64, |x| (x as u32).into()),
        from_integer::<Half>("v_cvt_f16_i16", Res::F16, |x| (x as i16).into()),
        from_integer::<Half>("v_cvt_f16_u16", Res::F16, |x| (x as u16).into()),
        from_integer::<Single>("v_cvt_f32_ubyte0", Res::F32, |x| (x as u8).into()),
        from_integer::<Single>("v_cvt_f32_ubyte1", Res::F32, |x| ((x >> 8) as u8).into()),
        from_integer::<Single>("v_cvt_f32_ubyte2", Res::F32, |x| ((x >> 16) as u8).into()),
        from_integer::<Single>("v_cvt_f32_ubyte3", Res::F32, |x| ((x >> 24) as u8).into()),
        convert::<Single, Half>("v_cvt_f16_f32", Res::F16),
        convert::<Half, Single>("v_cvt_f32_f16", Res::F32),
        convert::<Double, Single>("v_cvt_f32_f64", Res::F32),
        convert::<Single, Double>("v_cvt_f64_f32", Res::F64),
        // Four bits, signed, in sixteenths of 1.
        model("v_cvt_off_f32_i4", Res::F32, |_, v| {
            let steps = (v[0] & 15) as i128;
            let x = Single::from_i128(if steps >= 8 { steps - 16 } else { steps }).value;
            out(x.scalbn(-4))
        }),
        model("v_cvt_pk_u8_f32", Res::B32, |c, [x, select, old]| byte(c, x, select, old)),
        model("v_cvt_pkaccum_u8_f32", Res::B32, |c, [x, select, _]| byte(c, x, select, c.old as u64)),
        model("v_cvt_norm_i16_f16", Res::B16, |_, v| Out::bits(norm::<Half>(v[0], true))),
        model("v_cvt_norm_u16_f16", Res::B16, |_, v| Out::bits(norm::<Half>(v[0], false))),
        model("v_cvt_pknorm_i16_f32", Res::B32, pair(|_, x| norm::<Single>(x, true))),
        model("v_cvt_pknorm_u16_f32", Res::B32, pair(|_, x| norm::<Single>(x, false))),
        model("v_cvt_pknorm_i16_f16", Res::B32, pair(|_, x| norm::<Half>(x, true))),
        model("v_cvt_pknorm_u16_f16", Res::B32, pair(|_, x| norm::<Half>(x, false))),
        model("v_cvt_pk_u16_u32", Res::B32, pair(|_, x| u64::from(x as u32).min(0xffff))),
        model("v_cvt_pk_i16_i32", Res::B32, pair(|_, x| (x as i32).clamp(-32768, 32767) as u64 & 0xffff)),
        // The bits stay what they are.
        model("v_cvt_f32_bf16", Res::F32, |_, v| Out::bits(v[0] << 16)),
        model(
            "v_cvt_pk_f16_f32",
            Res::B32,
            pair(|c, x| nearest::<Half>(c, x, Half::flushes_output(&c.modes))),
        ),
        model(
            "v_cvt_pk_bf16_f32",
            Res::B32,
            pair(|c, x| nearest::<BFloat>(c, x, Single::flushes_output(&c.modes))),
        ),
        // Neither overflow nor the packed result heeds a modifier.
        model(
            "v_cvt_pkrtz_f16_f32",
            Res::B32,
            pair(|c, x| {
                let x = Single::source(&c.modes, x);
                let half: Half = x.convert_r(TowardZero, &mut false).value;
                let flushed = super::ieee::flush(half, Half::flushes_output(&c.modes));
                if x.is_nan() {
                    // The sign and the top of the payload stay, the NaN is quiet.
                    let bits = x.to_bits() as u64;
                    return bits >> 16 & 0x8000 | 0x7e00 | bits >> 13 & 0x3ff;
                }
                flushed.to_bits() as u64
            }),
        ),
        model("v_sat_pk_u8_i16", Res::B16, |_, v| {
            let byte = |x: u64| u64::from((x as i16).clamp(0, 255) as u16);
            Out::bits(byte(v[0]) | byte(v[0] >> 16) << 8)
        }),
        model(
            "v_pack_b32_f16",
            Res::B32,
            pair(|c, x| {
                let half = Half::source(&c.modes, x);
                let quiet = if half.is_nan() { 0x200 } else { 0 };
                half.to_bits() as u64 | quiet
            }),
        ),
    ];
    for model in &mut list {
        // A packed result takes no output modifier.
        model.without.omod = model.res == Res::B32 || model.res == Res::B16;
    }
    list
}
