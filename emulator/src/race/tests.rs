//! What orders accesses and what does not, with waves of one lane.

use proptest::prelude::*;

use super::*;

/// What a wave does.
#[derive(Clone, Copy, Debug)]
enum Step {
    Read(u64),
    Write(u64),
    /// A load that passes by the cache.
    Peek(u64),
    /// An atomic that returns what was there.
    Atomic(u64),
    /// `s_waitcnt vmcnt(0) lgkmcnt(0)`.
    Wait,
    Invalidate,
    /// Invalidates the cache of its compute unit alone.
    InvalidateNear,
    /// Waits, for all waves of its workgroup.
    Barrier,
}

use Step::*;

/// Two workgroups of two waves.
struct Waves {
    shared: SharedRaces,
    waves: Vec<Racing>,
    in_memory: bool,
    writes_back: bool,
    steps: u64,
}

impl Waves {
    fn new(in_memory: bool, writes_back: bool) -> Self {
        Self::with(in_memory, Caches { writes_back, several: false })
    }

    fn with(in_memory: bool, caches: Caches) -> Self {
        let shared = SharedRaces::default();
        let groups = [0, 1].map(|number| Arc::new(Group::new(number, 2, 64)));
        let watch = RaceWatch { order: true, same_values: true, bounds: true };
        let waves =
            (0..4).map(|wave| Racing::new(&groups[wave / 2], wave as u32 % 2, &shared, watch, caches));
        Self { waves: waves.collect(), shared, in_memory, writes_back: caches.writes_back, steps: 0 }
    }

    fn step(&mut self, wave: usize, step: Step) {
        self.steps += 1;
        self.waves[wave].settle();
        let (how, at) = match step {
            Read(at) | Peek(at) => (How::Read, at),
            Write(at) => (How::Write, at),
            Atomic(at) => (How::Atomic, at),
            Wait => return self.waves[wave].wait(Most::NONE, true),
            Invalidate => return self.waves[wave].invalidate(),
            InvalidateNear => return self.waves[wave].invalidate_near(),
            Barrier => {
                self.waves.iter_mut().for_each(|wave| wave.wait(Most::NONE, true));
                return meet(0, self.waves[wave / 2 * 2..][..2].iter_mut().map(|wave| (wave, true)));
            }
        };
        let mut access = Access::new(how, 8 * self.steps);
        access.coherent = Reach::device(matches!(step, Peek(_) | Write(_)) && !self.writes_back);
        let counter = if self.in_memory { Counter::Vector } else { Counter::Local };
        // CAST: no two have one value.
        let spans = if how == How::Write { stored(4 * at, self.steps as u32) } else { loaded(4 * at) };
        let racing = &mut self.waves[wave];
        racing.touch(self.in_memory, access, counter, &spans);
        if matches!(step, Peek(_) | Atomic(_)) {
            racing.hear(self.in_memory, spans.dwords());
        }
    }
}

/// A dword that is stored.
fn stored(at: u64, value: u32) -> Spans {
    let mut spans = Spans::default();
    spans.store(at, &value.to_le_bytes());
    spans
}

/// A dword that is loaded, or changed by an atomic.
fn loaded(at: u64) -> Spans {
    let mut spans = Spans::default();
    spans.load(at, 4);
    spans
}

/// How many pairs of accesses are found.
fn found(in_memory: bool, writes_back: bool, steps: &[(usize, Step)]) -> usize {
    let mut waves = Waves::new(in_memory, writes_back);
    steps.iter().for_each(|&(wave, step)| waves.step(wave, step));
    waves.shared.take().len()
}

