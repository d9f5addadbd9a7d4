//! Offsets of buffers that take turns: as low as can be found in the time there is.
//!
//! Greedy orders give a plan at once. Then a search goes for the lower bound, and for heights between it and the best
//! plan so far, until it is reached, proven out of reach, or the time is over.
//!
//! ```
//! use std::time::Duration;
//! use aqlipse::pool::plan::{Bound, Buffer, Problem, plan};
//!
//! // Each lives until the one behind the next begins.
//! let buffers = [4096, 1024, 2048].map(|bytes| Buffer { bytes, align: 256 });
//! let problem = Problem::of_intervals(&buffers, &[0..2, 1..3, 2..4])?;
//! assert_eq!(problem.lower_bound(), Bound::Exact(5120));
//! let plan = plan(&problem, Duration::from_millis(20));
//! assert!(problem.admits(&plan.offsets, plan.height));
//! assert_eq!((plan.height, plan.is_optimal()), (5120, true));
//! # Ok::<(), aqlipse::pool::plan::ProblemError>(())
//! ```

#![forbid(unsafe_code)]

mod bits;
mod bound;
mod budget;
pub(crate) mod chains;
mod cliques;
mod explain;
mod greedy;
mod lives;
pub(crate) mod peak;
mod problem;
mod search;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

pub(crate) use self::lives::topological;
use self::search::{Outcome, Rank, Search};
pub use self::{
    budget::{PLAN_VARIABLE, budget},
    explain::{Explanation, MissingEdge, explain},
    lives::Life,
    problem::{Bound, Buffer, Problem, ProblemError},
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

    /// Takes these offsets if they are better.
    fn take_if_lower(&mut self, problem: &Problem, offsets: Vec<u64>) {
        let height = greedy::height(problem, &offsets);
        if height < self.height {
            (self.height, self.offsets) = (height, offsets);
        }
    }
}

/// By what buffers are tried first, in turn.
const RANKS: [Rank; 4] = [Rank::Crowd, Rank::Trouble, Rank::Breadth, Rank::Area];
/// What searches go for: parts of the way from the bound to the best plan. The far ones fail quickly or not at all; from
/// the near ones comes what the next is measured by.
const REACHES: [f64; 4] = [0.0, 0.5, 0.8, 0.95];
/// How far ranks are blurred once each has been tried as it is.
const NOISE: f64 = 0.05;
/// Each so many rounds, buffers are tried as they lie in the best plan, blurred as far.
const KNOWN: usize = 3;
const KNOWN_NOISE: f64 = 0.3;
/// Plans that are tried for each rank before any search, which go by their floors alone.
const DIVES: usize = 2;
/// Steps of the first searches for each buffer: enough to get to the end without much looking back. Later ones are
/// longer.
const STEPS: f64 = 2.0;
const GROWTH: f64 = 1.15;

/// Places the buffers of a problem in at most about this time.
///
/// The same plan comes of the same number of steps, so a plan that is optimal or was given much time varies little; one
/// that was cut short varies with the speed of the machine.
pub fn plan(problem: &Problem, budget: Duration) -> Plan {
    let deadline = Instant::now() + budget;
    let mut plan = quick(problem, deadline);
    if problem.len() <= search::MOST {
        improve(problem, &mut plan, deadline);
    }
    plan
}

fn improve(problem: &Problem, plan: &mut Plan, deadline: Instant) {
    let over = |plan: &Plan| plan.is_optimal() || Instant::now() > deadline;
    // What they learn of each other's height would mislead them.
    let mut searches = REACHES.map(|_| Search::new(problem, deadline));
    for turn in 0..DIVES * RANKS.len() {
        if over(plan) {
            return;
        }
        let noise = if turn < RANKS.len() { 0.0 } else { NOISE };
        let offsets = searches[REACHES.len() - 1].dive(plan.lower_bound, RANKS[turn % RANKS.len()], noise);
        plan.take_if_lower(problem, offsets);
    }
    let mut steps = STEPS * problem.len() as f64;
    for round in 0.. {
        for (search, reach) in searches.iter_mut().zip(REACHES) {
            if over(plan) {
                return;
            }
            let (rank, noise) = match round {
                round if round % KNOWN == 0 => (Rank::Known, KNOWN_NOISE),
                round if round < RANKS.len() => (RANKS[round], 0.0),
                round => (RANKS[round % RANKS.len()], NOISE),
            };
            search.follow(&plan.offsets);
            // CAST: a part of the difference, and a number of steps.
            let part = ((plan.height - plan.lower_bound) as f64 * reach) as u64;
            let height = (plan.lower_bound + part).min(plan.height - 1);
            match search.run(height, rank, noise, steps as u64) {
                Outcome::Found(offsets) => plan.take_if_lower(problem, offsets),
                Outcome::Impossible => plan.lower_bound = plan.lower_bound.max(height + 1),
                Outcome::Open => {}
            }
        }
        if round % RANKS.len() == 0 {
            steps *= GROWTH;
        }
    }
}

/// The best plan that takes no search. When the time is over, no gaps are looked for.
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
