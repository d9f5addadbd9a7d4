//! From a template to packets: the passes in order, and what they need to know of a device.
//!
//! | pass | from | to |
//! |---|---|---|
//! | [`flatten`](fn@crate::template::flatten()) | the template, nested graphs and all | [`FlatGraph`]: nodes in topological order, joins for what does no work |
//! | [`priority::order`] | priorities of kernel nodes, if they count | the order in which nodes become units |
//! | [`Target::lower`] | each node's work | [`Units`]: what one packet or one call on the host does, and the order among them |
//! | [`allocations::of_units`] | allocation nodes, if plans are to need few bytes | which units use which bytes |
//! | [`fn@schedule`] | units and costs | [`Plan`]: lanes, order, barrier bits, waits |
//! | [`image::encode`] | the plan | [`Image`]: AQL packets, and the signals to fill in |
//!
//! Behind them the checker of plans proves that the plan keeps the order, in debug builds.

pub mod allocations;
pub mod priority;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::HashMap};

use hsa::packet::Fences;

use crate::{
    image::{self, Content, Image},
    memory::order::PlannedOrder,
    schedule::{
        self, Bounds, Candidate, Class, CostTable, Fault, Plan, Problem,
        engines::{self, Around, EngineCopy},
        memory::{Allocation, Goal, LimitExceeded, Sharing, Tradeoff},
    },
    template::{self, Csr, FlatGraph, Graph, GraphId, Node, flatten::flatten},
};

/// How a graph is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// At most this many queues of each device; 0 leaves it to the scheduler.
    pub lanes: usize,
    /// This kind of plan, whatever the scheduler would choose.
    pub candidate: Option<Candidate>,
    /// Whether the plan should take little time or few bytes, where allocation nodes can share memory.
    pub goal: Option<Goal>,
    /// Priorities of kernel nodes decide about their order and their queues.
    pub node_priority: bool,
}

/// What the scheduler is told of units of work, which are numbered in an order that respects the edges.
#[derive(Clone, Copy, Debug)]
pub struct Units<'a> {
    /// The units that each is behind.
    pub preds: &'a Csr,
    /// How each is executed, where no copy engine does it.
    pub classes: &'a [Class],
    /// Those that copy engines could do as well, which the scheduler chooses among.
    pub copies: &'a [EngineCopy],
    /// The unit that does the work of each flat node.
    pub main: &'a [u32],
    /// The number of each unit's device, from 0 without gaps; empty if there is one device.
    pub devices: &'a [u16],
}

/// A device, as far as the compiler has to know it: what nodes become there, and what that costs.
pub trait Target<K, E, S> {
    /// Why a node cannot be executed.
    type Error;

    /// Makes the units of a flat graph whose nodes do `work`, in an `order` of the flat nodes.
    ///
    /// # Errors
    /// What the device refuses.
    fn lower(
        &mut self,
        flat: &FlatGraph,
        work: &[Option<&Node<K, E, S>>],
        order: Option<Vec<u32>>,
    ) -> Result<(), Self::Error>;

    /// The units that [`Target::lower`] has made.
    fn units(&self) -> Units<'_>;

    /// The times by which plans are compared.
    ///
    /// # Errors
    /// If there are none.
    fn costs(&self) -> Result<CostTable, Self::Error>;

    /// How long each unit takes, in nanoseconds, as far as that is known; nothing if it is known of none.
    fn durations(&self, _flat: &FlatGraph) -> Option<Vec<Option<u32>>> {
        None
    }

    /// How many compute units a unit's packet can use, at least 1.
    fn compute_units(&self, _unit: u32) -> u32 {
        1
    }

