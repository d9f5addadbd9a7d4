//! Matrix instructions of RDNA, on small integers whose sums are exact in every format.
//!
//! Where elements stand is what AMD's ISA documents and articles say of WMMA. On RDNA 3 a lane has a row of A or a column of
//! B, and 16 lanes on there is the same once more; on RDNA 4 the groups of 16 lanes have its parts in turn. Rows of C and D
//! go to the groups one by one on RDNA 3, and in runs on RDNA 4 (of four groups to the first, third, second and fourth, as
//! AMD's matrix instruction calculator has it). The order along k does not show.

use emulator::isa::{Family, Generation, Row, Target, flag, table};
use fastrand::Rng;

use super::{Element, Machine};

const TARGETS: [Target; 3] = [Target::Gfx1100, Target::Gfx1150, Target::Gfx1200];
/// First registers of A, B, C and D.
const A: usize = 16;
const B: usize = 32;
const C: usize = 48;
const D: usize = 64;
/// Rows and columns.
const N: usize = 16;

/// What C and D consist of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sum {
    Single,
    Half(Element),
    Integer,
}

/// What A or B consist of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Factor {
    Float(Element),
    /// Of so many bits.
    Integer(usize),
}

impl Factor {
    fn of(name: &str) -> Self {
        match name {
            "f16" => Self::Float(Element::F16),
            "bf16" => Self::Float(Element::Bf16),
            "fp8" => Self::Float(Element::Fp8),
            "bf8" => Self::Float(Element::Bf8),
            "iu8" => Self::Integer(8),
            "iu4" => Self::Integer(4),
            _ => panic!("format {name}"),
        }
    }

    fn bits(self) -> usize {
        match self {
            Self::Float(element) => element.bits(),
            Self::Integer(bits) => bits,
        }
    }

    /// A number that it can hold; integers may be signed.
    fn random(self, random: &mut Rng, is_signed: bool) -> i32 {
        match self {
            Self::Float(_) => random.i32(-3..=3),
            Self::Integer(bits) if is_signed => random.i32(-(1 << (bits - 1))..1 << (bits - 1)),
            Self::Integer(bits) => random.i32(0..1 << bits),
        }
    }

    fn encode(self, x: i32) -> u32 {
        match self {
            Self::Float(element) => element.encode(x) as u32,
            Self::Integer(bits) => x as u32 & ((1 << bits) - 1),
        }
    }
}

/// An instruction of a target in a wave of some lanes, and its modifiers.
#[derive(Clone, Copy, Debug)]
struct Case {
    target: Target,
    lanes: usize,
    factors: [Factor; 2],
    sum: Sum,
    k: usize,
    neg: u32,
    neg_hi: u32,
    clamp: bool,
    /// Which halves hold C and D on RDNA 3.
    high: bool,
}

impl Case {
    fn of(row: &Row, target: Target, lanes: usize, random: &mut Rng) -> Self {
        let parts: Vec<_> = row.name.split('_').collect();
        let [_, "wmma", sum, shape, ref types @ ..] = parts[..] else { panic!("{}", row.name) };
        let factors = [types[0], types[types.len() - 1]].map(Factor::of);
        let sum = match sum {
            "f32" => Sum::Single,
            "f16" => Sum::Half(Element::F16),
            "bf16" => Sum::Half(Element::Bf16),
            _ => Sum::Integer,
        };
        let k = shape.rsplit('x').next().unwrap().parse().unwrap();
        let mut case = Self { target, lanes, factors, sum, k, neg: 0, neg_hi: 0, clamp: false, high: false };
        match factors[0] {
            Factor::Integer(_) => (case.neg, case.clamp) = (random.u32(..4), random.bool()),
            // Bytes have no signs of their own.
            Factor::Float(element) if element.bits() == 8 => {
                (case.neg, case.neg_hi) = (random.u32(..2) << 2, random.u32(..2) << 2);
            }
            Factor::Float(_) => (case.neg, case.neg_hi) = (random.u32(..8), random.u32(..8)),
        }
        case.high = matches!(sum, Sum::Half(_)) && !case.is_rdna4() && random.bool();
        case
    }

