//! What running nodes side by side costs in memory: plans that are fast, plans that need few bytes, and what is between.
//!
//! Two allocations of a graph can lie at the same place if one is over before the other begins. The graph orders few of
//! them; a plan orders more: whatever a lane, a barrier bit or a wait puts behind the last users of one allocation does
//! not run beside them. A plan on one queue, one packet behind the other, orders them all and takes the longest.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sharing`] | which allocations a plan keeps apart in time, and how many bytes that leaves |
//! | `frugal` | orders on one queue that need few bytes |
//!
//! ```
//! use aqlipse_graph::Csr;
//! use aqlipse_graph::schedule::memory::{Allocation, Goal, plan_within};
//! use aqlipse_graph::schedule::{Class, CostTable, Problem};
//!
//! // Two branches of two kernels, each with 1000 bytes between its kernels.
//! let preds = Csr::from_pairs(4, [(1, 0), (3, 2)].into_iter());
//! let succs = preds.transposed();
//! let problem = Problem::new(&preds, &succs, &[Class::Packet; 4], &[50_000; 4])?;
//! let between = |first, last| Allocation { bytes: 1000, first: vec![first], last: Some(vec![last]) };
//! let allocations = [between(0, 1), between(2, 3)];
//! let (_, tradeoff) = plan_within(&problem, &allocations, Goal::Smallest, 2, &CostTable::default())?;
//! assert_eq!((tradeoff.fastest.bytes, tradeoff.smallest.bytes), (2000, 1000));
//! assert!(tradeoff.fastest.time_ns < tradeoff.smallest.time_ns);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod frugal;
pub mod sharing;

use std::{collections::HashSet, str::FromStr};

pub use sharing::Sharing;

use super::emit::Style;
use super::{
    Candidate, Class, CostTable, Plan, Policy, Problem, SEARCHED_FULLY, candidate, estimate, plan, trial,
};

/// Memory that nodes of a graph use, from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its size.
    pub bytes: u64,
    /// The nodes before all other users: of those that run, the nearest behind the allocation.
    pub first: Vec<u32>,
    /// The nodes behind all other users: of those that run, the nearest before the memory is freed. Nothing if the graph
    /// does not free it: it stays when the launch is over.
    pub last: Option<Vec<u32>>,
}

impl Allocation {
    /// What is allocated and freed at two joins of a graph.
    pub fn between(problem: &Problem<'_>, bytes: u64, alloc: u32, free: Option<u32>) -> Self {
        let first = nearest(problem, alloc, |node| problem.succs.row(node));
        let last = free.map(|free| nearest(problem, free, |node| problem.preds.row(node)));
        Self { bytes, first, last }
    }
}

/// The nodes that run and are next to a join, seen through other joins.
fn nearest<'p>(problem: &Problem<'_>, join: u32, next: impl Fn(u32) -> &'p [u32]) -> Vec<u32> {
    let (mut found, mut open) = (Vec::new(), vec![join]);
    let mut seen = HashSet::new();
    while let Some(at) = open.pop() {
        for &node in next(at).iter().filter(|&&node| seen.insert(node)) {
            match problem.class(node) {
                Class::Join => open.push(node),
                Class::Packet | Class::Host | Class::Engine(_) => found.push(node),
            }
        }
    }
    found
}

/// What a plan should be good at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Taking little time.
    #[default]
    Fastest,
    /// Needing few bytes; of plans that need as few, the fastest.
    Smallest,
    /// Taking little time with at most so many bytes.
    Limit(u64),
}

/// A text that is no [`Goal`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither `fastest`, `smallest` nor a number of bytes, such as 4096, 64K, 512M or 2G")]
pub struct NoGoal(String);

impl FromStr for Goal {
    type Err = NoGoal;

    /// `fastest`, `smallest`, or bytes: a number, with K, M or G for so many times 1024, 1024² or 1024³.
    fn from_str(text: &str) -> Result<Self, NoGoal> {
        let wrong = || NoGoal(text.to_owned());
        match text {
            "fastest" => return Ok(Self::Fastest),
            "smallest" => return Ok(Self::Smallest),
            _ => {}
        }
        let (digits, unit) = match text.char_indices().last().ok_or_else(wrong)? {
            (at, 'K' | 'k') => (&text[..at], 1 << 10),
            (at, 'M' | 'm') => (&text[..at], 1 << 20),
            (at, 'G' | 'g') => (&text[..at], 1 << 30),
            _ => (text, 1),
        };
        let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let number: u64 = Some(digits).filter(|_| plain).and_then(|it| it.parse().ok()).ok_or_else(wrong)?;
        number.checked_mul(unit).map(Self::Limit).ok_or_else(wrong)
    }
}

