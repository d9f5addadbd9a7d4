//! Another plan for an executable, with the durations that are known by now.
//!
//! Units stay what and where they are, with their arguments; queues, order, barrier bits and signals are found again. The
//! order that must be kept is found again, too, from the graph that the executable was made of: executables do not keep
//! edges. A launch in flight has its own copy of what it was published with.

#![forbid(unsafe_code)]

use std::{collections::HashMap, sync::Arc};

use aqlipse_graph::{
    compile::{self, Known, Scheduled, allocations::is_memory},
    image,
};

use super::{
    Exec, Options, Report, State, arena,
    failure::Failure,
    lanes,
    launch_queues::QueueCache,
    unit::{self, Unit, packet_in_place_of},
    units::{self, preds},
};
use crate::{
    device::fence::Keep,
    error::{Error, Result},
    graph::{FlatGraph, NodeId, flatten},
    schedule::Class,
};

impl Exec {
    /// Plans the graph again with what is [known](crate::Template::expect) of its nodes' durations, among it what
    /// [profiled](Exec::profile) launches that are over have measured. Launches in flight go on as they were planned; later
    /// ones come behind them.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a [resident](super::Options::resident) executable, whose packets kernels may launch at
    /// any time; for one whose nodes decide about priorities, for queues were chosen by them; and for one whose plan
    /// decides which of its buffers share memory ([`Options::memory`](super::Options::memory)). The executable is as it was
    /// then.
    pub fn replan(&self) -> Result<()> {
        let options = self.0.options;
        let refused = match () {
            () if options.resident => Some("another plan for a resident graph"),
            () if options.node_priority => Some("another plan where nodes have priorities"),
            () if self.report().tradeoff.is_some() => Some("another plan where the plan shares memory"),
            () => None,
        };
        if let Some(what) = refused {
            return Err(Error::NotSupported(what));
        }
        let known = self.0.instance.durations().known();
        let flat = self.flatten_again()?;

        // What the plan before needed may be the last of its kind: it is dropped behind the lock.
        let _had;
        let mut state = self.state();
        let state = &mut *state;
        let Scheduled { plan, bounds, .. } = self.schedule_again(state, &flat, &known, self.0.options)?;
        let kernarg = |unit: u32| {
            let (block, offset) = state.arguments_of(unit);
            block.address() + offset as u64
        };
        let content = |unit, fences| unit::content(&state.units, unit, fences, kernarg(unit));
        let mut image = image::encode(&plan, state.units.len(), content)?;
        for &unit in &state.disabled {
            if let Some((lane, packet)) = image.places[unit as usize] {
                let old = &image.lanes[lane as usize].packets[packet as usize];
                let place = packet_in_place_of(old, false, |_| Err(Error::IllegalState("a disabled node")))?;
                image.replace(lane, packet, place);
            }
        }

        // From here on nothing fails.
        let mut report = self.0.report.lock();
        *report = Arc::new(Report {
            exec_bytes: report.exec_bytes - state.image.bytes() + image.bytes(),
            ..report.again(&image, &plan, bounds)
        });
        drop(report);
        state.image = image;
        state.known = QueueCache::default();
        state.settle(self.0.devices.len());
        let slots = std::mem::take(&mut state.slots).into_signals();
        if state.in_flight() {
            state.keep_for_launch(Keep::Other(Arc::new(slots)));
            _had = None;
        } else {
            _had = Some(slots);
        }
        Ok(())
    }

    /// The flat graph with its edges.
    pub(super) fn flatten_again(&self) -> Result<FlatGraph> {
        let original = self.0.shape.original();
        // To a launch, memory nodes are only order.
        Ok(flatten::flatten(original, |_, node| !is_memory(node))?.graph)
    }

