//! The host's part of one launch.
//!
//! It is one job of the stream's worker, whatever the number of steps. It is made once and used again.

#![forbid(unsafe_code)]

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use aqlipse_graph::image::HostStep;

use super::{
    State,
    conditional::Drive,
    host_work::{Reserve, Stage, run_on_host},
    launch_queues::LaunchQueues,
    pages::PinnedPages,
    placement::DevicePlacement,
    unit::Unit,
};
use crate::{
    check::{self, Inside, NodeDispatch},
    cooperative::Expected,
    device::{
        Device, clocks,
        fence::PooledSignal,
        slabs::Block,
        timeline::{self, Work as Doing},
    },
    error::Result,
    graph::FlatGraph,
    stream::host::{Outstanding, Steps, fire, perform},
};

/// What the host does in one launch.
pub(super) struct Script {
    /// The launch's own.
    signals: Option<Arc<[Arc<PooledSignal>]>>,
    /// The worker that runs them has them locked; no other thread looks meanwhile.
    steps: Mutex<Vec<Step>>,
    /// Memory that the device reaches until the launch is over. A script that pins is not used again.
    pub(super) pinned: Arc<Mutex<Vec<PinnedPages>>>,
}

struct Step {
    /// Signals that must be 0 before.
    after: SmallVec<[u32; 4]>,
    /// The signal to set to 0 behind it.
    done: Option<u32>,
    device: Device,
    epoch: u64,
    /// What is to be done in the launch, if anything is.
    work: Option<Work>,
}

/// What one step does.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation in each launch")]
enum Task {
    Unit {
        unit: Unit,
        /// Where a pin tells its copy's kernel the address.
        arguments: Option<(Arc<Block>, usize)>,
        reserve: Reserve,
    },
    /// A conditional node that the host drives.
    Drive(Drive),
}

impl Task {
    /// What it is, in words.
    fn what(&self) -> &'static str {
        match self {
            Self::Unit { unit: Unit::Host(_), .. } => "host function",
            Self::Unit { unit, .. } => unit.what(false),
            Self::Drive(_) => "conditional node",
        }
    }
}

struct Work {
    task: Task,
    /// The launch and the node, for the timeline.
    noted: Option<(timeline::Launch, String)>,
    /// The launch, where launches are checked.
    place: Option<(u64, u64)>,
    /// For what publishes to the queue of cooperative kernels.
    _expected: Option<Expected>,
}

/// What tells which nodes the steps of a launch are, for the timeline.
pub(super) struct Labels<'e> {
    pub(super) launch: timeline::Launch,
    pub(super) flat: &'e FlatGraph,
}

impl Labels<'_> {
    /// The launch, and the node that a unit is of: a unit that pins memory is of the same as the one behind it.
    fn of(&self, state: &State, unit: u32) -> (timeline::Launch, String) {
        let main = unit + u32::from(matches!(state.units[unit as usize], Unit::Pin(_)));
        let flat = state.main.iter().position(|&other| other == main);
        let node = flat.map_or_else(String::new, |flat| self.flat.nodes()[flat].origin.to_string());
        (self.launch, node)
    }
}

impl Script {
    /// The steps of an image, with nothing to do yet.
    fn new(
        state: &State,
        signals: &Option<Arc<[Arc<PooledSignal>]>>,
        placements: &[DevicePlacement],
        launch_queues: &LaunchQueues<'_>,
    ) -> Self {
        let step = |step: &HostStep| Step {
            after: step.after.clone(),
            done: step.done,
            device: launch_queues.of_ordinal(placements[step.unit as usize].device).0.clone(),
            epoch: 0,
            work: None,
        };
        let steps = Mutex::new(state.image.host.iter().map(step).collect());
        Self { signals: signals.clone(), steps, pinned: Arc::default() }
    }

