//! Sums against data/matrix/sums.txt, which mmasim 2.1.1 (PyPI) computed: the authors' own model of what they measured.
//!
//! A line holds the mnemonic, a row of A, a column of B, C and D, all in hexadecimal.

use fastrand::Rng;

use super::{Case, Fields, Machine, Matrices, layout};

const SUMS: &str = include_str!("../data/matrix/sums.txt");

/// Elements of `bits` bits.
fn elements(text: &str, bits: usize) -> Vec<u64> {
    let digits = bits / 4;
    (0..text.len() / digits)
        .map(|n| u64::from_str_radix(&text[n * digits..(n + 1) * digits], 16).unwrap())
        .collect()
}

#[test]
fn sums_agree_with_mmasim() {
    let cases = Case::all();
    let mut random = Rng::with_seed(71);
    for line in SUMS.lines().filter(|line| !line.starts_with('#')) {
        let [name, a, b, c, d] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let case = cases.iter().find(|case| case.row.name == name).unwrap();
        let (a, b) = (elements(a, case.a.bits()), elements(b, case.b.bits()));
        let (c, d) = (elements(c, 32)[0], elements(d, 32)[0]);
        assert_eq!((a.len(), b.len()), (case.k, case.k), "{line}");
        let mut matrices = Matrices::new(case, |_| c);
        for block in 0..case.blocks {
            matrices.a[block].fill(a.clone());
            for (k, row) in matrices.b[block].iter_mut().enumerate() {
                row.fill(b[k]);
            }
        }
        let fields = Fields { a: 0, b: 20, c: 40, d: 80, ..Fields::default() };
        let mut machine = Machine::new(case.target, &mut random);
        layout::place(&mut machine, case, fields, &matrices);
        machine.run(case, fields).unwrap();
        for at in layout::elements(case) {
            let got = layout::result(&machine, case, fields, at);
            assert_eq!(got, d, "{at:?} of {line}: {got:08x}");
        }
    }
}
