//! What kernels launch a resident graph with.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{
    Residence,
    launch::value_of,
    on_device::{OnDevice, refuse_other_epoch},
};
use crate::{
    device::{Device, Fence, fence::PooledSignal},
    error::Result,
    resident_queues::Handle,
    stream::{Word, submit::Submission},
};

/// What kernels launch an executable with.
pub(super) struct DeviceGraph {
    pub(super) handle: Arc<Handle>,
    /// Of what was brought to the device last.
    version: u64,
    /// Whether kernels may have the handle.
    pub(super) is_given: bool,
    /// The signal by which the device knows the handle.
    known_by: Option<Arc<PooledSignal>>,
    /// The latest launch before kernels could have the handle, which they wait for. Held, so that its signal is not armed
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
    pub(super) fn brought(&mut self, copy: &OnDevice, submission: &mut Submission<'_>) -> Result<()> {
        self.version += 1;
        submission
            .dispatch(&copy.device.blit()?.write_value(self.handle.present(), Word::U64(self.version)))?;
        if self.is_given { self.admit(copy, None) } else { Ok(()) }
    }

    /// Admits launches by kernels of what was brought last, behind the launch `before`.
    fn admit(&mut self, copy: &OnDevice, before: Option<Fence>) -> Result<()> {
        let device = &copy.device;
        let launches = match &copy.queues {
            Some(queues) => queues.launches().clone(),
            None => device.resident_launches()?,
        };
        refuse_other_epoch(device, &launches, copy.epoch)?;
        let (end, packet) = (value_of(&copy.end), &copy.launch.by_kernel);
        let behind = before.as_ref().map(|before| value_of(before.signal()));
        self.handle.offer(self.version, end, behind, &launches, packet);
        self._before = before;
        if !self.known_by.as_ref().is_some_and(|known| Arc::ptr_eq(known, &copy.end)) {
            device.is_launchable(&copy.end, &self.handle);
            self.known_by = Some(copy.end.clone());
        }
        Ok(())
    }

    /// Gives the handle to kernels, which can launch with it what lies on the device, behind the launch `before`.
    pub(super) fn give(&mut self, copy: Option<&OnDevice>, before: Option<Fence>) -> Result<()> {
        if let Some(copy) = copy {
            self.admit(copy, before)?;
            // A fault in between may have withdrawn all handles that the device knew then.
            if !copy.end.is_current() {
                self.handle.withdraw();
            }
        }
        self.is_given = true;
        Ok(())
    }
}
