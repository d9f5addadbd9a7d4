//! A plan as packets: per lane an image that a launch copies into a ring, and what the copy must fill in.

use std::ops::Range;

use hsa::packet::{BarrierAnd, Fences, Packet, Scope, SignalPlace as Field};
use smallvec::SmallVec;

use crate::schedule::{
    Action, Lane, LaneKind, Plan, StepRef,
    fences::{self, Acquired},
    plan::SIGNALS_PER_BARRIER_AND,
};

/// How a plan does not fit its units: a defect of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan puts a unit on a queue that is no packet.
    #[error("unit {unit} is no packet and stands on a queue")]
    NotAPacket {
        /// The unit.
        unit: u32,
    },
    /// A step waits for one that fires no signal.
    #[error("step {} of lane {} is waited for and fires no signal", .0.position, .0.lane)]
    NoSignal(StepRef),
    /// A fence stands on the lane of the host's calls, or on one of a copy engine.
    #[error("step {} of lane {} is a fence, and no queue's", .0.position, .0.lane)]
    NotAQueue(StepRef),
    /// Packets wait for each other.
    #[error("the packets of lane {lane} from {packet} on wait for packets behind them")]
    Circle {
        /// The lane.
        lane: u32,
        /// The first packet that can never run.
        packet: u32,
    },
}

/// Which signal a launch fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This one of the launch's own, which the next launch uses again.
    Launch(u32),
    /// That of this event node: the event outlives the launch, or is older than it.
    Event(u32),
}

/// A signal to fill in when the packet is copied.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// The packet's place in its lane.
    pub packet: u32,
    /// The field of the packet.
    pub field: Field,
    /// The signal.
    pub source: Source,
}

/// The unit of an event node, and the lane of its packet.
#[derive(Clone, Copy, Debug)]
pub struct EventPoint {
    /// The unit.
    pub unit: u32,
    /// The lane.
    pub lane: u32,
}

/// The packets of one queue.
#[derive(Default)]
pub struct LaneImage {
    /// The number of the queue's device among the executable's.
    pub device: u16,
    /// The packets, as they are copied into the ring.
    pub packets: Vec<Packet>,
    /// Ascending by packet.
    pub patches: Vec<Patch>,
    /// If a copy engine does the lane's work: its steps, ascending by packet. Each has packets that can take its place.
    pub engine: Vec<EngineStep>,
}

impl LaneImage {
    /// What is to be filled in in some packets.
    pub fn patches_among(&self, packets: Range<usize>) -> &[Patch] {
        // Most graphs run in one lane and have nothing to fill in.
        if self.patches.is_empty() {
            return &[];
        }
        let start = self.patches.partition_point(|p| (p.packet as usize) < packets.start);
        let end = start + self.patches[start..].partition_point(|p| (p.packet as usize) < packets.end);
        &self.patches[start..end]
    }

    /// What is to be filled in in one packet.
    pub fn patches_of(&self, packet: u32) -> &[Patch] {
        self.patches_among(packet as usize..packet as usize + 1)
    }
}

/// One copy by a copy engine, or the packets that a launch publishes in its place.
pub struct EngineStep {
    /// Signals that must be 0 before, that of the engine's step before among them: engines promise no order.
    pub after: SmallVec<[u32; 4]>,
    /// The unit.
    pub unit: u32,
    /// The signal that falls to 0 behind it.
    pub done: u32,
    /// The packets that do the same: some that wait, and the unit's.
    pub packets: Range<u32>,
}

/// One step of the host's worker.
pub struct HostStep {
    /// Signals that must be 0 before.
    pub after: SmallVec<[u32; 4]>,
    /// The unit.
    pub unit: u32,
    /// The signal to set to 0 behind it.
    pub done: Option<u32>,
}

/// A run of packets of one lane that can be published together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The lane.
    pub lane: u32,
    /// Its first packet.
    pub start: u32,
    /// The one behind its last packet.
    pub end: u32,
}

