//! The plan that virtual time likes best.

use super::{Program, run};
use crate::{
    error::{Error, Result},
    schedule::{Candidate, CostTable, Plan, Problem, candidate, plan},
};

/// The candidates on several queues.
const SEVERAL: [Candidate; 3] = [Candidate::Strict, Candidate::Relaxed, Candidate::LevelLanes];

/// Makes the plan of a graph that takes the shortest time in the simulator, for callers who know how long its kernels take
/// and how many compute units each can use: [`plan`](crate::schedule::plan()) takes no account of units, and compares by
/// a simpler model. Takes some ten times as long. `units` as in [`Program::of_plan`].
///
/// # Errors
/// As [`Program::of_plan`].
pub fn choose(problem: &Problem<'_>, units: &[u32], lanes: usize, table: &CostTable) -> Result<Plan> {
    let one = [Candidate::Levels, Candidate::Balanced, Candidate::HostDepth, Candidate::Serial];
    let one = one.into_iter().map(|kind| (kind, 1));
    let several = (2..=lanes).flat_map(|lanes| SEVERAL.map(|kind| (kind, lanes)));
    let others = one.chain(several).map(|(kind, lanes)| candidate(problem, kind, lanes, table));
    let mut best = plan(problem, lanes, table);
    let mut least = simulated(problem, &best, units, table)?;
    for other in others {
        let time = simulated(problem, &other, units, table)?;
        if time < least {
            (best, least) = (other, time);
        }
    }
    Ok(best)
}

fn simulated(problem: &Problem<'_>, plan: &Plan, units: &[u32], table: &CostTable) -> Result<u64> {
    let timeline = run(&Program::of_plan(problem, plan, units)?, table);
    timeline.map(|timeline| timeline.makespan_ns).map_err(|_| Error::IllegalState("a plan waits in a circle"))
}
