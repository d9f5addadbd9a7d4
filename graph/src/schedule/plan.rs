//! A plan: lanes of steps, what each step waits for, and in which order the steps may be published.

use std::fmt;

/// A step, by lane and position in the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepRef {
    /// Index into [`Plan::lanes`].
    pub lane: u32,
    /// Index into [`Lane::steps`].
    pub position: u32,
}

/// What executes a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneKind {
    /// An AQL queue.
    Queue,
    /// The host's worker thread, one step after the other.
    Host,
    /// The copy engine of the lane's device with this number, one copy after the other. Packets of a queue can take a
    /// copy's place.
    Engine(u8),
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Runs this node.
    Node(u32),
    /// Nothing but wait: a barrier-AND packet.
    Fence,
}

/// One packet of work or one host call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What the step does.
    pub action: Action,
    /// Whether it starts only after every earlier step of its lane has completed: the packet's barrier bit.
    pub barrier: bool,
    /// Whether some other lane waits for it, so that it needs a completion signal.
    pub signals: bool,
    /// Where its waits end in its lane's list; they start where those of the step before end.
    waits_end: u32,
}

/// The steps of one queue or of the host's worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// What executes the lane.
    pub kind: LaneKind,
    /// The device of a queue or an engine, as the problem numbers devices; the host's worker serves them all.
    pub device: u16,
    /// Whether the launch itself must hold the lane back until earlier work in the stream is done. A lane without it
    /// begins after a step of another lane, or is lane 0, whose first step's barrier bit does it.
    pub entry: bool,
    /// The steps, in order.
    pub steps: Vec<Step>,
    waits: Vec<StepRef>,
}

impl Lane {
    pub(super) fn new(kind: LaneKind) -> Self {
        Self { kind, device: 0, entry: false, steps: Vec::new(), waits: Vec::new() }
    }

    pub(super) fn on_device(device: u16, kind: LaneKind) -> Self {
        Self { device, ..Self::new(kind) }
    }

    pub(super) fn push(&mut self, action: Action, barrier: bool, waits: &[StepRef]) {
        self.waits.extend_from_slice(waits);
        self.steps.push(Step { action, barrier, signals: false, waits_end: self.waits.len() as u32 });
    }

    /// The steps of other lanes that a step waits for before it starts; it holds back the rest of its lane meanwhile.
    ///
    /// # Panics
    /// When there is no such step.
    pub fn waits(&self, position: u32) -> &[StepRef] {
        if self.waits.is_empty() {
            return &[];
        }
        let start = match position {
            0 => 0,
            _ => self.steps[position as usize - 1].waits_end as usize,
        };
        &self.waits[start..self.steps[position as usize].waits_end as usize]
    }

    /// What its steps wait for, step by step.
    pub(super) fn all_waits(&self) -> &[StepRef] {
        &self.waits
    }

    /// The number of waits of all steps.
    pub fn wait_count(&self) -> usize {
        self.waits.len()
    }

    /// Removes one wait of a step, for tests of the checker.
    #[cfg(test)]
    pub(super) fn remove_wait(&mut self, position: u32, nth: usize) {
        let end = self.steps[position as usize].waits_end as usize;
        let start = end - self.waits(position).len();
        self.waits.remove(start + nth);
        for step in &mut self.steps[position as usize..] {
            step.waits_end -= 1;
        }
    }
}

/// A way to lay a graph out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One queue, every kernel behind the one before it.
    OneQueue,
    /// Four streams; a node's first child stays on its stream, other nodes take the next one.
    RoundRobin,
    /// Linear segments, level by level, each on the next of four queues.
    SegmentsByLevel,
    /// Linear segments; the first behind a segment stays on its queue, others take the next one.
    SegmentsDepthFirst,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::OneQueue, Self::RoundRobin, Self::SegmentsByLevel, Self::SegmentsDepthFirst];

    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneQueue => "one queue",
            Self::RoundRobin => "round robin",
            Self::SegmentsByLevel => "segments by level",
            Self::SegmentsDepthFirst => "segments depth first",
        }
    }
}

/// How a plan was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidate {
    /// One queue, level by level.
    Levels,
    /// One queue, level by level, with packets of like durations in the same levels as far as the order allows.
    Balanced,
    /// One queue; what fewer host nodes hold back comes first, then level by level.
    HostDepth,
    /// One queue, level by level, one packet after the other: a barrier bit on each.
    Serial,
    /// Chains on several queues, each strictly in order.
    Strict,
    /// Chains on several queues, in order only where a dependency needs it.
    Relaxed,
    /// Chains on several queues, each queue level by level.
    LevelLanes,
    /// Each level's nodes in turn on several queues, each queue level by level.
    Turns,
    /// The streams that a release of AMD's would use, in order only where a dependency needs it.
    Streams(Policy),
    /// The same with the barriers and waits that it would have.
    Published(Policy),
    /// One queue, in an order that needs few bytes.
    Frugal,
    /// A queue for each class of urgency, level by level; one queue if nodes of different classes never meet.
    Urgency,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Levels => "one queue, level by level",
            Self::Balanced => "one queue, level by level, like durations together",
            Self::HostDepth => "one queue, what host nodes hold back last",
            Self::Serial => "one queue, one packet after the other",
            Self::Strict => "chains on several queues, each in order",
            Self::Relaxed => "chains on several queues, in order where a dependency needs it",
            Self::LevelLanes => "chains on several queues, each level by level",
            Self::Turns => "the nodes of a level in turn on several queues",
            Self::Streams(policy) => return write!(f, "streams: {}", policy.name()),
            Self::Published(policy) => {
                return write!(f, "streams with all their barriers: {}", policy.name());
            }
            Self::Frugal => "one queue, in an order that needs few bytes",
            Self::Urgency => "a queue for each class of urgency",
        })
    }
}