#[test]
fn waves_of_a_workgroup_are_ordered_by_barriers_and_by_atomics_at_one_place() {
    for (steps, expected) in [
        (&[(0, Write(1)), (1, Read(1))][..], 1),
        (&[(0, Write(1)), (0, Barrier), (1, Read(1))], 0),
        (&[(0, Read(1)), (1, Write(1))], 1),
        (&[(0, Read(1)), (0, Barrier), (1, Write(1))], 0),
        (&[(0, Read(1)), (1, Read(1))], 0),
        (&[(0, Write(1)), (1, Write(1))], 1),
        (&[(0, Write(1)), (0, Read(1)), (0, Write(1))], 0),
        (&[(0, Atomic(1)), (1, Atomic(1)), (0, Atomic(1))], 0),
        (&[(0, Atomic(1)), (1, Read(1))], 1),
        (&[(0, Write(1)), (1, Atomic(1))], 1),
        (&[(0, Write(1)), (0, Wait), (0, Atomic(2)), (1, Atomic(2)), (1, Read(1))], 0),
        // Nobody has waited for what is written before the atomic.
        (&[(0, Write(1)), (0, Atomic(2)), (1, Atomic(2)), (1, Read(1))], 1),
        (&[(0, Write(1)), (0, Wait), (0, Atomic(2)), (1, Atomic(3)), (1, Read(1))], 1),
    ] {
        for in_memory in [false, true] {
            assert_eq!(found(in_memory, false, steps), expected, "{steps:?}, in memory: {in_memory}");
        }
    }
}

#[test]
fn workgroups_are_ordered_by_releases_and_acquires() {
    let released = [(0, Write(1)), (0, Wait), (0, Atomic(2))];
    for (then, expected) in [
        (&[(2, Atomic(2)), (2, Invalidate), (2, Read(1))][..], 0),
        // The cache may hold what was there before.
        (&[(2, Atomic(2)), (2, Read(1))], 1),
        (&[(2, Invalidate), (2, Atomic(2)), (2, Read(1))], 1),
        // A store does not ask the cache, and a load that passes by it does not either.
        (&[(2, Atomic(2)), (2, Write(1))], 0),
        (&[(2, Atomic(2)), (2, Peek(1))], 0),
        // Another wave of the workgroup learns of it by a barrier.
        (&[(2, Atomic(2)), (2, Invalidate), (2, Barrier), (3, Read(1))], 0),
        (&[(3, Atomic(2)), (2, Invalidate), (2, Read(1))], 1),
        // And a third workgroup's by an atomic of that one.
        (&[(2, Atomic(2)), (2, Wait), (2, Atomic(3)), (3, Atomic(3)), (3, Invalidate), (3, Read(1))], 0),
    ] {
        let steps = [&released[..], then].concat();
        assert_eq!(found(true, false, &steps), expected, "{then:?}");
    }
    // Where stores stay in a cache of the die, waiting for them is not enough.
    let acquired = [(2, Atomic(2)), (2, Invalidate), (2, Read(1))];
    assert_eq!(found(true, true, &[&released[..], &acquired].concat()), 1);
    let mut waves = Waves::new(true, true);
    waves.step(0, Write(1));
    waves.waves[0].write_back();
    for (wave, step) in [(0, Wait), (0, Atomic(2))].into_iter().chain(acquired) {
        waves.step(wave, step);
    }
    assert!(waves.shared.take().is_empty());
}

/// In the WGP mode of RDNA.
#[test]
fn waves_with_caches_of_their_own_wait_and_invalidate() {
    let found = |steps: &[(usize, Step)]| {
        let mut waves = Waves::with(true, Caches { writes_back: false, several: true });
        steps.iter().for_each(|&(wave, step)| waves.step(wave, step));
        waves.shared.take().len()
    };
    for (steps, expected) in [
        (&[(0, Write(1)), (0, Barrier), (1, InvalidateNear), (1, Read(1))][..], 0),
        (&[(0, Write(1)), (0, Barrier), (1, Read(1))], 1),
        (&[(0, Write(1)), (0, Barrier), (1, Peek(1))], 0),
        (&[(0, Read(1)), (0, Barrier), (1, Write(1))], 0),
        // Another workgroup's stores are further away, and what a wave has asked for another may have not.
        (&[(0, Write(1)), (0, Wait), (0, Atomic(2)), (2, Atomic(2)), (2, InvalidateNear), (2, Read(1))], 1),
        (
            &[
                (0, Write(1)),
                (0, Wait),
                (0, Atomic(2)),
                (2, Atomic(2)),
                (2, Invalidate),
                (2, Barrier),
                (3, InvalidateNear),
                (3, Read(1)),
            ],
            0,
        ),
        (
            &[
                (0, Write(1)),
                (0, Wait),
                (0, Atomic(2)),
                (2, Atomic(2)),
                (2, Invalidate),
                (2, Barrier),
                (3, Read(1)),
            ],
            1,
        ),
    ] {
        assert_eq!(found(steps), expected, "{steps:?}");
    }
}

