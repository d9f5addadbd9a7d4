//! SMFMAC: A holds half of the elements, source 2 says which.

use fastrand::Rng;

use super::{Case, Element, Fields, Machine, Matrices, layout, model, products::accumulator};

/// The six pairs of places in a group of four.
const PAIRS: [(u32, u32); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// Picks places for every pair of stored elements and writes them to the index register, set `set`.
///
/// The calculator puts the indices of A\[i\]\[k\], k a multiple of 4, into 4 bits of the lane that holds the elements:
/// `16 * (k / 8) + i` for 16 rows of 16 bits, and so on. The lanes of gfx950's own instructions hold twice as much.
fn indices(
    machine: &mut Machine,
    case: &Case,
    register: usize,
    set: u32,
    random: &mut Rng,
) -> Vec<Vec<usize>> {
    let per_lane = 32 / sets(case) as usize;
    (0..case.n)
        .map(|i| {
            let mut places = Vec::new();
            for k in (0..case.k).step_by(4) {
                let (first, second) = PAIRS[random.usize(..6)];
                places.extend([k + first as usize, k + second as usize]);
                let lane = case.n * (k / per_lane) + i;
                let bit = (k / 4 % (per_lane / 4)) as u32 * 4 + set * per_lane as u32;
                let word = &mut machine.wave.vgpr[register].0[lane];
                *word = *word & !(15 << bit) | (first | second << 2) << bit;
            }
            places
        })
        .collect()
}

/// The sets of indices in a register.
fn sets(case: &Case) -> u32 {
    let sets = if case.a.bits() == 16 { 4 } else { 2 };
    if case.is_doubled() { sets / 2 } else { sets }
}

fn sparse() -> impl Iterator<Item = Case> {
    Case::all().into_iter().filter(|case| case.sparse)
}

/// `expected` gets the stored row of A, the elements of B that belong to it, and C.
fn check(
    case: &Case,
    fields: Fields,
    set: u32,
    matrices: &Matrices,
    random: &mut Rng,
    expected: impl Fn(&[u64], &[u64], u64) -> u64,
) {
    let mut machine = Machine::new(case.target, random);
    layout::place(&mut machine, case, fields, matrices);
    let places = indices(&mut machine, case, fields.c, set, random);
    machine.run(case, fields).unwrap();
    for at @ [block, i, j] in layout::elements(case) {
        let a = &matrices.a[block][i];
        let b: Vec<_> = places[i].iter().map(|k| matrices.b[block][*k][j]).collect();
        let want = expected(a, &b, matrices.c[block][i][j]);
        let got = layout::result(&machine, case, fields, at);
        assert_eq!(got, want, "{} {at:?} {fields:?}: {got:#x}, not {want:#x}", case.row.name);
    }
}

#[test]
fn every_sparse_instruction_multiplies_with_every_set_of_indices() {
    let mut random = Rng::with_seed(31);
    for case in sparse() {
        let sets = sets(&case);
        let mut fields = vec![];
        for abid in 0..sets {
            fields.push((0, abid, abid));
            // Another CBSZ selects the first set.
            fields.push((1 + abid % 3, abid, 0));
        }
        for (n, (cbsz, abid, set)) in fields.into_iter().enumerate() {
            let file = |bit: usize| (n >> bit & 1) * 256;
            let fields = Fields {
                a: file(0),
                b: file(1) + 20,
                c: 40,
                d: file(2) + 80,
                cbsz,
                abid,
                ..Fields::default()
            };
            let numbers = Matrices::new(&case, |which| {
                let x = random.i64(0..9) - 4;
                (if which == 2 { x * 50 } else { x }) as u64
            });
            let mut elements = numbers.clone();
            let each = |matrix: &mut Vec<Vec<u64>>, f: &dyn Fn(i64) -> u64| {
                matrix.iter_mut().flatten().for_each(|x| *x = f(*x as i64));
            };
            each(&mut elements.a[0], &|x| case.a.encode(x as i32));
            each(&mut elements.b[0], &|x| case.b.encode(x as i32));
            each(&mut elements.c[0], &|x| accumulator(&case, x));
            // Small integers are their own codes: look them up.
            let value = |element: Element, bits: u64| {
                (-4..=4).find(|x| element.encode(*x) == bits).map(i64::from).unwrap()
            };
            let addend = |bits: u64| (-200..=200).find(|x| accumulator(&case, *x) == bits).unwrap();
            check(&case, fields, set, &elements, &mut random, |a, b, c| {
                let product: i64 = a.iter().zip(b).map(|(a, b)| value(case.a, *a) * value(case.b, *b)).sum();
                accumulator(&case, addend(c) + product)
            });
        }
    }
}

#[test]
fn stored_elements_sum_as_those_of_a_dense_matrix() {
    let mut random = Rng::with_seed(32);
    for case in sparse().filter(|case| case.a != Element::I8) {
        let fields = Fields { a: 0, b: 20, c: 40, d: 80, ..Fields::default() };
        for _ in 0..8 {
            let matrices = Matrices::new(&case, |which| {
                let element = [case.a, case.b, Element::F32][which];
                let (_, fraction, bias) = element.format();
                let sign = (random.u64(..) & 1) << (element.bits() - 1);
                sign | (bias as u64 - 3 + random.u64(..6)) << fraction
                    | random.u64(..) & ((1 << fraction) - 1)
            });
            check(&case, fields, 0, &matrices, &mut random, |a, b, c| model::dot(&case, a, b, c, false));
        }
    }
}

#[test]
fn fp16_ovfl_saturates_sparse_integers() {
    let mut random = Rng::with_seed(33);
    for case in sparse().filter(|case| case.a == Element::I8) {
        let fields = Fields { a: 0, b: 20, c: 40, d: 80, ..Fields::default() };
        let matrices = Matrices::new(&case, |which| [127, 127, 0x7fff_ffff - 5][which]);
        let mut machine = Machine::new(case.target, &mut random);
        machine.wave.mode.0 |= 1 << 23;
        layout::place(&mut machine, &case, fields, &matrices);
        machine.run(&case, fields).unwrap();
        for at in layout::elements(&case) {
            assert_eq!(layout::result(&machine, &case, fields, at), 0x7fff_ffff, "{}", case.row.name);
        }
    }
}
