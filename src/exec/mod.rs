//! Executable graphs: a template compiled into packet images, launched by copying them into rings.
//!
//! From the ground up:
//!
//! | module | what it holds |
//! |---|---|
//! | [`tradeoff`] | what plans are compared by: time or bytes |
//! | [`placement`] | which device does a node's work |
//! | [`differences`], [`failure`] | why an update or an instantiation is refused, in words |
//! | [`references`] | user objects |
//! | [`launch_queues`] | the devices and queues of one launch |
//! | [`publication`] | the packets of a launch, published to several queues |
//! | [`mod@unit`] | what a node's work is |
//! | [`arena`] | where units have their kernel arguments |
//! | [`node_work`] | the unit that does a node's work |
//! | [`pages`] | host memory that copy nodes name |
//! | [`units`] | the units of a flat graph |
//! | [`shape`] | what must stay of an executable, and why an update is refused |
//! | [`host_work`] | what the host does for a unit, and what that takes |
//! | [`conditional`] | bodies that run as a condition says |
//! | [`resident`] | graphs whose packets lie on the device |
//! | [`lowering`] | the devices as the graph compiler sees them |
//! | [`script`] | what the host does in a launch |
//! | [`in_flight`] | what a launch has of its own, used again |
//! | [`events`] | what the event nodes of a launch wait for and fire |
//! | [`profile`] | launches that measure how long kernels take |
//! | `dump` | graphs as files: `AQLIPSE_DUMP` |
//! | `kept` | what keeps the order of edges |
//! | `folded` | a graph with each repeated block drawn once |
//! | [`named`] | the nodes of packets, for reports of queues that do not move |
//! | [`recorded`] | the executable as a child graph of a capture |
//! | [`checked`] | what a launch is about to dispatch, where it is checked what nodes touch |
//! | [`launch`] | one launch: signals, publication, host steps |
//! | [`arguments`] | other arguments for kernels that stay what they are |
//! | [`enable`] | nodes that do not run for a while |
//! | [`update`] | all parameters at once, from another template |
//! | [`replan`] | another plan for an executable, with what is known by now |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `tradeoff`, `placement`, `differences`, `failure`, `folded`, `kept`, `references`, `launch_queues`, `publication`, `unit`, `arena`
//! 2. `node_work`, `pages`
//! 3. `units`, `shape`, `host_work`
//! 4. `conditional`, `resident`
//! 5. `lowering`, `script`
//! 6. `in_flight`
//! 7. `events`, `profile`, `recorded`, `checked`, `dump`
//! 8. `launch`
//! 9. `arguments`, `enable`, `update`, `replan`, `named`

mod arena;
mod arguments;
#[cfg(test)]
mod caches;
mod checked;
mod conditional;
mod differences;
mod dump;
mod enable;
mod events;
mod failure;
mod folded;
mod host_work;
mod in_flight;
mod kept;
mod launch;
mod launch_queues;
mod lowering;
mod named;
mod node_work;
mod packet_list;
mod pages;
mod placement;
#[cfg(test)]
mod priority;
mod profile;
mod publication;
mod recorded;
mod references;
mod replan;
mod resident;
mod script;
mod shape;
mod tradeoff;
mod unit;
mod units;
mod update;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

pub use arguments::SameLaunch;
pub use conditional::CONDITIONAL_VARIABLE;
pub use dump::DUMP_VARIABLE;
pub use failure::Failure;
pub use launch::{LaunchImage, LaunchLane};
pub use resident::{RESIDENT_ON_ONE_DEVICE, RESIDENT_VARIABLE, Residence};
pub use shape::{Reason, Refusal};

use hsa::packet::Packet;

use aqlipse_graph::{
    compile::{self, CompileError, Compiled, Scheduled},
    image::Image,
};

