//! Matrix instructions, one at a time and in compiled kernels.
//!
//! [`Case`] says what an instruction multiplies by its mnemonic, [`layout`] where AMD's matrix instruction calculator
//! puts the elements, [`model`] what the sums are.

mod arithmetic;
mod fp8;
mod golden;
mod kernels;
mod layout;
mod model;
mod modifiers;
mod operands;
mod products;
mod scaled;
mod sparse;
mod wmma;

use std::sync::Arc;

use emulator::{
    coverage,
    isa::{Family, Flow, Row, Target, Targets, decode, flag, table},
    wave::{Apertures, Deaf, FaultKind, Mode, Surroundings, Wave, semantics},
};
use fastrand::Rng;

/// What an element is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    F64,
    F32,
    Xf32,
    F16,
    Bf16,
    /// As gfx942 has them.
    Fp8Fnuz,
    Bf8Fnuz,
    /// As the Open Compute Project has them.
    Fp8,
    Bf8,
    Fp6,
    Bf6,
    Fp4,
    I8,
}

impl Element {
    /// In the order of the codes that the f8f6f4 instructions have for them.
    pub const OCP: [Self; 5] = [Self::Fp8, Self::Bf8, Self::Fp6, Self::Bf6, Self::Fp4];

    pub fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Xf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::Fp8Fnuz | Self::Bf8Fnuz | Self::Fp8 | Self::Bf8 | Self::I8 => 8,
            Self::Fp6 | Self::Bf6 => 6,
            Self::Fp4 => 4,
        }
    }

    /// Whether the only code that is no number is that of negative zero.
    pub fn is_fnuz(self) -> bool {
        matches!(self, Self::Fp8Fnuz | Self::Bf8Fnuz)
    }

    /// Bits of the exponent and of the fraction, and the bias.
    pub fn format(self) -> (u32, u32, i32) {
        match self {
            Self::F64 => (11, 52, 1023),
            Self::F32 | Self::Xf32 => (8, 23, 127),
            Self::F16 => (5, 10, 15),
            Self::Bf16 => (8, 7, 127),
            Self::Fp8Fnuz => (4, 3, 8),
            Self::Bf8Fnuz => (5, 2, 16),
            Self::Fp8 => (4, 3, 7),
            Self::Bf8 => (5, 2, 15),
            Self::Fp6 => (2, 3, 1),
            Self::Bf6 => (3, 2, 3),
            Self::Fp4 => (2, 1, 1),
            Self::I8 => (0, 7, 0),
        }
    }

    /// A small integer.
    pub fn encode(self, x: i32) -> u64 {
        let (_, fraction, bias) = self.format();
        if self == Self::I8 {
            return u64::from(x as u8);
        }
        if x == 0 {
            return 0;
        }
        let exponent = x.unsigned_abs().ilog2();
        let significand = u64::from(x.unsigned_abs()) << fraction >> exponent;
        let field = (exponent as i32 + bias) as u64;
        let sign = u64::from(x < 0) << (self.bits() - 1);
        sign | field << fraction | significand & ((1 << fraction) - 1)
    }
}

/// A matrix instruction of a target.
#[derive(Clone, Copy)]
pub struct Case {
    pub row: &'static Row,
    pub target: Target,
    pub a: Element,
    pub b: Element,
    /// `bf16` of gfx90a without `_1k`.
    pub old_bf16: bool,
    pub n: usize,
    pub k: usize,
    pub blocks: usize,
    pub sparse: bool,
    /// What CBSZ and BLGP are where they name the formats.
    pub formats: Option<[u32; 2]>,
}