#[test]
fn a_barrier_orders_what_was_waited_for_where_caches_are_several() {
    for (several, expected) in [(false, 0), (true, 1)] {
        let mut waves = Waves::with(true, Caches { writes_back: false, several });
        waves.step(0, Write(1));
        meet(0, waves.waves[..2].iter_mut().map(|wave| (wave, true)));
        waves.step(1, Invalidate);
        waves.step(1, Read(1));
        assert_eq!(waves.shared.take().len(), expected);
    }
}

/// RDNA 4's barrier in two halves.
#[test]
fn a_barrier_orders_what_came_before_its_signal() {
    for (late, expected) in [(false, 0), (true, 1)] {
        let mut waves = Waves::new(false, false);
        if !late {
            waves.step(0, Write(1));
            waves.step(0, Wait);
        }
        waves.waves[0].signal(1);
        if late {
            waves.step(0, Write(1));
            waves.step(0, Wait);
        }
        // The second one waits, and goes on before the first one waits.
        waves.waves[1].signal(1);
        meet(1, waves.waves[..2].iter_mut().zip([false, true]));
        waves.step(1, Read(1));
        assert_eq!(waves.shared.take().len(), expected);
    }
}

#[test]
fn loads_and_stores_are_waited_for_by_themselves() {
    for (most, expected) in [
        (Most { store: 0, ..Most::ALL }, 0),
        (Most { vector: 0, ..Most::ALL }, 1),
        (Most { store: 1, ..Most::ALL }, 0),
        (Most { store: 2, ..Most::ALL }, 1),
    ] {
        let mut waves = Waves::with(true, Caches { writes_back: false, several: true });
        for at in [4, 8] {
            waves.waves[0].touch(true, Access::new(How::Write, 8), Counter::Store, &stored(at, 1));
        }
        waves.waves[0].wait(most, false);
        waves.waves[0].touch(true, Access::new(How::Atomic, 16), Counter::Store, &loaded(64));
        for (wave, step) in [(1, Atomic(16)), (1, Invalidate), (1, Read(1))] {
            waves.step(wave, step);
        }
        assert_eq!(waves.shared.take().len(), expected, "{:?}", [most.vector, most.store]);
    }
}

/// What reaches the waves of a workgroup does not reach others.
#[test]
fn atomics_for_a_workgroup_meet_no_others() {
    let found = |waves: [usize; 2], reach: Reach| {
        let mut all = Waves::new(true, false);
        for (wave, how) in waves.into_iter().zip([How::Write, How::Read]) {
            let mut access = Access::new(how, 8);
            access.coherent = reach;
            let spans = if how == How::Write { stored(4, 1) } else { loaded(4) };
            all.waves[wave].touch(true, access, Counter::Vector, &spans);
        }
        all.shared.take().len()
    };
    assert_eq!([found([0, 1], Reach::Group), found([0, 2], Reach::Group)], [0, 1]);
    assert_eq!([found([0, 2], Reach::Device), found([0, 1], Reach::Nobody)], [0, 1]);
}

#[test]
fn what_is_loaded_again_and_again_is_a_flag() {
    let steps = |polls: usize| {
        let begin = [(1, Read(2)), (1, Read(2))];
        let release = [(0, Write(1)), (0, Wait), (0, Write(2))];
        let end = [(1, Read(2)), (1, Read(1))];
        [&begin[..polls], &release, &end].concat()
    };
    // Each step has its own address here, where a loop has one.
    let found = |polls: usize| {
        let mut waves = Waves::new(true, false);
        for (wave, step) in steps(polls) {
            if wave == 1 && matches!(step, Read(2)) {
                waves.steps = 100;
            }
            waves.step(wave, step);
        }
        waves.shared.take().len()
    };
    assert_eq!(found(2), 0);
    assert_eq!(found(0), 1, "the flag, which is known as such by nothing");
}

