use std::thread;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Call {
    Add(usize, u64),
    /// What was added by the call of this number, modulo those that there are.
    Sub(usize, usize),
    Reset,
}

fn call() -> impl Strategy<Value = Call> {
    // Few shares: they lend to each other.
    let share = 0usize..4;
    prop_oneof![
        4 => (share.clone(), 0u64..100).prop_map(|(share, bytes)| Call::Add(share, bytes)),
        4 => (share, any::<prop::sample::Index>()).prop_map(|(share, which)| Call::Sub(share, which.index(64))),
        1 => Just(Call::Reset),
    ]
}

proptest! {
    #[test]
    fn shares_count_what_one_count_does(calls in prop::collection::vec(call(), 0..200)) {
        let (meter, mut expected, mut there) = (Shared::default(), Meter::default(), Vec::new());
        for call in calls {
            match call {
                Call::Add(share, bytes) => {
                    meter.add(share, bytes);
                    expected.add(bytes);
                    there.push(bytes);
                }
                Call::Sub(share, which) if !there.is_empty() => {
                    let bytes = there.swap_remove(which % there.len());
                    meter.sub(share, bytes);
                    expected.sub(bytes);
                }
                Call::Sub(..) => {}
                Call::Reset => {
                    meter.reset_high();
                    expected.reset_high();
                }
            }
            prop_assert_eq!(meter.read(), expected);
        }
    }
}

#[test]
fn threads_below_the_mark_touch_nothing_but_their_shares() {
    let meter = Shared::default();
    (0..SHARES).for_each(|share| meter.add(share, 100));
    (0..SHARES).for_each(|share| meter.sub(share, 100));
    // Who needs more than his own waits here for ever.
    let held = meter.hold();
    thread::scope(|scope| {
        for share in 0..SHARES {
            let meter = &meter;
            scope.spawn(move || {
                for bytes in 1..=100 {
                    meter.add(share, bytes);
                    meter.sub(share, bytes);
                }
            });
        }
    });
    drop(held);
    assert_eq!(meter.read(), Meter { current: 0, high: 100 * SHARES as u64 });
}

#[test]
fn threads_that_exceed_the_mark_together_are_all_counted() {
    const THREADS: usize = 4;
    let meter = SharedMeter::default();
    thread::scope(|scope| {
        for number in 0..THREADS as u64 {
            let meter = &meter;
            scope.spawn(move || {
                for round in 0..2000 {
                    let bytes = (round * 7 + number) % 50;
                    meter.add(bytes);
                    let now = meter.read();
                    assert!(bytes <= now.current && now.current <= now.high);
                    meter.sub(bytes);
                }
                meter.add(number);
            });
        }
    });
    let Meter { current, high } = meter.read();
    assert!(current == 6 && (49..=49 * THREADS as u64).contains(&high), "{current} below {high}");
    meter.reset_high();
    assert_eq!(meter.read(), Meter { current: 6, high: 6 });
}

#[test]
fn a_thread_has_one_share_of_all_meters() {
    assert_eq!(share(), share());
    assert!(thread::scope(|scope| scope.spawn(share).join().unwrap()) < SHARES);
}
