//! The order that images keep, played as a device may run them, and what their packets see of memory.

mod visible;

use proptest::prelude::*;

use hsa::packet::KernelDispatch;

use self::visible::unproved;
use super::*;
use crate::{
    schedule::{self, Candidate, Class, CostTable, Problem},
    template::Csr,
};

/// What a unit of a plan is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Dispatch,
    /// A dispatch that a copy engine can take.
    Copy(u8),
    Host,
    Record,
    Wait,
}

impl Unit {
    fn class(&self) -> Class {
        match *self {
            Self::Host => Class::Host,
            Self::Copy(engine) => Class::Engine(engine),
            Self::Dispatch | Self::Record | Self::Wait => Class::Packet,
        }
    }
}

/// The image of a plan for some units.
fn image_of(plan: &Plan, units: &[Unit]) -> Image {
    let content = |unit: u32, fences| match units[unit as usize] {
        Unit::Dispatch | Unit::Copy(_) => Ok(Content::Packet(a_dispatch(fences))),
        Unit::Record => Ok(Content::Record),
        Unit::Wait => Ok(Content::Wait),
        Unit::Host => Err(Error::NotAPacket { unit }),
    };
    encode(plan, units.len(), content).unwrap()
}

/// An image whose steps were made one by one: (lane or host, signals waited for, whether it signals).
fn image(lanes: usize, steps: &[(usize, Vec<prop::sample::Index>, bool)]) -> Image {
    let mut image = Image { lanes: Vec::new(), ..Image::default() };
    image.lanes.resize_with(lanes, LaneImage::default);
    for (place, waits, signals) in steps {
        let known = image.signals as usize;
        let after = waits.iter().filter(|_| known > 0).map(|wait| wait.index(known) as u32);
        let done = signals.then_some(image.signals);
        let place = place % (lanes + 1);
        if place == lanes {
            let after = after.collect();
            image.host.push(HostStep { after, unit: 0, done });
        } else {
            let lane = &mut image.lanes[place];
            let packet = lane.packets.len() as u32;
            lane.packets.push(BarrierAnd::default().packet());
            let dependencies =
                after.take(5).enumerate().map(|(n, signal)| (Field::Dependency(n as u8), signal));
            let patches = dependencies.chain(done.map(|signal| (Field::Completion, signal)));
            lane.patches.extend(patches.map(|(field, signal)| Patch {
                packet,
                field,
                source: Source::Launch(signal),
            }));
        }
        image.signals += u32::from(done.is_some());
    }
    image
}

proptest! {
    #[test]
    fn every_packet_is_published_once_and_behind_what_it_waits_for(
        lanes in 1usize..5,
        steps in prop::collection::vec(
            (0usize..5, prop::collection::vec(any::<prop::sample::Index>(), 0..4), any::<bool>()),
            0..80,
        ),
    ) {
        let image = image(lanes, &steps);
        let runs = runs(&image).unwrap();
        let mut published = vec![false; image.signals as usize];
        let mut next = vec![0; lanes];
        let mut host = image.host.iter().peekable();
        for run in &runs {
            prop_assert!(run.start == next[run.lane as usize] && run.end > run.start);
            for packet in run.start..run.end {
                // A host step can run as soon as it waits for nothing; its queue is in order.
                while let Some(step) = host.next_if(|s| s.after.iter().all(|&s| published[s as usize])) {
                    step.done.into_iter().for_each(|done| published[done as usize] = true);
                }
                for patch in image.lanes[run.lane as usize].patches_of(packet) {
                    let Source::Launch(signal) = patch.source else { continue };
                    match patch.field {
                        Field::Dependency(_) => prop_assert!(published[signal as usize]),
                        Field::Completion => published[signal as usize] = true,
                    }
                }
            }
            next[run.lane as usize] = run.end;
        }
        for (lane, next) in image.lanes.iter().zip(next) {
            prop_assert_eq!(lane.packets.len(), next as usize);
        }
        if lanes == 1 {
            prop_assert!(runs.len() <= 1, "one lane is published at once");
        }
    }
}

