//! Copies as copy engines do them: between pinned memory of the host and a device, or from a device to another.

use std::sync::Arc;

use super::{Origin, Place, Region, is_pinned, peer, places};
use crate::{
    device::{
        Device,
        activity::{Side, Task},
        fence::PooledSignal,
        timeline::{Launch, Noted, Place as TimelinePlace, Work},
    },
    error::Result,
};
use aqlipse_graph::Memcpy;

/// A run of bytes that an engine of a device copies.
#[derive(Clone)]
pub(crate) struct EngineCopy {
    /// The device whose engine it is.
    device: Device,
    way: Way,
    dst: u64,
    src: u64,
    bytes: u64,
}

/// Which way a copy goes.
#[derive(Clone)]
enum Way {
    FromHost,
    ToHost,
    ToDevice(Device),
}

impl EngineCopy {
    /// The copy as an engine of `device` does it; nothing if it is not one for an engine of that device.
    ///
    /// Within a device ROCr copies by kernels, too. Memory that host and devices share, or that comes from elsewhere, may
    /// have its pages anywhere.
    ///
    /// # Errors
    /// As [`check_copy`](super::check_copy).
    pub(crate) fn of(device: &Device, copy: &Memcpy) -> Result<Option<Self>> {
        let Memcpy::Linear { dst, src, bytes, .. } = *copy else { return Ok(None) };
        if bytes == 0 || !device.properties().copy_engines {
            return Ok(None);
        }
        let (Place::Region(to), Place::Region(from)) = places(copy)? else { return Ok(None) };
        let own = |region: &Region| is_plain(region) && region.device == device.ordinal();
        let way = if own(&to) && is_pinned(&from) {
            Way::FromHost
        } else if is_pinned(&to) && own(&from) {
            Way::ToHost
        } else if own(&from) && is_plain(&to) && !own(&to) && peer::reaches(device, &to) {
            Way::ToDevice(Device::get(to.device)?)
        } else {
            return Ok(None);
        };
        let at = |region: &Region, address: u64| region.device_address + (address - region.address);
        Ok(Some(Self { device: device.clone(), way, dst: at(&to, dst), src: at(&from, src), bytes }))
    }

    /// The engine of the device that does it: ROCr has one for what comes from the host, and one for the rest.
    pub(crate) fn engine(&self) -> u8 {
        u8::from(!matches!(self.way, Way::FromHost))
    }

    /// What the timeline says of it, if an engine does it: `signal` falls behind it, `is_first` as in [`Noted`].
    pub(crate) fn noted(
        &self,
        signal: &Arc<PooledSignal>,
        launch: Launch,
        node: Option<String>,
        is_first: bool,
    ) -> Noted {
        let (device, place) = (self.device.clone(), TimelinePlace::Engine(self.engine()));
        let (from, to) = match self.way {
            Way::FromHost => (Side::Host, Side::Device),
            Way::ToHost => (Side::Device, Side::Host),
            Way::ToDevice(_) => (Side::Device, Side::Device),
        };
        let task = Some(Task::Copy { from, to, is_box: false, bytes: self.bytes });
        Noted { device, place, signal: signal.clone(), work: Work::copy(), task, launch, node, is_first }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Has the engine copy when all signals of `after` are 0; `done` falls to 0 behind it. No thread waits, but where the
    /// engine's ring is full: what it has in it must not wait for what the calling thread has yet to do.
    ///
    /// # Errors
    /// [`Error::Hsa`](crate::Error::Hsa); nothing is copied then.
    pub(crate) fn submit<'s>(
        &self,
        after: impl Iterator<Item = &'s PooledSignal>,
        done: &PooledSignal,
    ) -> Result<()> {
        let system = self.device.0.system;
        let (own, host) = (&self.device.0.agent, system.host_agent());
        let (to, from) = match &self.way {
            Way::FromHost => (own, host),
            Way::ToHost => (host, own),
            Way::ToDevice(other) => (&other.0.agent, own),
        };
        let after: Vec<&hsa::Signal> = after.map(PooledSignal::for_engine).collect();
        // CAST: usize has 64 bits on the hosts that ROCm has.
        let (to, from, bytes) = ((self.dst, to), (self.src, from), self.bytes as usize);
        // SAFETY: both ranges lie in allocations that were looked up, and freeing them waits for the device. Like a kernel's
        // caller, the copy's vouches for that nothing else uses them meanwhile. The signals go to no other use before they
        // have fired.
        Ok(unsafe { system.runtime().copy_async(to, from, bytes, &after, done.for_engine()) }?)
    }
}

/// Whether a region is memory of one device, with nothing special about it.
fn is_plain(region: &Region) -> bool {
    matches!(region.origin, Origin::Device | Origin::Pooled | Origin::Graph | Origin::Variable)
}
