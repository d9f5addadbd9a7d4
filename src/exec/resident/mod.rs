//! Graphs whose packets lie on the device: a launch costs the host the same whatever the graph is, and kernels can
//! launch the graph.
//!
//! Where the packet processor takes indirect buffers, and the graph is one lane, a launch is one packet on the stream's own
//! queue, which enters the packets where they lie ([`buffer`]). Otherwise it runs a kernel that copies the packets into the
//! device's queues for resident graphs, and then waits for the last of them ([`launcher`]). What is on the device is never
//! written again: a change of a packet makes the next launch bring a new copy, in stream order, while launches in flight
//! have theirs.

#![forbid(unsafe_code)]

mod buffer;
mod check;
mod launcher;

use std::{env, mem::offset_of, sync::Arc};

use hsa::packet::{Fences, Packet, Scope};
use smallvec::SmallVec;

pub(super) use self::check::{check_nodes, check_units};
use aqlipse_graph::image::Image;

use super::{Exec, Options, State};
use crate::{
    device::{
        Device, Fence, LaneKind,
        fence::{Keep, PooledSignal},
        slabs::Block,
    },
    error::{Error, Result},
    module::Dispatch,
    module::KernelCode,
    resident_queues::{Handle, Launches, Queues},
    stream::{Stream, Word, submit::Submission},
};

/// The environment variable that keeps packet processors from taking resident graphs: `auto` or `launcher`.
pub const RESIDENT_VARIABLE: &str = "AQLIPSE_RESIDENT";

/// Why a graph of several devices cannot be resident.
pub const RESIDENT_ON_ONE_DEVICE: &str = "a resident graph on several devices";

/// What a launch of a [resident](Options::resident) executable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Residence {
    /// One packet on the stream's queue: the packet processor takes the graph's packets from where they lie.
    IndirectBuffer,
    /// A kernel that copies the graph's packets into queues of the device's own, and a wait.
    Launcher,
}

impl Residence {
    /// What launches of `image` on `device` will be.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an environment variable that says neither.
    pub(super) fn of(device: &Device, image: &Image, options: Options) -> Result<Self> {
        let wanted = match env::var(RESIDENT_VARIABLE).as_deref() {
            Ok("launcher") => false,
            Err(env::VarError::NotPresent) | Ok("" | "auto") => !options.resident_by_launcher,
            _ => return Err(Error::InvalidValue("AQLIPSE_RESIDENT: expected auto or launcher")),
        };
        // A runtime without such packet processors does not know the attribute.
        let depth = || device.0.agent.branch_depth().unwrap_or(0);
        let taken = wanted && image.is_plain() && depth() >= buffer::DEPTH;
        Ok(if taken { Self::IndirectBuffer } else { Self::Launcher })
    }

    /// Bytes of the copy of an image, and of what belongs to it.
    pub(super) fn bytes(self, image: &Image) -> usize {
        let copy = match self {
            Self::IndirectBuffer => buffer::bytes(image),
            Self::Launcher => launcher::Layout::of(image).bytes,
        };
        copy + Arguments::BYTES + Handle::BYTES
    }
}

/// Where device code finds the value of a signal (`amd_hsa_signal.h`).
fn value_of(signal: &PooledSignal) -> u64 {
    signal.handle().handle + offset_of!(hsa_sys::amd_signal_t, value) as u64
}

const SYSTEM: Fences = Fences { barrier: true, acquire: Scope::System, release: Scope::System };

/// Arguments of the kernels that take part in launches.
struct Arguments {
    block: Block,
    used: usize,
}

impl Arguments {
    /// Bytes of those of one kernel.
    const ONE: usize = 64;
    /// Bytes of all.
    const BYTES: usize = 2 * Self::ONE;

    fn new(device: &Device) -> Result<Self> {
        Ok(Self { block: device.0.kernargs.take(Self::BYTES)?, used: 0 })
    }

    /// A packet that runs so many work-items of a kernel of ours.
    fn dispatch(
        &mut self,
        code: &KernelCode,
        items: u16,
        fences: Fences,
        kernargs: Vec<u8>,
    ) -> Result<Packet> {
        self.block.write(self.used, &kernargs);
        let at = self.block.address() + self.used as u64;
        self.used += Self::ONE;
        let dispatch = Dispatch {
            token: 0,
            code: code.clone(),
            grid: [u32::from(items), 1, 1],
            workgroup: [items, 1, 1],
            group_bytes: code.group_bytes(),
            kernargs: kernargs.into(),
        };
        dispatch.packet(fences, at)
    }
}

/// What launches a graph that lies on the device.
struct Launch {
    /// For the host, while kernels cannot launch it. The last packet is to have the launch's fence.
    alone: SmallVec<[Packet; 2]>,
    /// For the host, when kernels can: such a launch is to be told from theirs.
    beside_kernels: SmallVec<[Packet; 2]>,
    /// For a kernel, which has claimed the launch.
    by_kernel: Packet,
}