#[test]
fn waits_in_a_circle_are_found() {
    let mut image = image(2, &[(0, Vec::new(), true), (1, Vec::new(), true)]);
    image.lanes[0]
        .patches
        .insert(0, Patch { packet: 0, field: Field::Dependency(0), source: Source::Launch(1) });
    image.lanes[1]
        .patches
        .insert(0, Patch { packet: 0, field: Field::Dependency(0), source: Source::Launch(0) });
    assert!(matches!(runs(&image), Err(Error::Circle { .. })));
}

/// Lanes of packets and the host's steps, run as the rules of queues allow (see [`crate::schedule`]).
struct Player<'i> {
    image: &'i Image,
    fired: Vec<bool>,
    /// By event node: whether its signal has fired; what is waited for does so at some time.
    events: Vec<bool>,
    /// By lane: packets launched, and of those the ones that have completed.
    launched: Vec<usize>,
    completed: Vec<Vec<bool>>,
    host: usize,
    /// By lane and step: whether a copy engine has done it, or is not to: packets do it then.
    engines: Vec<Vec<Option<bool>>>,
    /// By unit: when it started and when it had completed.
    times: Vec<[Option<usize>; 2]>,
    clock: usize,
}

impl<'i> Player<'i> {
    fn new(image: &'i Image, units: &[Unit]) -> Self {
        Self {
            image,
            fired: vec![false; image.signals as usize],
            events: vec![false; image.events.len()],
            launched: vec![0; image.lanes.len()],
            completed: image.lanes.iter().map(|lane| vec![false; lane.packets.len()]).collect(),
            host: 0,
            engines: image.lanes.iter().map(|lane| vec![None; lane.engine.len()]).collect(),
            times: vec![[None; 2]; units.len()],
            clock: 0,
        }
    }

    /// Has copy engines do those steps that `choose` says.
    fn with_engines(mut self, mut choose: impl FnMut() -> bool) -> Self {
        self.engines.iter_mut().flatten().for_each(|step| *step = choose().then_some(false));
        self
    }

    /// The steps that engines can do now: HSA promises no order among them.
    fn copies(&self) -> Vec<(usize, usize)> {
        let steps = self.engines.iter().enumerate().flat_map(|(lane, steps)| {
            steps.iter().enumerate().filter(|(_, step)| **step == Some(false)).map(move |(at, _)| (lane, at))
        });
        let ready = |&(lane, at): &(usize, usize)| {
            self.image.lanes[lane].engine[at].after.iter().all(|&signal| self.fired[signal as usize])
        };
        steps.filter(ready).collect()
    }

    /// An engine does a step: none of its packets is published.
    fn copy(&mut self, lane: usize, at: usize) {
        let step = &self.image.lanes[lane].engine[at];
        self.note(step.unit, 0);
        self.note(step.unit, 1);
        self.fired[step.done as usize] = true;
        self.engines[lane][at] = Some(true);
        self.completed[lane][step.packets.start as usize..step.packets.end as usize].fill(true);
    }

    /// Notes a start or an end of the unit whose work a packet does.
    fn note_unit(&mut self, lane: usize, packet: usize, what: usize) {
        if let Some(unit) = unit_at(self.image, lane, packet) {
            self.note(unit, what);
        }
    }

    fn has_fired(&self, source: Source) -> bool {
        match source {
            Source::Launch(signal) => self.fired[signal as usize],
            Source::Event(event) => self.events[event as usize],
        }
    }

    fn note(&mut self, unit: u32, what: usize) {
        self.clock += 1;
        self.times[unit as usize][what].get_or_insert(self.clock);
    }

    /// Notes a start or an end of the event nodes that a packet stands for.
    fn note_events(&mut self, lane: usize, packet: usize, what: usize) {
        let image = self.image;
        for patch in image.lanes[lane].patches_of(packet as u32) {
            if let Source::Event(event) = patch.source {
                self.note(image.events[event as usize].unit, what);
            }
        }
    }

    /// Leaves the packets out that engines take the place of.
    fn skip_copies(&mut self) {
        for (lane, steps) in self.engines.iter().enumerate() {
            for (step, engine) in self.image.lanes[lane].engine.iter().zip(steps) {
                if engine.is_some() && self.launched[lane] == step.packets.start as usize {
                    self.launched[lane] = step.packets.end as usize;
                    // No packet behind them waits for them on this queue.
                    self.completed[lane][step.packets.start as usize..step.packets.end as usize].fill(true);
                }
            }
        }
    }

