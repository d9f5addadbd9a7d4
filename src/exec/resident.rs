//! Graphs whose packets lie on the device, which publishes them itself: a launch costs the host two packets whatever the
//! graph is, and kernels can launch the graph.
//!
//! The first packet of a launch runs `launch_graph` (`kernels/launcher.cpp`), which copies the graph's packets into the
//! device's queues for resident graphs; the second waits for the signal of the graph's last packet, and fires the fence
//! that the stream goes on behind. What is on the device is never written again: a change of a packet makes the next
//! launch bring a new copy, in stream order, while launches in flight have theirs.

#![forbid(unsafe_code)]

use std::{mem::offset_of, sync::Arc};

use hsa::packet::{BarrierAnd, Fences, NO_SIGNAL, Packet, Scope, SignalPlace as Field};

use super::{
    Exec, State,
    failure::Failure,
    image::{Image, Source},
    units::{Unit, Units, pin_of},
};
use crate::{
    GraphNode,
    device::{
        Device, RESTRICTED,
        fence::{Keep, PooledSignal},
        resident::{Handle, Queues},
        slabs::Block,
    },
    dispatch::Dispatch,
    error::{Error, Result},
    graph::{FlatGraph, Node},
    module::KernelCode,
    stream::{Stream, Word, submit::Submission},
    template::Template,
};

/// Why a graph of several devices cannot be resident.
pub const RESIDENT_ON_ONE_DEVICE: &str = "a resident graph on several devices";

/// Work-items of the kernel that publishes: one wave.
const WAVE: u16 = 64;

/// Bytes between the arguments of the launcher for the host and those for kernels.
const ARGUMENTS: usize = 64;

/// Where device code finds the value of a signal (`amd_hsa_signal.h`).
fn value_of(signal: &PooledSignal) -> u64 {
    signal.handle().handle + offset_of!(hsa_sys::amd_signal_t, value) as u64
}

/// The packets of an executable on its device.
pub(super) struct Resident {
    device: Device,
    /// That of the image.
    edition: u64,
    queues: Arc<Queues>,
    /// The image's own.
    signals: Vec<Arc<PooledSignal>>,
    /// 0 while no launch is in flight: whoever makes it 1 launches, and the last packet makes it 0 again.
    end: Arc<PooledSignal>,
    /// Of a launch by the host, but for the fence at the end.
    packets: [Packet; 2],
    /// Of a launch by a kernel, which has claimed the launch.
    claimed: Packet,
    _on_device: Block,
    _arguments: Block,
}

impl Resident {
    /// Bytes of the copy of an image, and of what belongs to it.
    pub(super) fn bytes(image: &Image) -> usize {
        Layout::of(image).bytes + 2 * ARGUMENTS + Handle::BYTES
    }

    /// Prepares the copy of an image, to be made by what is pushed to `submission`. Signals of an `older` copy are used
    /// again: launches of one executable follow each other, whatever copy they are of.
    fn new(
        device: &Device,
        image: &Image,
        older: Option<&Self>,
        submission: &mut Submission<'_>,
    ) -> Result<Self> {
        let queues = device.resident_queues()?;
        let epoch = submission.lane().epoch();
        if queues.epoch() != epoch {
            // A fault has just taken the others.
            return Err(device.check().err().unwrap_or_else(|| device.0.faults.error()));
        }
        let older = older.filter(|older| older.queues.epoch() == epoch);
        let (signals, end) = match older {
            Some(older) => (older.signals.clone(), older.end.clone()),
            None => {
                let fresh = |_| device.0.signals.take(0, epoch);
                ((0..image.signals).map(fresh).collect::<Result<_>>()?, fresh(0)?)
            }
        };
        let layout = Layout::of(image);
        let on_device = device.0.packets.take(layout.bytes)?;
        let bytes = layout.write(image, &queues, &signals, &end, on_device.address());
        let staged = device.0.staging.take(bytes.len())?;
        staged.write(0, &bytes);
        submission.dispatch(&device.blit()?.copy(
            on_device.address(),
            staged.address(),
            bytes.len() as u64,
        ))?;
        submission.keep(Keep::Block(staged));

        let launcher = device.launcher()?;
        let arguments = device.0.kernargs.take(2 * ARGUMENTS)?;
        let packet = |claimed: bool, place: usize| {
            let mut kernargs = on_device.address().to_le_bytes().to_vec();
            kernargs.extend(u32::from(claimed).to_le_bytes());
            arguments.write(place, &kernargs);
            launch_packet(&launcher, kernargs, arguments.address() + place as u64)
        };
        let by_host = packet(false, 0)?;
        let mut deps = [NO_SIGNAL; 5];
        deps[0] = end.handle();
        // With the barrier bit: before the graph is published the signal says that no launch is in flight.
        let behind = BarrierAnd { fences: SYSTEM, deps, completion: NO_SIGNAL }.packet();
        Ok(Self {
            device: device.clone(),
            edition: image.edition(),
            packets: [by_host, behind],
            claimed: packet(true, ARGUMENTS)?,
            queues,
            signals,
            end,
            _on_device: on_device,
            _arguments: arguments,
        })
    }

