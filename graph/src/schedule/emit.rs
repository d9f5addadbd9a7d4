//! The fewest barriers and waits for nodes whose lanes and order are given.
//!
//! Nodes are taken in one global order. For each lane a clock says how many steps of every lane are known to have
//! started when its next step starts. A predecessor is known to have completed when a barrier bit behind it has
//! started, or a step that waits for it has; otherwise the node needs a wait (another lane) or a barrier bit (its own).
//!
//! * Waits: those that follow from another wait, or from what the lane knows already, are dropped. "Completed before
//!   the other started" is a strict order on steps, so what remains is the set of its maximal elements: unique, and for
//!   lanes strictly in order exactly the transitive reduction of the DAG with the lane order, less the lane edges.
//! * Barrier bits are set at the last place where they can be, which is optimal for one lane (a dependency is an
//!   interval that some barrier must hit). Completion of a step of the own lane implies nothing about other lanes that
//!   its start did not, so barriers never save waits; waits may save barriers, and come first.
//! * A lane whose steps are not in order may owe a node more than [`FENCE_ABOVE`] waits: then one fence is put at its
//!   end, and the node waits for the fence.
//!
//! All waits lead to steps emitted before, so no plan can deadlock.

use super::plan::{Action, Candidate, Lane, LaneKind, Plan, StepRef};
use super::{Class, Problem};

const NONE: u32 = u32::MAX;

/// Waits for steps of one lane that are still worth more than one fence packet.
const FENCE_ABOVE: usize = 2;

/// How lanes and an order become packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The fewest waits, and barrier bits only where a dependency needs them.
    Relaxed,
    /// The fewest waits, and every step of a queue is a barrier.
    Strict,
    /// As AMD's releases do it: every step is a barrier, and one that needs other queues waits for the latest step of
    /// each that it needs, unless its queue has waited for that or a later one itself.
    Published,
}

/// Emits the nodes in the given order; `lane_of` names the queue of each packet node (all on lane 0 if missing), and
/// `queues` the device of each queue.
pub(super) fn emit(
    problem: &Problem<'_>,
    order: &[u32],
    lane_of: Option<&[u8]>,
    queues: &[u16],
    style: Style,
) -> Plan {
    let engines = problem.engines();
    let mut emitter = Emitter::new(problem, queues, &engines, style);
    emitter.reserve(order.len());
    for &node in order {
        let lane = match problem.class(node) {
            Class::Host => queues.len() + engines.len(),
            Class::Engine(engine) => {
                // PANIC: those are the engines of all nodes.
                let at = engines.binary_search(&(problem.device(node), engine));
                queues.len() + at.expect("an engine of the problem's")
            }
            _ => lane_of.map_or(0, |lane_of| lane_of[node as usize] as usize),
        };
        emitter.node(node, lane);
    }
    emitter.finish()
}

/// Whether a step sets its barrier bit.
#[derive(Clone, Copy, PartialEq)]
enum Drain {
    Always,
    /// If something that the step needs stands in its lane and is not known to have completed.
    IfNeeded,
    Never,
}

/// What is known about the steps of a lane so far.
struct State {
    /// By position: the last barrier at or before it. Position 0 counts as one: nothing stands before it.
    last_barrier: Vec<u32>,
    /// By position and lane: how many steps of that lane had started when the step did, itself included.
    started: Vec<u32>,
    /// By position: the steps that wait for it, as a list in `Emitter::waiters`.
    waiters: Vec<u32>,
    /// How many steps of each lane will have started when the next step of this lane starts.
    clock: Vec<u32>,
    last_fence: Option<u32>,
    /// By lane: how many steps of it this lane has waited for itself; for [`Style::Published`] only.
    waited: Vec<u32>,
}

struct Emitter<'p> {
    problem: &'p Problem<'p>,
    style: Style,
    lanes: Vec<Lane>,
    state: Vec<State>,
    places: Vec<Option<StepRef>>,
    order: Vec<StepRef>,
    /// A waiting step, and the next one that waits for the same step.
    waiters: Vec<(StepRef, u32)>,
    /// By join and lane: whether the lane has waited for all that the join stands for.
    passed: Vec<bool>,
    /// Scratch: what the node at hand needs completed.
    needs: Vec<StepRef>,
    waits: Vec<StepRef>,
    known: Vec<u32>,
    joins: Vec<u32>,
}