/// Everything that a launch publishes.
#[derive(Default)]
pub struct Image {
    /// The queues, then the copy engines; lane 0 is the launch stream's, or one that takes its place on another device.
    pub lanes: Vec<LaneImage>,
    /// The steps of the host's worker, in their order.
    pub host: Vec<HostStep>,
    /// Signals of one launch, all armed with 1.
    pub signals: u32,
    /// The event nodes, by the number that patches call them.
    pub events: Vec<EventPoint>,
    /// Packets in an order in which each waits only for packets before it.
    pub runs: Vec<Run>,
    /// Lane and packet of each unit that is a dispatch, or a branch.
    pub places: Vec<Option<(u32, u32)>>,
    /// Counts the changes of packets.
    edition: u64,
    /// Packets of each kind, as they were encoded, without those in place of copies by engines.
    pub counts: hsa::Counts,
}

impl Image {
    /// How often packets have changed: a copy of the image is one of this edition or no other.
    pub fn edition(&self) -> u64 {
        self.edition
    }

    /// Puts a packet in place of another.
    pub fn replace(&mut self, lane: u32, packet: u32, new: Packet) {
        let old = &mut self.lanes[lane as usize].packets[packet as usize];
        self.edition += u64::from(*old != new);
        *old = new;
    }

    /// The queues: lanes without a copy engine.
    pub fn queues(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.engine.is_empty()).count()
    }

    /// Whether copy engines do any of its work.
    pub fn has_engines(&self) -> bool {
        // Their lanes are the last.
        self.lanes.last().is_some_and(|lane| !lane.engine.is_empty())
    }

    /// The copies by engines, lane by lane.
    pub fn engine_steps(&self) -> impl Iterator<Item = &EngineStep> {
        self.lanes.iter().flat_map(|lane| &lane.engine)
    }

    /// Whether a launch has nothing of its own but packets and the signal at its end.
    pub fn needs_nothing(&self) -> bool {
        self.host.is_empty() && self.events.is_empty() && self.signals == 0
    }

    /// Whether it is packets for one queue, to be copied there as they are but for the completion signal.
    pub fn is_plain(&self) -> bool {
        let [lane] = &self.lanes[..] else { return false };
        lane.patches.is_empty() && self.needs_nothing()
    }

    /// Bytes that the image holds on the host.
    pub fn bytes(&self) -> usize {
        let lanes = self.lanes.iter();
        let bytes = |l: &LaneImage| {
            size_of_val(&l.packets[..]) + size_of_val(&l.patches[..]) + size_of_val(&l.engine[..])
        };
        let lanes = lanes.map(bytes).sum::<usize>();
        let points = size_of_val(&self.places[..]) + size_of_val(&self.events[..]);
        lanes + size_of_val(&self.host[..]) + size_of_val(&self.runs[..]) + points
    }
}

/// What a unit puts into its queue.
pub enum Content {
    /// This packet.
    Packet(Packet),
    /// A packet that fires an event.
    Record,
    /// A packet that waits for an event.
    Wait,
}

/// Encodes `plan` for `units` units whose `content` is given with the fences that it must have.
///
/// # Errors
/// [`Error`], and those of `content`.
pub fn encode<F: From<Error>>(
    plan: &Plan,
    units: usize,
    content: impl Fn(u32, Fences) -> Result<Content, F>,
) -> Result<Image, F> {
    let mut encoder = Encoder::new(plan, units);
    if let [queue] = &plan.lanes[..] {
        encoder.only_queue(queue, &content)?;
    } else {
        encoder.enter();
        for &at in plan.order() {
            encoder.step(at, &content)?;
        }
    }
    let mut image = encoder.image;
    image.runs = runs(&image)?;
    Ok(image)
}

