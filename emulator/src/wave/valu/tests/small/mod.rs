//! Small floats of gfx950: conversions against tables of values that are computed from the formats' definitions.

mod narrow;
mod rdna;
mod unscaled;
mod widen;

use fastrand::Rng;

use super::{Lab, bit_pattern};
use crate::{
    isa::{Family, Flow, Inst, Row, Target, decode, table},
    wave::{FaultKind, Mode, Vector},
};

/// A format by what OFP8 1.0 and MX 1.0 say of it.
#[derive(Clone, Copy, Debug)]
struct Format {
    exponent: u32,
    fraction: u32,
    /// The largest finite code.
    last: u32,
    nan: Option<u32>,
    infinity: Option<u32>,
}

const FP8: Format = Format { exponent: 4, fraction: 3, last: 0x7e, nan: Some(0x7f), infinity: None };
const BF8: Format = Format { exponent: 5, fraction: 2, last: 0x7b, nan: Some(0x7f), infinity: Some(0x7c) };
const FP6: Format = Format { exponent: 2, fraction: 3, last: 0x1f, nan: None, infinity: None };
const BF6: Format = Format { exponent: 3, fraction: 2, last: 0x1f, nan: None, infinity: None };
const FP4: Format = Format { exponent: 2, fraction: 1, last: 0x7, nan: None, infinity: None };
const HALF: Format =
    Format { exponent: 5, fraction: 10, last: 0x7bff, nan: Some(0x7e00), infinity: Some(0x7c00) };
const BRAIN: Format =
    Format { exponent: 8, fraction: 7, last: 0x7f7f, nan: Some(0x7fc0), infinity: Some(0x7f80) };

fn format(name: &str) -> Format {
    match name {
        "fp8" => FP8,
        "bf8" => BF8,
        "fp6" => FP6,
        "bf6" => BF6,
        "fp4" => FP4,
        other => panic!("format {other}"),
    }
}

#[derive(Clone, Copy, Debug)]
enum Rounding {
    Nearest,
    Random(u32),
}

impl Format {
    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The number that a finite code without its sign stands for, also of the codes just above the largest.
    fn magnitude(self, code: u32) -> f64 {
        let bias = (1 << (self.exponent - 1)) - 1;
        let (field, fraction) =
            ((code >> self.fraction) as i32, f64::from(code & ((1 << self.fraction) - 1)));
        let part = fraction / 2f64.powi(self.fraction as i32);
        if field == 0 { part * 2f64.powi(1 - bias) } else { (1.0 + part) * 2f64.powi(field - bias) }
    }

    fn value(self, code: u32) -> f64 {
        let sign = 1 << (self.bits() - 1);
        let magnitude = match code & (sign - 1) {
            code if Some(code) == self.infinity => f64::INFINITY,
            code if code > self.last => f64::NAN,
            code => self.magnitude(code),
        };
        if code & sign != 0 { -magnitude } else { magnitude }
    }

    /// The code of an exact number by search; `x` may be a NaN or an infinity.
    fn code(self, x: f64, rounding: Rounding, saturate: bool) -> u32 {
        let sign = u32::from(x.is_sign_negative()) << (self.bits() - 1);
        let overflow = self.infinity.or(self.nan).unwrap_or(self.last);
        if x.is_nan() {
            return sign | self.nan.unwrap_or(self.last);
        }
        let x = x.abs();
        if x.is_infinite() {
            // An infinity stays one where there is one.
            return sign | if saturate { self.infinity.unwrap_or(self.last) } else { overflow };
        }
        let above = self.last + 1;
        let code = if x >= self.magnitude(above) {
            above
        } else {
            let (mut low, mut high) = (0, above);
            while high - low > 1 {
                let middle = low.midpoint(high);
                if self.magnitude(middle) <= x { low = middle } else { high = middle }
            }
            let (below, next) = (self.magnitude(low), self.magnitude(high));
            let up = match rounding {
                Rounding::Nearest => {
                    let middle = (below + next) / 2.0;
                    x > middle || x == middle && low & 1 != 0
                }
                Rounding::Random(random) => {
                    let part = ((x - below) / (next - below) * 2f64.powi(32)) as u64;
                    part + u64::from(random) >= 1 << 32
                }
            };
            if up { high } else { low }
        };
        sign | if code <= self.last {
            code
        } else if saturate {
            self.last
        } else {
            overflow
        }
    }
}

/// What a row's name says: the number of codes, the small format, the wider one, whether random numbers round.
#[derive(Clone, Copy)]
struct Conversion {
    row: &'static Row,
    count: usize,
    small: Format,
    /// Whether it is the result.
    narrows: bool,
    wide: &'static str,
    is_random: bool,
}

impl Conversion {
    fn of(row: &'static Row) -> Option<Self> {
        let words: Vec<_> = row.name.strip_prefix("v_cvt_scalef32_")?.split('_').collect();
        let is_random = words[0] == "sr";
        let words = if is_random { &words[1..] } else { &words[..] };
        let (count, [to, from]) = match *words {
            [to, from] => (1, [to, from]),
            ["pk", to, from] => (2, [to, from]),
            ["pk32" | "2xpk16", to, from] => (32, [to, from]),
            _ => panic!("{}", row.name),
        };
        let wide = |name: &str| ["f32", "f16", "bf16"].into_iter().find(|wide| *wide == name);
        let narrows = wide(from).is_some();
        let (small, wide) = if narrows { (to, wide(from)) } else { (from, wide(to)) };
        Some(Self { row, count, small: format(small), narrows, wide: wide?, is_random })
    }

