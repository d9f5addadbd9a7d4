//! Plans for the memory of graphs.

use std::{num::NonZero, ptr, thread, time::Duration};

use aqlipse::pool::plan::{Buffer, Problem, plan};

use super::*;

/// Buffers of all sizes that live for all kinds of times: nobody finds the least height of these soon.
fn problem() -> Problem {
    let mut random = 1u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    let (buffers, lives): (Vec<_>, Vec<_>) = (0..300)
        .map(|_| {
            let start = below(100);
            (Buffer { bytes: 1 + below(1000), align: 1 << below(5) }, start..start + 1 + below(60))
        })
        .unzip();
    Problem::of_intervals(&buffers, &lives).expect("a problem")
}

/// A plan that others were to help with holds though they cannot be started, and nobody is asked twice.
pub fn without_another_thread() {
    let mut memory = ptr::null_mut();
    // What refuses is there with the first device.
    ok!(hipMalloc(&mut memory, 4), hipFree(memory));
    let problem = problem();
    let alone = thread::available_parallelism().map_or(1, NonZero::get) == 1;
    // Help is asked for after a while: where that was too short for a busy machine, there is more time.
    for doubled in 0..8 {
        scarcity::refuse(Refusals::From(1));
        let plan = plan(&problem, Duration::from_millis(20 << doubled));
        let (points, refused) = (scarcity::points(), scarcity::refused());
        scarcity::refuse(Refusals::None);
        assert!(problem.admits(&plan.offsets, plan.height));
        assert!(problem.lower_bound().bytes() <= plan.lower_bound && plan.lower_bound <= plan.height);
        assert_eq!(points, refused);
        match refused {
            0 if alone => return,
            0 => {}
            _ => return assert_eq!(refused, 1),
        }
    }
    panic!("no thread was asked for");
}
