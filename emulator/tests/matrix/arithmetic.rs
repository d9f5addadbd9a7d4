//! Rounding, denormals, overflow, infinities and NaNs of every instruction on floats, bit for bit.

use fastrand::Rng;

use super::{Case, Element, Fields, Machine, Matrices, layout, model};

/// Kinds of input: what exponents there are, and whether there are infinities and NaNs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Flavour {
    /// Exponents that differ little, so that every product counts.
    Close,
    /// As above, and exact cancellation is common.
    Cancelling,
    /// Any finite number.
    Wide,
    /// The smallest numbers.
    Tiny,
    /// The largest numbers.
    Huge,
    /// Few numbers among zeros of both signs.
    Zeros,
    /// Close, with infinities, NaNs and huge numbers here and there.
    Special,
}

pub const FLAVOURS: [Flavour; 7] = [
    Flavour::Close,
    Flavour::Cancelling,
    Flavour::Wide,
    Flavour::Tiny,
    Flavour::Huge,
    Flavour::Zeros,
    Flavour::Special,
];

fn finite(element: Element, bits: u64) -> bool {
    let (exponent, fraction, _) = element.format();
    match element {
        Element::Fp8Fnuz | Element::Bf8Fnuz => bits != 0x80,
        Element::Fp8 => bits & 0x7f != 0x7f,
        Element::Fp6 | Element::Bf6 | Element::Fp4 => true,
        _ => bits >> fraction & ((1 << exponent) - 1) != (1 << exponent) - 1,
    }
}

pub fn pattern(element: Element, flavour: Flavour, random: &mut Rng) -> u64 {
    let (exponent_bits, fraction, bias) = element.format();
    let (top, bits) = ((1u64 << exponent_bits) - 1, element.bits());
    let mantissa = random.u64(..) & ((1 << fraction) - 1);
    let sign = (random.u64(..) & 1) << (bits - 1);
    let draw = random.u64(..);
    let one = bias as u64;
    let number = |field: u64| sign | field.min(top) << fraction | mantissa;
    let result = match flavour {
        Flavour::Close => number((one + draw % 5).saturating_sub(2)),
        Flavour::Cancelling => {
            sign | (one - 1 + draw % 3) << fraction | mantissa >> (fraction / 2) << (fraction / 2)
        }
        Flavour::Wide => number(draw % (top + 1)),
        Flavour::Tiny => number(draw % 3 * (draw >> 8 & 1)),
        Flavour::Huge => number(top - 1 - draw % 2),
        Flavour::Zeros if !draw.is_multiple_of(4) => sign,
        Flavour::Zeros => number((one + (draw >> 8) % 8).saturating_sub(4)),
        Flavour::Special => match draw % 48 {
            0 => sign | top << fraction,
            1 => sign | top << fraction | mantissa | 1 << (fraction - 1),
            2 | 3 => number(top - 1),
            4 => sign,
            _ => number((one + (draw >> 8) % 5).saturating_sub(2)),
        },
    };
    let negative_zero = element.is_fnuz() && result == 0x80;
    match flavour {
        Flavour::Special => result,
        _ if negative_zero => 0,
        _ if finite(element, result) => result,
        _ => sign | one << fraction | mantissa,
    }
}

fn matrices(case: &Case, flavours: [Flavour; 3], random: &mut Rng) -> Matrices {
    let accumulator = if case.is_double() { Element::F64 } else { Element::F32 };
    let elements = [case.a, case.b, accumulator];
    Matrices::new(case, |which| pattern(elements[which], flavours[which], random))
}

/// Runs an instruction and compares all of D with the model.
fn check(case: &Case, flavours: [Flavour; 3], mode: u32, random: &mut Rng) {
    let fields = Fields { a: 2, b: 270, c: 60, d: 60, ..Fields::default() };
    let matrices = matrices(case, flavours, random);
    let mut machine = Machine::new(case.target, random);
    machine.wave.mode.0 = mode;
    layout::place(&mut machine, case, fields, &matrices);
    machine.run(case, fields).unwrap();
    for at @ [block, i, j] in layout::elements(case) {
        let a = &matrices.a[block][i];
        let b: Vec<_> = (0..case.k).map(|k| matrices.b[block][k][j]).collect();
        let c = matrices.c[block][i][j];
        let want = model::dot(case, a, &b, c, mode & 0x10 == 0);
        let got = layout::result(&machine, case, fields, at);
        assert_eq!(
            got, want,
            "{} {at:?} {flavours:?}: {got:#x}, not {want:#x}, of {a:x?} * {b:x?} + {c:#x}",
            case.row.name
        );
    }
}

fn floats() -> impl Iterator<Item = Case> {
    Case::all().into_iter().filter(|case| case.a != Element::I8 && !case.sparse)
}

#[test]
fn sums_round_as_the_hardware_was_measured_to() {
    let mut random = Rng::with_seed(11);
    for case in floats() {
        for flavour in FLAVOURS {
            check(&case, [flavour; 3], 0x3f0, &mut random);
            for other in [Flavour::Close, Flavour::Wide, Flavour::Tiny] {
                check(&case, [flavour, other, flavour], 0x3f0, &mut random);
                check(&case, [other, other, flavour], 0x3f0, &mut random);
            }
        }
    }
}

#[test]
fn mode_flushes_the_inputs_of_f32_and_of_nothing_else() {
    let mut random = Rng::with_seed(12);
    for case in floats() {
        // Rounding toward zero, all denormals flushed.
        check(&case, [Flavour::Tiny, Flavour::Huge, Flavour::Tiny], 0x30f, &mut random);
        check(&case, [Flavour::Wide; 3], 0x30f, &mut random);
    }
}

/// Runs an instruction with FP16_OVFL on constant matrices, and checks that all of D is `want`.
fn with_overflow_clamped(case: &Case, constants: [u64; 3], want: u64) {
    let fields = Fields { a: 0, b: 10, c: 40, d: 80, ..Fields::default() };
    let mut machine = Machine::new(case.target, &mut Rng::with_seed(13));
    machine.wave.mode.0 |= 1 << 23;
    layout::place(&mut machine, case, fields, &Matrices::new(case, |which| constants[which]));
    machine.run(case, fields).unwrap();
    for at in layout::elements(case) {
        let got = layout::result(&machine, case, fields, at);
        assert_eq!(got, want, "{} {at:?}: {got:#x}, not {want:#x}", case.row.name);
    }
}

#[test]
fn fp16_ovfl_clamps_what_overflows_but_keeps_infinities() {
    for case in floats() {
        if case.is_double() {
            // It says nothing about doubles.
            let [huge, most] = [1e200f64, f64::MAX].map(f64::to_bits);
            with_overflow_clamped(&case, [huge, huge, most], f64::INFINITY.to_bits());
            continue;
        }
        let [two, three] = [case.a.encode(2), case.b.encode(3)];
        let single = |x: f32| u64::from(x.to_bits());
        with_overflow_clamped(&case, [two, three, single(f32::NEG_INFINITY)], single(f32::NEG_INFINITY));
        let (exponent, fraction, bias) = case.b.format();
        if bias == 127 {
            let (top, minus) = (((1u64 << exponent) - 2) << fraction, 1 << (case.b.bits() - 1));
            with_overflow_clamped(&case, [two, top, 0], single(f32::MAX));
            with_overflow_clamped(&case, [two, top | minus, 0], single(f32::MIN));
            let infinity = ((1u64 << exponent) - 1) << fraction;
            with_overflow_clamped(&case, [two, infinity, 0], single(f32::INFINITY));
        }
    }
}