    fn all() -> impl Iterator<Item = Self> {
        table::rows(Family::Vop3).iter().filter_map(Self::of)
    }

    fn code_bits(&self) -> u32 {
        self.count as u32 * self.small.bits()
    }

    fn wide_bits(&self) -> u32 {
        if self.wide == "f32" { 32 } else { 16 }
    }

    fn decode(&self, words: [u32; 2]) -> Inst {
        let inst = decode(Target::Gfx950, &words).unwrap();
        assert!(std::ptr::eq(inst.row, self.row), "{words:08x?} is {}, not {}", inst.row.name, self.row.name);
        inst
    }
}

fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.wave.target = Target::Gfx950;
    lab
}

/// A MODE of which only FP16_OVFL matters.
fn mode(random: &mut Rng) -> (Mode, bool) {
    let saturate = random.bool();
    (Mode(random.u32(..) & 0x3ff | u32::from(saturate) << 23), saturate)
}

/// An exponent: near that of 1 most times, else any.
fn exponent(random: &mut Rng) -> u32 {
    match random.usize(..6) {
        0 => random.choice([0, 1, 2, 126, 127, 128, 253, 254, 255]).unwrap(),
        1 => random.u32(..256),
        _ => random.u32(110..145),
    }
}

#[test]
fn every_scaled_conversion_is_known() {
    assert_eq!(Conversion::all().count(), 49);
}

/// Runs the words; whether the wave stopped because of them.
fn stops(words: [u32; 2]) -> bool {
    let mut lab = lab();
    let inst = decode(Target::Gfx950, &words).unwrap();
    let name = inst.row.name;
    match lab.step(&inst) {
        Flow::Stop => {
            assert_eq!(lab.wave.stop.map(|fault| fault.kind), Some(FaultKind::Unimplemented { name }));
            true
        }
        _ => false,
    }
}

/// The words of a row on v0, v40 and v80 with the destination v120.
fn words(row: &Row, op_sel: u32) -> [u32; 2] {
    let sources = [256, 256 + 40, 256 + 80].into_iter().take(row.shape.sources()).enumerate();
    let word1 = sources.fold(0, |word, (n, source)| word | source << (9 * n));
    [0xd000_0000 | u32::from(row.opcode) << 16 | op_sel << 11 | 120, word1]
}

#[test]
fn halves_and_signs_that_no_manual_defines_stop_the_wave() {
    for conversion in Conversion::all().filter(|c| c.code_bits() < 32) {
        let half_result = !conversion.narrows && conversion.count == 1 && conversion.wide == "f16";
        let defined = match (conversion.narrows, conversion.code_bits()) {
            (true, 8) => 12,
            (true, _) => 8,
            (false, 8) => 3 | if half_result { 8 } else { 0 },
            (false, _) => 1,
        };
        let row = conversion.row;
        for op_sel in 0..16 {
            let words = words(row, op_sel);
            if decode(Target::Gfx950, &words).is_ok() {
                assert_eq!(stops(words), op_sel & !defined != 0, "{} op_sel {op_sel}", row.name);
            }
        }
        let [word0, word1] = words(row, 0);
        let several = conversion.narrows
            && row.shape.sources() - 1 - usize::from(conversion.is_random) < conversion.count;
        for signed in [[word0 | 1 << 8, word1], [word0, word1 | 1 << 29]] {
            assert_eq!(stops(signed), several, "{} {signed:08x?}", row.name);
        }
    }
    // A scalar is not several registers.
    for conversion in Conversion::all().filter(|c| c.count == 32) {
        let [word0, word1] = words(conversion.row, 0);
        assert!(stops([word0, word1 & !0x1ff | 4]), "{}", conversion.row.name);
    }
}

/// The words of the registers from `first` on in a lane.
fn register_words(lab: &Lab, first: usize, count: usize, lane: usize) -> Vec<u32> {
    lab.wave.vgpr[first..first + count].iter().map(|row| row.0[lane]).collect()
}

/// `width` bits from bit `at` on.
fn field(words: &[u32], at: usize, width: u32) -> u32 {
    (0..width as usize).fold(0, |bits, n| bits | (words[(at + n) / 32] >> ((at + n) % 32) & 1) << n)
}

/// Random words in some registers.
fn fill(lab: &mut Lab, random: &mut Rng, registers: std::ops::Range<usize>) {
    for register in registers {
        lab.wave.vgpr[register] = Vector(std::array::from_fn(|_| random.u32(..)));
    }
}

/// A single whose quotient by 2^(exponent - 127) is near a code or between two, or anything.
fn number(random: &mut Rng, format: Format, exponent: u32) -> f32 {
    if random.usize(..6) == 0 {
        return f32::from_bits(bit_pattern(random, 32) as u32);
    }
    let code = random.u32(..=format.last);
    let (below, next) = (format.magnitude(code), format.magnitude(code + 1));
    let any = random.f64();
    let part = random.choice([0.0, 0.5, 0.25, 0.75, 2f64.powi(-12), 1.0 - 2f64.powi(-12), any]).unwrap();
    let x = (below + (next - below) * part) * 2f64.powi(exponent as i32 - 127);
    // A little more, a little less.
    let bits = (x as f32).to_bits().saturating_add_signed(random.i32(-1..=1));
    f32::from_bits(bits | u32::from(random.bool()) << 31)
}