/// Cuts the lanes into runs, as few as it takes for each packet to wait only for what is in a run before its own.
///
/// That is what keeps queues that several streams share from deadlock, however their packets mix and however full the
/// rings are, if slots are claimed in the order of the runs: the packet whose slot was claimed first of those that have
/// not completed can always run. See [`publication`](super::publication).
///
/// A copy by an engine is a run of its own, of the packets in its place. It comes as soon as all that it waits for has
/// been published, so that the engine starts early; an engine's ring is another queue whose order is that of the runs.
fn runs(image: &Image) -> Result<Vec<Run>, Error> {
    if image.signals == 0 && image.host.is_empty() {
        // Nothing waits for anything in the launch.
        let whole =
            |(lane, image): (u32, &LaneImage)| Run { lane, start: 0, end: image.packets.len() as u32 };
        let lanes = (0u32..).zip(&image.lanes).filter(|(_, image)| !image.packets.is_empty());
        return Ok(lanes.map(whole).collect());
    }
    let mut published = vec![false; image.signals as usize];
    let mut runs: Vec<Run> = Vec::new();
    let mut next = vec![0u32; image.lanes.len()];
    let mut host = image.host.iter().peekable();
    let mut engines: Vec<_> = image.lanes.iter().map(|lane| lane.engine.iter().peekable()).collect();
    let mut awaited = vec![false; image.signals as usize];
    image.engine_steps().flat_map(|step| &step.after).for_each(|&signal| awaited[signal as usize] = true);
    loop {
        let mut progress = false;
        for (number, steps) in engines.iter_mut().enumerate() {
            while let Some(step) = steps.next_if(|step| step.after.iter().all(|&s| published[s as usize])) {
                published[step.done as usize] = true;
                next[number] = step.packets.end;
                // CAST: a device has few lanes.
                runs.push(Run { lane: number as u32, start: step.packets.start, end: step.packets.end });
                progress = true;
            }
        }
        let mut engine_may_start = false;
        for (number, lane) in image.lanes.iter().enumerate().filter(|(_, lane)| lane.engine.is_empty()) {
            let start = next[number];
            let mut end = start;
            while !engine_may_start && (end as usize) < lane.packets.len() {
                let patches = lane.patches_of(end);
                // An event was recorded before the launch, or by the packet before.
                let ready = |p: &Patch| match (p.field, p.source) {
                    (Field::Dependency(_), Source::Launch(signal)) => published[signal as usize],
                    _ => true,
                };
                if !patches.iter().all(ready) {
                    break;
                }
                for patch in patches {
                    if let (Field::Completion, Source::Launch(signal)) = (patch.field, patch.source) {
                        published[signal as usize] = true;
                        engine_may_start |= awaited[signal as usize];
                    }
                }
                end += 1;
            }
            if end > start {
                // CAST: a device has few lanes.
                let number = number as u32;
                match runs.last_mut() {
                    Some(run) if run.lane == number => run.end = end,
                    _ => runs.push(Run { lane: number, start, end }),
                }
                progress = true;
            }
            next[number] = end;
        }
        while let Some(step) = host.next_if(|step| step.after.iter().all(|&s| published[s as usize])) {
            step.done.into_iter().for_each(|done| published[done as usize] = true);
            progress = true;
        }
        if !progress {
            break;
        }
    }
    let stuck =
        (0u32..).zip(&next).find(|&(lane, &next)| image.lanes[lane as usize].packets.len() > next as usize);
    match stuck {
        None => Ok(runs),
        Some((lane, &packet)) => Err(Error::Circle { lane, packet }),
    }
}

struct Encoder<'a> {
    plan: &'a Plan,
    image: Image,
    /// Signal of each step that has one, by lane and position.
    signal_of: Vec<Vec<u32>>,
    /// Signal that fires when the launch may begin; for lanes that begin on their own.
    entry: Option<u32>,
    acquired: Acquired,
}

const NONE: u32 = u32::MAX;

impl<'a> Encoder<'a> {
    fn new(plan: &'a Plan, units: usize) -> Self {
        let queues = plan.lanes.iter().filter(|l| l.kind != LaneKind::Host);
        // Nearly always a packet for each step.
        let lane = |l: &Lane| LaneImage {
            device: l.device,
            packets: Vec::with_capacity(l.steps.len()),
            patches: Vec::new(),
            engine: Vec::new(),
        };
        let image =
            Image { lanes: queues.map(lane).collect(), places: vec![None; units], ..Image::default() };
        let signal_of = plan.lanes.iter().map(|l| vec![NONE; l.steps.len()]).collect();
        Self { plan, image, signal_of, entry: None, acquired: Acquired::at_entry(plan) }
    }