    /// Called once between the plan and the packets: a place for kernel arguments, for example.
    ///
    /// # Errors
    /// If there is no memory.
    fn place(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// What a unit puts into its queue, with the fences that it must have.
    ///
    /// # Errors
    /// What the device refuses.
    fn content(&self, unit: u32, fences: Fences) -> Result<Content, Self::Error>;
}

/// A graph as packets.
pub struct Compiled {
    /// The flat graph, with its edges.
    pub flat: FlatGraph,
    /// The conditional node, by its place in `flat`, around each graph that is a body or nested in one.
    pub bodies: HashMap<GraphId, u32>,
    /// What is scheduled.
    pub scheduled: Scheduled,
    /// The order in which the plan has the buffers of allocation nodes, if it decides which of them share memory.
    pub memory: Option<PlannedOrder>,
    /// The priority of each queue, where nodes decide about it.
    pub priorities: Vec<i32>,
    /// The packets.
    pub image: Image,
}

/// What the scheduler makes of units.
pub struct Scheduled {
    /// Lanes, order, barrier bits and waits.
    pub plan: Plan,
    /// What any plan is bounded by.
    pub bounds: Bounds,
    /// By unit: whether it may run at the same time as one of another priority; empty where priorities do not matter.
    pub contested: Vec<bool>,
    /// Time and bytes of the plan, and of what else there was to choose from, if there is a goal.
    pub tradeoff: Option<Tradeoff>,
    /// Which memory can be shared by the plan's order, if there is a goal.
    pub sharing: Option<Sharing>,
}

/// Why a graph is not compiled; `T` is why the target refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError<T> {
    /// Nodes and edges: a cycle, a condition of another graph.
    #[error(transparent)]
    Template(#[from] template::Error),
    /// The units are not numbered as the scheduler needs them.
    #[error(transparent)]
    Units(#[from] schedule::Error),
    /// No plan keeps to the bytes of the goal.
    #[error(transparent)]
    MemoryLimit(#[from] LimitExceeded),
    /// The plan does not enforce the graph, or does not keep priorities apart: a defect of the scheduler.
    #[error(transparent)]
    Plan(#[from] Fault),
    /// The plan does not fit its units: a defect of the scheduler.
    #[error(transparent)]
    Image(#[from] image::Error),
    /// The target refuses.
    #[error("{0}")]
    Target(T),
}

/// Compiles a graph for a target. Memory nodes are only order: their memory is there as long as the executable.
///
/// # Errors
/// [`CompileError`].
pub fn compile<K, E, S, T: Target<K, E, S>>(
    graph: &Graph<K, E, S>,
    target: &mut T,
    options: &Options,
) -> Result<Compiled, CompileError<T::Error>> {
    graph.check_conditions()?;
    let flattened = flatten(graph, |_, node| !allocations::is_memory(node))?;
    let (flat, work) = (&flattened.graph, &flattened.work[..]);
    let order = options.node_priority.then(|| priority::order(flat, work));
    target.lower(flat, work, order).map_err(CompileError::Target)?;

    let bodies = if graph.may_nest() { bodies(work) } else { HashMap::new() };
    let units = target.units();
    let urgencies = if options.node_priority { priority::urgencies(&units, work) } else { Vec::new() };
    let goal = options.goal.filter(|_| options.candidate.is_none() && allocations::has_any(graph));
    let (nodes, memory) = match goal {
        Some(goal) => {
            let (nodes, allocations) = allocations::of_units(graph, flat, &units, &bodies)?;
            (nodes, Some((goal, allocations)))
        }
        None => (Vec::new(), None),
    };
    let table = target.costs().map_err(CompileError::Target)?;
    let durations = target.durations(flat);
    let known = Known { table: &table, durations: durations.as_deref(), urgencies: &urgencies };
    let mut scheduled = schedule(&units, known, |unit| target.compute_units(unit), options, memory)?;
    let priorities = if options.node_priority {
        priority::of_queues(&scheduled.plan, &units, work, &scheduled.contested)
    } else {
        Vec::new()
    };
    target.place().map_err(CompileError::Target)?;
    let count = target.units().classes.len();
    let content = |unit, fences| target.content(unit, fences).map_err(CompileError::Target);
    let image = image::encode(&scheduled.plan, count, content)?;
    let memory = scheduled.sharing.take().map(|sharing| PlannedOrder::new(&nodes, sharing));
    Ok(Compiled { bodies, scheduled, memory, priorities, image, flat: flattened.graph })
}

/// The flat conditional node around each graph that is a body or nested in one.
fn bodies<K, E, S>(work: &[Option<&Node<K, E, S>>]) -> HashMap<GraphId, u32> {
    let conditionals = (0u32..).zip(work).filter_map(|(at, work)| match work {
        Some(Node::Conditional(conditional)) => Some((at, conditional)),
        _ => None,
    });
    let inside = conditionals.flat_map(|(at, conditional)| {
        let graphs = conditional.bodies().iter().flat_map(Graph::with_nested);
        graphs.map(move |graph| (graph.id(), at))
    });
    inside.collect()
}

/// What is known of units besides their order.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The times by which plans are compared.
    pub table: &'a CostTable,
    /// How long each unit takes, in nanoseconds, as far as that is known.
    pub durations: Option<&'a [Option<u32>]>,
    /// The class of urgency of each unit; empty where priorities do not matter.
    pub urgencies: &'a [u8],
}

/// Plans units. `compute_units` says how many each can use; it is asked where that matters.
///
/// # Errors
/// [`CompileError`], but for [`CompileError::Template`], [`CompileError::Image`] and [`CompileError::Target`].
pub fn schedule<T>(
    units: &Units<'_>,
    known: Known<'_>,
    compute_units: impl Fn(u32) -> u32,
    options: &Options,
    memory: Option<(Goal, Vec<Allocation>)>,
) -> Result<Scheduled, CompileError<T>> {
    let table = known.table;
    let succs = units.preds.transposed();
    let classes = match units.copies {
        [] => Cow::Borrowed(units.classes),
        copies => {
            let Units { preds, classes, devices, .. } = *units;
            let around = Around { preds, succs: &succs, classes, devices };
            Cow::Owned(engines::choose(&around, copies, table))
        }
    };
    let classes = &*classes;
    let mut costs: Vec<u32> = classes.iter().map(|class| table.guess(*class)).collect();
    let mut guessed = true;
    if let Some(durations) = known.durations {
        let known = costs.iter_mut().zip(durations).filter_map(|(cost, known)| Some((cost, (*known)?)));
        known.for_each(|(cost, known)| *cost = known);
        // The durations of calls on the host decide about no plan.
        let unknown = |(class, known): (&Class, &Option<u32>)| *class == Class::Packet && known.is_none();
        guessed = classes.iter().zip(durations).any(unknown);
    }
    for copy in units.copies {
        if let Class::Engine(_) = classes[copy.unit as usize] {
            // What is known is how long a kernel copies.
            costs[copy.unit as usize] = u32::try_from(table.engine_ns(copy.bytes)).unwrap_or(u32::MAX);
        }
    }
    let mut problem = Problem::new(units.preds, &succs, classes, &costs)?;
    if guessed {
        problem = problem.with_guessed_durations();
    }
    if !units.devices.is_empty() {
        problem = problem.on_devices(units.devices)?;
    }
    if !known.urgencies.is_empty() {
        problem = problem.with_urgencies(known.urgencies)?;
    }
    let most = schedule::MAX_LANES;
    let lanes = if options.lanes == 0 { most } else { options.lanes.min(most) };
    let taken: Vec<u32> = match lanes > 1 && problem.weighs_units() {
        // CAST: units are numbered in 32 bits.
        true => (0..classes.len() as u32).map(compute_units).collect(),
        false => Vec::new(),
    };
    let problem = if taken.is_empty() { problem } else { problem.with_units(&taken)? };
    let (plan, tradeoff, sharing) = match (options.candidate, memory) {
        (Some(kind), _) => (schedule::candidate(&problem, kind, lanes, table), None, None),
        (None, None) => (schedule::plan(&problem, lanes, table), None, None),
        (None, Some((goal, allocations))) => {
            let (plan, tradeoff) = schedule::memory::plan_within(&problem, &allocations, goal, lanes, table)?;
            let sharing = Sharing::of(&problem, &plan, &allocations);
            (plan, Some(tradeoff), Some(sharing))
        }
    };
    if cfg!(debug_assertions) {
        schedule::check(&problem, &plan)?;
        if plan.candidate == Candidate::Urgency {
            schedule::check_urgency(&problem, &plan)?;
        }
    }
    let contested = if known.urgencies.is_empty() { Vec::new() } else { problem.contested() };
    Ok(Scheduled { bounds: Bounds::of(&problem, table), plan, contested, tradeoff, sharing })
}