    /// The host's part of a launch, as the executable is now. `used` is that of a launch that is over.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) for what the steps take; a fault.
    pub(super) fn prepared(
        used: Option<Arc<Self>>,
        state: &State,
        signals: &Option<Arc<[Arc<PooledSignal>]>>,
        placements: &[DevicePlacement],
        launch_queues: &LaunchQueues<'_>,
        labels: Option<Labels<'_>>,
    ) -> Result<Arc<Self>> {
        // Its worker may not have let go of it yet if a fault has ended the launch.
        let used = used.filter(|used| Arc::strong_count(used) == 1);
        let script = used.unwrap_or_else(|| Arc::new(Self::new(state, signals, placements, launch_queues)));
        // They are done one after the other, so one stage for each device is enough.
        let mut stages: SmallVec<[(usize, Stage); 1]> = SmallVec::new();
        let mut steps = script.steps();
        for (step, given) in steps.iter_mut().zip(&state.image.host) {
            let (device, epoch) = launch_queues.of_ordinal(placements[given.unit as usize].device);
            step.epoch = epoch;
            step.work = None;
            if !state.is_disabled(given.unit) {
                let unit = &state.units[given.unit as usize];
                let task = if let Unit::Conditional { number, .. } = *unit {
                    Task::Drive(state.conditionals.drive(number, epoch, checked(state, given.unit))?)
                } else {
                    let stage = stages.iter().find(|(ordinal, _)| *ordinal == device.ordinal());
                    let reserve = Reserve::take(device, unit, epoch, stage.map(|(_, stage)| stage))?;
                    if let (None, Some(fresh)) = (stage, reserve.stage()) {
                        stages.push((device.ordinal(), fresh.clone()));
                    }
                    if let (Reserve::Cooperative(reserved), Unit::Cooperative(dispatch)) = (&reserve, unit)
                        && let Some((launch, place)) = checked(state, given.unit)
                    {
                        let what = Doing::of(dispatch.code.name(), dispatch.code.is_own()).describe();
                        let (node, inside) = (launch.order.names[place as usize].clone(), Inside::default());
                        let arguments = reserved.arguments();
                        let touches = Vec::new();
                        let dispatch = NodeDispatch { arguments, place, node, what, inside, touches };
                        check::dispatching(&launch, dispatch);
                    }
                    let pins = matches!(unit, Unit::Pin(_));
                    let arguments = pins.then(|| state.arguments_of(given.unit + 1));
                    Task::Unit { unit: unit.clone(), arguments, reserve }
                };
                let may_publish = matches!(unit, Unit::Cooperative(_) | Unit::Conditional { .. });
                // Before the packets are published that wait for it.
                let expected = may_publish.then(|| device.expect_cooperative());
                let noted = labels.as_ref().map(|labels| labels.of(state, given.unit));
                let announced = state.announced.as_ref().and_then(|launch| launch.moment.get());
                let place = announced.map(|moment| moment.place);
                step.work = Some(Work { task, noted, place, _expected: expected });
            }
        }
        drop(steps);
        Ok(script)
    }

    /// Whether any step pins memory in this launch.
    pub(super) fn pins(&self) -> bool {
        let pins = |work: &Work| matches!(work.task, Task::Unit { unit: Unit::Pin(_), .. });
        self.steps().iter().any(|step| step.work.as_ref().is_some_and(pins))
    }

    fn signal(&self, number: u32) -> Option<&Arc<PooledSignal>> {
        self.signals.as_deref()?.get(number as usize)
    }

    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock()
    }
}

/// The launch that is being published and the place of a unit's node in its order, where launches are checked.
fn checked(state: &State, unit: u32) -> Option<(Arc<check::Launch>, u32)> {
    let launch = state.announced.clone()?;
    let flat = state.main.iter().position(|&main| main == unit)?;
    let place = *launch.order.places.get(flat)?;
    Some((launch, place))
}

impl Steps for Script {
    fn count(&self) -> usize {
        self.steps().len()
    }

    fn run(self: Arc<Self>, mut outstanding: Outstanding) {
        let mut behind: Option<Arc<PooledSignal>> = None;
        for step in self.steps().iter_mut() {
            if let Some(done) = behind.take() {
                fire(&done);
            }
            let after = step.after.iter().filter_map(|&signal| self.signal(signal));
            // What it holds may be the caller's. It is let go before the signal says that the step is done.
            let work = step.work.take();
            let (device, epoch) = (&step.device, step.epoch);
            let run = || {
                let Some(Work { task, noted, place, _expected }) = work else { return };
                let (what, noted) = (task.what(), noted.as_ref());
                let act = || match task {
                    Task::Unit { unit, arguments, reserve } => {
                        run_on_host(device, &unit, arguments.as_ref(), reserve, &self.pinned, epoch, noted);
                    }
                    Task::Drive(drive) => drive.run(noted.map(|(launch, _)| *launch)),
                };
                clocks::executing(place, || match noted {
                    Some((launch, node)) => launch.host(Some(node), what, act),
                    None => act(),
                });
            };
            if perform(after, run, &mut outstanding) {
                behind = step.done.and_then(|done| self.signal(done)).cloned();
            }
        }
        // Before the launch is over: the next one wants the script.
        drop(self);
        if let Some(done) = behind {
            fire(&done);
        }
    }
}