use self::{
    arena::Arena,
    conditional::Conditionals,
    in_flight::InFlightSlots,
    launch_queues::QueueCache,
    lowering::Lowering,
    placement::DevicePlacement,
    recorded::Parameters,
    references::RetainedObjects,
    resident::Resident,
    shape::{Shape, not_changed},
    unit::{Unit, packet_in_place_of},
    units::Fifos,
};
use crate::{
    check,
    device::fence::Alive,
    device::{Device, Fence, LANES, WaitPolicy, fence::Keep, slabs::Block},
    durations::Instances,
    error::{Error, Result},
    graph::{FlatGraph, GraphId, Node, NodeId},
    memory::EngineCopy,
    memory_report::Account,
    module::KernelCode,
    pool::exec_memory::ExecMemory,
    schedule::{
        Bounds, Candidate, Plan,
        memory::{Goal, Tradeoff},
        plan::Counts,
    },
    stream,
    template::{Edition, Template},
    user_object::due::{Call, release_behind},
};

/// How an executable graph is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A launch first frees what an earlier launch left allocated.
    pub auto_free: bool,
    /// At most this many queues; 0 leaves it to the scheduler.
    pub lanes: usize,
    /// Prepared on a stream when it was made. Nothing is left to prepare: it is kept to be told.
    pub upload: bool,
    /// Priorities of kernel nodes decide about their order and their queues.
    pub node_priority: bool,
    /// This kind of plan, whatever the scheduler would choose: to measure or test one.
    pub candidate: Option<Candidate>,
    /// Whether the plan should take little time or few bytes, for the memory of the graph's allocation nodes. `None`
    /// leaves it to the environment (`AQLIPSE_MEMORY`); without that the plan takes little time. [`Report::tradeoff`] says
    /// what there was to choose from.
    pub memory: Option<Goal>,
    /// The packets lie on the device, which publishes them: a launch costs the host the same whatever the graph is, and
    /// kernels can launch it. Only for kernels, copies of memory that the device reaches, fills and graphs of those, all
    /// on one device; memory nodes are refused. [`Report::residence`] says what a launch is.
    pub resident: bool,
    /// A kernel publishes a resident graph even if the packet processor could take it: to measure or test that.
    pub resident_by_launcher: bool,
    /// No copy goes to a copy engine: to measure or test that. Copies of [resident](Options::resident) graphs never do.
    pub copies_by_kernels: bool,
    /// The host drives conditional nodes even if the packet processor branches: to measure or test that.
    pub conditionals_on_host: bool,
    /// Kernel arguments lie in the host's memory, but for those of bodies of conditional nodes: to measure or test that.
    pub arguments_on_host: bool,
}

/// A graph that is ready to run, as often as wanted.
#[derive(Clone)]
pub struct Exec(Arc<Inner>);

/// In pairs of cache lines of its own: threads that launch other executables write others.
#[repr(align(128))]
struct Inner {
    /// The device on which launches begin and end.
    device: Device,
    /// All devices that take part, that one first.
    devices: Vec<Device>,
    /// Where each unit works.
    placements: Vec<DevicePlacement>,
    flat: FlatGraph,
    shape: Shape,
    options: Options,
    resources: Arc<Resources>,
    /// The template as it was taken: while it is so, its nodes are those of the executable.
    edition: Edition,
    /// Counted with the template: see [`Template::instances`].
    instance: Arc<Instances>,
    report: Mutex<Arc<Report>>,
    /// The conditional node, by its place in `flat`, around each graph that is a body or nested in one.
    bodies: HashMap<GraphId, u32>,
    /// What its kernels print to that do not call the host.
    fifos: Fifos,
    /// The priority of each queue, where nodes decide about it.
    priorities: Vec<i32>,
    /// Whether a node waits for what packets may bring about that are published later.
    waits: bool,
    account: Account,
    /// What the edges say, where launches are checked.
    order: Option<Arc<check::Order>>,
    state: Mutex<State>,
}

/// What a launch in flight needs even if the executable is gone.
struct Resources {
    /// What launches allocate and free.
    memory: ExecMemory,
    /// The kernels' code.
    _codes: Vec<KernelCode>,
    /// What the nodes' parameters pointed to when the graph was compiled.
    alive: Vec<Alive>,
}

/// Number of launches before something was set. If there was none since, no launch in flight knows of it.
type Version = u64;

/// Kernel arguments of a unit that are not in the arena.
struct Moved {
    block: Arc<Block>,
    since: Version,
}

/// Blocks of arguments that wait for the next launch at most: a program may change nodes for ever and not launch.
const MAX_UNPUBLISHED: usize = 64;