/// The packets of an executable on its device.
pub(super) struct Resident {
    device: Device,
    /// That of the image.
    edition: u64,
    /// Of the queues that its packets are for.
    epoch: u64,
    /// The queues that the launcher publishes to.
    queues: Option<Arc<Queues>>,
    /// The image's own.
    signals: Vec<Arc<PooledSignal>>,
    /// 0 while no launch is in flight: whoever makes it 1 launches, and the end of the graph makes it 0 again. Launches by
    /// the host that no kernel could make meanwhile need it not.
    end: Arc<PooledSignal>,
    launch: Launch,
    _on_device: Block,
    _arguments: Arguments,
}

impl Resident {
    /// Prepares the copy of an image, to be made by what is pushed to `submission`. Signals of an `older` copy are used
    /// again: launches of one executable follow each other, whatever copy they are of.
    fn new(
        device: &Device,
        image: &Image,
        residence: Residence,
        older: Option<&Self>,
        submission: &mut Submission<'_>,
    ) -> Result<Self> {
        let epoch = submission.lane().epoch();
        let older = older.filter(|older| older.epoch == epoch);
        let (signals, end) = match older {
            Some(older) => (older.signals.clone(), older.end.clone()),
            None => {
                let fresh = |_| device.0.signals.take(0, epoch);
                ((0..image.signals).map(fresh).collect::<Result<_>>()?, fresh(0)?)
            }
        };
        let kernels = device.resident_kernels()?;
        let mut arguments = Arguments::new(device)?;
        let (queues, on_device, launch, bytes) = match residence {
            Residence::IndirectBuffer => {
                let on_device = device.0.packets.take(buffer::bytes(image))?;
                let base = on_device.address();
                let (launch, bytes) = buffer::launch(image, &kernels, &mut arguments, base, &end)?;
                (None, on_device, launch, bytes)
            }
            Residence::Launcher => {
                let queues = device.resident_queues()?;
                refuse_other_epoch(device, queues.launches(), epoch)?;
                let layout = launcher::Layout::of(image);
                let on_device = device.0.packets.take(layout.bytes)?;
                let base = on_device.address();
                let bytes = layout.write(image, &queues, &signals, &end, base);
                let launch = launcher::launch(&kernels, &mut arguments, base, &end)?;
                (Some(queues), on_device, launch, bytes)
            }
        };
        let staged = device.0.staging.take(bytes.len())?;
        staged.write(0, &bytes);
        submission.dispatch(&device.blit()?.copy(
            on_device.address(),
            staged.address(),
            bytes.len() as u64,
        ))?;
        submission.keep(Keep::Block(staged));
        if residence == Residence::IndirectBuffer {
            // The packet processor reads memory itself, and no acquire fence is its own.
            submission.release();
        }
        Ok(Self {
            device: device.clone(),
            edition: image.edition(),
            epoch,
            queues,
            signals,
            end,
            launch,
            _on_device: on_device,
            _arguments: arguments,
        })
    }

    /// Whether it is a copy of the image as it is, for queues of `epoch`.
    fn is_current(&self, image: &Image, epoch: u64) -> bool {
        self.edition == image.edition() && self.epoch == epoch
    }

    /// Keeps something until the launch has ended that may be in flight.
    pub(super) fn keep(&self, keep: Keep) {
        self.device.keep_behind(&self.end, keep);
    }
}

/// Refuses a queue of another epoch than packets that go with it: a fault has just taken the latter's.
fn refuse_other_epoch(device: &Device, launches: &Launches, epoch: u64) -> Result<()> {
    if launches.epoch() == epoch {
        return Ok(());
    }
    Err(device.check().err().unwrap_or_else(|| device.0.faults.error()))
}

/// What kernels launch an executable with.
pub(super) struct DeviceGraph {
    handle: Arc<Handle>,
    /// Of what was brought to the device last.
    version: u64,
    /// Whether kernels may have the handle.
    is_given: bool,
    /// The signal by which the device knows the handle.
    known_by: Option<Arc<PooledSignal>>,
    /// The latest launch before kernels could have the handle, which they wait for. RetainedObjects, so that its signal is not armed
    /// again.
    _before: Option<Fence>,
}

impl DeviceGraph {
    /// A handle for an executable on `device`, which has what launches need from then on.
    pub(super) fn new(device: &Device, residence: Residence) -> Result<Self> {
        // Not with a stream locked, as it is when a launch brings the graph to the device.
        device.blit()?;
        device.resident_kernels()?;
        Ok(Self {
            handle: Arc::new(Handle::new(device)?),
            version: 0,
            // The launcher tells all launches from each other.
            is_given: residence == Residence::Launcher,
            known_by: None,
            _before: None,
        })
    }

    /// Admits launches by kernels, if they may have the handle, as soon as what was pushed to `submission` has completed.
    fn brought(&mut self, resident: &Resident, submission: &mut Submission<'_>) -> Result<()> {
        self.version += 1;
        submission
            .dispatch(&resident.device.blit()?.write_value(self.handle.present(), Word::U64(self.version)))?;
        if self.is_given { self.admit(resident, None) } else { Ok(()) }
    }