    /// Lanes that begin on their own wait for the stream's earlier work through a marker on lane 0.
    fn enter(&mut self) {
        if !fences::has_marker(self.plan) {
            return;
        }
        let signal = self.new_signal();
        self.entry = Some(signal);
        self.barrier_and(0, fences::MARKER);
        self.patch(0, Field::Completion, Source::Launch(signal));
        for lane in 1..self.image.lanes.len() {
            if self.plan.lanes[lane].entry {
                self.wait_packets(lane as u32, &[signal]);
            }
        }
    }

    fn step<F: From<Error>>(
        &mut self,
        at: StepRef,
        content: &impl Fn(u32, Fences) -> Result<Content, F>,
    ) -> Result<(), F> {
        let lane = &self.plan.lanes[at.lane as usize];
        let step = self.plan.step(at);
        let mut after: SmallVec<[u32; 8]> = SmallVec::new();
        for wait in self.plan.waits(at) {
            let signal = self.signal_of[wait.lane as usize][wait.position as usize];
            if signal == NONE {
                return Err(Error::NoSignal(*wait).into());
            }
            after.push(signal);
        }
        let by_engine = matches!(lane.kind, LaneKind::Engine(_));
        // An engine cannot copy without one, and its next step waits for it.
        let done = (step.signals || by_engine).then(|| self.new_signal());
        if let Some(signal) = done {
            self.signal_of[at.lane as usize][at.position as usize] = signal;
        }
        if lane.kind == LaneKind::Host {
            let Action::Node(unit) = step.action else {
                return Err(Error::NotAQueue(at).into());
            };
            if lane.entry && at.position == 0 {
                after.extend(self.entry);
            }
            self.image.host.push(HostStep { after: after.into_iter().collect(), unit, done });
            return Ok(());
        }
        if by_engine {
            return self.engine_step(at, after, done, content);
        }
        let fences = self.acquired.of_step(self.plan, at);
        match step.action {
            Action::Fence => {
                let (own, others) = after.split_at(after.len().min(SIGNALS_PER_BARRIER_AND));
                self.wait_packets(at.lane, others);
                self.barrier_and(at.lane, fences);
                for (n, &signal) in own.iter().enumerate() {
                    self.patch(at.lane, Field::Dependency(n as u8), Source::Launch(signal));
                }
            }
            Action::Node(unit) => {
                self.wait_packets(at.lane, &after);
                self.node(at.lane, unit, fences, content)?;
            }
        }
        if let Some(signal) = done {
            self.patch(at.lane, Field::Completion, Source::Launch(signal));
        }
        Ok(())
    }

    /// A copy by an engine, with the packets that can take its place.
    fn engine_step<F: From<Error>>(
        &mut self,
        at: StepRef,
        mut after: SmallVec<[u32; 8]>,
        done: Option<u32>,
        content: &impl Fn(u32, Fences) -> Result<Content, F>,
    ) -> Result<(), F> {
        let (Action::Node(unit), Some(done)) = (self.plan.step(at).action, done) else {
            return Err(Error::NotAQueue(at).into());
        };
        if let Some(before) = at.position.checked_sub(1) {
            after.push(self.signal_of[at.lane as usize][before as usize]);
        }
        let lane = &self.image.lanes[at.lane as usize];
        // The packets that wait for the launch's start are the first step's.
        let start = lane.engine.last().map_or(0, |step| step.packets.end);
        self.wait_packets(at.lane, &after);
        if at.position == 0 && self.plan.lanes[at.lane as usize].entry {
            after.extend(self.entry);
        }
        self.node(at.lane, unit, fences::COPY, content)?;
        self.patch(at.lane, Field::Completion, Source::Launch(done));
        let lane = &mut self.image.lanes[at.lane as usize];
        // CAST: a plan has fewer than 2^32 steps.
        let packets = start..lane.packets.len() as u32;
        lane.engine.push(EngineStep { after: after.into_iter().collect(), unit, done, packets });
        Ok(())
    }