#[test]
fn the_load_of_a_loop_that_compares_is_none() {
    let found = |compares: bool| {
        let mut waves = Waves::new(true, false);
        for wave in [0, 2] {
            waves.waves[wave].touch(true, Access::new(How::Read, 8), Counter::Vector, &loaded(4));
            let mut access = Access::new(How::Atomic, 16);
            access.compares = compares;
            waves.waves[wave].touch(true, access, Counter::Vector, &loaded(4));
        }
        waves.shared.take().len()
    };
    assert_eq!((found(true), found(false)), (0, 1));
}

#[test]
fn stores_of_what_is_loaded_by_the_same_instruction_may_differ() {
    let found = |is_unknown: bool| {
        let waves = &mut Waves::new(false, false);
        for wave in [0, 1] {
            let mut access = Access::new(How::Write, 8);
            access.is_unknown = is_unknown;
            waves.waves[wave].touch(false, access, Counter::ToLds, &stored(4, 0));
        }
        waves.shared.take().iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!((found(true), found(false)), (vec![RaceKind::Waves], vec![RaceKind::SameValue]));
}

#[test]
fn what_many_atomics_at_a_place_have_shown_is_kept_together() {
    let mut waves = Waves::new(true, false);
    for (wave, step) in [(0, Write(1)), (0, Wait)] {
        waves.step(wave, step);
    }
    for _ in 0..10_000 {
        waves.step(0, Atomic(2));
        waves.step(0, Wait);
        waves.step(3, Atomic(2));
    }
    for (wave, step) in [(2, Atomic(2)), (2, Invalidate), (2, Read(1))] {
        waves.step(wave, step);
    }
    assert!(waves.shared.take().is_empty());
}

#[test]
fn lanes_of_one_instruction_must_not_write_different_values() {
    let found = |values: [u16; 2], places: [u64; 2]| {
        let mut waves = Waves::new(false, false);
        let mut spans = Spans::default();
        places.into_iter().zip(values).for_each(|(at, value)| spans.store(at, &value.to_le_bytes()));
        waves.waves[0].touch(false, Access::new(How::Write, 8), Counter::Local, &spans);
        waves.shared.take().iter().map(|finding| (finding.kind, finding.count)).collect::<Vec<_>>()
    };
    assert_eq!(found([1, 2], [8, 8]), [(RaceKind::Lanes, 2)]);
    assert_eq!(found([7, 7], [8, 8]), []);
    assert_eq!(found([1, 2], [8, 10]), []);
}

#[test]
fn what_lies_beyond_the_end_of_lds_is_told() {
    let waves = Waves::new(false, false);
    let access = Access::new(How::Read, 16);
    assert!(!waves.waves[2].leaves(&access, 60, 4));
    assert!(waves.waves[2].leaves(&access, 62, 4));
    let [finding] = waves.shared.take()[..] else { panic!("one") };
    assert_eq!((finding.kind, finding.byte, finding.other), (RaceKind::Outside, RaceByte::Lds(62), None));
    assert_eq!((finding.access.workgroup, finding.access.wave, finding.access.pc), (1, 0, 16));
}

#[test]
fn what_lies_beyond_the_scratch_of_a_lane_is_told() {
    let waves = Waves::new(false, false);
    waves.waves[1].leave_scratch(How::Write, 24, 20);
    let [finding] = waves.shared.take()[..] else { panic!("one") };
    assert_eq!((finding.kind, finding.byte), (RaceKind::Outside, RaceByte::Scratch(20)));
    assert_eq!((finding.access.how, finding.access.wave, finding.access.pc), (How::Write, 1, 24));
}

/// Whether two accesses need an order that no path gives, by all paths: each step before the next of its wave, atomics at one
/// place, and barriers, before what comes behind them.
fn is_racy(steps: &[(usize, Step)]) -> bool {
    let orders = |one: (usize, Step), other: (usize, Step)| match (one.1, other.1) {
        _ if one.0 == other.0 => true,
        (Barrier, _) | (_, Barrier) => one.0 / 2 == other.0 / 2,
        (Atomic(at), Atomic(place)) => at == place,
        _ => false,
    };
    let conflict = |one: Step, other: Step| match (one, other) {
        (Read(at), Write(place)) | (Write(at), Read(place) | Write(place)) => at == place,
        _ => false,
    };
    let mut before = vec![vec![false; steps.len()]; steps.len()];
    for last in 0..steps.len() {
        for first in (0..last).rev() {
            before[first][last] = orders(steps[first], steps[last])
                || (first + 1..last).any(|middle| before[first][middle] && before[middle][last]);
        }
    }
    let pairs = (0..steps.len()).flat_map(|last| (0..last).map(move |first| (first, last)));
    pairs.into_iter().any(|(first, last)| conflict(steps[first].1, steps[last].1) && !before[first][last])
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    // Data are at other places than atomics.
    let step = prop_oneof![
        3 => (0u64..3).prop_map(Read),
        3 => (0u64..3).prop_map(Write),
        3 => (8u64..10).prop_map(Atomic),
        1 => Just(Barrier),
    ];
    proptest::collection::vec((0usize..4, step), 1..24)
}

/// What a wave does with bytes: how, from where on, how many, and what it stores.
type Stretch = (usize, How, u64, u64, u8);

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let how = prop_oneof![3 => Just(How::Read), 3 => Just(How::Write), 1 => Just(How::Atomic)];
    // Rows, from their beginnings or not.
    let start =
        prop_oneof![(0u64..5).prop_map(|row| 64 * row), 0u64..300, (0u64..70).prop_map(|at| 4080 + at)];
    let bytes = prop_oneof![(1u64..4).prop_map(|rows| 64 * rows), 1u64..200];
    proptest::collection::vec((0usize..4, how, start, bytes, 0u8..2), 1..12)
}

