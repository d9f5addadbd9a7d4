//! Instructions run one by one on rows of chosen values; what they should give comes from elsewhere: the standard
//! library, 128-bit integers, LLVM's soft floats.

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod divide;
mod fold;
mod integer;
mod model;
mod modifiers;
mod packed;
mod permute;
mod pseudocode;
mod rdna;
mod registers;
mod rows;
mod small;

use std::sync::Arc;

use fastrand::Rng;

use crate::{
    coverage,
    isa::{Family, Flow, Inst, Row, Target, decode, table},
    wave::{Apertures, Deaf, Mode, Surroundings, Wave},
};

/// The MODE of compiled kernels: nearest even, all denormals, DX10 clamp, IEEE.
const DEFAULT_MODE: u32 = 0x3f0;

/// A bit pattern of `bits` bits that is likely to be interesting as an integer and as a float.
fn bit_pattern(random: &mut Rng, bits: u32) -> u64 {
    let (exponent, fraction) = match bits {
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    };
    let top = 1u64 << (bits - 1);
    let all = (top - 1) | top;
    let infinity = ((1u64 << exponent) - 1) << fraction;
    let one = ((1u64 << (exponent - 1)) - 1) << fraction;
    let edges = [
        0,
        1,
        2,
        (1 << fraction) - 1,
        1 << fraction,
        (1 << fraction) + 1,
        one,
        one + 1,
        one - 1,
        one + (1 << (fraction - 1)),
        infinity - 1,
        infinity,
        infinity + 1,
        infinity | 1 << (fraction - 1),
        all,
        top,
        top - 1,
        31,
        32,
        0xff,
    ];
    match random.usize(..8) {
        0 => edges[random.usize(..edges.len())],
        1 => edges[random.usize(..edges.len())] | top,
        // Near one, where sums cancel and round.
        2 | 3 => one.wrapping_add(random.u64(..) >> (64 - fraction - 2)) ^ (top * (random.u64(..) & 1)),
        4 => random.u64(..) & ((1 << fraction) - 1),
        _ => random.u64(..) & all,
    }
}

/// One instruction in the VOP3 encoding: sources v0, v2, v4 (v8 for 128 bits), destination v16, scalar
/// destination s[20:21], carry mask s[24:25].
#[derive(Clone, Copy, Default, Debug)]
struct Fields {
    neg: u32,
    abs: u32,
    clamp: bool,
    omod: u32,
    op_sel: u32,
    op_sel_hi: u32,
}

struct Lab {
    wave: Wave,
}

const DST: usize = 16;
const SDST: usize = 20;
const CARRY: usize = 24;

/// The families that the vector ALU executes but for dual-issue instructions, which are made of their rows.
const FAMILIES: [Family; 5] = [Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3, Family::Vop3p];

fn row(name: &str) -> &'static Row {
    FAMILIES
        .into_iter()
        .flat_map(table::rows)
        .find(|row| row.name == name)
        .unwrap_or_else(|| panic!("{name} is in no table"))
}

impl Lab {
    fn new() -> Self {
        Self::on(Target::Gfx90a)
    }