/// What changes from launch to launch.
struct State {
    image: Image,
    /// Whether a launch on a stream of the executable's device is packets for that stream's queue and nothing else.
    is_plain: bool,
    /// So many launches from now on measure how long their kernels take.
    profiled: u32,
    units: Vec<Unit>,
    main: Vec<u32>,
    /// The copies that engines could do, by unit.
    copies: HashMap<u32, EngineCopy>,
    conditionals: Conditionals,
    /// Kernel arguments of all units but those that were given new ones while a launch was in flight, or longer ones.
    arena: Arc<Arena>,
    arena_since: Version,
    offsets: Vec<u32>,
    moved: HashMap<u32, Moved>,
    /// Arguments that were written since the latest launch, and that the device need not see yet.
    unpublished: Vec<Arc<Block>>,
    /// What the parameters point to that a node was given later.
    alive: HashMap<NodeId, (Vec<Alive>, Version)>,
    /// What the parameters of the latest template point to that the executable, or a graph nested in it, took over.
    taken_over: HashMap<usize, Vec<Alive>>,
    /// User objects, by the place of the graph that holds them.
    held: RetainedObjects,
    /// Units that do not run, and the pins of those that are copies.
    disabled: HashSet<u32>,
    /// What the nodes were given last, for a capture that the executable is launched into.
    parameters: Parameters,
    /// What the launches have of their own that may be in flight.
    slots: InFlightSlots,
    /// The queues of the latest launch.
    known: QueueCache,
    last: Option<(Fence, u64)>,
    launches: Version,
    /// The launch that is being published, where launches are checked.
    announced: Option<Arc<check::Launch>>,
    /// If the packets are to lie on the device.
    resident: Option<Resident>,
}

/// An executable graph in numbers.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the plan is made of.
    pub counts: Counts,
    /// What any plan is bounded by.
    pub bounds: Bounds,
    /// How the plan was made.
    pub candidate: Candidate,
    /// How long a launch takes by the scheduler's costs, in nanoseconds.
    pub estimate_ns: u64,
    /// Devices that take part.
    pub devices: usize,
    /// Queues that the graph runs on, of all devices; how many of its copies go to copy engines, the
    /// [counts](Report::counts) say.
    pub lanes: usize,
    /// Kernel dispatch packets of a launch.
    pub kernel_packets: usize,
    /// Barrier-AND packets of a launch, the ones at its entry included.
    pub barrier_packets: usize,
    /// Packets with the barrier bit.
    pub barrier_bits: usize,
    /// Conditional nodes that the packet processor takes, and those that the host drives; nested ones are not counted.
    pub conditionals: (usize, usize),
    /// Signals that a launch arms, its own completion included.
    pub signals: usize,
    /// What a launch is, if the executable is [resident](Options::resident).
    pub residence: Option<Residence>,
    /// Bytes of packet images, kernel arguments and everything else that the executable holds by itself; the nodes of
    /// its template, which it shares with that, are not counted.
    pub exec_bytes: usize,
    /// Bytes of the memory behind its allocation nodes.
    pub memory_bytes: u64,
    /// Bytes that its allocation nodes asked for, added up.
    pub allocated_bytes: u64,
    /// Time and bytes of the plan, if the options or the environment said what it should be good at, and of what else there
    /// was to choose from.
    /// Bytes are what its order needs at least, if what it keeps apart in time shares memory.
    pub tradeoff: Option<Tradeoff>,
}

impl Exec {
    /// Compiles `template`; later changes to it do not matter here.
    ///
    /// # Errors
    /// [`Error::Graph`] for a cycle, [`Error::NotSupported`] for a second executable of a graph with memory nodes,
    /// and what a node's work would be refused for on a stream.
    pub fn new(template: &Template, options: Options) -> Result<Self> {
        Ok(Self::instantiate(template, options)?)
    }

    /// As [`Exec::new`], but says which node is to blame.
    ///
    /// # Errors
    /// As [`Exec::new`].
    pub fn instantiate(template: &Template, options: Options) -> Result<Self, Failure> {
        Self::compile(template, options).inspect_err(|failure| crate::error::explain(failure))
    }

