//! Programs print the same on our library as on AMD's: the quick set of `cargo xtask conformance`.

use xtask::conformance;

#[test]
fn the_quick_set_prints_the_same_on_amds_library() {
    // Whether it ran is said on stderr: without AMD's packages there is nothing to compare with.
    if let Err(error) = conformance::quick() {
        panic!("{error}; `cargo xtask conformance` shows the rest");
    }
}

#[test]
fn every_program_has_a_topic_and_well_formed_markers() {
    let programs = conformance::programs::find(&conformance::programs::directory()).unwrap();
    assert!(!programs.is_empty());
}