    /// Admits launches by kernels of what was brought last, behind the launch `before`.
    fn admit(&mut self, resident: &Resident, before: Option<Fence>) -> Result<()> {
        let device = &resident.device;
        let launches = match &resident.queues {
            Some(queues) => queues.launches().clone(),
            None => device.resident_launches()?,
        };
        refuse_other_epoch(device, &launches, resident.epoch)?;
        let (end, packet) = (value_of(&resident.end), &resident.launch.by_kernel);
        let behind = before.as_ref().map(|before| value_of(before.signal()));
        self.handle.offer(self.version, end, behind, &launches, packet);
        self._before = before;
        if !self.known_by.as_ref().is_some_and(|known| Arc::ptr_eq(known, &resident.end)) {
            device.is_launchable(&resident.end, &self.handle);
            self.known_by = Some(resident.end.clone());
        }
        Ok(())
    }

    /// Gives the handle to kernels, which can launch with it what lies on the device, behind the launch `before`.
    fn give(&mut self, resident: Option<&Resident>, before: Option<Fence>) -> Result<()> {
        if let Some(resident) = resident {
            self.admit(resident, before)?;
            // A fault in between may have withdrawn all handles that the device knew then.
            if !resident.end.is_current() {
                self.handle.withdraw();
            }
        }
        self.is_given = true;
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
    fn bring(&mut self, exec: &Exec, submission: &mut Submission<'_>) -> Result<Arc<Resident>> {
        let epoch = submission.lane().epoch();
        if let Some(resident) = self.resident.as_ref().filter(|r| r.is_current(&self.image, epoch)) {
            return Ok(resident.clone());
        }
        let residence = exec.report().residence.unwrap_or(Residence::Launcher);
        let older = self.resident.as_deref();
        let fresh = Arc::new(Resident::new(&exec.0.device, &self.image, residence, older, submission)?);
        if let Some(launchable) = &mut self.launchable {
            launchable.brought(&fresh, submission)?;
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
    /// Prepares the next launch on `stream`: makes what a launch makes by itself where it is not there yet, namely the
    /// queues, the signals of a launch, and the stream's thread for host steps.
    ///
    /// Has a [resident](super::Options::resident) executable's packets brought to the device, behind what is on `stream`
    /// and behind its own launches. A launch does so by itself where it has to: the first one, and the first behind a
    /// change of nodes. Kernels launch nothing that is not there.
    ///
    /// # Errors
    /// As [`Exec::launch`]; [`CaptureError::Unsupported`](crate::CaptureError::Unsupported) on a capturing stream.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        let mut state = self.state();
        if state.image.lanes.is_empty() {
            return Ok(());
        }
        if !self.0.options.resident {
            return self.prepare(&mut state, stream);
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
        // Before anything is published: what is on its way to the device must have a fence.
        let fence = submission.armed_fence()?;
        state.bring(self, &mut submission)?;
        let lane = submission.lane().id();
        state.last = Some((submission.ending(fence)?, lane));
        // Kernels may launch it from now on: what they find is not to be written any more.
        state.launches += 1;
        Ok(())
    }

    /// What kernels on the executable's device launch it with, an address to be handed to them: an
    /// `aqlipseDeviceGraph_t` of `aqlipse/device_graph.h`. It stays the same as long as the executable lives, and must not
    /// be used after that.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the executable is not [resident](super::Options::resident), or nothing is in it;
    /// [`Error::NotSupported`] where device code cannot ring a doorbell; the fault that has just taken the device.
    pub fn device_graph(&self) -> Result<u64> {
        let mut state = self.state();
        let State { image, launchable, resident, last, .. } = &mut *state;
        match launchable {
            Some(_) if image.lanes.is_empty() => {
                Err(Error::InvalidValue("nothing is in the graph that a kernel could launch"))
            }
            Some(launchable) => {
                if !launchable.is_given {
                    let epoch = self.0.device.0.faults.epoch();
                    let current = resident.as_deref().filter(|resident| resident.is_current(image, epoch));
                    // It may not have claimed the launch.
                    let before = last.as_ref().map(|(fence, _)| fence).filter(|fence| !fence.has_fired());
                    launchable.give(current, before.cloned())?;
                }
                Ok(launchable.handle.address())
            }
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
        // As in `upload`.
        let fence = submission.armed_fence()?;
        let resident = state.bring(self, &mut submission)?;
        let beside_kernels = state.launchable.as_ref().is_some_and(|launchable| launchable.is_given);
        let Launch { alone, beside_kernels: claiming, .. } = &resident.launch;
        let fence = submission.copy_ending(if beside_kernels { claiming } else { alone }, fence)?;
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
        if matches!(LaneKind::from(stream.lane_number()), LaneKind::Restricted { .. }) {
            return Err(Error::NotSupported("a resident graph on a stream that is restricted to some units"));
        }
        Ok(())
    }
}