    fn may_launch(&self, lane: usize) -> bool {
        let (packet, packets) = (self.launched[lane], &self.image.lanes[lane].packets);
        if packet == packets.len() {
            return false;
        }
        let met = |patch: &Patch| patch.field == Field::Completion || self.has_fired(patch.source);
        let drained = self.completed[lane][..packet].iter().all(|&completed| completed);
        self.image.lanes[lane].patches_of(packet as u32).iter().all(met)
            && (!packets[packet].barrier() || drained)
    }

    /// Makes one step of those that are possible now; `false` if there is none.
    fn step(&mut self, random: &mut impl FnMut(usize) -> usize, units: &[Unit]) -> bool {
        let image = self.image;
        self.skip_copies();
        let copies = self.copies();
        let mut steps: Vec<(usize, Option<usize>)> = Vec::new();
        for lane in 0..image.lanes.len() {
            steps.extend(self.may_launch(lane).then_some((lane, None)));
            let running = (0..self.launched[lane]).filter(|&packet| !self.completed[lane][packet]);
            steps.extend(running.map(|packet| (lane, Some(packet))));
        }
        let waited =
            |e: &usize| matches!(units[image.events[*e].unit as usize], Unit::Wait) && !self.events[*e];
        let outside: Vec<usize> = (0..self.events.len()).filter(waited).collect();
        let host = image.host.get(self.host).filter(|s| s.after.iter().all(|&s| self.fired[s as usize]));
        let count = steps.len() + outside.len() + usize::from(host.is_some());
        if count + copies.len() == 0 {
            return false;
        }
        let choice = random(count + copies.len());
        if let Some(&(lane, at)) = choice.checked_sub(count).and_then(|copy| copies.get(copy)) {
            self.copy(lane, at);
            return true;
        }
        match (steps.get(choice), outside.get(choice.wrapping_sub(steps.len())), host) {
            (Some(&(lane, None)), ..) => {
                self.note_events(lane, self.launched[lane], 0);
                self.note_unit(lane, self.launched[lane], 0);
                self.launched[lane] += 1;
            }
            (Some(&(lane, Some(packet))), ..) => {
                self.completed[lane][packet] = true;
                self.note_unit(lane, packet, 1);
                self.note_events(lane, packet, 1);
                for patch in image.lanes[lane].patches_of(packet as u32) {
                    match (patch.field, patch.source) {
                        (Field::Completion, Source::Launch(signal)) => self.fired[signal as usize] = true,
                        (Field::Completion, Source::Event(event)) => self.events[event as usize] = true,
                        (Field::Dependency(_), _) => {}
                    }
                }
            }
            (None, Some(&event), _) => self.events[event] = true,
            (None, None, Some(step)) => {
                self.note(step.unit, 0);
                self.note(step.unit, 1);
                step.done.into_iter().for_each(|done| self.fired[done as usize] = true);
                self.host += 1;
            }
            (None, None, None) => return false,
        }
        true
    }
}