    /// A plan of the units with what is known of nodes, for these options.
    pub(super) fn schedule_again(
        &self,
        state: &State,
        flat: &FlatGraph,
        known: &HashMap<NodeId, u32>,
        options: Options,
    ) -> Result<Scheduled> {
        let classes: Vec<Class> = state.units.iter().map(Unit::class).collect();
        let preds = preds(flat, &state.units, &state.main, &self.0.placements);
        let numbers = units::numbers(&self.0.devices, &self.0.placements);
        let copies = match options.copies_by_kernels {
            true => Vec::new(),
            false => units::engine_copies(&state.copies),
        };
        let order = compile::Units {
            preds: &preds,
            classes: &classes,
            copies: &copies,
            main: &state.main,
            devices: &numbers,
        };
        let durations = units::durations(&state.units, flat, &state.main, known);
        let table = arena::costs(&self.0.devices, options)?;
        let known = Known { table: &table, durations: durations.as_deref(), urgencies: &[] };
        let device = self.0.devices[0].properties();
        let compute_units = |unit: u32| state.units[unit as usize].compute_units(device);
        let options = compile::Options {
            lanes: lanes(options),
            candidate: options.candidate,
            ..compile::Options::default()
        };
        Ok(compile::schedule::<Failure>(&order, known, compute_units, &options, None)?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::Options, *};
    use crate::graph::Node;
    use crate::{
        Template,
        device::Device,
        graph::Memset,
        schedule::{Plan, Problem, time_ns},
        typed::DeviceBuffer,
    };

    /// Layers of fills, each behind one or two of the layer before, and how long each is said to take.
    fn layers(seed: u32, buffer: &DeviceBuffer<u32>) -> (Template, Vec<(NodeId, u32)>) {
        let mut state = seed;
        let mut below = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        let mut template = Template::new(&Device::get(0).unwrap());
        let fill = Memset {
            dst: buffer.slice().address(),
            pitch: 4,
            value: 1,
            element_size: 4,
            width: 1,
            height: 1,
        };
        let mut nodes: Vec<(NodeId, u32)> = Vec::new();
        for at in 0..24 {
            let mut after: Vec<NodeId> = match at / 4 {
                0 => Vec::new(),
                layer => (0..1 + below(2)).map(|_| nodes[(4 * (layer - 1) + below(4)) as usize].0).collect(),
            };
            after.dedup();
            let node = template.add(Node::Memset(fill), &after).unwrap();
            nodes.push((node, if below(3) == 0 { 200_000 } else { 4_000 }));
        }
        (template, nodes)
    }

    /// What a plan of an executable takes in virtual time, with these durations of its nodes.
    fn time(exec: &Exec, plan: &Plan, known: &HashMap<NodeId, u32>) -> u64 {
        let (state, flat) = (exec.state(), exec.flatten_again().unwrap());
        let preds = preds(&flat, &state.units, &state.main, &exec.0.placements);
        let (succs, device) = (preds.transposed(), &exec.0.device);
        let classes: Vec<Class> = state.units.iter().map(Unit::class).collect();
        let mut durations = vec![0; classes.len()];
        for (node, &unit) in flat.nodes().iter().zip(&state.main) {
            durations[unit as usize] = known[&node.origin];
        }
        let units: Vec<u32> =
            state.units.iter().map(|unit| unit.compute_units(device.properties())).collect();
        let problem = Problem::new(&preds, &succs, &classes, &durations).unwrap().with_units(&units).unwrap();
        crate::schedule::check(&problem, plan).unwrap();
        time_ns(&problem, plan, device.costs().unwrap())
    }

    #[test]
    fn known_durations_make_plans_that_take_less_virtual_time() {
        let buffer = DeviceBuffer::<u32>::new(&Device::get(0).unwrap(), 1).unwrap();
        let mut gained = 0;
        for seed in 0..12 {
            let (mut template, nodes) = layers(seed, &buffer);
            let exec = Exec::new(&template, Options::default()).unwrap();
            let known: HashMap<NodeId, u32> = nodes.iter().copied().collect();
            let plan = |known: &HashMap<NodeId, u32>| {
                exec.schedule_again(&exec.state(), &exec.flatten_again().unwrap(), known, exec.options())
                    .unwrap()
                    .plan
            };
            let [blind, seeing] = [HashMap::new(), known.clone()].map(|known| plan(&known));
            assert_eq!(exec.report().counts, blind.counts(), "nothing was known when it was made");
            nodes.iter().for_each(|&(node, time)| template.expect(node, Duration::from_nanos(time.into())));
            exec.replan().unwrap();
            assert_eq!(exec.report().counts, seeing.counts());
            let again = Exec::new(&template, Options::default()).unwrap();
            assert_eq!(again.report().counts, seeing.counts(), "the next one is planned with what is known");
            let [blind, seeing] = [blind, seeing].map(|plan| time(&exec, &plan, &known));
            assert!(seeing <= blind, "seed {seed}: {seeing} > {blind}");
            gained += u32::from(seeing < blind);
        }
        assert!(gained >= 2, "only {gained} of 12 plans are better");
    }
}
