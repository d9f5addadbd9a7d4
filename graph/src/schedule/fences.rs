//! What the packets of a plan acquire and release.
//!
//! The encoder of images asks here, and so do estimate and trial: what is timed is what runs. ADR 29 has the rules with
//! their reasons, which are HSA's; ADR 64 has what they come to on the caches of each family.

use hsa::packet::{Fences, Scope};

use super::plan::{Action, LaneKind, Plan, SIGNALS_PER_BARRIER_AND, Step, StepRef};

/// Of the marker behind which lanes begin that wait for nothing else of the launch.
pub(crate) const MARKER: Fences = Fences::SYSTEM;

/// Of barrier-AND packets that hold a lane back for the packet of a step. They acquire nothing: that packet launches behind
/// the last of them, and acquires what all those signals stand for.
pub(crate) const WAIT: Fences = Fences::NONE;

/// Of the packet that does a copy in place of an engine. An engine bypasses the device's caches, and so does this packet:
/// whatever does the copy, it sees all that was released at system scope, and what waits for it acquires at that scope.
pub(crate) const COPY: Fences = Fences::SYSTEM;

/// By queue: the widest scope that has been acquired since anything of the launch ran in it.
pub(crate) struct Acquired(Vec<Scope>);

impl Acquired {
    /// Before the first step of a plan, behind the marker if there is one.
    pub(crate) fn at_entry(plan: &Plan) -> Self {
        let mut this = Self(vec![Scope::None; plan.lanes.len()]);
        if has_marker(plan) {
            this.passed(0, MARKER);
        }
        this
    }

    /// The fences of the packet of a step of a queue, if it is a kernel or a fence.
    pub(crate) fn of_step(&self, plan: &Plan, at: StepRef) -> Fences {
        let lane = &plan.lanes[at.lane as usize];
        let (step, waits) = (plan.step(at), plan.waits(at));
        // What the host, an engine or another device has released is outside of what this device's caches agree about.
        let foreign = |wait: &StepRef| {
            let other = &plan.lanes[wait.lane as usize];
            other.kind != LaneKind::Queue || other.device != lane.device
        };
        let entered = at.position == 0 && lane.entry;
        let wanted = match () {
            // What is before the launch may be the host's work.
            () if entered || at.position == 0 && at.lane == 0 || waits.iter().any(foreign) => Scope::System,
            () if !waits.is_empty() || step.barrier || step.action == Action::Fence => Scope::Agent,
            // What the barrier packet of an antichain has acquired its other packets need not acquire again: all of
            // them depend on the same completed work.
            () => Scope::None,
        };
        let last = at.lane == 0 && at.position as usize + 1 == lane.steps.len();
        Fences {
            barrier: step.barrier,
            acquire: missing(self.0[at.lane as usize], entered || !waits.is_empty(), wanted),
            // What waits may be the host or another device, and the end of the graph is the end of the launch.
            release: if last || step.signals { Scope::System } else { Scope::Agent },
        }
    }

    /// As [`Acquired::of_step`], for a step of a plan's only queue.
    #[inline]
    pub(crate) fn of_only_step(&self, step: &Step, first: bool, last: bool) -> Fences {
        of_only_step(self.0[0], step, first, last)
    }

    /// The fences of a barrier-AND packet that fires an event, or waits for one. The host may have made what the event
    /// stands for visible, or look at what it does: both ends are at system scope.
    pub(crate) fn of_event(&self, lane: u32, barrier: bool, waits: bool) -> Fences {
        let acquire = missing(self.0[lane as usize], waits, Scope::System);
        Fences { barrier, acquire, release: Scope::System }
    }

    /// Notes a packet that runs a kernel.
    #[inline]
    pub(crate) fn ran(&mut self, lane: u32) {
        self.0[lane as usize] = Scope::None;
    }

    /// Notes a packet that runs nothing.
    #[inline]
    pub(crate) fn passed(&mut self, lane: u32, fences: Fences) {
        let acquired = &mut self.0[lane as usize];
        *acquired = behind(*acquired, fences);
    }

    /// Whether the packet of a queue's next step acquires anything; the step is noted.
    pub(super) fn acquires(&mut self, plan: &Plan, at: StepRef) -> bool {
        let fences = self.of_step(plan, at);
        let step = plan.step(at);
        match step.action {
            Action::Node(_) => self.ran(at.lane),
            Action::Fence => {
                // It carries the first waits itself.
                if plan.waits(at).len() > SIGNALS_PER_BARRIER_AND {
                    self.passed(at.lane, WAIT);
                }
                self.passed(at.lane, fences);
            }
        }
        fences.acquire != Scope::None
    }
}

/// What of the steps of a plan's only queue acquires anything, one step after the other.
#[derive(Default)]
pub(super) struct OnlyQueue(Scope);

impl OnlyQueue {
    /// Whether the packet of the next step does.
    #[inline]
    pub(super) fn acquires(&mut self, step: &Step, first: bool) -> bool {
        let fences = of_only_step(self.0, step, first, false);
        self.0 = match step.action {
            Action::Node(_) => Scope::None,
            Action::Fence => behind(self.0, fences),
        };
        fences.acquire != Scope::None
    }
}

/// The fences of a step of a plan's only queue, in which no step waits for another lane and none signals.
#[inline]
fn of_only_step(acquired: Scope, step: &Step, first: bool, last: bool) -> Fences {
    let acquire = match (first, step.barrier || step.action == Action::Fence) {
        (true, _) => Scope::System,
        (false, true) => missing(acquired, false, Scope::Agent),
        (false, false) => Scope::None,
    };
    let release = if last { Scope::System } else { Scope::Agent };
    Fences { barrier: step.barrier, acquire, release }
}

/// What a packet must acquire of `wanted`: nothing that the packets directly before it in its lane have `acquired`, if the
/// first of those had waited for all before it and none of them has run anything. A packet that `waits` for another lane
/// needs what that lane has released meanwhile.
#[inline]
fn missing(acquired: Scope, waits: bool, wanted: Scope) -> Scope {
    if !waits && acquired >= wanted { Scope::None } else { wanted }
}

/// What has been acquired behind a packet that runs nothing.
#[inline]
fn behind(acquired: Scope, fences: Fences) -> Scope {
    if fences.barrier { fences.acquire.max(acquired) } else { Scope::None }
}

/// Whether lanes begin behind a marker in lane 0.
pub(crate) fn has_marker(plan: &Plan) -> bool {
    plan.lanes.iter().any(|lane| lane.entry)
}
