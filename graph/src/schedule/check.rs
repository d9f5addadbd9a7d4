//! An independent proof that a plan enforces every edge of its graph.
//!
//! The planner reasons forwards: what has completed by the time a step starts. This reasons backwards, from the rules in
//! [`super`] alone: for each step, the earliest position on every lane whose start comes after the step's *start*, and
//! after its *completion*. Starts are totally ordered within a lane, so one number per lane says it all:
//!
//! ```text
//! after_start[s]      = own position on the own lane; elsewhere min(after_start[next step], after_completion[s])
//! after_completion[s] = min(after_start[next barrier of the lane], after_start[w] for each step w that waits for s)
//! ```
//!
//! An edge `u -> v` is enforced exactly if `after_completion[u]` at v's lane is at most v's position. A join passes on
//! the maximum over its predecessors. The order in which steps are taken is found here too, by playing the lanes against
//! each other; a plan that gets stuck doing so would hang.

use super::plan::{Action, LaneKind, Plan, StepRef};
use super::{Class, Problem};

/// What is wrong with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing makes `to` wait for the completion of `from`.
    #[error("nothing orders node {to} behind node {from}")]
    Unenforced {
        /// The node that must have completed; never a join.
        from: u32,
        /// The node that starts too early; never a join.
        to: u32,
    },
    /// The node stands in no lane, in two places, or in a lane that cannot run it: not of its kind, or of its device.
    #[error("node {0} is misplaced")]
    Misplaced(u32),
    /// The step waits for a step that does not exist or has no completion signal.
    #[error("step {0:?} waits for what never signals")]
    NoSignal(StepRef),
    /// The step and everything behind it would never start.
    #[error("step {0:?} can never start")]
    Deadlock(StepRef),
    /// The last step of lane 0 may complete before this one.
    #[error("the launch may complete before step {0:?}")]
    NotAwaited(StepRef),
    /// Both nodes may run at the same time and are of different urgency, but share a lane.
    #[error("nodes {first} and {second} of different urgency share a lane")]
    Mixed {
        /// A node.
        first: u32,
        /// One that is neither before nor behind it.
        second: u32,
    },
    /// The lane may start before earlier work of the stream has completed.
    #[error("lane {0} starts before the launch may")]
    NotHeldBack(u32),
}

/// Proves that a plan runs each node once, in an order that the graph allows, between the launch's start and end.
///
/// # Errors
/// The first [`Fault`] found.
pub fn check(problem: &Problem<'_>, plan: &Plan) -> Result<(), Fault> {
    let checker = Checker::new(plan);
    let step_of = checker.locate(problem)?;
    let order = checker.play()?;
    checker.check_ends()?;
    let known = checker.backwards(&order);
    let width = plan.lanes.len();
    let has_joins = problem.classes.contains(&Class::Join);
    let mut joins = Joins { width, after: vec![0; if has_joins { problem.len() * width } else { 0 }] };
    let mut row = vec![0; width];
    for node in problem.nodes() {
        row.fill(0);
        for &pred in problem.preds.row(node) {
            let after = match step_of[pred as usize] {
                Some(step) => &known[checker.index(step) * width..][..width],
                None => joins.row(pred),
            };
            if let Some(step) = step_of[node as usize]
                && after[step.lane as usize] > step.position
            {
                let after_completion = |step, lane| known[checker.index(step) * width + lane];
                let from = joins.culprit(problem, pred, step, &step_of, after_completion);
                return Err(Fault::Unenforced { from, to: node });
            }
            for (known, after) in row.iter_mut().zip(after) {
                *known = (*known).max(*after);
            }
        }
        if step_of[node as usize].is_none() {
            joins.after[node as usize * width..][..width].copy_from_slice(&row);
        }
    }
    match checker.open_end(&known) {
        Some(open) => Err(Fault::NotAwaited(open)),
        None => Ok(()),
    }
}

/// Proves that nodes of different urgency that may run at the same time share no lane, which a plan on several lanes
/// keeps in graphs whose nodes have one. Takes O(nodes edges / 64) and as much memory as nodes squared / 8.
///
/// # Errors
/// The first [`Fault::Mixed`] found.
pub fn check_urgency(problem: &Problem<'_>, plan: &Plan) -> Result<(), Fault> {
    let before = super::urgency::reached(problem, false);
    for lane in &plan.lanes {
        let nodes = lane.steps.iter().filter_map(|step| match step.action {
            Action::Node(node) if lane.kind == LaneKind::Queue => Some(node),
            _ => None,
        });
        let nodes: Vec<u32> = nodes.collect();
        for (at, &second) in nodes.iter().enumerate() {
            let free = |first: &&u32| {
                problem.urgency(**first) != problem.urgency(second)
                    && !before.holds(second, **first)
                    && !before.holds(**first, second)
            };
            if let Some(&first) = nodes[..at].iter().find(free) {
                return Err(Fault::Mixed { first, second });
            }
        }
    }
    Ok(())
}