/// What a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Its time by the cost table, in nanoseconds.
    pub time_ns: u64,
    /// The most bytes that are in use at once, whenever its nodes start and end: no placement needs fewer. An upper bound
    /// of that if it has several lanes and more than [`sharing::EXACT`] allocations.
    pub bytes: u64,
}

/// What a plan takes, and what others would have taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tradeoff {
    /// What the plan takes that was chosen.
    pub needs: Needs,
    /// What the plan for [`Goal::Fastest`] takes.
    pub fastest: Needs,
    /// What the plan for [`Goal::Smallest`] takes.
    pub smallest: Needs,
}

/// No plan that was found can do with the memory that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "allocations of the graph may take {limit} bytes together, but no plan was found that needs fewer than {least}"
)]
pub struct LimitExceeded {
    /// The fewest bytes that were found.
    pub least: u64,
    /// The bytes that were allowed.
    pub limit: u64,
}

/// Plans a graph whose allocations share memory where the plan keeps them apart in time.
///
/// [`Goal::Fastest`] is the plan of [`plan`](super::plan()). Where durations are known, of plans that take as long the one
/// that needs the fewest bytes is taken.
///
/// # Errors
/// [`LimitExceeded`].
pub fn plan_within(
    problem: &Problem<'_>,
    allocations: &[Allocation],
    goal: Goal,
    lanes: usize,
    table: &CostTable,
) -> Result<(Plan, Tradeoff), LimitExceeded> {
    let needs = |plan: &Plan| Needs {
        time_ns: plan.estimate_ns(),
        bytes: Sharing::of(problem, plan, allocations).peak(),
    };
    let quickest = plan(problem, lanes, table);
    // What each really takes is known where durations are, on devices as the simulator sees them.
    let known =
        |plan: &Plan| (problem.is_plain() && !problem.guessed).then(|| trial::time_ns(problem, plan, table));
    let first = (needs(&quickest), known(&quickest), quickest);
    let others = others(problem, allocations, lanes, table);
    let all: Vec<(Needs, Option<u64>, Plan)> = std::iter::once(first)
        .chain(others.into_iter().map(|plan| (needs(&plan), known(&plan), plan)))
        .collect();
    let time = |(needs, known, _): &(Needs, Option<u64>, Plan)| known.unwrap_or(needs.time_ns);
    // PANIC: the first is always there.
    let as_fast = all.iter().filter(|it| it.1.is_some() && it.1 == all[0].1);
    let fastest = as_fast.min_by_key(|it| it.0.bytes).unwrap_or(&all[0]);
    let smallest = all.iter().min_by_key(|it| (it.0.bytes, time(it))).unwrap_or(&all[0]);
    let within = |limit: u64| {
        if fastest.0.bytes <= limit {
            return Ok(fastest);
        }
        let fit = all.iter().filter(|it| it.0.bytes <= limit).min_by_key(|it| (time(it), it.0.bytes));
        fit.ok_or(LimitExceeded { least: smallest.0.bytes, limit })
    };
    let chosen = match goal {
        Goal::Fastest => fastest,
        Goal::Smallest => smallest,
        Goal::Limit(limit) => within(limit)?,
    };
    let tradeoff = Tradeoff { needs: chosen.0, fastest: fastest.0, smallest: smallest.0 };
    Ok((chosen.2.clone(), tradeoff))
}

/// Plans that may need fewer bytes than the fastest, or be the fastest of those that fit.
fn others(problem: &Problem<'_>, allocations: &[Allocation], lanes: usize, table: &CostTable) -> Vec<Plan> {
    // Where nodes of different urgency may meet, that decides about the lanes.
    if problem.contested().contains(&true) {
        return Vec::new();
    }
    let mut plans = Vec::new();
    for order in frugal::orders(problem, allocations) {
        for style in [Style::Strict, Style::Relaxed] {
            let plan = problem.on_one_lane_each(&order, style);
            plans.push(estimate::with_estimate(plan, Candidate::Frugal, problem, table));
        }
    }
    let small = problem.len() <= SEARCHED_FULLY;
    let mut kinds = vec![(Candidate::Levels, 1), (Candidate::Serial, 1)];
    if small {
        kinds.extend([(Candidate::Balanced, 1), (Candidate::HostDepth, 1)]);
        for width in 2..=problem.lanes_each(lanes) {
            let several = [Candidate::Strict, Candidate::Relaxed, Candidate::LevelLanes, Candidate::Turns];
            kinds.extend(several.map(|kind| (kind, width)));
            if problem.is_plain() {
                kinds.extend(Policy::ALL[1..].iter().map(|&policy| (Candidate::Streams(policy), width)));
            }
        }
    }
    plans.extend(kinds.into_iter().map(|(kind, width)| candidate(problem, kind, width, table)));
    plans
}