    fn compile(template: &Template, options: Options) -> Result<Self, Failure> {
        if template.has_memory_nodes() && Arc::strong_count(template.instances()) > 1 {
            return Err(Error::NotSupported("a second executable of a graph with memory nodes").into());
        }
        template.check_whole()?;
        let mut lowering = Lowering::new(template, options);
        let compiling = compile::Options {
            lanes: lanes(options),
            candidate: options.candidate,
            goal: tradeoff::goal(&options)?,
            node_priority: options.node_priority,
        };
        let Compiled { mut flat, bodies, scheduled, memory, priorities, image } =
            compile::compile(template.graph(), &mut lowering, &compiling).map_err(|error| match error {
                CompileError::Template(error) => Failure::of_structure(template.graph(), error),
                error => error.into(),
            })?;
        let Lowering { units, conditionals, arena, offsets, .. } = lowering;
        // PANIC: a compiled graph has its arguments in place.
        let arena = arena.expect("a place for arguments");
        let device = units.devices[0].clone();
        let Scheduled { plan, bounds, tradeoff, .. } = scheduled;

        let graphs = if template.has_memory_nodes() || !bodies.is_empty() {
            template.graph().with_nested()
        } else {
            Vec::new()
        };
        let allocated_bytes = graphs.iter().flat_map(|graph| graph.nodes()).map(|(_, node)| match node {
            Node::MemAlloc(alloc) => alloc.bytes,
            _ => 0,
        });
        let memory = ExecMemory::new(template.memory(), &graphs, memory.as_ref())?;
        let held = RetainedObjects::of(template.graph());
        let original = template.shared_graph();
        let is_checked = device.0.system.is_checked();
        let order = if is_checked { checked::order(template, &flat) } else { None };
        flat.forget_edges();
        let places = size_of_val(&units.main[..]) + size_of_val(&offsets[..]);
        let units_bytes = units.bytes + size_of_val(&units.placements[..]);
        let host_bytes = image.bytes() + units_bytes + conditionals.bytes() + places + flat.bytes();
        let residence = options.resident.then(|| Residence::of(&device, &image, options)).transpose()?;
        if let Some(residence) = residence {
            tracing::debug!("launches of a resident graph: {residence:?}");
        }
        let engine_copies = plan.counts().engine_copies;
        if engine_copies > 0 {
            tracing::debug!("copies of a graph that copy engines do: {engine_copies}");
        }
        let resident_bytes = residence.map_or(0, |residence| residence.bytes(&image));
        let report = Report {
            allocated_bytes: allocated_bytes.sum(),
            tradeoff,
            memory_bytes: memory.bytes(),
            exec_bytes: host_bytes + arena.len() + units.fifos.bytes() + resident_bytes,
            devices: units.devices.len(),
            residence,
            conditionals: conditionals.counts(),
            ..Report::of(&image, &plan, bounds)
        };
        let nodes = template.graph().topology().node_count();
        let packets = image.bytes() + resident_bytes;
        let account = Account::open(device.ordinal(), nodes, arena.len(), packets, memory.leased());
        let last = template.instances().last().take();
        let mut state = State {
            is_plain: false,
            profiled: 0,
            image,
            units: units.units,
            main: units.main,
            copies: units.copies,
            conditionals,
            arena: Arc::new(arena),
            arena_since: 0,
            offsets,
            moved: HashMap::new(),
            unpublished: Vec::new(),
            alive: HashMap::new(),
            taken_over: HashMap::new(),
            held,
            disabled: HashSet::new(),
            parameters: Parameters::new(original.clone()),
            slots: InFlightSlots::default(),
            known: QueueCache::default(),
            last,
            launches: 0,
            announced: None,
            resident: residence.map(|residence| Resident::new(&device, residence)).transpose()?,
        };
        state.settle(units.devices.len());
        let exec = Arc::new(Inner {
            device,
            devices: units.devices,
            placements: units.placements,
            flat,
            shape: Shape::of(original),
            options,
            resources: Arc::new(Resources {
                memory,
                _codes: units.codes.into_values().collect(),
                alive: template.alive().to_vec(),
            }),
            edition: template.edition(),
            instance: template.instances().clone(),
            report: Mutex::new(Arc::new(report)),
            bodies,
            fifos: units.fifos,
            priorities,
            waits: units.waits,
            account,
            order,
            state: Mutex::new(state),
        });
        stream::watchdog::name_nodes_of(|| Arc::downgrade(&exec) as _);
        let exec = Self(exec);
        exec.dump(template);
        Ok(exec)
    }

