//! Modifiers that an instruction lacks stop the wave with a fault that names it.

use emulator::{isa::Target, wave::FaultKind};
use fastrand::Rng;

use super::{Case, Element, Fields, Machine};

fn refuses(case: &Case, fields: Fields) {
    let mut random = Rng::with_seed(5);
    let mut machine = Machine::new(case.target, &mut random);
    let before: Vec<_> = machine.wave.vgpr.iter().map(|row| row.0).collect();
    let fault = machine.run(case, Fields { a: 0, b: 10, c: 40, d: 80, ..fields });
    assert_eq!(fault, Err(FaultKind::Unimplemented { name: case.row.name }), "{fields:?}");
    let after: Vec<_> = machine.wave.vgpr.iter().map(|row| row.0).collect();
    assert!(before == after, "{} changed registers", case.row.name);
}

#[test]
fn broadcasts_beyond_the_blocks_are_faults() {
    for case in Case::all().iter().filter(|case| !case.sparse && case.formats.is_none()) {
        if case.is_double() && case.target != Target::Gfx90a {
            continue;
        }
        let most = if case.is_double() { 1 } else { case.blocks };
        if !case.is_double() {
            refuses(case, Fields { cbsz: most.ilog2() + 1, ..Fields::default() });
            refuses(case, Fields { abid: 1, ..Fields::default() });
        }
        if most > 1 {
            refuses(case, Fields { cbsz: 1, abid: 2, ..Fields::default() });
        }
    }
}

#[test]
fn permutations_of_b_are_faults_where_there_are_none() {
    for case in Case::all().iter().filter(|case| !case.sparse && case.formats.is_none()) {
        let lacks = match case.target {
            Target::Gfx90a => case.is_double(),
            _ => !case.is_double() && case.a != Element::F32 && case.blocks == 1,
        };
        if lacks {
            for blgp in 1..8 {
                refuses(case, Fields { blgp, ..Fields::default() });
            }
        }
    }
}

#[test]
fn formats_that_there_are_not_are_faults() {
    for case in Case::all().into_iter().filter(|case| case.formats == Some([0, 0])) {
        for code in 5..8 {
            for formats in [[code, 0], [0, code]] {
                refuses(&Case { formats: Some(formats), ..case }, Fields::default());
            }
        }
    }
}