    /// The steps of the only lane of a plan, which wait for no other lane and signal none: what [`Encoder::step`] comes
    /// down to then.
    fn only_queue<F>(
        &mut self,
        queue: &Lane,
        content: &impl Fn(u32, Fences) -> Result<Content, F>,
    ) -> Result<(), F> {
        // CAST: a plan has fewer than 2^32 steps.
        for (position, step) in (0u32..).zip(&queue.steps) {
            let last = position as usize + 1 == queue.steps.len();
            let fences = self.acquired.of_only_step(step, position == 0, last);
            match step.action {
                Action::Fence => self.barrier_and(0, fences),
                Action::Node(unit) => self.node(0, unit, fences, content)?,
            }
        }
        Ok(())
    }

    /// The packet of a step that runs a unit, behind what it waits for.
    #[inline]
    fn node<F>(
        &mut self,
        lane: u32,
        unit: u32,
        fences: Fences,
        content: &impl Fn(u32, Fences) -> Result<Content, F>,
    ) -> Result<(), F> {
        match content(unit, fences)? {
            Content::Packet(packet) => {
                let at_packet = self.push(lane, packet);
                self.acquired.ran(lane);
                self.image.places[unit as usize] = Some((lane, at_packet));
            }
            Content::Record => {
                let event = self.event_packet(lane, unit, fences.barrier, Field::Completion);
                // The end is told to another lane, or to a wait for the launch.
                if fences.release == Scope::System {
                    // A packet has room for one signal, which is the event's here.
                    self.barrier_and(lane, Fences { release: Scope::System, ..Fences::NONE });
                    self.patch(lane, Field::Dependency(0), event);
                }
            }
            Content::Wait => {
                self.event_packet(lane, unit, fences.barrier, Field::Dependency(0));
            }
        }
        Ok(())
    }

    /// A barrier-AND packet that fires an event, or waits for one.
    fn event_packet(&mut self, lane: u32, unit: u32, barrier_bit: bool, field: Field) -> Source {
        // CAST: a plan has fewer than 2^32 steps.
        let event = Source::Event(self.image.events.len() as u32);
        self.image.events.push(EventPoint { unit, lane });
        let waits = matches!(field, Field::Dependency(_));
        self.barrier_and(lane, self.acquired.of_event(lane, barrier_bit, waits));
        self.patch(lane, field, event);
        event
    }

    fn new_signal(&mut self) -> u32 {
        self.image.signals += 1;
        self.image.signals - 1
    }

    /// Barrier-AND packets that hold the rest of the lane back until `signals` have fired.
    fn wait_packets(&mut self, lane: u32, signals: &[u32]) {
        for some in signals.chunks(SIGNALS_PER_BARRIER_AND) {
            self.barrier_and(lane, fences::WAIT);
            for (n, &signal) in some.iter().enumerate() {
                self.patch(lane, Field::Dependency(n as u8), Source::Launch(signal));
            }
        }
    }

    /// A barrier-AND packet that waits for nothing yet.
    fn barrier_and(&mut self, lane: u32, fences: Fences) {
        self.acquired.passed(lane, fences);
        self.push(lane, BarrierAnd { fences, ..BarrierAnd::default() }.packet());
    }

    #[inline]
    fn push(&mut self, lane: u32, packet: Packet) -> u32 {
        if self.plan.lanes[lane as usize].kind == LaneKind::Queue {
            self.image.counts.add(&packet);
        }
        let packets = &mut self.image.lanes[lane as usize].packets;
        // CAST: a plan has fewer than 2^32 steps.
        let at = packets.len() as u32;
        packets.push(packet);
        at
    }

    /// Fills a field of the lane's latest packet in at every launch.
    #[inline]
    fn patch(&mut self, lane: u32, field: Field, source: Source) {
        let image = &mut self.image.lanes[lane as usize];
        let packet = image.packets.len() as u32 - 1;
        image.patches.push(Patch { packet, field, source });
    }
}

#[cfg(test)]
mod tests;
