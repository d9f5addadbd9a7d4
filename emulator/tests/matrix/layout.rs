//! Where elements lie: the equations that AMD's matrix instruction calculator prints for each instruction, and for those
//! of gfx950, which it does not know, the register maps in the tests of AMD's Composable Kernel, which run on cards.

use super::{Case, Element, Fields, Machine, Matrices};

/// Consecutive elements that a lane holds of A (stored ones, if sparse) or B: all that it holds but where
/// [`Case::is_doubled`], whose lanes may hold such a run of each half of k.
fn per_lane(case: &Case, b: bool) -> usize {
    if case.is_doubled() {
        return match if b { case.b } else { case.a } {
            Element::F16 | Element::Bf16 => 8,
            Element::Fp8 | Element::Bf8 | Element::I8 => 16,
            Element::Fp6 | Element::Bf6 | Element::Fp4 => 32,
            _ => panic!("{}", case.row.name),
        };
    }
    let of_sparse = if b { 2 } else { 1 };
    let wide = case.target != emulator::isa::Target::Gfx90a && case.blocks == 1;
    match case.a {
        Element::F64 | Element::F32 => 1,
        Element::Xf32 => 2,
        Element::Bf16 if case.old_bf16 => 2,
        Element::F16 | Element::Bf16 => 4 * if case.sparse { of_sparse } else { 1 },
        Element::Fp8Fnuz | Element::Bf8Fnuz | Element::Fp8 | Element::Bf8 => {
            8 * if case.sparse { of_sparse } else { 1 }
        }
        Element::Fp6 | Element::Bf6 | Element::Fp4 => panic!("{}", case.row.name),
        Element::I8 if case.sparse => 8 * of_sparse,
        Element::I8 => {
            if wide {
                8
            } else {
                4
            }
        }
    }
}

/// Item and lane of A\[block\]\[i\]\[k\] or B\[block\]\[k\]\[i\].
pub fn input(case: &Case, b: bool, block: usize, i: usize, k: usize) -> (usize, usize) {
    let count = per_lane(case, b);
    // The lanes of 16 rows hold four runs, those of 32 rows two.
    let half = count * 64 / case.n;
    if case.is_doubled() {
        return (k / half * count + k % count, case.n * (k % half / count) + i);
    }
    let lane = match (case.n, case.blocks) {
        (32, 2) => 32 * block + i,
        (32, 1) => 32 * (k / count) + i,
        (16, 4) => 16 * block + i,
        (16, 1) => 16 * (k / count) + i,
        (4, 16) => 4 * block + i,
        (4, 4) => 4 * block + 16 * k + i,
        _ => panic!("{}", case.row.name),
    };
    (k % count, lane)
}

/// Item and lane of C\[block\]\[i\]\[j\] and D\[block\]\[i\]\[j\].
pub fn output(case: &Case, block: usize, i: usize, j: usize) -> (usize, usize) {
    match (case.n, case.blocks) {
        (32, _) => (16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4) % 64 + j),
        (16, 1) if case.is_double() => (i / 4, 16 * (i % 4) + j),
        (16, _) => (4 * block + i % 4, 16 * (i / 4) + j),
        (4, 16) => (i, 4 * block + j),
        (4, 4) => (0, 16 * i + 4 * block + j),
        _ => panic!("{}", case.row.name),
    }
}

/// Bits of an element of C and D.
pub fn output_bits(case: &Case) -> usize {
    if case.is_double() { 64 } else { 32 }
}

/// Puts the matrices where the instruction looks for them; C unless it is a constant.
pub fn place(machine: &mut Machine, case: &Case, fields: Fields, matrices: &Matrices) {
    for block in 0..case.blocks {
        for (i, row) in matrices.a[block].iter().enumerate() {
            for (k, value) in row.iter().enumerate() {
                let (item, lane) = input(case, false, block, i, k);
                machine.set_item(fields.a, case.a.bits(), item, lane, *value);
            }
        }
        for (k, row) in matrices.b[block].iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let (item, lane) = input(case, true, block, j, k);
                machine.set_item(fields.b, case.b.bits(), item, lane, *value);
            }
        }
        let c = if case.sparse { fields.d } else { fields.c };
        for (i, row) in matrices.c[block].iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let (item, lane) = output(case, block, i, j);
                if c < 512 {
                    machine.set_item(c, output_bits(case), item, lane, *value);
                }
            }
        }
    }
}

/// D\[block\]\[i\]\[j\] after the instruction.
pub fn result(machine: &Machine, case: &Case, fields: Fields, [block, i, j]: [usize; 3]) -> u64 {
    let (item, lane) = output(case, block, i, j);
    machine.item(fields.d, output_bits(case), item, lane)
}

/// All block, row and column numbers of D.
pub fn elements(case: &Case) -> impl Iterator<Item = [usize; 3]> + use<> {
    let (n, blocks) = (case.n, case.blocks);
    (0..blocks).flat_map(move |block| (0..n).flat_map(move |i| (0..n).map(move |j| [block, i, j])))
}