/// For each join and lane the earliest position that starts after everything the join stands for.
struct Joins {
    width: usize,
    after: Vec<u32>,
}

impl Joins {
    fn row(&self, join: u32) -> &[u32] {
        &self.after[join as usize * self.width..][..self.width]
    }

    /// The node, at `pred` or behind it through joins, whose completion `step` does not wait for.
    fn culprit(
        &self,
        problem: &Problem<'_>,
        mut pred: u32,
        step: StepRef,
        step_of: &[Option<StepRef>],
        after_completion: impl Fn(StepRef, usize) -> u32,
    ) -> u32 {
        let lane = step.lane as usize;
        while step_of[pred as usize].is_none() {
            let late = problem.preds.row(pred).iter().find(|&&before| {
                let after = match step_of[before as usize] {
                    Some(before) => after_completion(before, lane),
                    None => self.row(before)[lane],
                };
                after > step.position
            });
            match late {
                Some(&before) => pred = before,
                None => break,
            }
        }
        pred
    }
}

/// What a plan orders.
pub(super) struct Ordered {
    lanes: usize,
    step_of: Vec<Option<StepRef>>,
    /// Where each lane starts when all steps are numbered lane by lane.
    first: Vec<usize>,
    /// By step and lane: the earliest position that starts after the step has completed.
    after_completion: Vec<u32>,
}

impl Ordered {
    /// What a plan orders that runs the nodes of a problem.
    ///
    /// # Errors
    /// [`Fault::Misplaced`], [`Fault::NoSignal`], [`Fault::Deadlock`].
    pub(super) fn of(problem: &Problem<'_>, plan: &Plan) -> Result<Self, Fault> {
        let checker = Checker::new(plan);
        let step_of = checker.locate(problem)?;
        let after_completion = checker.backwards(&checker.play()?);
        Ok(Self { lanes: plan.lanes.len(), step_of, first: checker.first, after_completion })
    }

    /// The step of a node, and by lane the earliest position that starts after its completion; nothing for a join.
    pub(super) fn step(&self, node: u32) -> Option<(StepRef, &[u32])> {
        let step = self.step_of[node as usize]?;
        let index = self.first[step.lane as usize] + step.position as usize;
        Some((step, &self.after_completion[index * self.lanes..][..self.lanes]))
    }
}

struct Checker<'p> {
    plan: &'p Plan,
    /// Where each lane starts when all steps are numbered lane by lane.
    first: Vec<usize>,
}

impl<'p> Checker<'p> {
    fn new(plan: &'p Plan) -> Self {
        let mut first = vec![0];
        for lane in &plan.lanes {
            first.push(first[first.len() - 1] + lane.steps.len());
        }
        Self { plan, first }
    }

    fn index(&self, step: StepRef) -> usize {
        self.first[step.lane as usize] + step.position as usize
    }

    fn exists(&self, step: StepRef) -> bool {
        let lane = self.plan.lanes.get(step.lane as usize);
        lane.is_some_and(|lane| (step.position as usize) < lane.steps.len())
    }

