//! Products of small integers, which all orders of summation agree on, with elements where AMD's matrix instruction
//! calculator puts them.

use std::sync::Arc;

use fastrand::Rng;

use crate::{
    coverage,
    isa::{Family, Flow, Generation, Row, Target, decode, flag, table},
    wave::{Apertures, Deaf, Mode, Surroundings, Wave, semantics},
};

/// Registers of A, B, C (or the indices) and D.
const REGISTERS: [usize; 4] = [0, 16, 40, 60];
const N: usize = 16;

/// Bits of an element, of its exponent and fraction; integers have neither.
fn format(name: &str) -> [u32; 3] {
    match name {
        "f32" => [32, 8, 23],
        "f16" => [16, 5, 10],
        "bf16" => [16, 8, 7],
        "fp8" => [8, 4, 3],
        "bf8" => [8, 5, 2],
        "i32" => [32, 0, 0],
        "iu8" => [8, 0, 0],
        "iu4" => [4, 0, 0],
        _ => panic!("{name}"),
    }
}

fn encode([bits, exponent, fraction]: [u32; 3], x: i32) -> u32 {
    let all = u32::MAX >> (32 - bits);
    if exponent == 0 || x == 0 {
        return x as u32 & all;
    }
    let log = x.unsigned_abs().ilog2();
    let significand = (x.unsigned_abs() << (fraction - log)) & ((1 << fraction) - 1);
    let bias = (1 << (exponent - 1)) - 1;
    u32::from(x < 0) << (bits - 1) | (log + bias) << fraction | significand
}

/// An instruction on a target, in waves of so many lanes.
struct Case {
    row: &'static Row,
    target: Target,
    lanes: usize,
    k: usize,
    formats: [[u32; 3]; 3],
}

impl Case {
    fn of(row: &'static Row, target: Target, lanes: usize) -> Self {
        let parts: Vec<_> = row.name.split('_').skip(2).collect();
        let k = parts[1].rsplit('x').next().unwrap().parse().unwrap();
        let formats = [parts[2], parts[parts.len() - 1], parts[0]].map(format);
        Self { row, target, lanes, k, formats }
    }

    fn all() -> impl Iterator<Item = Self> {
        let (_, rows) = table::rdna::TABLES[Family::Vop3p as usize];
        let rows = rows.iter().filter(|row| row.shape.has(flag::WMMA));
        rows.flat_map(|row| {
            let targets = Target::ALL.into_iter().filter(|target| row.targets.has(*target));
            targets.flat_map(move |target| [32, 64].map(|lanes| Self::of(row, target, lanes)))
        })
    }

    fn is_rdna4(&self) -> bool {
        self.target.generation() == Generation::Gfx12
    }

    fn is_sparse(&self) -> bool {
        self.row.shape.has(flag::SPARSE)
    }

    /// The 16 lanes that hold four elements of a row of A, or a column of B, along k; and so for the next four.
    fn groups(&self, is_a: bool) -> &'static [usize] {
        match (self.is_sparse(), self.formats[0][0], self.k, self.lanes) {
            (false, 16, _, 32) => &[0, 1, 0, 1],
            (false, 16, _, _) => &[0, 1, 2, 3],
            (false, 8, _, 64) => &[0, 2, 1, 3],
            (false, 8, ..) | (false, 4, 16, _) => &[0, 0, 1, 1],
            (true, 16, _, 32) => &[0, 0, 1, 1, 0, 0, 1, 1],
            (true, 16, _, _) => &[0, 0, 1, 1, 2, 2, 3, 3],
            (true, 4, 32, 64) if is_a => &[0, 0, 0, 0, 1, 1, 1, 1],
            (_, _, 32, 32) => &[0, 0, 0, 0, 1, 1, 1, 1],
            (_, _, 32, _) => &[0, 0, 2, 2, 1, 1, 3, 3],
            (_, _, _, 32) => &[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
            _ => &[0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3],
        }
    }

    /// The group of 16 lanes that holds element `k`, and how many fours the lanes hold before that one.
    fn four(&self, is_a: bool, k: usize) -> (usize, usize) {
        let groups = self.groups(is_a);
        let group = groups[k / 4];
        (group, groups[..k / 4].iter().filter(|other| **other == group).count())
    }

    /// Item and lane of an element of D.
    fn sum(&self, row: usize, column: usize) -> (usize, usize) {
        if !self.is_rdna4() {
            let groups = self.lanes / N;
            return (row / groups, column + N * (row % groups));
        }
        let groups = if self.lanes == 32 { [0, 0, 1, 1] } else { [0, 2, 1, 3] };
        let group = groups[row / 4];
        let before = groups[..row / 4].iter().filter(|other| **other == group).count();
        (4 * before + row % 4, column + N * group)
    }
}

/// A wave, into whose registers items of any size go.
struct Lab(Wave);

impl Lab {
    fn put(&mut self, register: usize, bits: u32, item: usize, lane: usize, value: u32) {
        let (word, bit) = (item * bits as usize / 32, item as u32 * bits % 32);
        let word = &mut self.0.vgpr[register + word].0[lane];
        *word = *word & !(u32::MAX >> (32 - bits) << bit) | value << bit;
    }

    fn get(&self, register: usize, bits: u32, item: usize, lane: usize) -> u32 {
        let (word, bit) = (item * bits as usize / 32, item as u32 * bits % 32);
        self.0.vgpr[register + word].0[lane] >> bit & u32::MAX >> (32 - bits)
    }
}