/// The kinds that are found, with the instructions and the bytes.
fn found_in(stretches: &[Stretch], at_once: bool) -> Vec<(RaceKind, u64, Option<u64>, u64)> {
    let mut waves = Waves::new(true, false);
    for (pc, &(wave, how, start, bytes, value)) in (8..).step_by(8).zip(stretches) {
        if bytes.is_multiple_of(7) {
            waves.step(wave, Wait);
            waves.step(wave, Barrier);
        }
        let mut spans = Spans::default();
        let mut add = |at: u64| match how {
            // Every third dword has another value.
            How::Write => spans.store(at, &[value + u8::from((at / 4).is_multiple_of(3) && value > 0)]),
            _ => spans.load(at, 1),
        };
        let end = start + bytes;
        let mut dwords: Vec<_> = (start & !3..end).step_by(4).collect();
        if !at_once {
            // No dword lies behind what was added before.
            dwords.reverse();
        }
        dwords.into_iter().for_each(|dword| (dword.max(start)..end.min(dword + 4)).for_each(&mut add));
        waves.waves[wave].touch(true, Access::new(how, pc), Counter::Vector, &spans);
    }
    let name = |finding: RaceFinding| {
        (finding.kind, finding.access.pc, finding.other.map(|other| other.pc), finding.count)
    };
    waves.shared.take().into_iter().map(name).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn something_is_found_if_and_only_if_something_is_unordered(steps in steps(), writes_back: bool) {
        let mut waves = Waves::new(true, writes_back);
        for &(wave, step) in &steps {
            // Atomics release and acquire.
            let is_atomic = matches!(step, Atomic(_));
            if is_atomic {
                if writes_back {
                    waves.waves[wave].write_back();
                }
                waves.step(wave, Wait);
            }
            waves.step(wave, step);
            if is_atomic {
                waves.step(wave, Invalidate);
            }
        }
        prop_assert_eq!(!waves.shared.take().is_empty(), is_racy(&steps));
    }

    #[test]
    fn the_same_is_found_of_rows_as_of_their_dwords(stretches in stretches()) {
        prop_assert_eq!(found_in(&stretches, true), found_in(&stretches, false));
    }
}