    /// By what number the executable is known in [`memory_report::executables()`](crate::memory_report::executables()).
    pub fn number(&self) -> u64 {
        self.0.account.number()
    }

    /// The executable graph in numbers, by its present plan.
    pub fn report(&self) -> Arc<Report> {
        self.0.report.lock().clone()
    }

    /// How it was made.
    pub fn options(&self) -> Options {
        self.0.options
    }

    /// Gives the node that was made from `node` other parameters; launches in flight keep theirs.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the executable has no such node, or the node needs another kind of work with the
    /// new parameters; what the work would be refused for on a stream. The executable is unchanged then.
    pub fn set_node(&self, node: NodeId, parameters: &Node) -> Result<()> {
        self.set_node_with(node, parameters, &[])
    }

    /// As [`Exec::set_node`]; keeps `objects` as long as the node has these parameters or a launch uses them.
    pub(crate) fn set_node_with(&self, node: NodeId, parameters: &Node, objects: &[Alive]) -> Result<()> {
        let Some(flat) = self.0.flat.find(node) else { return self.set_in_body(node, parameters, objects) };
        let fixed = self.0.shape.fixed(&self.0.flat, flat);
        let fits = fixed.map_or(Ok(()), |fixed| fixed.check(parameters, false));
        fits.map_err(|(reason, detail)| not_changed(node, &reason, &detail))?;
        conditional::refuse(parameters)?;
        let placement = self.placement(flat);
        let device = Device::get(usize::from(placement.device))?;
        if !placement.admits(DevicePlacement::of(&device, parameters)?) {
            crate::error::explain(format_args!(
                "node {node} is not changed: {}",
                differences::MEMORY_ELSEWHERE
            ));
            return Err(Error::InvalidValue("the node's memory would be another device's"));
        }
        let (before, mut unit) = node_work::unit_of(&device, parameters)?;
        unit.print_to(self.0.fifos.of(placement))?;
        let copy = node_work::engine_copy(&device, parameters)?;
        // What the node kept is the caller's: it is dropped behind the lock.
        let _kept;
        let mut state = self.state();
        let main = state.main[flat as usize];
        if let Some(detail) = unit::misfit(&state.units, main as usize, before.as_ref(), &unit) {
            return Err(not_changed(node, &Reason::Parameters, &detail));
        }
        if let Unit::Dispatch(dispatch) = &unit {
            state.replace_dispatch(main, dispatch)?;
        }
        if let Some(pin) = before {
            state.units[main as usize - 1] = pin;
        }
        state.units[main as usize] = unit;
        state.replace_copy(main, copy);
        state.parameters.set(node, parameters.clone());
        state.parameters.forget_arguments(flat);
        _kept = state.replace_alive(node, objects);
        Ok(())
    }

    /// The device that does the work of a node: kernels of another cannot take its place.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the executable has no such node.
    pub fn device_of(&self, node: NodeId) -> Result<Device> {
        let flat = match self.0.flat.find(node) {
            Some(flat) => flat,
            // Bodies run where their conditional node does.
            None => self.around(node)?,
        };
        Device::get(usize::from(self.placement(flat).device))
    }

    /// Where the work of a flat node is done.
    fn placement(&self, flat: u32) -> DevicePlacement {
        self.0.placements[self.state().main[flat as usize] as usize]
    }