impl<'p> Emitter<'p> {
    fn new(problem: &'p Problem<'p>, queues: &[u16], engines: &[(u16, u8)], style: Style) -> Self {
        let queues = queues.iter().map(|&device| Lane::on_device(device, LaneKind::Queue));
        let engines =
            engines.iter().map(|&(device, engine)| Lane::on_device(device, LaneKind::Engine(engine)));
        let host = problem.classes.contains(&Class::Host).then(|| Lane::new(LaneKind::Host));
        let lanes: Vec<Lane> = queues.chain(engines).chain(host).collect();
        let width = lanes.len();
        let state = || State {
            last_barrier: Vec::new(),
            started: Vec::new(),
            waiters: Vec::new(),
            clock: vec![0; width],
            last_fence: None,
            waited: if style == Style::Published { vec![0; width] } else { Vec::new() },
        };
        let has_joins = problem.classes.contains(&Class::Join);
        Self {
            problem,
            style,
            lanes,
            state: (0..width).map(|_| state()).collect(),
            places: vec![None; problem.len()],
            order: Vec::new(),
            waiters: Vec::new(),
            passed: if has_joins { vec![false; problem.len() * width] } else { Vec::new() },
            needs: Vec::new(),
            waits: Vec::new(),
            known: vec![0; width],
            joins: Vec::new(),
        }
    }

    /// Makes room for about as many steps, shared evenly among the queues.
    fn reserve(&mut self, steps: usize) {
        let width = self.lanes.len();
        let queues = self.lanes.iter().filter(|lane| lane.kind == LaneKind::Queue).count();
        let each = steps / queues + 2;
        self.order.reserve(steps + width);
        for (lane, state) in self.lanes.iter_mut().zip(&mut self.state) {
            if lane.kind == LaneKind::Queue {
                lane.steps.reserve(each);
                state.last_barrier.reserve(each);
                if width > 1 {
                    state.started.reserve(each * width);
                    state.waiters.reserve(each);
                }
            }
        }
    }

    /// Appends a node to a lane.
    fn node(&mut self, node: u32, lane: usize) {
        self.collect_needs(node, lane);
        let drain = match self.style {
            Style::Relaxed => Drain::IfNeeded,
            Style::Strict | Style::Published => Drain::Always,
        };
        if self.style == Style::Published && self.lanes[lane].kind == LaneKind::Queue {
            self.wait_for_latest(lane);
        } else {
            self.choose_waits(lane);
        }
        self.places[node as usize] = Some(self.push(Action::Node(node), lane, drain));
    }

    /// Fills `needs` with the steps of the node's predecessors, seeing through joins that the lane has not passed.
    fn collect_needs(&mut self, node: u32, lane: usize) {
        self.needs.clear();
        self.joins.push(node);
        while let Some(node) = self.joins.pop() {
            for &pred in self.problem.preds.row(node) {
                if let Some(place) = self.places[pred as usize] {
                    self.needs.push(place);
                } else if !std::mem::replace(&mut self.passed[pred as usize * self.lanes.len() + lane], true)
                {
                    self.joins.push(pred);
                }
            }
        }
    }

    /// Whether a step is known to have completed where `clock` is known.
    fn completed(&self, step: StepRef, clock: &[u32]) -> bool {
        let state = &self.state[step.lane as usize];
        let started = clock[step.lane as usize] as usize;
        if started > 0 && step.position < state.last_barrier[started - 1] {
            return true;
        }
        let mut at = state.waiters.get(step.position as usize).copied().unwrap_or(NONE);
        while at != NONE {
            let (waiter, next) = self.waiters[at as usize];
            if waiter.position < clock[waiter.lane as usize] {
                return true;
            }
            at = next;
        }
        false
    }

    /// What is known to have started when `step` has.
    fn clock_at(&self, step: StepRef) -> &[u32] {
        let width = self.lanes.len();
        &self.state[step.lane as usize].started[step.position as usize * width..][..width]
    }

    /// Fills `waits` with the fewest that cover the `needs` in other lanes.
    fn choose_waits(&mut self, lane: usize) {
        self.waits.clear();
        if self.lanes.len() == 1 {
            return;
        }
        let mut waits = std::mem::take(&mut self.waits);
        let clock = &self.state[lane].clock;
        waits.extend(
            self.needs.iter().filter(|need| need.lane as usize != lane && !self.completed(**need, clock)),
        );
        if waits.len() > 1 {
            waits.sort_unstable();
            waits.dedup();
            self.drop_implied(&mut waits);
            if self.fence_crowds(&mut waits) {
                self.drop_implied(&mut waits);
            }
        }
        self.waits = waits;
    }

    /// Fills `waits` with the latest of the `needs` in each other lane that the lane has not waited for.
    fn wait_for_latest(&mut self, lane: usize) {
        self.waits.clear();
        let waited = &mut self.state[lane].waited;
        let needed = |need: &&StepRef| need.lane as usize != lane;
        self.needs.sort_unstable();
        for latest in
            self.needs.chunk_by(|a, b| a.lane == b.lane).filter_map(<[StepRef]>::last).filter(needed)
        {
            let waited = &mut waited[latest.lane as usize];
            if latest.position >= *waited {
                *waited = latest.position + 1;
                self.waits.push(*latest);
            }
        }
    }

