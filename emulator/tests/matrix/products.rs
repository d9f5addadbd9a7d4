//! Every instruction multiplies matrices of small integers, where all orders of summation agree.

use fastrand::Rng;

use super::{Case, Element, Fields, Machine, Matrices, layout};

/// The element of C or D that holds an integer.
pub fn accumulator(case: &Case, x: i64) -> u64 {
    match case.a {
        Element::F64 => (x as f64).to_bits(),
        Element::I8 => u64::from(x as u32),
        _ => u64::from((x as f32).to_bits()),
    }
}

/// Matrices of small integers as numbers and as elements.
fn integers(case: &Case, random: &mut Rng) -> (Matrices, Matrices) {
    let numbers = Matrices::new(case, |which| {
        let x = random.i64(0..9) - 4;
        (if which == 2 { x * 100 } else { x }) as u64
    });
    let map = |matrices: &Vec<Vec<Vec<u64>>>, f: &dyn Fn(u64) -> u64| {
        matrices
            .iter()
            .map(|block| block.iter().map(|row| row.iter().map(|x| f(*x)).collect()).collect())
            .collect()
    };
    let elements = Matrices {
        a: map(&numbers.a, &|x| case.a.encode(x as i32)),
        b: map(&numbers.b, &|x| case.b.encode(x as i32)),
        c: map(&numbers.c, &|x| accumulator(case, x as i64)),
    };
    (numbers, elements)
}

/// The block of A that `block` is multiplied by.
fn broadcast(block: usize, cbsz: u32, abid: u32) -> usize {
    let group = 1 << cbsz;
    block / group * group + abid as usize
}

/// The lane of B that stands in for `lane`.
fn permuted(lane: usize, blgp: u32) -> usize {
    match blgp {
        0 => lane,
        // The lower, the upper half for both.
        1 => lane & 31,
        2 => lane & 31 | 32,
        3 if lane < 48 => lane + 16,
        3 => lane - 48,
        // A quarter for all.
        _ => lane & 15 | (blgp as usize & 3) << 4,
    }
}

/// Whether the instruction permutes B.
fn permutes(case: &Case) -> bool {
    use emulator::isa::Target::Gfx90a;
    !case.is_double() && (case.target == Gfx90a || case.blocks > 1 || case.a == Element::F32)
}

fn check(case: &Case, random: &mut Rng, fields: Fields) {
    let (numbers, elements) = integers(case, random);
    let mut machine = Machine::new(case.target, random);
    layout::place(&mut machine, case, fields, &elements);
    // What B is once lanes are exchanged.
    let mut b = numbers.b.clone();
    if !case.is_double() && fields.blgp != 0 {
        for (block, k, j) in numbers.b.iter().enumerate().flat_map(|(block, matrix)| {
            (0..matrix.len()).flat_map(move |k| (0..case.n).map(move |j| (block, k, j)))
        }) {
            let (item, lane) = layout::input(case, true, block, j, k);
            let from = permuted(lane, fields.blgp);
            let source = (0..case.blocks)
                .flat_map(|block| (0..case.k).flat_map(move |k| (0..case.n).map(move |j| (block, k, j))))
                .find(|&(block, k, j)| layout::input(case, true, block, j, k) == (item, from));
            let (from_block, from_k, from_j) = source.unwrap();
            b[block][k][j] = numbers.b[from_block][from_k][from_j];
        }
    }
    machine.run(case, fields).unwrap();
    for at @ [block, i, j] in layout::elements(case) {
        let negative = |n: u32| case.is_double() && fields.blgp >> n & 1 != 0;
        let cbsz = if case.is_double() { 0 } else { fields.cbsz };
        let a = &numbers.a[if cbsz == 0 { block } else { broadcast(block, cbsz, fields.abid) }][i];
        let product: i64 = (0..case.k).map(|k| a[k] as i64 * b[block][k][j] as i64).sum();
        let product = if negative(0) != negative(1) { -product } else { product };
        let addend = numbers.c[block][i][j] as i64;
        let sum = if negative(2) { product - addend } else { product + addend };
        let (got, want) = (layout::result(&machine, case, fields, at), accumulator(case, sum));
        assert_eq!(got, want, "{} {at:?} {fields:?}: {got:#x}, not {want:#x}", case.row.name);
    }
}

#[test]
fn every_dense_instruction_multiplies_with_all_its_modifiers() {
    let mut random = Rng::with_seed(1);
    for case in Case::all().iter().filter(|case| !case.sparse) {
        let fields = Fields { a: 0, b: 20, c: 40, d: 80, ..Fields::default() };
        check(case, &mut random, fields);
        let broadcasts =
            (1..=case.blocks.ilog2()).flat_map(|cbsz| (0..1 << cbsz).map(move |abid| (cbsz, abid)));
        for (cbsz, abid) in broadcasts.filter(|_| !case.is_double()) {
            check(case, &mut random, Fields { cbsz, abid, ..fields });
        }
        for blgp in (1..8).filter(|_| permutes(case)) {
            check(case, &mut random, Fields { blgp, ..fields });
        }
        if case.blocks == 4 && !case.is_double() {
            check(case, &mut random, Fields { cbsz: 2, abid: 3, blgp: 5, ..fields });
        }
        if case.is_double() && case.target != emulator::isa::Target::Gfx90a {
            for blgp in 1..8 {
                // Broadcast fields are ignored.
                check(case, &mut random, Fields { blgp, cbsz: blgp % 5, abid: 7, ..fields });
            }
        }
    }
}

#[test]
fn every_mixture_of_register_files_works() {
    let mut random = Rng::with_seed(2);
    for case in Case::all().iter().filter(|case| !case.sparse) {
        for files in 0..8 {
            let file = |n: usize| (files >> n & 1) * 256;
            let fields = Fields {
                a: file(0) + 128,
                b: file(1) + 136,
                c: file(2) + 160,
                d: file(2) + if files % 3 == 0 { 160 } else { 200 },
                ..Fields::default()
            };
            check(case, &mut random, fields);
        }
    }
}

#[test]
fn integer_sums_wrap_unless_fp16_ovfl_saturates_them() {
    let mut random = Rng::with_seed(3);
    for case in Case::all().iter().filter(|case| case.a == Element::I8 && !case.sparse) {
        for saturate in [false, true] {
            let fields = Fields { a: 0, b: 20, c: 40, d: 40, ..Fields::default() };
            let mut machine = Machine::new(case.target, &mut random);
            let matrices = Matrices::new(case, |which| match which {
                2 => [0x7fff_fff0, 0x8000_0010, random.u64(..) & 0xffff_ffff][random.usize(..3)],
                _ => random.u64(..) & 0xff,
            });
            layout::place(&mut machine, case, fields, &matrices);
            machine.wave.mode.0 |= u32::from(saturate) << 23;
            machine.run(case, fields).unwrap();
            for at @ [block, i, j] in layout::elements(case) {
                let byte = |x: u64| i64::from(x as i8);
                let product: i64 =
                    (0..case.k).map(|k| byte(matrices.a[block][i][k]) * byte(matrices.b[block][k][j])).sum();
                let sum = i64::from(matrices.c[block][i][j] as i32) + product;
                let limits = (i64::from(i32::MIN), i64::from(i32::MAX));
                let want = if saturate { sum.clamp(limits.0, limits.1) } else { sum } as u32;
                assert_eq!(layout::result(&machine, case, fields, at), u64::from(want), "{}", case.row.name);
            }
        }
    }
}