    fn is_rdna4(&self) -> bool {
        self.target.generation() == Generation::Gfx12
    }

    /// Lanes and elements of a row's (column's) element `k`.
    fn places(&self, line: usize, k: usize) -> Vec<(usize, usize)> {
        let groups = self.lanes / N;
        if self.is_rdna4() {
            // Registers are full: eight elements of 4 bits.
            let each = (self.k / groups).max(if self.factors[0].bits() == 4 { 8 } else { 0 });
            vec![(line + N * (k / each), k % each)]
        } else {
            (0..groups).map(|group| (line + N * group, k)).collect()
        }
    }

    /// Lane, register and lowest bit of an element of C and D.
    fn place(&self, row: usize, column: usize) -> (usize, usize, u32) {
        let groups = self.lanes / N;
        let (group, n) = match self.is_rdna4() {
            true if groups == 4 => ([0, 2, 1, 3][row / 4], row % 4),
            true => (row / 8, row % 8),
            false => (row % groups, row / groups),
        };
        let lane = column + N * group;
        match self.sum {
            Sum::Half(_) if self.is_rdna4() => (lane, n / 2, 16 * (n as u32 % 2)),
            Sum::Half(_) => (lane, n, if self.high { 16 } else { 0 }),
            _ => (lane, n, 0),
        }
    }

    fn encode_sum(&self, x: i64) -> u32 {
        match self.sum {
            Sum::Single => (x as f32).to_bits(),
            Sum::Half(element) => element.encode(x as i32) as u32,
            Sum::Integer => x as u32,
        }
    }

    /// The number that stands in A (0) or B (1) after the modifiers.
    fn signed(&self, n: usize, k: usize, x: i32) -> i64 {
        let signs = if k.is_multiple_of(2) { self.neg } else { self.neg_hi };
        let is_negated = matches!(self.factors[n], Factor::Float(_)) && signs >> n & 1 != 0;
        if is_negated { -i64::from(x) } else { x.into() }
    }

    fn check(&self, row: &Row, random: &mut Rng) {
        let mut machine = Machine::new(self.target, random);
        machine.wave.set_lanes(self.lanes as u32);
        machine.wave.exec = u64::MAX >> (64 - self.lanes);
        let is_signed = |n: usize| self.neg >> n & 1 != 0;
        let factor = |n: usize, random: &mut Rng| -> Vec<[i32; N]> {
            (0..self.k).map(|_| [(); N].map(|()| self.factors[n].random(random, is_signed(n)))).collect()
        };
        let [a, b] = [0, 1].map(|n| factor(n, random));
        // Near the limit, so that sums leave the range, which floats of 16 bits have at their precision.
        let addend = |random: &mut Rng| match self.sum {
            Sum::Integer => {
                i64::from(random.i32(..1000)) + if random.bool() { i64::from(i32::MAX) - 1000 } else { -900 }
            }
            _ => i64::from(random.i32(-16..=16)),
        };
        let c: Vec<[i64; N]> = (0..N)
            .map(|_| [(); N].map(|()| addend(random).clamp(i32::MIN.into(), i32::MAX.into())))
            .collect();

        let mut put = |register: usize, lane: usize, bit: u32, bits: usize, value: u32| {
            let word = &mut machine.wave.vgpr[register].0[lane];
            let mask = if bits == 32 { u32::MAX } else { ((1 << bits) - 1) << bit };
            *word = *word & !mask | value << bit;
        };
        for (n, (first, elements)) in [(A, &a), (B, &b)].into_iter().enumerate() {
            let bits = self.factors[n].bits();
            for (k, line) in (0..self.k).flat_map(|k| (0..N).map(move |line| (k, line))) {
                for (lane, element) in self.places(line, k) {
                    let at = element * bits;
                    put(
                        first + at / 32,
                        lane,
                        at as u32 % 32,
                        bits,
                        self.factors[n].encode(elements[k][line]),
                    );
                }
            }
        }
        let sum_bits = if matches!(self.sum, Sum::Half(_)) { 16 } else { 32 };
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            let (lane, register, bit) = self.place(i, j);
            put(C + register, lane, bit, sum_bits, self.encode_sum(c[i][j]));
        }