    /// Whether it is a copy of the image as it is, for queues of `epoch`.
    fn is_current(&self, image: &Image, epoch: u64) -> bool {
        self.edition == image.edition() && self.queues.epoch() == epoch
    }

    /// Keeps something until the launch has ended that may be in flight.
    pub(super) fn keep(&self, keep: Keep) {
        self.device.keep_behind(&self.end, keep);
    }
}

const SYSTEM: Fences = Fences { barrier: true, acquire: Scope::System, release: Scope::System };

fn launch_packet(launcher: &KernelCode, kernargs: Vec<u8>, at: u64) -> Result<Packet> {
    let dispatch = Dispatch {
        token: 0,
        code: launcher.clone(),
        grid: [u32::from(WAVE), 1, 1],
        workgroup: [WAVE, 1, 1],
        group_bytes: launcher.group_bytes(),
        kernargs: kernargs.into(),
    };
    dispatch.packet(SYSTEM, at)
}

/// Where things lie in a resident graph, in bytes from its start: `Graph`, the addresses of signals, `Run`s, packets
/// (`kernels/launcher.cpp`).
struct Layout {
    signals: usize,
    runs: usize,
    /// By lane.
    packets: Vec<usize>,
    bytes: usize,
}

impl Layout {
    const GRAPH: usize = 40;
    const RUN: usize = 48;

    fn of(image: &Image) -> Self {
        let signals = Self::GRAPH;
        let runs = signals + image.signals as usize * 8;
        let mut bytes = (runs + image.runs.len() * Self::RUN).next_multiple_of(size_of::<Packet>());
        let mut packets = Vec::with_capacity(image.lanes.len());
        for lane in &image.lanes {
            packets.push(bytes);
            bytes += size_of_val(&lane.packets[..]);
        }
        Self { signals, runs, packets, bytes }
    }

    /// The bytes of a graph that will lie at `base`.
    fn write(
        &self,
        image: &Image,
        queues: &Queues,
        signals: &[Arc<PooledSignal>],
        end: &PooledSignal,
        base: u64,
    ) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes);
        let header = [value_of(end), queues.lock(), base + self.signals as u64, base + self.runs as u64];
        bytes.extend(header.into_iter().flat_map(u64::to_le_bytes));
        bytes.extend(image.signals.to_le_bytes());
        // CAST: there are no more runs than packets, whose places have 32 bits.
        bytes.extend((image.runs.len() as u32).to_le_bytes());
        bytes.extend(signals.iter().flat_map(|signal| value_of(signal).to_le_bytes()));
        for run in &image.runs {
            let queue = queues.lane(run.lane as usize);
            let packets = self.packets[run.lane as usize] + run.start as usize * size_of::<Packet>();
            let words =
                [queue.ring, queue.write_index, queue.read_index, queue.doorbell, base + packets as u64];
            bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
            bytes.extend(queue.slots.to_le_bytes());
            bytes.extend((run.end - run.start).to_le_bytes());
        }
        for (number, lane) in image.lanes.iter().enumerate() {
            bytes.resize(self.packets[number], 0);
            let mut packets = lane.packets.clone();
            for patch in &lane.patches {
                // Event nodes are refused: all that is filled in is the launch's own.
                let Source::Launch(signal) = patch.source else { continue };
                set_signal(&mut packets[patch.packet as usize], patch.field, &signals[signal as usize]);
            }
            if let (0, Some(last)) = (number, packets.last_mut()) {
                last.set_completion_signal(end.handle());
            }
            bytes
                .extend(packets.iter().flat_map(|packet| packet.words()).flat_map(|word| word.to_le_bytes()));
        }
        bytes
    }
}