proptest! {
    #[test]
    fn event_nodes_and_host_steps_keep_their_order_in_every_plan(
        nodes in prop::collection::vec((0u8..6, prop::collection::vec(any::<prop::sample::Index>(), 0..4)), 1..24),
        lanes in 1usize..5,
        kind in 0usize..6,
        seed in any::<u64>(),
    ) {
        let mut preds = Csr::with_capacity(nodes.len(), 0);
        let mut units = Vec::new();
        for (at, (what, before)) in nodes.iter().enumerate() {
            let mut row: Vec<u32> = before.iter().filter(|_| at > 0).map(|i| i.index(at) as u32).collect();
            row.sort_unstable();
            row.dedup();
            preds.push_row(row);
            units.push(match what {
                0 => Unit::Wait,
                1 => Unit::Host,
                2 | 3 => Unit::Copy(what - 2),
                _ => Unit::Record,
            });
        }
        let (succs, costs) = (preds.transposed(), vec![1000; units.len()]);
        let classes: Vec<_> = units.iter().map(Unit::class).collect();
        let problem = Problem::new(&preds, &succs, &classes, &costs).unwrap();
        let one_lane = [Candidate::Levels, Candidate::HostDepth, Candidate::Serial];
        let kinds = [one_lane, [Candidate::Strict, Candidate::Relaxed, Candidate::LevelLanes]].concat();
        let plan = schedule::candidate(&problem, kinds[kind], lanes, &CostTable::default());
        prop_assert_eq!(schedule::check(&problem, &plan), Ok(()));
        let image = image_of(&plan, &units);

        let mut random = drawn(seed);
        let mut player = Player::new(&image, &units).with_engines(|| random(2) == 0);
        while player.step(&mut random, &units) {}
        let last = image.lanes[0].packets.len() - 1;
        prop_assert!(player.completed.iter().flatten().all(|&completed| completed), "every packet runs");
        prop_assert!(player.image.lanes[0].patches_of(last as u32).iter().all(|p| p.field != Field::Completion
            || matches!(p.source, Source::Launch(_))), "the launch's own signal has room");
        for (to, from) in preds.pairs() {
            let (end, start) = (player.times[from as usize][1], player.times[to as usize][0]);
            prop_assert!(end.is_some() && end < start, "{} must be over before {}", from, to);
        }
    }
}

/// Numbers below a bound, drawn by a seed.
fn drawn(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    }
}

/// The packet of a kernel.
fn a_dispatch(fences: Fences) -> Packet {
    KernelDispatch { fences, ..KernelDispatch::new(0x1000) }.packet().unwrap()
}

/// The unit whose work a packet does.
fn unit_at(image: &Image, lane: usize, packet: usize) -> Option<u32> {
    // CAST: images have fewer lanes, packets and units than that.
    let place = Some((lane as u32, packet as u32));
    image.places.iter().position(|at| *at == place).map(|unit| unit as u32)
}

proptest! {
    #[test]
    fn every_unit_sees_what_it_depends_on_in_every_plan(
        nodes in prop::collection::vec(
            (0u8..8, 0u16..2, prop::collection::vec(any::<prop::sample::Index>(), 0..4)),
            1..24,
        ),
        lanes in 1usize..5,
        kind in 0usize..4,
        two_devices in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut preds = Csr::with_capacity(nodes.len(), 0);
        let (mut units, mut devices) = (Vec::new(), Vec::new());
        for (at, (what, device, before)) in nodes.iter().enumerate() {
            let mut row: Vec<u32> = before.iter().filter(|_| at > 0).map(|i| i.index(at) as u32).collect();
            row.sort_unstable();
            row.dedup();
            preds.push_row(row);
            units.push(match what {
                0 => Unit::Host,
                1 | 2 => Unit::Copy(what - 1),
                _ => Unit::Dispatch,
            });
            devices.push(if two_devices { *device } else { 0 });
        }
        // A launch begins and ends on a device that has packets.
        let on = |wanted| {
            let runs = |unit: &Unit| matches!(unit, Unit::Dispatch | Unit::Copy(_));
            units.iter().zip(&devices).any(move |(unit, &device)| device == wanted && runs(unit))
        };
        prop_assume!(on(0));
        let (succs, costs) = (preds.transposed(), vec![1000; units.len()]);
        let classes: Vec<_> = units.iter().map(Unit::class).collect();
        let problem = Problem::new(&preds, &succs, &classes, &costs).unwrap();
        let problem = if two_devices { problem.on_devices(&devices).unwrap() } else { problem };
        let kinds = [Candidate::Levels, Candidate::HostDepth, Candidate::Strict, Candidate::Relaxed];
        let plan = schedule::candidate(&problem, kinds[kind], lanes, &CostTable::default());
        let image = image_of(&plan, &units);
        let mut random = drawn(seed);
        prop_assert_eq!(unproved(&image, &preds, || random(2) == 0), None);
    }

    /// Level by level on one queue no acquire is one too many.
    #[test]
    fn without_any_one_acquire_some_unit_may_see_something_old(
        nodes in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..4), 1..24),
    ) {
        let mut preds = Csr::with_capacity(nodes.len(), 0);
        for (at, before) in nodes.iter().enumerate() {
            let mut row: Vec<u32> = before.iter().filter(|_| at > 0).map(|i| i.index(at) as u32).collect();
            row.sort_unstable();
            row.dedup();
            preds.push_row(row);
        }
        let (succs, units) = (preds.transposed(), vec![Unit::Dispatch; nodes.len()]);
        let (classes, costs) = (vec![Class::Packet; nodes.len()], vec![1000; nodes.len()]);
        let problem = Problem::new(&preds, &succs, &classes, &costs).unwrap();
        let plan = schedule::candidate(&problem, Candidate::Levels, 1, &CostTable::default());
        let mut image = image_of(&plan, &units);
        prop_assert_eq!(unproved(&image, &preds, || false), None);
        for packet in 0..image.lanes[0].packets.len() {
            let whole = image.lanes[0].packets[packet];
            let fences = whole.header().unwrap().fences;
            if fences.acquire != Scope::None {
                let without = Fences { acquire: Scope::None, ..fences };
                image.lanes[0].packets[packet].set_fences(without).unwrap();
                prop_assert!(unproved(&image, &preds, || false).is_some(), "packet {} needs no acquire", packet);
                image.lanes[0].packets[packet] = whole;
            }
        }
    }
}

