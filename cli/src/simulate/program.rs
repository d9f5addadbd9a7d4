//! What runs in virtual time: queues of packets, host calls, and signals between them.

use hsa::packet::{Fences, KernelDispatch, Kind, Scope, SignalPlace};
use smallvec::SmallVec;

use aqlipse::LaunchImage;
use aqlipse_graph::{
    image::{Content, Error, Image, Source, encode},
    schedule::{Class, Plan, Problem},
};

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The node that it is.
    pub node: u32,
    /// How long it takes with all the units that it can use, in nanoseconds.
    pub duration_ns: u32,
    /// Compute units that it can use, at least 1; more than the device has count as all.
    pub units: u32,
}

/// A packet in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The kernel; a barrier-AND packet has none.
    pub work: Option<Work>,
    /// Whether the packet launches only after all before it in its queue have completed, and what it acquires.
    pub fences: Fences,
    /// Signals that must have fired before it launches.
    pub waits: SmallVec<[u32; 5]>,
    /// The signal that its completion fires.
    pub signal: Option<u32>,
    /// Whether its completion raises an interrupt.
    pub interrupts: bool,
}

/// A queue of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// The device's number.
    pub device: u16,
    /// Its packets, in order.
    pub packets: Vec<Packet>,
}

/// A call on the host's one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCall {
    /// The node that it is.
    pub node: u32,
    /// How long it takes, in nanoseconds.
    pub duration_ns: u32,
    /// Signals that must have fired before.
    pub waits: SmallVec<[u32; 5]>,
    /// The signal that its end fires.
    pub signal: Option<u32>,
}

/// Everything that one launch publishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The queues; the launch is over when all is.
    pub queues: Vec<Queue>,
    /// Calls on the host, in order.
    pub host: Vec<HostCall>,
    /// Signals, all of which begin unfired.
    pub signals: u32,
    /// Nodes of the graph, joins included.
    pub nodes: u32,
    /// Whether kernels find their arguments in the host's memory, not in the device's.
    pub host_arguments: bool,
}

impl Program {
    /// The packets of a plan, as an executable's launch would publish them, with the durations and the compute units of
    /// `problem`.
    ///
    /// # Errors
    /// [`Error`] if the plan is not one of this problem.
    pub fn of_plan(problem: &Problem<'_>, plan: &Plan) -> Result<Self, Error> {
        let kernel = |node: u32, fences: Fences| {
            let packet = KernelDispatch { fences, ..KernelDispatch::new(u64::from(node) + 1) };
            // PANIC: one work-item is a grid.
            Ok(Content::Packet(packet.packet().expect("a packet")))
        };
        let image = encode(plan, problem.len(), kernel)?;
        Ok(Self::of_image(&image, problem))
    }

    /// The packets of an executable's launch, with kernels that do nothing. Steps of the host and events are left out.
    pub fn of_launch(image: &LaunchImage) -> Self {
        let mut nodes = 0;
        let queues = image.lanes.iter().map(|lane| {
            let mut packets: Vec<Packet> = Vec::with_capacity(lane.packets.len());
            for packet in &lane.packets {
                let fences = packet.header().map_or(Fences::NONE, |header| header.fences);
                let kernel = packet.kind() == Some(Kind::KernelDispatch);
                let work = kernel.then_some(Work { node: nodes, duration_ns: 0, units: 1 });
                nodes += u32::from(kernel);
                packets.push(Packet { work, fences, ..Packet::default() });
            }
            for &(packet, place, signal) in &lane.patches {
                let packet = &mut packets[packet as usize];
                match place {
                    SignalPlace::Dependency(_) => packet.waits.push(signal),
                    SignalPlace::Completion => packet.signal = Some(signal),
                }
            }
            Queue { device: 0, packets }
        });
        Self { queues: queues.collect(), signals: image.signals, nodes, ..Self::default() }
    }

    fn of_image(image: &Image, problem: &Problem<'_>) -> Self {
        let mut node_at: Vec<Vec<Option<u32>>> =
            image.lanes.iter().map(|lane| vec![None; lane.packets.len()]).collect();
        for (node, place) in (0..).zip(&image.places) {
            if let Some((lane, packet)) = *place {
                node_at[lane as usize][packet as usize] = Some(node);
            }
        }
        let queues = image.lanes.iter().zip(&node_at).map(|(lane, node_at)| {
            let packets = (0u32..).zip(&lane.packets).zip(node_at).map(|((at, packet), &node)| {
                let mut this = Packet {
                    fences: packet.header().map_or(Fences::NONE, |header| header.fences),
                    ..Packet::default()
                };
                if packet.kind() == Some(Kind::KernelDispatch) {
                    this.work = node.map(|node| Work::of(problem, node));
                }
                for patch in lane.patches_of(at) {
                    // What an event stands for is outside of the launch.
                    let Source::Launch(signal) = patch.source else { continue };
                    match patch.field {
                        SignalPlace::Dependency(_) => this.waits.push(signal),
                        SignalPlace::Completion => this.signal = Some(signal),
                    }
                }
                this
            });
            Queue { device: lane.device, packets: packets.collect() }
        });
        let host: Vec<HostCall> = image
            .host
            .iter()
            .map(|step| HostCall {
                node: step.unit,
                duration_ns: problem.cost(step.unit),
                waits: step.after.iter().copied().collect(),
                signal: step.done,
            })
            .collect();
        let this = Self {
            queues: queues.collect(),
            host,
            signals: image.signals,
            // CAST: a problem numbers its nodes in 32 bits.
            nodes: problem.len() as u32,
            host_arguments: false,
        };
        this.interrupting_the_host()
    }

    /// The same, where the signals that host calls wait for raise interrupts.
    pub(super) fn interrupting_the_host(mut self) -> Self {
        let mut waited = vec![false; self.signals as usize];
        self.host.iter().flat_map(|call| &call.waits).for_each(|&signal| waited[signal as usize] = true);
        for packet in self.queues.iter_mut().flat_map(|queue| &mut queue.packets) {
            packet.interrupts = packet.signal.is_some_and(|signal| waited[signal as usize]);
        }
        self
    }

    /// The same, where every signal raises an interrupt, as those of AMD's releases until late 2024 do.
    pub fn interrupting(mut self) -> Self {
        for packet in self.queues.iter_mut().flat_map(|queue| &mut queue.packets) {
            packet.interrupts = packet.signal.is_some();
        }
        self
    }

    /// The same, where kernels find their arguments in the host's memory.
    pub fn with_host_arguments(self) -> Self {
        Self { host_arguments: true, ..self }
    }

    /// Packets that acquire something.
    pub fn acquires(&self) -> usize {
        let packets = self.queues.iter().flat_map(|queue| &queue.packets);
        packets.filter(|packet| packet.fences.acquire != Scope::None).count()
    }

    /// Packets of all queues.
    pub fn packets(&self) -> usize {
        self.queues.iter().map(|queue| queue.packets.len()).sum()
    }

    /// Packets that run no kernel.
    pub fn barrier_ands(&self) -> usize {
        self.queues.iter().flat_map(|queue| &queue.packets).filter(|packet| packet.work.is_none()).count()
    }
}

impl Work {
    /// The kernel of a node.
    pub(super) fn of(problem: &Problem<'_>, node: u32) -> Self {
        debug_assert!(problem.class(node) == Class::Packet, "a kernel");
        Self { node, duration_ns: problem.cost(node), units: problem.units(node) }
    }
}