/// The six pairs of places in a group of four.
const PAIRS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

fn check(case: &Case, is_signed: bool, op_sel: u32, random: &mut Rng) {
    let surroundings =
        Surroundings { map: Arc::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
    let mut lab = Lab(Wave::new(case.target, surroundings));
    lab.0.set_lanes(case.lanes as u32);
    lab.0.exec = u64::MAX >> (64 - case.lanes);
    lab.0.mode = Mode(0x3f0);
    for row in lab.0.vgpr.iter_mut() {
        row.0.fill_with(|| random.u32(..));
    }
    let [a_format, b_format, d_format] = case.formats;
    let mut small = |low: i32| random.i32(low..3);
    let lowest = if is_signed || a_format[1] != 0 { -2 } else { 0 };
    let a: Vec<[i32; N]> = (0..case.k).map(|_| std::array::from_fn(|_| small(lowest))).collect();
    let b: Vec<[i32; N]> = (0..case.k).map(|_| std::array::from_fn(|_| small(lowest))).collect();
    let c: [[i32; N]; N] = std::array::from_fn(|_| std::array::from_fn(|_| small(-2)));
    let [a_register, b_register, c_register, d_register] = REGISTERS;
    let mut kept = vec![[true; N]; case.k];
    for line in 0..N {
        for k in 0..case.k {
            let (a, b) = (encode(a_format, a[k][line]), encode(b_format, b[k][line]));
            if !case.is_rdna4() {
                for lane in (line..case.lanes).step_by(N) {
                    lab.put(a_register, a_format[0], k, lane, a);
                    lab.put(b_register, b_format[0], k, lane, b);
                }
                continue;
            }
            let (group, before) = case.four(false, k);
            lab.put(b_register, b_format[0], 4 * before + k % 4, line + N * group, b);
            if !case.is_sparse() {
                lab.put(a_register, a_format[0], 4 * before + k % 4, line + N * group, a);
            }
        }
        for four in (0..case.k).step_by(4).filter(|_| case.is_sparse()) {
            let pair = PAIRS[random.usize(..PAIRS.len())];
            let (group, before) = case.four(true, four);
            let lane = line + N * group;
            for (n, place) in pair.into_iter().enumerate() {
                let value = encode(a_format, a[four + place][line]);
                lab.put(a_register, a_format[0], 2 * before + n, lane, value);
            }
            (0..4).for_each(|place| kept[four + place][line] = pair.contains(&place));
            // Each set of indices has as many bits as the lane's fours need.
            let fours = case.groups(true).iter().filter(|other| **other == group).count();
            let nibble = fours * (op_sel as usize) + before;
            lab.put(c_register, 4, nibble, lane, (pair[0] | pair[1] << 2) as u32);
        }
    }
    let half = (op_sel >> 2 & 1) as usize;
    let item = |case: &Case, row, column| {
        let (item, lane) = case.sum(row, column);
        let is_spread = !case.is_rdna4() && d_format[0] == 16;
        (if is_spread { 2 * item + half } else { item }, lane)
    };
    let addend = if case.is_sparse() { d_register } else { c_register };
    for (row, c) in c.iter().enumerate() {
        for (column, c) in c.iter().enumerate() {
            let (item, lane) = item(case, row, column);
            lab.put(addend, d_format[0], item, lane, encode(d_format, *c));
        }
    }
    let opcode = u32::from(case.row.opcode_on(case.target));
    let neg = if case.row.shape.has(flag::NEG_SIGN) && is_signed { 3 } else { 0 };
    let sources = (256 + a_register) | (256 + b_register) << 9 | (256 + c_register) << 18;
    let words =
        [0xcc00_4000 | opcode << 16 | op_sel << 11 | d_register as u32, sources as u32 | 3 << 27 | neg << 29];
    let inst = decode(case.target, &words).unwrap();
    assert!(std::ptr::eq(inst.row, case.row));
    coverage::executed(case.target, inst.row);
    assert_eq!(semantics(inst.row).unwrap()(&mut lab.0, &inst), Flow::Next);
    for (row, c) in c.iter().enumerate() {
        for (column, c) in c.iter().enumerate() {
            let product = (0..case.k).filter(|k| kept[*k][row]).map(|k| a[k][row] * b[k][column]);
            let want = c + product.sum::<i32>();
            let (item, lane) = item(case, row, column);
            let got = lab.get(d_register, d_format[0], item, lane);
            let what = (case.row.name, case.target, case.lanes, row, column, op_sel);
            assert_eq!(got, encode(d_format, want), "{what:?}: not {want}");
        }
    }
}

#[test]
fn every_matrix_instruction_of_rdna_multiplies() {
    let mut random = Rng::with_seed(12);
    let mut count = 0;
    for case in Case::all() {
        let fours = case.groups(true).iter().filter(|group| **group == 0).count() as u32;
        let selections: Vec<u32> = match case.is_sparse() {
            // All sets of indices that a register has.
            true => (0..8 / fours).collect(),
            false if case.row.shape.has(flag::OP_SEL) => vec![0, 4],
            false => vec![0],
        };
        for op_sel in selections {
            for is_signed in [false, true] {
                check(&case, is_signed, op_sel, &mut random);
            }
        }
        count += 1;
    }
    // Six on each of six targets of RDNA 3, 22 on each of two of RDNA 4.
    assert_eq!(count, 2 * (6 * 6 + 22 * 2));
}
