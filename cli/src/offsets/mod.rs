//! Offsets of buffers that take turns: as low as can be found in the time there is.
//!
//! Greedy orders give a plan at once. Then its buffers are moved, and searches go for the lower bound and for heights
//! between it and the best plan so far, until it is reached, proven out of reach, or the time is over.
//!
//! ```
//! use std::time::Duration;
//! use aqlipse_cli::offsets::{Bound, Buffer, Problem, plan};
//!
//! // Each lives until the one behind the next begins.
//! let buffers = [4096, 1024, 2048].map(|bytes| Buffer { bytes, align: 256 });
//! let problem = Problem::of_intervals(&buffers, &[0..2, 1..3, 2..4])?;
//! assert_eq!(problem.lower_bound(), Bound::Exact(5120));
//! let plan = plan(&problem, Duration::from_millis(20));
//! assert!(problem.admits(&plan.offsets, plan.height));
//! assert_eq!((plan.height, plan.is_optimal()), (5120, true));
//! # Ok::<(), aqlipse_cli::offsets::ProblemError>(())
//! ```

mod buffer;
mod cliques;
mod explain;
mod few;
mod greedy;
mod improve;
mod levels;
mod lives;
mod order;
mod problem;
mod race;
mod random;
mod rank;
mod repair;
mod search;
mod shares;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

pub use self::lives::topological;
use self::race::Race;
pub use self::{
    buffer::{Buffer, ProblemError},
    explain::{Explanation, MissingEdge, explain},
    lives::Life,
    problem::{Bound, Problem},
};

/// Where the buffers lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The offset of each buffer.
    pub offsets: Vec<u64>,
    /// Bytes in all.
    pub height: u64,
    /// No plan needs fewer bytes: at least [`Problem::lower_bound`], and what the search has proven.
    pub lower_bound: u64,
}

impl Plan {
    /// Whether there is no better one.
    pub fn is_optimal(&self) -> bool {
        self.height == self.lower_bound
    }
}

/// Places the buffers of a problem in at most about this time, on as many threads as there are processors.
///
/// A thread comes to the same plan in the same number of steps, so a plan that is optimal or was given much time varies
/// little; one that was cut short varies with the speed of the machine, and with which thread was first.
pub fn plan(problem: &Problem, budget: Duration) -> Plan {
    let deadline = Instant::now() + budget;
    let plan = quick(problem, deadline);
    let most: u64 = problem.buffers.iter().map(|buffer| buffer.bytes + buffer.align).sum();
    // Searches and moves keep places beside names in one word.
    if plan.is_optimal() || most > 1 << 48 {
        return plan;
    }
    let race = Race::new(problem, plan, deadline);
    improve::improve(&race);
    race.end()
}

/// The best plan that takes no search. When the time is over, a faster search for gaps is used.
fn quick(problem: &Problem, deadline: Instant) -> Plan {
    let mut best: Option<Plan> = None;
    for order in greedy::Order::ALL {
        let late = Instant::now() > deadline;
        if best.as_ref().is_some_and(|best| late || best.is_optimal()) {
            break;
        }
        let offsets = greedy::first_fit(problem, &order.of(problem), deadline);
        let plan = Plan {
            height: greedy::height(problem, &offsets),
            offsets,
            lower_bound: problem.lower_bound().bytes(),
        };
        if best.as_ref().is_none_or(|best| plan.height < best.height) {
            best = Some(plan);
        }
    }
    // PANIC: the first order was tried whatever the time.
    best.expect("there are orders")
}