/// A schedule of a graph.
///
/// The last step of lane 0 completes last: its completion is the launch's. Every wait leads to a step that stands
/// earlier in [`Plan::order`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The queues, then the copy engines, then the host's lane if there are host nodes. Lane 0 is a queue of device 0 and
    /// never empty.
    pub lanes: Vec<Lane>,
    /// How the plan was made.
    pub candidate: Candidate,
    pub(super) order: Vec<StepRef>,
    pub(super) places: Vec<Option<StepRef>>,
    pub(super) estimate_ns: u64,
}

/// What a plan costs, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Steps in queues that run a node.
    pub packets: usize,
    /// Barrier-AND packets: `ceil(waits / 5)` before each waiting step, and one for each fence; a fence carries
    /// its first five waits itself.
    pub barrier_ands: usize,
    /// Steps in queues whose barrier bit is set.
    pub barrier_bits: usize,
    /// Host calls.
    pub host_calls: usize,
    /// Copies by copy engines.
    pub engine_copies: usize,
    /// Waits of one lane for another.
    pub waits: usize,
    /// Steps that another lane waits for; the launch's own completion is not counted.
    pub signals: usize,
}

/// Signals that one barrier-AND packet can wait for (HSA Runtime 1.2, 2.9).
pub const SIGNALS_PER_BARRIER_AND: usize = 5;

impl Step {
    /// A step that runs a node, behind nothing of another lane and without a barrier bit, in a lane without waits.
    pub(super) fn of_node(node: u32) -> Self {
        Self { action: Action::Node(node), barrier: false, signals: false, waits_end: 0 }
    }

    /// The number of barrier-AND packets that a step with this many waits brings to its queue, itself included if
    /// it is a fence.
    pub fn barrier_ands(&self, waits: usize) -> usize {
        let packets = waits.div_ceil(SIGNALS_PER_BARRIER_AND);
        if self.action == Action::Fence { packets.max(1) } else { packets }
    }
}

impl Plan {
    /// All steps in an order in which they can be published: a step comes after what it waits for and after the
    /// steps before it in its lane.
    pub fn order(&self) -> &[StepRef] {
        &self.order
    }

    /// The step that runs a node; nothing for a join.
    ///
    /// # Panics
    /// When the graph has no such node.
    pub fn place(&self, node: u32) -> Option<StepRef> {
        self.places[node as usize]
    }

    /// The expected time from the first start to the last completion, in nanoseconds, by the cost table.
    pub fn estimate_ns(&self) -> u64 {
        self.estimate_ns
    }

    /// If lane 0 ends with a fence that only drains it, lets the barrier bit of the step before do that; says whether.
    pub(super) fn close_by_barrier(&mut self) -> bool {
        let [.., open, fence] = &mut self.lanes[0].steps[..] else { return false };
        // The fence needs no wait: the step before it knows all that other lanes have to complete.
        if fence.action != Action::Fence || fence.waits_end != open.waits_end || fence.signals || open.barrier
        {
            return false;
        }
        open.barrier = true;
        self.lanes[0].steps.pop();
        self.order.pop();
        true
    }

    /// Undoes [`Plan::close_by_barrier`].
    pub(super) fn close_by_fence(&mut self) {
        let lane = &mut self.lanes[0];
        if let Some(last) = lane.steps.last_mut() {
            last.barrier = false;
        }
        lane.push(Action::Fence, true, &[]);
        self.order.push(StepRef { lane: 0, position: lane.steps.len() as u32 - 1 });
    }

    /// A step.
    ///
    /// # Panics
    /// When there is no such step.
    pub fn step(&self, at: StepRef) -> &Step {
        &self.lanes[at.lane as usize].steps[at.position as usize]
    }

    /// What the steps of another lane a step waits for.
    ///
    /// # Panics
    /// When there is no such step.
    pub fn waits(&self, at: StepRef) -> &[StepRef] {
        self.lanes[at.lane as usize].waits(at.position)
    }

    /// The plan in numbers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        if let [queue] = &self.lanes[..] {
            // Its steps wait for none of another lane, and have their order.
            let fences = queue.steps.iter().filter(|step| step.action == Action::Fence).count();
            counts.packets = queue.steps.len() - fences;
            counts.barrier_ands = fences;
            counts.barrier_bits = queue.steps.iter().filter(|step| step.barrier).count();
            return counts;
        }
        for &at in &self.order {
            let (step, waits) = (self.step(at), self.waits(at).len());
            counts.waits += waits;
            counts.signals += usize::from(step.signals);
            match self.lanes[at.lane as usize].kind {
                LaneKind::Queue => {}
                LaneKind::Host => {
                    counts.host_calls += 1;
                    continue;
                }
                LaneKind::Engine(_) => {
                    counts.engine_copies += 1;
                    continue;
                }
            }
            counts.packets += usize::from(step.action != Action::Fence);
            counts.barrier_bits += usize::from(step.barrier);
            counts.barrier_ands += step.barrier_ands(waits);
        }
        counts
    }
}