impl Case {
    fn of(row: &'static Row, target: Target) -> Self {
        let (kind, rest) = row.name.strip_prefix("v_").and_then(|name| name.split_once('_')).unwrap();
        let (result, rest) = rest.split_once('_').unwrap();
        let mut numbers = rest.split('x').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>()
        });
        let n = numbers.next().unwrap().unwrap();
        let _same = numbers.next();
        let k = numbers.next().unwrap().unwrap();
        let types = &rest[format!("{n}x{n}x{k}").len()..];
        let types = types.trim_start_matches('_');
        let (blocks, types) = match types.split_once("b_") {
            Some((blocks, types)) => (blocks.parse().unwrap(), types),
            // gfx90a does not say it.
            None => match rest {
                "32x32x1f32" | "32x32x4f16" | "32x32x4i8" | "32x32x4bf16_1k" | "32x32x2bf16" => (2, types),
                "16x16x1f32" | "16x16x4f16" | "16x16x4i8" | "16x16x4bf16_1k" | "16x16x2bf16" => (4, types),
                "4x4x4f64" => (4, types),
                _ if n == 4 => (16, types),
                _ => (1, types),
            },
        };
        let element = |name: &str| match name {
            "f64" => Element::F64,
            "f32" => Element::F32,
            "xf32" => Element::Xf32,
            "f16" => Element::F16,
            "bf16" | "bf16_1k" => Element::Bf16,
            "fp8" if target == Target::Gfx942 => Element::Fp8Fnuz,
            "bf8" if target == Target::Gfx942 => Element::Bf8Fnuz,
            "fp8" | "f8f6f4" => Element::Fp8,
            "bf8" => Element::Bf8,
            "i8" => Element::I8,
            _ => panic!("{}", row.name),
        };
        let (a, b) = match types.split_once("8_") {
            Some((a, b)) => (element(&format!("{a}8")), element(b)),
            None => (element(types), element(types)),
        };
        assert_eq!(result == "i32", a == Element::I8);
        let old_bf16 = types == "bf16" && target == Target::Gfx90a;
        Self { row, target, a, b, old_bf16, n, k, blocks, sparse: kind == "smfmac", formats: None }
    }

    /// The instruction with each pair of formats, if its modifiers name them.
    fn with_formats(self) -> Vec<Self> {
        if !self.row.shape.has(flag::F8F6F4) {
            return vec![self];
        }
        let pairs = (0..5).flat_map(|a| (0..5).map(move |b| [a, b]));
        let case = |formats: [u32; 2]| {
            let [a, b] = formats.map(|code| Element::OCP[code as usize]);
            Self { a, b, formats: Some(formats), ..self }
        };
        pairs.map(case).collect()
    }

    /// All instructions of all targets, with all formats.
    pub fn all() -> Vec<Self> {
        let rows = table::rows(Family::Vop3p).iter().filter(|row| row.shape.has(flag::MFMA));
        let cases: Vec<_> = Target::GFX9
            .into_iter()
            .flat_map(|target| {
                rows.clone().filter(move |row| row.targets.has(target)).map(move |row| Self::of(row, target))
            })
            .collect();
        assert_eq!(cases.len(), 139);
        cases.into_iter().flat_map(Self::with_formats).collect()
    }

    /// Whether the instruction came with gfx950, and so has more elements in a lane than its like before.
    pub fn is_doubled(&self) -> bool {
        self.row.targets == Targets::GFX950
    }

    pub fn is_double(&self) -> bool {
        self.a == Element::F64
    }
}

/// The fields of an instruction; registers are 0..256 for v and 256..512 for a.
#[derive(Clone, Copy, Default, Debug)]
pub struct Fields {
    pub a: usize,
    pub b: usize,
    /// A register, or 512 and an inline constant's code.
    pub c: usize,
    pub d: usize,
    pub cbsz: u32,
    pub abid: u32,
    pub blgp: u32,
}

/// A wave that runs one instruction at a time.
pub struct Machine {
    pub wave: Wave,
}

