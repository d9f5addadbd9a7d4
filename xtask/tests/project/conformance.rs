//! The conformance programs are well-formed. `cargo xtask test` runs them all, in a step of their own.

use xtask::conformance;

#[test]
fn every_program_has_a_topic_and_well_formed_markers() {
    let programs = conformance::programs::find(&conformance::programs::directory()).unwrap();
    assert!(!programs.is_empty());
}