#[test]
fn a_fence_that_is_taken_away_leaves_something_stale() {
    // Where a packet that comes between has the barrier bit, its fences do for those before it as well: these graphs have
    // no such packet.
    let chain: &[(u32, u32)] = &[(1, 0), (2, 1)];
    let diamond: &[(u32, u32)] = &[(1, 0), (2, 0), (3, 1), (3, 2)];
    // On two lanes the second begins behind a marker in the first.
    let join: &[(u32, u32)] = &[(2, 0), (2, 1)];
    let (levels, strict) = ((Candidate::Levels, 1), (Candidate::Strict, 2));
    let cases = [(chain, 3, levels), (diamond, 4, levels), (join, 3, strict)];
    for (edges, count, (kind, lanes)) in cases {
        let units: Vec<Unit> = vec![Unit::Dispatch; count];
        let preds = Csr::from_pairs(units.len(), edges.iter().copied());
        let (succs, costs) = (preds.transposed(), vec![100_000; units.len()]);
        let classes: Vec<_> = units.iter().map(Unit::class).collect();
        let problem = Problem::new(&preds, &succs, &classes, &costs).unwrap();
        let plan = schedule::candidate(&problem, kind, lanes, &CostTable::default());
        let mut image = image_of(&plan, &units);
        assert_eq!(image.lanes.len(), lanes);
        assert_eq!(unproved(&image, &preds, || false), None);
        let mut taken = 0;
        for lane in 0..image.lanes.len() {
            for packet in 0..image.lanes[lane].packets.len() {
                let whole = image.lanes[lane].packets[packet];
                let fences = whole.header().unwrap().fences;
                // A barrier packet's release has nothing of its own to make visible.
                let writes = whole.grid().is_some();
                // What ends several lanes only waits: each has released what it wrote.
                if lanes > 1 && lane == 0 && packet + 1 == image.lanes[0].packets.len() {
                    continue;
                }
                let without = [
                    (fences.acquire != Scope::None).then_some(Fences { acquire: Scope::None, ..fences }),
                    (writes && fences.release != Scope::None)
                        .then_some(Fences { release: Scope::None, ..fences }),
                ];
                for fences in without.into_iter().flatten() {
                    image.lanes[lane].packets[packet].set_fences(fences).unwrap();
                    assert!(
                        unproved(&image, &preds, || false).is_some(),
                        "packet {packet} of lane {lane} without {fences:?}"
                    );
                    image.lanes[lane].packets[packet] = whole;
                    taken += 1;
                }
            }
        }
        assert!(taken > count, "{taken} fences of {count} packets");
    }
}