fn set_signal(packet: &mut Packet, field: Field, signal: &PooledSignal) {
    let mut words = *packet.words();
    let (double, handle) = (2 * field.double(), signal.handle().handle);
    // CAST: the two halves of the handle.
    (words[double], words[double + 1]) = (handle as u32, (handle >> 32) as u32);
    *packet = Packet::from_words(words);
}

/// What kernels launch an executable with.
pub(super) struct DeviceGraph {
    handle: Arc<Handle>,
    /// Of what was brought to the device last.
    version: u64,
}

impl DeviceGraph {
    /// A handle for an executable on `device`, which has what launches need from then on.
    pub(super) fn new(device: &Device) -> Result<Self> {
        // Not with a stream locked, as it is when a launch brings the graph to the device.
        device.blit()?;
        device.launcher()?;
        Ok(Self { handle: Arc::new(Handle::new(device)?), version: 0 })
    }

    /// Admits launches by kernels as soon as what was pushed to `submission` has completed.
    fn offer(&mut self, resident: &Resident, submission: &mut Submission<'_>) -> Result<()> {
        self.version += 1;
        submission
            .dispatch(&resident.device.blit()?.write_value(self.handle.present(), Word::U64(self.version)))?;
        self.handle.offer(self.version, value_of(&resident.end), &resident.queues, &resident.claimed);
        Ok(())
    }
}

impl State {
    /// Puts a packet in place of another; what lies on the device is out of date then.
    pub(super) fn replace_packet(&mut self, lane: u32, packet: u32, new: Packet) {
        let edition = self.image.edition();
        self.image.replace(lane, packet, new);
        if let Some(launchable) = self.launchable.as_ref().filter(|_| self.image.edition() != edition) {
            launchable.handle.withdraw();
        }
    }

    /// Whether a kernel has launched the graph, and that launch has not ended.
    pub(super) fn is_launched_by_kernel(&self) -> bool {
        self.resident.as_ref().is_some_and(|resident| !resident.end.has_fired())
    }

    /// Has the packets brought to the device, as part of `submission`, if they are not there as they are now.
    fn bring(&mut self, device: &Device, submission: &mut Submission<'_>) -> Result<Arc<Resident>> {
        let epoch = submission.lane().epoch();
        if let Some(resident) = self.resident.as_ref().filter(|r| r.is_current(&self.image, epoch)) {
            return Ok(resident.clone());
        }
        let fresh = Arc::new(Resident::new(device, &self.image, self.resident.as_deref(), submission)?);
        if let Some(launchable) = &mut self.launchable {
            launchable.offer(&fresh, submission)?;
            let same_end = |old: &Arc<Resident>| Arc::ptr_eq(&old.end, &fresh.end);
            if !self.resident.as_ref().is_some_and(same_end) {
                device.is_launchable(&fresh.end, &launchable.handle);
            }
        }
        if let Err(error) = submission.flush() {
            self.launchable.as_ref().inspect(|launchable| launchable.handle.withdraw());
            return Err(error);
        }
        // Launches that were published before, by whomever, may not have been carried out yet.
        if let Some(old) = self.resident.take() {
            if let Some((last, _)) = &self.last {
                last.keep(Keep::Other(old.clone()));
            }
            if !old.end.has_fired() {
                fresh.keep(Keep::Other(old));
            }
        }
        self.resident = Some(fresh.clone());
        Ok(fresh)
    }
}

