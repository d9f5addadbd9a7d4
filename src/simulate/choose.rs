//! The plan that virtual time likes best.

use super::{Program, run};
use crate::{
    error::{Error, Result},
    schedule::{Candidate, CostTable, Plan, Policy, Problem, candidate, plan},
};

/// The candidates on several queues.
const SEVERAL: [Candidate; 4] =
    [Candidate::Strict, Candidate::Relaxed, Candidate::LevelLanes, Candidate::Turns];

/// Those of them whose order is that of levels.
const BY_LEVEL: [Candidate; 2] = [Candidate::LevelLanes, Candidate::Turns];

/// Makes the plan of a graph that takes the shortest time in the simulator, for callers who know how long its kernels take
/// and how many compute units each can use ([`Problem::with_units`]): [`plan`](crate::schedule::plan()) compares fewer
/// plans, by a simpler model. Takes some ten times as long.
///
/// # Errors
/// As [`Program::of_plan`].
pub fn choose(problem: &Problem<'_>, lanes: usize, table: &CostTable) -> Result<Plan> {
    let one = [Candidate::Levels, Candidate::Balanced, Candidate::HostDepth, Candidate::Serial];
    let one = one.into_iter().map(|kind| (kind, 1));
    let several = (2..=lanes).flat_map(|lanes| SEVERAL.map(|kind| (kind, lanes)));
    let others = one.chain(several).map(|(kind, lanes)| candidate(problem, kind, lanes, table));
    // What would be launched first within a level if durations were unknown may be better than the longest.
    let unknown = problem.with_guessed_durations();
    let by_need = (2..=lanes).flat_map(|lanes| BY_LEVEL.map(|kind| (kind, lanes)));
    // `plan` has tried those where all is packets.
    let published =
        Policy::ALL.into_iter().flat_map(|way| [Candidate::Streams(way), Candidate::Published(way)]);
    let others = others.chain(published.map(|kind| candidate(problem, kind, lanes, table)));
    let others = others.chain(by_need.map(|(kind, lanes)| candidate(&unknown, kind, lanes, table)));
    let mut best = plan(problem, lanes, table);
    let mut least = simulated(problem, &best, table)?;
    for other in others {
        let time = simulated(problem, &other, table)?;
        if time < least {
            (best, least) = (other, time);
        }
    }
    Ok(best)
}

fn simulated(problem: &Problem<'_>, plan: &Plan, table: &CostTable) -> Result<u64> {
    let timeline = run(&Program::of_plan(problem, plan)?, table);
    timeline.map(|timeline| timeline.makespan_ns).map_err(|_| Error::IllegalState("a plan waits in a circle"))
}