impl Machine {
    /// Random registers, no live lane.
    pub fn new(target: Target, random: &mut Rng) -> Self {
        let surroundings =
            Surroundings { map: Arc::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
        let mut wave = Wave::new(target, surroundings);
        wave.mode = Mode(0x3f0);
        for row in wave.vgpr.iter_mut() {
            row.0.fill_with(|| random.u32(..));
        }
        Self { wave }
    }

    pub fn execute(&mut self, words: impl AsRef<[u32]>) -> Result<(), FaultKind> {
        let words = words.as_ref();
        let inst = decode(self.wave.target, words).unwrap_or_else(|e| panic!("{words:08x?}: {e}"));
        let exec = semantics(inst.row).unwrap_or_else(|| panic!("{} has no semantics", inst.row.name));
        coverage::executed(self.wave.target, inst.row);
        match exec(&mut self.wave, &inst) {
            Flow::Next => Ok(()),
            Flow::Stop => Err(self.wave.stop.take().expect("a stopped wave says why").kind),
            flow => panic!("{}: {flow:?}", inst.row.name),
        }
    }

    /// Runs a matrix instruction.
    pub fn run(&mut self, case: &Case, fields: Fields) -> Result<(), FaultKind> {
        self.execute(Self::words(case, fields))
    }

    /// The words of a matrix instruction.
    pub fn words(case: &Case, fields: Fields) -> [u32; 2] {
        let Fields { a, b, c, d, cbsz, abid, blgp } = fields;
        let [cbsz, blgp] = case.formats.unwrap_or([cbsz, blgp]);
        let source = |register: usize| 256 + register as u32 % 256;
        let acc = |register: usize| u32::from((256..512).contains(&register));
        let third = if c >= 512 { c as u32 - 512 } else { source(c) };
        let word0 = 0xd380_0000
            | u32::from(case.row.opcode) << 16
            | acc(d) << 15
            | abid << 11
            | cbsz << 8
            | (d as u32 % 256);
        let word1 = blgp << 29 | acc(b) << 28 | acc(a) << 27 | third << 18 | source(b) << 9 | source(a);
        [word0, word1]
    }

    /// Item `item` of `bits` bits of the lane's registers from `register` on.
    pub fn item(&self, register: usize, bits: usize, item: usize, lane: usize) -> u64 {
        let bit = item * bits;
        let word = |n: usize| u64::from(self.wave.vgpr[register + n].0[lane]);
        let low = word(bit / 32);
        let whole = if bit % 32 + bits > 32 { low | word(bit / 32 + 1) << 32 } else { low };
        whole >> (bit % 32) & (u64::MAX >> (64 - bits))
    }

    pub fn set_item(&mut self, register: usize, bits: usize, item: usize, lane: usize, value: u64) {
        for n in 0..bits {
            let (word, bit) = ((item * bits + n) / 32, (item * bits + n) % 32);
            let word = &mut self.wave.vgpr[register + word].0[lane];
            *word = *word & !(1 << bit) | ((value >> n & 1) as u32) << bit;
        }
    }
}

/// A matrix of bit patterns.
pub type Matrix = Vec<Vec<u64>>;

/// The matrices of an instruction, block by block.
#[derive(Clone, Debug)]
pub struct Matrices {
    /// `a[block][i][k]`; of a sparse instruction, the elements that are stored.
    pub a: Vec<Matrix>,
    /// `b[block][k][j]`
    pub b: Vec<Matrix>,
    /// `c[block][i][j]`
    pub c: Vec<Matrix>,
}

impl Matrices {
    /// Elements that `next` makes, called with 0 for A, 1 for B, 2 for C.
    pub fn new(case: &Case, mut next: impl FnMut(usize) -> u64) -> Self {
        let stored = if case.sparse { case.k / 2 } else { case.k };
        let mut matrix = |which: usize, rows: usize, columns: usize| {
            (0..case.blocks)
                .map(|_| (0..rows).map(|_| (0..columns).map(|_| next(which)).collect()).collect())
                .collect::<Vec<Matrix>>()
        };
        Self { a: matrix(0, case.n, stored), b: matrix(1, case.k, case.n), c: matrix(2, case.n, case.n) }
    }
}