impl Exec {
    /// Has a [resident](super::Options::resident) executable's packets brought to the device, behind what is on `stream`
    /// and behind its own launches. A launch does so by itself where it has to: the first one, and the first behind a
    /// change of nodes. Kernels launch nothing that is not there. Of other executables nothing is left to prepare.
    ///
    /// # Errors
    /// As [`Exec::launch`]; [`CaptureError::Unsupported`](crate::CaptureError::Unsupported) on a capturing stream.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        let mut state = self.state();
        if !self.0.options.resident || state.image.lanes.is_empty() {
            return Ok(());
        }
        crate::capture::refuse_uncapturable(stream, "hipGraphUpload")?;
        self.check_stream(stream)?;
        let mut submission = stream.submission()?;
        let state = &mut *state;
        if state.resident.as_ref().is_some_and(|r| r.is_current(&state.image, submission.lane().epoch())) {
            return Ok(());
        }
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane);
        }
        state.bring(&self.0.device, &mut submission)?;
        let lane = submission.lane().id();
        state.last = Some((submission.fence()?, lane));
        // Kernels may launch it from now on: what they find is not to be written any more.
        state.launches += 1;
        Ok(())
    }

    /// What kernels on the executable's device launch it with, an address to be handed to them: an
    /// `aqlipseDeviceGraph_t` of `aqlipse/device_graph.h`. It stays the same as long as the executable lives, and must not
    /// be used after that.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the executable is not [resident](super::Options::resident), or nothing is in it.
    pub fn device_graph(&self) -> Result<u64> {
        let state = self.state();
        match &state.launchable {
            Some(_) if state.image.lanes.is_empty() => {
                Err(Error::InvalidValue("nothing is in the graph that a kernel could launch"))
            }
            Some(launchable) => Ok(launchable.handle.address()),
            None => Err(Error::InvalidValue("the executable was not made to be resident")),
        }
    }

    /// As `publish`, for what lies on the device.
    pub(super) fn publish_resident(&self, state: &mut State, stream: &Stream) -> Result<()> {
        if state.image.lanes.is_empty() {
            return Ok(());
        }
        self.check_stream(stream)?;
        let mut submission = stream.submission()?;
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane);
        }
        let resident = state.bring(&self.0.device, &mut submission)?;
        let fence = submission.copy(&resident.packets)?;
        // Before the stream takes the fence: of the one before nobody may know then, and it can be used again.
        state.last = Some((fence.clone(), submission.lane().id()));
        state.launches += 1;
        submission.passed(fence);
        Ok(())
    }

    /// Refuses streams whose work a resident graph cannot be.
    fn check_stream(&self, stream: &Stream) -> Result<()> {
        if *stream.device() != self.0.device {
            return Err(Error::NotSupported("a resident graph on a stream of another device"));
        }
        // Its queues may use all units.
        if stream.lane_number() >= RESTRICTED {
            return Err(Error::NotSupported("a resident graph on a stream that is restricted to some units"));
        }
        Ok(())
    }
}

/// Refuses nodes that need the host, or that could hold up the queues which all resident graphs share.
pub(super) fn check_nodes(
    template: &Template,
    flat: &FlatGraph,
    work: &[Option<&GraphNode>],
) -> Result<(), Failure> {
    if template.has_memory_nodes() {
        return Err(Error::NotSupported("memory nodes in a resident graph").into());
    }
    let refused = |node: &GraphNode| match node {
        Node::Kernel(kernel) if kernel.attributes.cooperative => {
            Some("a cooperative kernel in a resident graph")
        }
        Node::Kernel(_) | Node::Memcpy(_) | Node::Memset(_) | Node::Empty | Node::Child(_) => None,
        _ => Some("a node in a resident graph that is no kernel, copy, fill or child graph"),
    };
    let found = (0u32..).zip(work).find_map(|(at, node)| Some((at, refused((*node)?)?)));
    match found {
        Some((at, why)) => Err(Failure::of_node(flat.path(at).first().copied(), Error::NotSupported(why))),
        None => Ok(()),
    }
}

/// Refuses what comes down to work of the host or of other devices.
pub(super) fn check_units(flat: &FlatGraph, units: &Units) -> Result<(), Failure> {
    if units.devices.len() > 1 {
        return Err(Error::NotSupported(RESIDENT_ON_ONE_DEVICE).into());
    }
    for (at, &main) in (0u32..).zip(&units.main) {
        let why = match &units.units[main as usize] {
            Unit::Dispatch(_) if pin_of(&units.units, main).is_some() => {
                "a copy of pageable memory in a resident graph"
            }
            Unit::Dispatch(_) | Unit::Join => continue,
            Unit::Relay(_) => "a copy or fill of another device's memory in a resident graph",
            _ => "a copy by the host in a resident graph",
        };
        let node = flat.path(at).first().copied();
        return Err(Failure::of_node(node, Error::NotSupported(why)));
    }
    if units.fifos.bytes() > 0 {
        return Err(
            Error::NotSupported("a kernel in a resident graph that prints without calling the host").into()
        );
    }
    Ok(())
}
