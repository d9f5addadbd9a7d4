//! Graphs whose packets lie on the device.
//!
//! A launch costs the host the same whatever the graph is, and kernels can launch the graph.
//!
//! Where the packet processor takes indirect buffers, and the graph is one lane, a launch is one packet on the stream's own
//! queue, which enters the packets where they lie ([`buffer`]). Otherwise it runs a kernel that copies the packets into the
//! device's queues for resident graphs, and then waits for the last of them ([`launcher`]). What is on the device is never
//! written again: a change of a packet makes the next launch bring a new copy, in stream order, while launches in flight
//! have theirs. [`Resident`] is all that ordinary launches and updates know of this.
//!
//! | module | what it holds |
//! |---|---|
//! | [`check`] | what a resident graph cannot have |
//! | [`launch`] | the packets that launch a graph |
//! | [`buffer`], [`launcher`] | the two ways of a launch |
//! | [`on_device`] | the copy of the packets on the device |
//! | [`device_graph`] | what kernels launch the graph with |

#![forbid(unsafe_code)]

mod buffer;
mod check;
mod device_graph;
mod launch;
mod launcher;
mod on_device;

use std::{env, sync::Arc};

use aqlipse_graph::image::Image;

pub(super) use self::check::{check_nodes, check_units};
use self::{
    device_graph::DeviceGraph,
    launch::{Arguments, Launch},
    on_device::OnDevice,
};
use super::{Exec, Options, State};
use crate::{
    capture,
    device::{Device, Fence, fence::Keep},
    error::{Error, Result},
    resident_queues::Handle,
    stream::{Stream, submit::Submission},
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
    /// [`Error::InvalidValue`] for an environment variable that says neither; [`Error::NotSupported`] where a kernel would
    /// have to publish, and cannot change words of the host's memory.
    pub(super) fn of(device: &Device, image: &Image, options: Options) -> Result<Self> {
        let wanted = match env::var(RESIDENT_VARIABLE).as_deref() {
            Ok("launcher") => false,
            Err(env::VarError::NotPresent) | Ok("" | "auto") => !options.resident_by_launcher,
            _ => return Err(Error::InvalidValue("AQLIPSE_RESIDENT: expected auto or launcher")),
        };
        // A runtime without such packet processors does not know the attribute.
        let depth = || device.0.agent.branch_depth().unwrap_or(0);
        let taken = wanted && image.is_plain() && depth() >= buffer::DEPTH;
        if !taken {
            device.require_host_atomics("kernels that publish over a link without atomic operations")?;
        }
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

/// What a resident executable has beside its image.
pub(super) struct Resident {
    residence: Residence,
    /// The packets on the device, if they were brought there.
    copy: Option<Arc<OnDevice>>,
    /// What kernels launch it with.
    kernels: DeviceGraph,
}

const NOT_RESIDENT: Error = Error::InvalidValue("the executable was not made to be resident");

impl Resident {
    /// Nothing on the device yet, and what launches on it need.
    ///
    /// # Errors
    /// As [`DeviceGraph::new`].
    pub(super) fn new(device: &Device, residence: Residence) -> Result<Self> {
        Ok(Self { residence, copy: None, kernels: DeviceGraph::new(device, residence)? })
    }

    /// Keeps kernels from launching what is out of date.
    pub(super) fn withdraw(&self) {
        self.kernels.handle.withdraw();
    }

    /// Whether a kernel has launched the graph, and that launch has not ended.
    pub(super) fn is_launched_by_kernel(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| !copy.end.has_fired())
    }

    /// Keeps something until the launch has ended that may be in flight.
    pub(super) fn keep(&self, keep: Keep) {
        if let Some(copy) = &self.copy {
            copy.keep(keep);
        }
    }

    /// What launches in flight use.
    pub(super) fn in_use(&self) -> Option<Keep> {
        self.copy.clone().map(|copy| Keep::Other(copy))
    }

    /// The packets on the device, if they are those of the image for queues of `epoch`.
    fn current(&self, image: &Image, epoch: u64) -> Option<&Arc<OnDevice>> {
        self.copy.as_ref().filter(|copy| copy.is_current(image, epoch))
    }

    /// Has the packets brought to the device, as part of `submission`, if they are not there as they are now. `last` is the
    /// end of the latest launch.
    fn bring(
        &mut self,
        device: &Device,
        image: &Image,
        last: Option<&Fence>,
        submission: &mut Submission<'_>,
    ) -> Result<Arc<OnDevice>> {
        if let Some(copy) = self.current(image, submission.lane().epoch()) {
            return Ok(copy.clone());
        }
        let older = self.copy.as_deref();
        let fresh = Arc::new(OnDevice::new(device, image, self.residence, older, submission)?);
        self.kernels.brought(&fresh, submission)?;
        submission.flush().inspect_err(|_| self.withdraw())?;
        // Launches that were published before may not have been carried out yet, those of kernels among them.
        if let Some(old) = self.copy.replace(fresh.clone()) {
            if let Some(last) = last {
                last.keep(Keep::Other(old.clone()));
            }
            if !old.end.has_fired() {
                fresh.keep(Keep::Other(old));
            }
        }
        Ok(fresh)
    }

    /// Gives kernels what they launch the graph with, an address; `last` is the end of the latest launch.
    fn give(&mut self, image: &Image, epoch: u64, last: Option<&Fence>) -> Result<u64> {
        if !self.kernels.is_given {
            let current = self.current(image, epoch).map(Arc::clone);
            // It may not have claimed the launch.
            let before = last.filter(|fence| !fence.has_fired());
            self.kernels.give(current.as_deref(), before.cloned())?;
        }
        Ok(self.kernels.handle.address())
    }
}

impl Exec {
    /// What kernels on the executable's device launch it with, an address to be handed to them: an
    /// `aqlipseDeviceGraph_t` of `aqlipse/device_graph.h`. It stays the same as long as the executable lives, and must not
    /// be used after that.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the executable is not [resident](super::Options::resident), or nothing is in it;
    /// [`Error::NotSupported`] where device code cannot ring a doorbell; the fault that has just taken the device.
    pub fn device_graph(&self) -> Result<u64> {
        let mut state = self.state();
        let State { image, resident, last, .. } = &mut *state;
        let resident = resident.as_mut().ok_or(NOT_RESIDENT)?;
        self.0.device.require_host_atomics("launches by kernels over a link without atomic operations")?;
        if image.lanes.is_empty() {
            return Err(Error::InvalidValue("nothing is in the graph that a kernel could launch"));
        }
        resident.give(image, self.0.device.0.faults.epoch(), last.as_ref().map(|(fence, _)| fence))
    }

    /// As [`Exec::upload`], for a resident executable.
    pub(super) fn upload_resident(&self, state: &mut State, stream: &Stream) -> Result<()> {
        capture::refuse_uncapturable(stream, "hipGraphUpload")?;
        self.check_stream(stream)?;
        let mut submission = stream.submission()?;
        let State { image, resident, last, launches, .. } = state;
        let resident = resident.as_mut().ok_or(NOT_RESIDENT)?;
        if resident.current(image, submission.lane().epoch()).is_some() {
            return Ok(());
        }
        if let Some((fence, lane)) = last {
            submission.wait(fence, *lane)?;
        }
        // Before anything is published: what is on its way to the device must have a fence.
        let fence = submission.armed_fence()?;
        resident.bring(&self.0.device, image, last.as_ref().map(|(fence, _)| fence), &mut submission)?;
        let lane = submission.lane().id();
        *last = Some((submission.ending(fence)?, lane));
        // Kernels may launch it from now on: what they find is not to be written any more.
        *launches += 1;
        Ok(())
    }

    /// As `publish`, for what lies on the device.
    pub(super) fn publish_resident(&self, state: &mut State, stream: &Stream) -> Result<()> {
        if state.image.lanes.is_empty() {
            return Ok(());
        }
        self.check_stream(stream)?;
        let mut submission = stream.submission()?;
        let State { image, resident, last, launches, .. } = state;
        let resident = resident.as_mut().ok_or(NOT_RESIDENT)?;
        if let Some((fence, lane)) = last {
            submission.wait(fence, *lane)?;
        }
        // As in `upload_resident`.
        let fence = submission.armed_fence()?;
        let before = last.as_ref().map(|(fence, _)| fence);
        let copy = resident.bring(&self.0.device, image, before, &mut submission)?;
        let Launch { alone, beside_kernels, .. } = &copy.launch;
        let packets = if resident.kernels.is_given { beside_kernels } else { alone };
        let fence = submission.copy_ending(packets, fence)?;
        // Before the stream takes the fence: the executable lets go of the fence before it, which can be used again then.
        *last = Some((fence.clone(), submission.lane().id()));
        *launches += 1;
        submission.passed(fence);
        Ok(())
    }

    /// Refuses streams whose work a resident graph cannot be.
    fn check_stream(&self, stream: &Stream) -> Result<()> {
        if *stream.device() != self.0.device {
            return Err(Error::NotSupported("a resident graph on a stream of another device"));
        }
        // Its queues may use all units.
        if self.0.device.restriction(stream.lane_number()).is_some() {
            return Err(Error::NotSupported("a resident graph on a stream that is restricted to some units"));
        }
        Ok(())
    }
}
