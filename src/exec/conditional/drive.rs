//! A conditional node driven by the host: it reads the condition, runs a body, waits, and reads again.

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

use hsa::packet::{BarrierAnd, Fences, NO_SIGNAL, Packet};
use parking_lot::Mutex;

use aqlipse_graph::schedule::body::Step;

use super::node::Conditional;
use crate::{
    blit,
    check::{self, Inside, NodeDispatch},
    condition,
    device::{
        Device,
        fence::PooledSignal,
        lane::Lane,
        timeline::{self, Launch, Noted, Place},
    },
    error::Result,
    exec::{
        host_work::{Reserve, Stage, is_staged, new_stage, run_on_host},
        unit::Unit,
    },
    graph::ConditionalKind,
    module::Dispatch,
};

/// A body that runs.
struct Frame {
    site: u32,
    body: u32,
    /// How many bodies have run before in the launch.
    turn: u64,
    /// The step that is next.
    step: usize,
}

/// A conditional node that the host is to drive in one launch, with what that takes from the device.
pub(in crate::exec) struct Drive {
    node: Arc<Conditional>,
    /// Of the device.
    epoch: u64,
    lane: Arc<Lane>,
    end: Arc<PooledSignal>,
    /// If any body copies pageable memory.
    stage: Option<Stage>,
    /// The launch and the node's place in its order, if that is checked.
    checked: Option<(Arc<check::Launch>, u32)>,
}

/// Where a driver publishes packets, and how it hears of their end.
struct Driver<'d> {
    device: &'d Device,
    lane: &'d Lane,
    end: &'d PooledSignal,
    segment: Vec<Packet>,
}

impl Drive {
    /// Takes what it takes to drive a node in a launch of an epoch of its device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), a fault.
    pub(super) fn new(
        node: Arc<Conditional>,
        epoch: u64,
        checked: Option<(Arc<check::Launch>, u32)>,
    ) -> Result<Self> {
        let is_staged = node.units.iter().any(is_staged);
        Ok(Self {
            epoch,
            lane: node.device.body_lane()?,
            end: node.device.0.signals.take(1, epoch)?,
            stage: is_staged.then(|| new_stage(&node.device)).transpose()?,
            node,
            checked,
        })
    }

    /// Runs the node on a thread that the device waits for; a failure takes what follows the node. The timeline has `launch`,
    /// if events are recorded.
    pub(in crate::exec) fn run(&self, launch: Option<Launch>) {
        if let Err(error) = self.try_run(launch) {
            // A fault is recorded already, and this is another one's epoch then.
            self.node.device.0.faults.record(error, self.epoch);
        }
    }

    fn try_run(&self, launch: Option<Launch>) -> Result<()> {
        let Self { node, epoch, lane, end, stage, .. } = self;
        let (device, epoch) = (&node.device, *epoch);
        if lane.epoch() != epoch {
            // A fault has taken the launch meanwhile.
            return Ok(());
        }
        let mut driver = Driver { device, lane, end, segment: Vec::new() };
        let pinned = Mutex::new(Vec::new());
        // Not by recursion: nodes may be nested deeper than the stack.
        let mut turns = 0;
        let mut frames: Vec<Frame> = node.enter(0, &mut turns)?.into_iter().collect();
        while let Some(frame) = frames.last_mut() {
            if device.0.faults.epoch() != epoch {
                return Ok(());
            }
            let steps = &node.structure.bodies[frame.body as usize].steps;
            let Some(step) = steps.get(frame.step) else {
                let loops = node.structure.sites[frame.site as usize].kind == ConditionalKind::While;
                match if loops { node.enter(frame.site, &mut turns)? } else { None } {
                    Some(next) => *frame = next,
                    None => drop(frames.pop()),
                }
                continue;
            };
            frame.step += 1;
            match *step {
                Step::Packets { start, end } => {
                    let range = start as usize..end as usize;
                    driver.segment.clear();
                    driver.segment.extend_from_slice(&node.packets[range.clone()]);
                    if let Some(launch) = launch {
                        let mut packets = driver.segment.iter_mut().zip(range.clone());
                        packets.try_for_each(|(packet, place)| self.note(launch, packet, place))?;
                    }
                    self.announce(&frames, range);
                    driver.run()?;
                    // Only packets need pinned pages.
                    pinned.lock().clear();
                }
                Step::Host { unit } if node.disabled.contains(&unit) => {}
                Step::Host { unit } => {
                    let unit_here = &node.units[unit as usize];
                    let arguments = node.arguments_of(unit + 1);
                    let mut reserve = stage.clone().map_or(Reserve::Nothing, Reserve::Stage);
                    if let (Unit::Cooperative(dispatch), Some((launch, place))) = (unit_here, &self.checked) {
                        let reserved = device.reserve_cooperative(dispatch, epoch)?;
                        let arguments = reserved.arguments();
                        self.announce_one(&frames, unit, (launch, *place), arguments, dispatch);
                        reserve = Reserve::Cooperative(reserved);
                    }
                    let noted = launch.map(|launch| (launch, self.node_of(unit).unwrap_or_default()));
                    run_on_host(
                        device,
                        unit_here,
                        arguments.as_ref(),
                        reserve,
                        &pinned,
                        epoch,
                        noted.as_ref(),
                    );
                }
                Step::Conditional { site, .. } => frames.extend(node.enter(site, &mut turns)?),
            }
        }
        Ok(())
    }