        let mut want = machine.wave.vgpr.clone();
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            let products = (0..self.k).map(|k| self.signed(0, k, a[k][i]) * self.signed(1, k, b[k][j]));
            let products = products.sum::<i64>();
            let c = match self.sum {
                Sum::Integer => c[i][j],
                _ => {
                    let c = if self.neg_hi & 4 != 0 { c[i][j].abs() } else { c[i][j] };
                    if self.neg & 4 != 0 { -c } else { c }
                }
            };
            let sum = match self.clamp {
                true => (c + products).clamp(i32::MIN.into(), i32::MAX.into()),
                false => c + products,
            };
            let (lane, register, bit) = self.place(i, j);
            let mask = if sum_bits == 32 { u32::MAX } else { 0xffff << bit };
            let word = &mut want[D + register].0[lane];
            *word = *word & !mask | self.encode_sum(sum) << bit;
        }

        let word0 = 0xcc00_0000
            | u32::from(row.opcode_on(self.target)) << 16
            | u32::from(self.clamp) << 15
            | 1 << 14
            | u32::from(self.high) << 13
            | self.neg_hi << 8
            | D as u32;
        let register = |n: usize| 256 + n as u32;
        let word1 = register(A) | register(B) << 9 | register(C) << 18 | 3 << 27 | self.neg << 29;
        machine.execute([word0, word1]).unwrap_or_else(|fault| panic!("{} {self:?}: {fault}", row.name));
        for register in 0..96 {
            for lane in 0..self.lanes {
                let (got, want) = (machine.wave.vgpr[register].0[lane], want[register].0[lane]);
                // A zero may have either sign.
                let zeros = |bits: u32| {
                    (0..32).step_by(bits as usize).all(|at| {
                        let part = |word: u32| word >> at & (u32::MAX >> (32 - bits));
                        part(got) == part(want) || (part(got) | part(want)) & ((1 << (bits - 1)) - 1) == 0
                    })
                };
                let same = match self.sum {
                    Sum::Integer => got == want,
                    Sum::Single => zeros(32),
                    Sum::Half(_) => zeros(16),
                };
                assert!(same, "{} {self:?}: v{register} lane {lane} is {got:x}, not {want:x}", row.name);
            }
        }
    }
}

fn rows(target: Target) -> impl Iterator<Item = &'static Row> {
    let rows = table::rdna::TABLES[Family::Vop3p as usize].1.iter();
    rows.filter(move |row| {
        row.targets.has(target) && row.shape.has(flag::WMMA) && !row.shape.has(flag::SPARSE)
    })
}

#[test]
fn products_of_small_integers_are_exact_wherever_the_elements_stand() {
    for target in TARGETS {
        assert_eq!(rows(target).count(), if target == Target::Gfx1200 { 11 } else { 6 });
        for row in rows(target) {
            for lanes in [32, 64] {
                let mut random = Rng::with_seed(u64::from(row.opcode) << 8 | lanes as u64);
                for _ in 0..24 {
                    Case::of(row, target, lanes, &mut random).check(row, &mut random);
                }
            }
        }
    }
}

#[test]
fn a_constant_may_stand_for_all_of_c() {
    for target in TARGETS {
        for lanes in [32, 64] {
            let row = rows(target).find(|row| row.name == "v_wmma_f32_16x16x16_f16").unwrap();
            let mut machine = Machine::new(target, &mut Rng::with_seed(1));
            machine.wave.set_lanes(lanes);
            machine.wave.exec = u64::MAX >> (64 - lanes);
            for register in A..C {
                machine.wave.vgpr[register].0.fill(0);
            }
            let word0 = 0xcc00_4000 | u32::from(row.opcode_on(target)) << 16 | D as u32;
            // 2.0
            let word1 = (256 + A as u32) | (256 + B as u32) << 9 | 244 << 18 | 3 << 27;
            machine.execute([word0, word1]).unwrap();
            for register in D..D + 256 / lanes as usize {
                assert_eq!(
                    machine.wave.vgpr[register].0[..lanes as usize],
                    vec![2f32.to_bits(); lanes as usize]
                );
            }
        }
    }
}