/// What the packets of each lane acquire, in a plan of one kind for units whose edges are given.
fn acquired(edges: &[(u32, u32)], units: &[Unit], kind: Candidate, lanes: usize) -> Vec<Vec<Scope>> {
    let preds = Csr::from_pairs(units.len(), edges.iter().copied());
    let (succs, costs) = (preds.transposed(), vec![100_000; units.len()]);
    let classes: Vec<_> = units.iter().map(Unit::class).collect();
    let problem = Problem::new(&preds, &succs, &classes, &costs).unwrap();
    let image = image_of(&schedule::candidate(&problem, kind, lanes, &CostTable::default()), units);
    let of = |packet: &Packet| packet.header().unwrap().fences.acquire;
    image.lanes.iter().map(|lane| lane.packets.iter().map(of).collect()).collect()
}

#[test]
fn nothing_is_acquired_twice_while_nothing_runs() {
    use Scope::{Agent, None, System};
    use Unit::{Dispatch, Record, Wait};
    // A marker acquires for the first kernel behind it; a packet that waits acquires for its waits.
    let join = acquired(&[(2, 0), (2, 1)], &[Dispatch; 3], Candidate::Strict, 2);
    assert_eq!(join, [vec![System, None, Agent], vec![None, System, None, Agent]]);
    // Event packets acquire for what is directly behind them, another kernel's work in between for nothing.
    let chain = [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)];
    let units = [Wait, Dispatch, Record, Record, Dispatch, Dispatch];
    let scopes = [System, None, System, None, None, Agent];
    assert_eq!(acquired(&chain, &units, Candidate::Levels, 1), [scopes]);
    // A packet that waits for an event needs what was released before it.
    let units = [Record, Wait, Dispatch, Wait, Dispatch, Dispatch];
    let scopes = [System, System, None, System, None, Agent];
    assert_eq!(acquired(&chain, &units, Candidate::Levels, 1), [scopes]);
}

#[test]
fn signals_between_devices_release_and_acquire_at_system_scope() {
    // A fork and a join on device 0, with a detour over device 1, and a host step behind it.
    let edges = [(1, 0), (2, 0), (3, 2), (4, 1), (4, 3), (5, 4), (6, 5)];
    let mut units: Vec<Unit> = vec![Unit::Dispatch; 7];
    units[5] = Unit::Host;
    let preds = Csr::from_pairs(units.len(), edges.into_iter());
    let (succs, costs) = (preds.transposed(), vec![1000; units.len()]);
    let classes: Vec<_> = units.iter().map(Unit::class).collect();
    let one = Problem::new(&preds, &succs, &classes, &costs).unwrap();
    let two = one.on_devices(&[0, 0, 1, 1, 0, 0, 1]).unwrap();
    // To the detour and back; the host's step to device 1, and its end to device 0.
    for (problem, kind, crossings) in [
        (two, Candidate::Levels, 4),
        (two, Candidate::Strict, 4),
        (two, Candidate::Relaxed, 4),
        (one, Candidate::Levels, 1),
    ] {
        let plan = schedule::candidate(&problem, kind, 2, &CostTable::default());
        let image = image_of(&plan, &units);
        let mut device_of = vec![None; image.signals as usize];
        let fences = |lane: &LaneImage, packet: u32| lane.packets[packet as usize].header().unwrap().fences;
        for lane in &image.lanes {
            for patch in lane.patches.iter().filter(|patch| patch.field == Field::Completion) {
                let Source::Launch(signal) = patch.source else { continue };
                device_of[signal as usize] = Some(lane.device);
                assert_eq!(fences(lane, patch.packet).release, Scope::System, "{kind:?}");
            }
        }
        let mut crossed = 0;
        for lane in &image.lanes {
            for patch in lane.patches.iter().filter(|patch| patch.field != Field::Completion) {
                let Source::Launch(signal) = patch.source else { continue };
                // A signal without a packet is the host's.
                if device_of[signal as usize] != Some(lane.device) {
                    crossed += 1;
                    // The packet behind the waits, or the one that waits itself.
                    let mut behind = (patch.packet..).map(|at| fences(lane, at));
                    let acquire = behind.find(|fences| *fences != Fences::NONE).map(|fences| fences.acquire);
                    assert_eq!(acquire, Some(Scope::System), "{kind:?}");
                }
            }
        }
        assert_eq!(crossed, crossings, "{kind:?}");
    }
}
