//! Constants, overlaps, the end of the register file, EXEC.

use emulator::wave::FaultKind;
use fastrand::Rng;

use super::{Case, Element, Fields, Machine, Matrices, layout, products::accumulator};

/// Runs an instruction with A and B of ones; D is then C + K.
fn ones(case: &Case, fields: Fields, machine: &mut Machine, mut c: impl FnMut() -> u64) -> Matrices {
    let matrices = Matrices::new(case, |which| match which {
        0 => case.a.encode(1),
        1 => case.b.encode(1),
        _ => c(),
    });
    layout::place(machine, case, fields, &matrices);
    machine.run(case, fields).unwrap();
    matrices
}

#[test]
fn c_may_be_an_inline_constant() {
    let mut random = Rng::with_seed(21);
    for case in Case::all().iter().filter(|case| !case.sparse) {
        // The code, its integer and its float.
        for (code, integer, float) in
            [(128, 0i64, 0.0), (192, 64, 0.0), (193, -1, 0.0), (242, 0, 1.0f64), (247, 0, -4.0)]
        {
            let fields = Fields { a: 0, b: 300, c: 512 + code, d: 80, ..Fields::default() };
            let mut machine = Machine::new(case.target, &mut random);
            ones(case, fields, &mut machine, || 0);
            let k = case.k as i64;
            let want = match case.a {
                Element::I8 if code >= 240 => u64::from((float as f32).to_bits().wrapping_add(k as u32)),
                Element::I8 => (integer + k) as u32 as u64,
                // Integers are bit patterns: denormals or NaNs.
                Element::F64 if integer < 0 => 0x7ff8 << 48,
                Element::F64 => (float + k as f64).to_bits(),
                _ if integer < 0 => 0x7fc0_0000,
                _ => u64::from((float as f32 + k as f32).to_bits()),
            };
            for at in layout::elements(case) {
                assert_eq!(layout::result(&machine, case, fields, at), want, "{} {code}", case.row.name);
            }
        }
    }
}

#[test]
fn a_and_b_cannot_be_constants_nor_anything_scalar() {
    let mut random = Rng::with_seed(22);
    for case in Case::all() {
        let opcode = 0xd380_0000 | u32::from(case.row.opcode) << 16 | 80;
        for (scalar, position) in [(242, 0), (242, 9), (8, 0), (8, 9), (8, 18)] {
            let sources = (256 | 300 << 9 | (256 + 40) << 18) & !(0x1ff << position) | scalar << position;
            let fault = Machine::new(case.target, &mut random).execute([opcode, sources]);
            assert_eq!(fault, Err(FaultKind::Unimplemented { name: case.row.name }), "{sources:x}");
        }
    }
}

#[test]
fn exec_does_not_matter() {
    let mut random = Rng::with_seed(23);
    for case in Case::all().iter().filter(|case| !case.sparse) {
        let fields = Fields { a: 0, b: 20, c: 40, d: 80, ..Fields::default() };
        for exec in [0, 1, u64::MAX, 0xf0f0_1234_5678_9abc] {
            let mut machine = Machine::new(case.target, &mut random);
            machine.wave.exec = exec;
            ones(case, fields, &mut machine, || accumulator(case, 5));
            let want = accumulator(case, 5 + case.k as i64);
            for at in layout::elements(case) {
                assert_eq!(layout::result(&machine, case, fields, at), want, "{}", case.row.name);
            }
        }
    }
}

#[test]
fn registers_that_overlap_are_read_before_any_is_written() {
    let mut random = Rng::with_seed(24);
    for case in Case::all().iter().filter(|case| !case.sparse) {
        // D over C, before, behind and apart; over A; over B.
        for (a, b, c, d) in [
            (0, 20, 64, 68),
            (0, 20, 68, 64),
            (64, 20, 100, 64),
            (0, 64, 100, 64),
            (66, 64, 62, 64),
            (64, 64, 64, 64),
        ] {
            let fields = Fields { a, b, c, d, ..Fields::default() };
            let mut machine = Machine::new(case.target, &mut random);
            // Small finite numbers in all registers.
            for row in machine.wave.vgpr.iter_mut() {
                row.0.fill_with(|| {
                    let word = random.u32(..);
                    if case.a == Element::I8 { word } else { word & 0x0707_0707 | 0x3030_3030 }
                });
            }
            let apart = Fields { a: 256, b: 280, c: 300, d: 340, ..Fields::default() };
            let mut copy = Machine::new(case.target, &mut random);
            for (from, to) in [(a, 256), (b, 280), (c, 300)] {
                let rows = machine.wave.vgpr[from..from + if to == 300 { 32 } else { 8 }].to_vec();
                copy.wave.vgpr[to..to + rows.len()].copy_from_slice(&rows);
            }
            machine.run(case, fields).unwrap();
            copy.run(case, apart).unwrap();
            for at in layout::elements(case) {
                let (got, want) =
                    (layout::result(&machine, case, fields, at), layout::result(&copy, case, apart, at));
                assert_eq!(got, want, "{} {fields:?} {at:?}", case.row.name);
            }
        }
    }
}

#[test]
fn only_registers_of_d_are_written() {
    let mut random = Rng::with_seed(25);
    for case in Case::all() {
        let fields = Fields { a: 0, b: 20, c: 40, d: 80, ..Fields::default() };
        let mut machine = Machine::new(case.target, &mut random);
        let before: Vec<_> = machine.wave.vgpr.iter().map(|row| row.0).collect();
        machine.run(&case, fields).unwrap();
        let count = case.n * case.n * case.blocks * layout::output_bits(&case) / 32 / 64;
        for (n, row) in machine.wave.vgpr.iter().enumerate() {
            assert!((80..80 + count).contains(&n) || row.0 == before[n], "{} register {n}", case.row.name);
        }
    }
}

#[test]
fn tuples_past_the_end_of_the_file_read_from_its_begin_and_write_nothing() {
    let mut random = Rng::with_seed(26);
    for case in Case::all().iter().filter(|case| !case.sparse && case.row.shape.dst.dwords() > 2) {
        let mut machine = Machine::new(case.target, &mut random);
        let before: Vec<_> = machine.wave.vgpr.iter().map(|row| row.0).collect();
        machine.run(case, Fields { a: 0, b: 20, c: 40, d: 254, ..Fields::default() }).unwrap();
        let after: Vec<_> = machine.wave.vgpr.iter().map(|row| row.0).collect();
        assert!(before == after, "{}", case.row.name);

        let fields = Fields { a: 120, b: 140, c: 254, d: 80, ..Fields::default() };
        let start = Fields { c: 0, ..fields };
        let mut machine = Machine::new(case.target, &mut random);
        ones(case, start, &mut machine, || accumulator(case, random_small(&mut random)));
        let want: Vec<_> =
            layout::elements(case).map(|at| layout::result(&machine, case, start, at)).collect();
        machine.run(case, fields).unwrap();
        for (at, want) in layout::elements(case).zip(want) {
            assert_eq!(layout::result(&machine, case, fields, at), want, "{}", case.row.name);
        }
    }
}

fn random_small(random: &mut Rng) -> i64 {
    random.i64(0..1000)
}