    fn steps(&self) -> impl Iterator<Item = StepRef> + '_ {
        self.plan.lanes.iter().zip(0..).flat_map(|(lane, at)| {
            (0..lane.steps.len() as u32).map(move |position| StepRef { lane: at, position })
        })
    }

    /// Finds the step of each node: none for joins, one for others.
    fn locate(&self, problem: &Problem<'_>) -> Result<Vec<Option<StepRef>>, Fault> {
        let mut found = vec![None; problem.len()];
        for at in self.steps() {
            if let Action::Node(node) = self.plan.step(at).action {
                let class = problem.classes.get(node as usize).ok_or(Fault::Misplaced(node))?;
                let lane = &self.plan.lanes[at.lane as usize];
                let fits = match lane.kind {
                    LaneKind::Queue => *class == Class::Packet && lane.device == problem.device(node),
                    LaneKind::Engine(engine) => {
                        *class == Class::Engine(engine) && lane.device == problem.device(node)
                    }
                    LaneKind::Host => *class == Class::Host,
                };
                if !fits || found[node as usize].replace(at).is_some() {
                    return Err(Fault::Misplaced(node));
                }
            }
        }
        match problem
            .nodes()
            .find(|&node| found[node as usize].is_none() && problem.class(node) != Class::Join)
        {
            Some(lost) => Err(Fault::Misplaced(lost)),
            None => Ok(found),
        }
    }

    /// Runs the lanes against each other and returns the steps in the order in which they could run.
    fn play(&self) -> Result<Vec<StepRef>, Fault> {
        let mut order = Vec::with_capacity(self.first[self.plan.lanes.len()]);
        let mut next = vec![0u32; self.plan.lanes.len()];
        loop {
            let before = order.len();
            for (lane, at) in self.plan.lanes.iter().zip(0u32..) {
                while (next[at as usize] as usize) < lane.steps.len() {
                    let step = StepRef { lane: at, position: next[at as usize] };
                    for &wait in self.plan.waits(step) {
                        if !self.exists(wait) || !self.plan.step(wait).signals {
                            return Err(Fault::NoSignal(step));
                        }
                    }
                    if self.plan.waits(step).iter().any(|wait| wait.position >= next[wait.lane as usize]) {
                        break;
                    }
                    order.push(step);
                    next[at as usize] += 1;
                }
            }
            if order.len() == before {
                break;
            }
        }
        let stuck = self
            .plan
            .lanes
            .iter()
            .zip(0u32..)
            .find(|(lane, at)| (next[*at as usize] as usize) < lane.steps.len());
        match stuck {
            Some((_, lane)) => Err(Fault::Deadlock(StepRef { lane, position: next[lane as usize] })),
            None => Ok(order),
        }
    }

    /// Checks that no lane runs ahead of the launch.
    fn check_ends(&self) -> Result<(), Fault> {
        let held_back = |lane: u32| {
            let first = StepRef { lane, position: 0 };
            let lane = &self.plan.lanes[lane as usize];
            match (first.lane, lane.kind) {
                // The launch ends on device 0.
                (0, LaneKind::Queue) => {
                    lane.device == 0 && lane.steps.first().is_some_and(|step| step.barrier)
                }
                (0, _) => false,
                _ => lane.steps.is_empty() || lane.entry || !self.plan.waits(first).is_empty(),
            }
        };
        match (0..self.plan.lanes.len().max(1) as u32)
            .find(|&lane| self.plan.lanes.is_empty() || !held_back(lane))
        {
            Some(lane) => Err(Fault::NotHeldBack(lane)),
            None => Ok(()),
        }
    }

    /// For each step and lane the earliest position that starts after the step has completed.
    fn backwards(&self, order: &[StepRef]) -> Vec<u32> {
        const NEVER: u32 = u32::MAX;
        let width = self.plan.lanes.len();
        let count = self.first[width];
        let mut waiters: Vec<(usize, usize)> = Vec::new();
        for step in self.steps() {
            waiters.extend(self.plan.waits(step).iter().map(|&wait| (self.index(wait), self.index(step))));
        }
        waiters.sort_unstable();
        let mut waiters_of = vec![0; count + 1];
        for &(step, _) in &waiters {
            waiters_of[step + 1] += 1;
        }
        for at in 0..count {
            waiters_of[at + 1] += waiters_of[at];
        }

        let mut after_start = vec![NEVER; count * width];
        let mut after_completion = vec![NEVER; count * width];
        // The index of the earliest barrier behind the steps taken so far, by lane.
        let mut barrier: Vec<Option<usize>> = vec![None; width];
        let mut row = vec![NEVER; width];
        for &at in order.iter().rev() {
            let (index, lane) = (self.index(at), at.lane as usize);
            row.fill(NEVER);
            let waiting = waiters[waiters_of[index]..waiters_of[index + 1]].iter().map(|&(_, waiter)| waiter);
            for later in waiting.chain(barrier[lane]) {
                for (known, after) in row.iter_mut().zip(&after_start[later * width..][..width]) {
                    *known = (*known).min(*after);
                }
            }
            after_completion[index * width..][..width].copy_from_slice(&row);
            if index + 1 < self.first[lane + 1] {
                for (known, after) in row.iter_mut().zip(&after_start[(index + 1) * width..][..width]) {
                    *known = (*known).min(*after);
                }
            }
            row[lane] = at.position;
            after_start[index * width..][..width].copy_from_slice(&row);
            if self.plan.step(at).barrier || self.plan.lanes[lane].kind != LaneKind::Queue {
                barrier[lane] = Some(index);
            }
        }
        after_completion
    }

    /// A step that may still run when the last step of lane 0 has completed.
    fn open_end(&self, after_completion: &[u32]) -> Option<StepRef> {
        let last = StepRef { lane: 0, position: self.first[1] as u32 - 1 };
        let width = self.plan.lanes.len();
        self.steps().find(|&at| at != last && after_completion[self.index(at) * width] > last.position)
    }
}