    fn on(target: Target) -> Self {
        let surroundings =
            Surroundings { map: Arc::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
        let mut wave = Wave::new(target, surroundings);
        wave.exec = u64::MAX;
        wave.mode = Mode::of(target, DEFAULT_MODE);
        Self { wave }
    }

    /// Makes it a wave of so many lanes, all live.
    fn set_lanes(&mut self, lanes: u32) {
        self.wave.set_lanes(lanes);
        self.wave.exec = u64::MAX >> (64 - lanes);
    }

    fn set(&mut self, register: usize, lane: usize, value: u64) {
        self.wave.vgpr[register].0[lane] = value as u32;
        self.wave.vgpr[register + 1].0[lane] = (value >> 32) as u32;
    }

    fn get(&self, register: usize, lane: usize) -> u64 {
        u64::from(self.wave.vgpr[register].0[lane]) | u64::from(self.wave.vgpr[register + 1].0[lane]) << 32
    }

    fn mask(&self, register: usize) -> u64 {
        u64::from(self.wave.sgpr[register]) | u64::from(self.wave.sgpr[register + 1]) << 32
    }

    fn set_mask(&mut self, register: usize, value: u64) {
        self.wave.sgpr[register] = value as u32;
        self.wave.sgpr[register + 1] = (value >> 32) as u32;
    }

    /// Decodes and runs machine words.
    fn execute(&mut self, words: &[u32]) {
        self.try_execute(words).unwrap();
    }

    /// As [`Lab::execute`]; says what stands in the way.
    fn try_execute(&mut self, words: &[u32]) -> Result<(), String> {
        let target = self.wave.target;
        let targets = if target.is_rdna() { vec![target] } else { Target::GFX9.to_vec() };
        let inst = targets
            .into_iter()
            .find_map(|target| decode(target, words).ok())
            .ok_or_else(|| format!("{words:08x?} does not decode on {target:?}"))?;
        match self.step(&inst) {
            Flow::Next => Ok(()),
            flow => Err(format!("{}: {flow:?} {:?}", inst.row.name, self.wave.stop)),
        }
    }

    /// Runs a decoded instruction as the interpreter's loop does.
    fn step(&mut self, inst: &Inst) -> Flow {
        let exec =
            crate::wave::semantics(inst.row).unwrap_or_else(|| panic!("{} has no semantics", inst.row.name));
        coverage::executed(self.wave.target, inst.row);
        exec(&mut self.wave, inst)
    }

    /// Runs an instruction in its VOP3 or VOP3P encoding.
    fn run_with(&mut self, name: &str, fields: Fields) {
        self.execute(&self.words(row(name), fields));
    }

    /// An instruction in its VOP3 or VOP3P encoding.
    fn words(&self, row: &Row, fields: Fields) -> [u32; 2] {
        let target = self.wave.target;
        let ([vop3, vop3p], vop1) = match target.is_rdna() {
            true => ([0xd400_0000, 0xcc00_0000], 0x180),
            false => ([0xd000_0000, 0xd380_0000], 0x140),
        };
        let opcode = u32::from(row.opcode_on(target))
            + match row.family {
                Family::Vop1 => vop1,
                Family::Vop2 => 0x100,
                _ => 0,
            };
        let Fields { neg, abs, clamp, omod, op_sel, op_sel_hi } = fields;
        let vopc = row.family == Family::Vopc;
        let carries = !vopc && row.shape.sdst != crate::isa::Ty::No;
        let sources = row.shape.sources();
        let src = |n: usize, register: usize| {
            if n >= sources {
                0
            } else if row.shape.src[n] == crate::isa::Ty::Mask {
                CARRY as u32
            } else {
                256 + register as u32
            }
        };
        let operands = src(0, 0) | src(1, 2) << 9 | src(2, 4) << 18;
        let word0 = if row.family == Family::Vop3p {
            vop3p | opcode << 16 | op_sel << 11 | (op_sel_hi >> 2) << 14 | abs << 8 | DST as u32
        } else {
            let dst = match row.shape.sdst {
                // RDNA's comparisons into EXEC name it.
                crate::isa::Ty::No if vopc => 126,
                _ if vopc => SDST as u32,
                _ => DST as u32,
            };
            let high = if carries { (SDST as u32) << 8 } else { op_sel << 11 | abs << 8 };
            vop3 | opcode << 16 | high | dst
        };
        let word1 = if row.family == Family::Vop3p {
            operands | (op_sel_hi & 3) << 27 | neg << 29
        } else {
            operands | omod << 27 | neg << 29
        };
        [word0 | u32::from(clamp) << 15, word1]
    }

    fn run(&mut self, name: &str) {
        self.run_with(name, Fields::default());
    }

    /// Fills the three sources with patterns of the given widths and returns them.
    fn randomise(&mut self, random: &mut Rng, bits: [u32; 3]) -> Vec<[u64; 3]> {
        (0..64)
            .map(|lane| {
                let values = bits.map(|bits| bit_pattern(random, bits));
                for (n, value) in values.into_iter().enumerate() {
                    self.set(2 * n, lane, value);
                }
                values
            })
            .collect()
    }
}

/// Lanes of a wave.
fn random_lanes(random: &mut Rng) -> u32 {
    if random.usize(..3) == 0 { 32 } else { 64 }
}

/// Runs `name` on random sources and checks every lane's result, whose low `width` bits count.
fn check(name: &str, bits: [u32; 3], width: u32, expected: impl Fn([u64; 3]) -> u64) {
    let mut random = Rng::with_seed(name.bytes().fold(7, |h: u64, b| h.wrapping_mul(31) + u64::from(b)));
    let mut lab = Lab::new();
    for _ in 0..32 {
        let lanes = random_lanes(&mut random);
        lab.set_lanes(lanes);
        let sources = lab.randomise(&mut random, bits);
        lab.run(name);
        for (lane, values) in sources.into_iter().enumerate().take(lanes as usize) {
            let all = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let (got, want) = (lab.get(DST, lane) & all, expected(values) & all);
            assert_eq!(got, want, "{name} of {values:x?}: {got:#x}, not {want:#x}");
        }
    }
}
