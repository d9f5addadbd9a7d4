//! Loom explores every interleaving of threads that count on a meter and one that looks at it or needs a higher mark.

#[path = "shared.rs"]
#[allow(clippy::duplicate_mod, dead_code, reason = "the same code on other atomics is what a model is")]
mod shared;

use loom::{model::Builder, sync::Arc, thread};
// What the meter stands on.
use loom::sync::atomic::{AtomicI64, Ordering};

use self::shared::Shared;
use super::Meter;
use crate::loom_mutex::{Mutex, MutexGuard};

const SHARES: usize = 3;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    // What loom switches threads with keeps something of a thread that has a model, which a leak checker would find.
    if std::env::var_os("AQLIPSE_SANITIZER").is_some() {
        return;
    }
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Five bytes are in use, which the first share has to give back; two more were, and lie in the second.
fn half_used() -> Arc<Shared> {
    let meter = Arc::new(Shared::default());
    meter.add(0, 5);
    meter.add(1, 2);
    meter.sub(1, 2);
    assert_eq!(meter.read(), Meter { current: 5, high: 7 });
    meter
}

/// Frees the five bytes, and only then allocates two, as one thread that two shares: as a thread would that is told by
/// another that these are free.
fn frees_and_allocates(meter: &Arc<Shared>) -> thread::JoinHandle<()> {
    let meter = meter.clone();
    thread::spawn(move || {
        meter.sub(0, 5);
        meter.add(1, 2);
    })
}

#[test]
fn the_mark_goes_up_only_where_there_is_no_slack_at_one_moment() {
    explore(|| {
        let meter = half_used();
        let other = frees_and_allocates(&meter);
        meter.add(2, 1);
        other.join().unwrap();
        assert_eq!(meter.read(), Meter { current: 3, high: 7 });
    });
}

#[test]
fn what_is_read_was_in_use_at_one_moment() {
    explore(|| {
        let meter = half_used();
        let other = frees_and_allocates(&meter);
        let Meter { current, high } = meter.read();
        assert!(matches!(current, 5 | 0 | 2) && high == 7, "{current} below {high}");
        other.join().unwrap();
        assert_eq!(meter.read(), Meter { current: 2, high: 7 });
    });
}

#[test]
fn a_mark_that_starts_anew_is_what_was_in_use_at_one_moment() {
    explore(|| {
        let meter = half_used();
        let other = frees_and_allocates(&meter);
        meter.reset_high();
        other.join().unwrap();
        let Meter { current, high } = meter.read();
        assert!(current == 2 && matches!(high, 5 | 2), "{current} below {high}");
    });
}

#[test]
fn the_mark_is_the_most_of_some_order_of_calls() {
    explore(|| {
        let meter = Arc::new(Shared::default());
        let other = {
            let meter = meter.clone();
            thread::spawn(move || {
                meter.add(0, 3);
                meter.sub(0, 3);
                meter.add(0, 2);
            })
        };
        meter.add(1, 4);
        meter.sub(1, 4);
        other.join().unwrap();
        let Meter { current, high } = meter.read();
        assert!(current == 2 && matches!(high, 4 | 6 | 7), "{current} below {high}");
    });
}
