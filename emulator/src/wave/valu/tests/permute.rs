//! Exchanges between groups of lanes of two registers.

use fastrand::Rng;

use super::{DST, Lab};
use crate::wave::Vector;

/// Runs `words`, an exchange of v16 and v0, and compares with `want`: given the lane and whether it is of v16, the lane of
/// the other register that it comes from.
fn check(
    words: &[u32],
    exec: u64,
    [fetches, zeroes]: [bool; 2],
    partner: impl Fn(usize, bool) -> Option<usize>,
) {
    let mut random = Rng::with_seed(exec);
    let mut lab = Lab::new();
    let [a, b] = [0, 0].map(|_| Vector(std::array::from_fn(|_| random.u32(..))));
    (lab.wave.vgpr[DST], lab.wave.vgpr[0]) = (a, b);
    lab.wave.exec = exec;
    lab.execute(words);
    let live = |lane: usize| exec >> lane & 1 != 0;
    for lane in 0..64 {
        for (register, own, other) in [(DST, &a, &b), (0, &b, &a)] {
            let want = match partner(lane, register == DST) {
                Some(from) if live(lane) && (live(from) || fetches) => other.0[from],
                Some(_) if live(lane) && zeroes => 0,
                _ => own.0[lane],
            };
            assert_eq!(
                lab.wave.vgpr[register].0[lane], want,
                "v{register} lane {lane} of {exec:x} {words:08x?}"
            );
        }
    }
}

#[test]
fn groups_of_lanes_change_places() {
    let rows = |lane: usize, is_first: bool| match (is_first, lane / 16 % 2) {
        (true, 1) => Some(lane - 16),
        (false, 0) => Some(lane + 16),
        _ => None,
    };
    let halves = |lane: usize, is_first: bool| match (is_first, lane / 32) {
        (true, 1) => Some(lane - 32),
        (false, 0) => Some(lane + 32),
        _ => None,
    };
    let mut random = Rng::with_seed(107);
    for exec in [u64::MAX, 0, 0xffff_0000_ffff_0000].into_iter().chain((0..32).map(|_| random.u64(..))) {
        // v_permlane16_swap_b32 v16, v0; v_permlane32_swap_b32 v16, v0
        check(&[0x7e20_b300], exec, [false; 2], rows);
        check(&[0x7e20_b500], exec, [false; 2], halves);
        for [fetches, zeroes] in [[false, false], [false, true], [true, false], [true, true]] {
            let bits = u32::from(fetches) << 11 | u32::from(zeroes) << 12;
            check(&[0xd199_0010 | bits, 0x100], exec, [fetches, zeroes], rows);
            check(&[0xd19a_0010 | bits, 0x100], exec, [fetches, zeroes], halves);
        }
    }
}

#[test]
fn a_register_exchanges_its_own_groups() {
    let mut lab = Lab::new();
    lab.wave.vgpr[DST] = Vector(std::array::from_fn(|lane| lane as u32));
    lab.execute(&[0x7e20_b310]); // v_permlane16_swap_b32 v16, v16
    let want: [u32; 64] = std::array::from_fn(|lane| lane as u32 ^ 16);
    assert_eq!(lab.wave.vgpr[DST].0, want);
}