    /// Says which nodes are dispatched next, by packets of the order, if the launch is checked.
    fn announce(&self, frames: &[Frame], packets: Range<usize>) {
        let Some((launch, place)) = &self.checked else { return };
        for step in &self.node.structure.order[packets] {
            let (unit, dispatch) = (step.unit, self.node.units[step.unit as usize].kernel());
            let Some(dispatch) = dispatch.filter(|_| !self.node.disabled.contains(&unit)) else { continue };
            if let Some((block, offset)) = self.node.arguments_of(unit) {
                self.announce_one(frames, unit, (launch, *place), block.address() + offset as u64, dispatch);
            }
        }
    }

    fn announce_one(
        &self,
        frames: &[Frame],
        unit: u32,
        (launch, place): (&Arc<check::Launch>, u32),
        arguments: u64,
        dispatch: &Dispatch,
    ) {
        let mut inside = Inside::default();
        for (depth, frame) in frames.iter().enumerate() {
            let body = &self.node.structure.bodies[frame.body as usize];
            let next = frames.get(depth + 1).map(|frame| frame.site);
            let Some((order, place)) = body.place_of(next, unit) else { return };
            inside.enter(frame.turn, order, place);
        }
        let what = timeline::Work::of(dispatch.code.name(), dispatch.code.is_own()).describe();
        let node = self.node_of(unit).unwrap_or_default();
        let touches = blit::touches(dispatch);
        check::dispatching(launch, NodeDispatch { arguments, place, node, what, inside, touches });
    }

    /// Notes for the timeline what a packet does, by its place in the order, and has it say when it is done.
    fn note(&self, launch: Launch, packet: &mut Packet, place: usize) -> Result<()> {
        let Self { node, epoch, lane, .. } = self;
        let unit = node.structure.order[place].unit;
        let dispatch = node.units[unit as usize].kernel().filter(|_| !node.disabled.contains(&unit));
        let Some(dispatch) = dispatch else { return Ok(()) };
        let signal = node.device.0.edges.take(1, *epoch)?;
        packet.set_completion_signal(signal.handle());
        timeline::note([Noted {
            device: node.device.clone(),
            place: Place::Queue(lane.id()),
            signal,
            work: timeline::Work::of(dispatch.code.name(), dispatch.code.is_own()),
            task: blit::task(dispatch),
            launch,
            node: self.node_of(unit),
            is_first: false,
        }]);
        Ok(())
    }

    /// The node that a unit of a body is of.
    fn node_of(&self, unit: u32) -> Option<String> {
        let mut nodes = self.node.structure.bodies.iter().flat_map(|body| body.nodes());
        nodes.find(|(of, _)| *of == unit).map(|(_, node)| node.to_string())
    }
}

impl Conditional {
    /// What a conditional node runs now.
    fn enter(&self, site: u32, turns: &mut u64) -> Result<Option<Frame>> {
        let here = &self.structure.sites[site as usize];
        let value = condition::value(&self.conditions[site as usize])?;
        let chosen = here.kind.choose(value, here.bodies.len());
        Ok(chosen.map(|body| {
            let turn = *turns;
            *turns += 1;
            // CAST: a site has fewer than 2^32 bodies.
            Frame { site, body: here.bodies.start + body as u32, turn, step: 0 }
        }))
    }
}

impl Driver<'_> {
    /// Publishes the packets of the segment and waits until they have completed.
    ///
    /// Nothing that is published here waits for anything but packets before it: drivers of several launches share the
    /// lane, and none can hold another one back for ever.
    fn run(&mut self) -> Result<()> {
        if self.device.0.faults.epoch() != self.end.epoch() {
            return Err(self.device.0.faults.error());
        }
        self.end.silent_store(1, Ordering::Relaxed);
        let completion = self.end.handle();
        self.segment.push(BarrierAnd { fences: Fences::SYSTEM, deps: [NO_SIGNAL; 5], completion }.packet());
        self.lane.submit(&self.segment)?;
        self.end.wait()
    }
}