    /// Drops the waits that follow from other ones.
    fn drop_implied(&mut self, waits: &mut Vec<StepRef>) {
        // What any of them knows: none knows of its own completion, so the maximum over all serves for each.
        let mut known = std::mem::take(&mut self.known);
        known.fill(0);
        for &wait in waits.iter() {
            for (known, at_wait) in known.iter_mut().zip(self.clock_at(wait)) {
                *known = (*known).max(*at_wait);
            }
        }
        waits.retain(|&wait| !self.completed(wait, &known));
        self.known = known;
    }

    /// Where more than [`FENCE_ABOVE`] waits lead to one lane, replaces them by one for a fence; says whether it did.
    /// Takes sorted waits.
    fn fence_crowds(&mut self, waits: &mut Vec<StepRef>) -> bool {
        let crowded = |group: &&[StepRef]| group.len() > FENCE_ABOVE;
        let last_of = |group: &[StepRef]| group[group.len() - 1];
        let crowds: Vec<StepRef> =
            waits.chunk_by(|a, b| a.lane == b.lane).filter(crowded).map(last_of).collect();
        for &last in &crowds {
            let state = &self.state[last.lane as usize];
            let drained = |fence: &u32| last.position < state.last_barrier[*fence as usize];
            let fence = match state.last_fence.filter(drained) {
                Some(position) => StepRef { position, ..last },
                None => self.fence(last),
            };
            waits.retain(|wait| wait.lane != last.lane);
            waits.push(fence);
        }
        !crowds.is_empty()
    }

    /// Appends a fence to a lane that completes after a step of it and all before; called while no `waits` are chosen.
    fn fence(&mut self, last: StepRef) -> StepRef {
        let lane = last.lane as usize;
        let drained = self.state[lane].last_barrier.last().is_some_and(|&barrier| last.position < barrier);
        let fence = self.push(Action::Fence, lane, if drained { Drain::Never } else { Drain::Always });
        self.state[lane].last_fence = Some(fence.position);
        fence
    }

    /// Appends a step with the chosen `waits`.
    fn push(&mut self, action: Action, lane: usize, drain: Drain) -> StepRef {
        let width = self.lanes.len();
        // CAST: fewer than 2^32 nodes, and fences are fewer still.
        let position = self.lanes[lane].steps.len() as u32;
        let step = StepRef { lane: lane as u32, position };
        let mut clock = std::mem::take(&mut self.state[lane].clock);
        for &wait in &self.waits {
            for (known, at_wait) in clock.iter_mut().zip(self.clock_at(wait)) {
                *known = (*known).max(*at_wait);
            }
        }
        for &wait in &self.waits {
            let head = &mut self.state[wait.lane as usize].waiters[wait.position as usize];
            let next = std::mem::replace(head, self.waiters.len() as u32);
            self.waiters.push((step, next));
            self.lanes[wait.lane as usize].steps[wait.position as usize].signals = true;
        }
        let barrier = match self.lanes[lane].kind {
            LaneKind::Host | LaneKind::Engine(_) => true,
            // The stream's earlier work in the queue must be done before anything of the graph starts.
            LaneKind::Queue if position == 0 => lane == 0,
            LaneKind::Queue => {
                let mut own = self.needs.iter().filter(|need| need.lane as usize == lane);
                drain == Drain::Always
                    || drain == Drain::IfNeeded && own.any(|&need| !self.completed(need, &clock))
            }
        };
        clock[lane] = position + 1;
        let state = &mut self.state[lane];
        let last_barrier = if barrier { position } else { state.last_barrier.last().copied().unwrap_or(0) };
        state.last_barrier.push(last_barrier);
        if width > 1 {
            state.started.extend_from_slice(&clock);
            state.waiters.push(NONE);
        }
        if position == 0 && lane != 0 {
            self.lanes[lane].entry = self.waits.is_empty();
        }
        self.state[lane].clock = clock;
        self.lanes[lane].push(action, barrier, &self.waits);
        self.order.push(step);
        step
    }

    /// Makes sure that the last step of lane 0 completes last.
    fn finish(mut self) -> Plan {
        self.needs.clear();
        for lane in 0..self.lanes.len() {
            let len = self.lanes[lane].steps.len() as u32;
            let open = self.state[lane].last_barrier.last().map_or(0, |&barrier| barrier);
            self.needs.extend((open..len).map(|position| StepRef { lane: lane as u32, position }));
        }
        let last =
            (self.lanes[0].steps.len() as u32).checked_sub(1).map(|position| StepRef { lane: 0, position });
        let covered = last.is_some_and(|last| {
            let done = |&need: &StepRef| {
                need == last || self.lanes.len() > 1 && self.completed(need, self.clock_at(last))
            };
            self.needs.iter().all(done)
        });
        if !covered {
            self.choose_waits(0);
            self.push(Action::Fence, 0, Drain::IfNeeded);
        }
        Plan {
            lanes: self.lanes,
            candidate: Candidate::Levels,
            order: self.order,
            places: self.places,
            estimate_ns: 0,
        }
    }
}