    /// Waits until no launch of the executable is in flight.
    ///
    /// # Errors
    /// The fault that took a launch.
    pub fn synchronize(&self) -> Result<()> {
        let _call = Call::begin();
        let last = self.state().last.clone();
        last.map_or(Ok(()), |(fence, _)| self.0.device.wait(&fence, WaitPolicy::Auto))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

impl State {
    /// Finds out, after a change, what launches on one of so many devices are.
    fn settle(&mut self, devices: usize) {
        let plain = self.image.is_plain() && self.conditionals.is_empty() && devices == 1;
        self.is_plain = plain && self.profiled == 0;
    }

    /// Whether the device may still read what the latest launch uses: also if a fault has taken it, as its queue need not
    /// be destroyed yet.
    fn in_flight(&self) -> bool {
        self.last.as_ref().is_some_and(|(fence, _)| !fence.has_fired())
            || self.resident.as_ref().is_some_and(Resident::is_launched_by_kernel)
    }

    /// Keeps what the latest launch uses until that is over.
    fn keep_for_launch(&self, keep: Keep) {
        match (&self.last, &self.resident) {
            (Some((fence, _)), _) if !fence.has_fired() => fence.keep(keep),
            (_, Some(resident)) => resident.keep(keep),
            _ => {}
        }
    }

    /// Notes that arguments were written: the next launch lets the device see them.
    fn wrote(&mut self, block: Arc<Block>) {
        if block.is_remote() {
            self.unpublished.push(block);
        }
        if self.unpublished.len() > MAX_UNPUBLISHED {
            // What fails now is tried again, and reported, by the launch.
            let _ = self.publish_written();
        }
        // Kernels launch it without a call.
        if let Some(resident) = self.resident.as_ref()
            && self.unpublished.iter().any(|block| block.publish().is_err())
        {
            resident.withdraw();
        }
    }

    /// As [`State::wrote`] for the block of a place in the arena.
    fn wrote_arena(&mut self, place: u32) {
        let (block, _) = self.arena.at(place);
        let known = self.unpublished.last().is_some_and(|last| Arc::ptr_eq(last, block));
        if self.resident.is_some() || !known {
            self.wrote(block.clone());
        }
    }

    /// Lets the device see the arguments that were written since the latest launch.
    ///
    /// # Errors
    /// As [`Block::publish`].
    #[inline]
    fn publish_arguments(&mut self) -> Result<()> {
        if self.unpublished.is_empty() { Ok(()) } else { self.publish_written() }
    }

    #[cold]
    fn publish_written(&mut self) -> Result<()> {
        self.unpublished.iter().try_for_each(|block| block.publish())?;
        self.unpublished.clear();
        Ok(())
    }

    /// Puts a packet in place of another; what lies on the device is out of date then.
    fn replace_packet(&mut self, lane: u32, packet: u32, new: Packet) {
        let edition = self.image.edition();
        self.image.replace(lane, packet, new);
        if let Some(resident) = self.resident.as_ref().filter(|_| self.image.edition() != edition) {
            resident.withdraw();
        }
    }

    /// Lets a copy engine do what a unit copies from now on, if it does the unit's work; or a kernel again.
    fn replace_copy(&mut self, unit: u32, copy: Option<EngineCopy>) {
        match copy {
            Some(copy) => drop(self.copies.insert(unit, copy)),
            None if self.copies.is_empty() => {}
            None => drop(self.copies.remove(&unit)),
        }
    }

    fn replace_dispatch(&mut self, unit: u32, dispatch: &crate::module::Dispatch) -> Result<()> {
        let Unit::Dispatch(old) = &self.units[unit as usize] else {
            return Err(Error::InvalidValue("the node runs no kernel"));
        };
        let bytes = dispatch.kernargs.len();
        let in_flight = self.in_flight();
        // Only what a launch has seen must be left as it is: any number of updates between two launches share one
        // place.
        let launched = self.moved.get(&unit).is_none_or(|moved| moved.since < self.launches);
        let address = match self.moved.get(&unit) {
            Some(moved) if !(in_flight && launched) && bytes <= moved.block.len() => {
                moved.block.write(0, &dispatch.kernargs);
                moved.block.address()
            }
            None if !in_flight && bytes <= old.kernargs.len() => {
                let place = self.offsets[unit as usize];
                self.arena.write(place, &dispatch.kernargs);
                self.arena.address(place)
            }
            _ => {
                let block = Arc::new(self.arena.at(self.offsets[unit as usize]).0.another(bytes)?);
                block.write(0, &dispatch.kernargs);
                let address = block.address();
                let before = self.moved.insert(unit, Moved { block, since: self.launches });
                if let Some(before) = before.filter(|_| launched) {
                    self.keep_for_launch(Keep::Other(before.block));
                }
                address
            }
        };
        if launched && !old.code.is(&dispatch.code) {
            self.keep_for_launch(Keep::Other(Arc::new(old.code.clone())));
        }
        match self.moved.get(&unit) {
            Some(moved) => self.wrote(moved.block.clone()),
            None => self.wrote_arena(self.offsets[unit as usize]),
        }
        // A launch that is publishing holds the state's lock; the image is ours.
        if let Some((lane, packet)) = self.image.places[unit as usize] {
            let old = &self.image.lanes[lane as usize].packets[packet as usize];
            let enabled = !self.disabled.contains(&unit);
            let new = packet_in_place_of(old, enabled, |fences| dispatch.packet(fences, address))?;
            self.replace_packet(lane, packet, new);
        }
        Ok(())
    }

    /// Keeps `objects` for a node instead of what it kept; returns what no launch needs any more.
    fn replace_alive(&mut self, node: NodeId, objects: &[Alive]) -> Vec<Alive> {
        if objects.is_empty() && !self.alive.contains_key(&node) {
            return Vec::new();
        }
        let old = self.alive.insert(node, (objects.to_vec(), self.launches));
        let Some((old, since)) = old else { return Vec::new() };
        match &self.last {
            Some((fence, _)) if since < self.launches && !fence.is_over() => {
                fence.keep_all(old.into_iter().map(Keep::Other).collect());
                Vec::new()
            }
            _ => old,
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        release_behind(state.last.as_ref().map(|(fence, _)| fence), state.held.take());
        if !state.in_flight() {
            return;
        }
        let moved: Vec<_> = state.moved.drain().map(|(_, moved)| moved.block).collect();
        let alive: Vec<_> = state.alive.drain().flat_map(|(_, (objects, _))| objects).collect();
        let taken_over = std::mem::take(&mut state.taken_over);
        let mut units = std::mem::take(&mut state.units);
        let conditionals = std::mem::take(&mut state.conditionals);
        // Packets have the events' signals. An event may have been recorded behind this launch: what keeps it would be
        // kept by it.
        units.retain(|unit| !matches!(unit, Unit::Record(_) | Unit::Wait(_)));
        let signals = std::mem::take(&mut state.slots).into_signals();
        let (arena, resources) = (state.arena.clone(), self.resources.clone());
        let rest = Arc::new((
            moved,
            alive,
            taken_over,
            (units, conditionals),
            signals,
            arena,
            resources,
            state.resident.as_ref().and_then(Resident::in_use),
        ));
        state.keep_for_launch(Keep::Other(rest));
        if !self.resources.memory.is_empty() {
            *self.instance.last() = state.last.take();
        }
    }
}

impl Report {
    /// The same executable by another plan.
    fn again(&self, image: &Image, plan: &Plan, bounds: Bounds) -> Self {
        Self {
            devices: self.devices,
            conditionals: self.conditionals,
            residence: self.residence,
            exec_bytes: self.exec_bytes,
            memory_bytes: self.memory_bytes,
            allocated_bytes: self.allocated_bytes,
            tradeoff: self.tradeoff,
            ..Self::of(image, plan, bounds)
        }
    }

    fn of(image: &Image, plan: &Plan, bounds: Bounds) -> Self {
        let packets = image.counts;
        Self {
            counts: plan.counts(),
            bounds,
            candidate: plan.candidate,
            estimate_ns: plan.estimate_ns(),
            devices: 1,
            lanes: image.queues(),
            kernel_packets: packets.kernel_dispatch,
            barrier_packets: packets.barrier_and,
            barrier_bits: packets.barrier_bits,
            conditionals: (0, 0),
            signals: image.signals as usize + 1,
            residence: None,
            exec_bytes: 0,
            memory_bytes: 0,
            allocated_bytes: 0,
            tradeoff: None,
        }
    }
}

/// Queues of each device that a plan may use.
fn lanes(options: Options) -> usize {
    if options.lanes == 0 { LANES } else { options.lanes.min(LANES) }
}

impl fmt::Debug for Exec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exec").field("nodes", &self.0.flat.len()).finish_non_exhaustive()
    }
}
