//! The services of a device: one [`Context`] with each.

#![forbid(unsafe_code)]

use std::any::Any;

use parking_lot::{Mutex, MutexGuard};

use crate::{
    blit::Blit,
    cooperative::Cooperative,
    device::{Device, Fence, System, above::Services, once::Once},
    error::{Error, Result},
    hostcall::Hostcall,
    memory::{peer::PeerAccess, stream_pool::current::Pools},
    memory_report,
    pool::footprint::Footprint,
    resident_queues::Residence,
};

/// What the services keep with a device.
pub(crate) struct Context {
    /// Pools of stream-ordered memory.
    pub(crate) pools: Pools,
    /// What launches of graphs hold of the memory.
    pub(crate) graph_memory: Footprint,
    /// Which other devices may access the device's memory.
    pub(crate) peers: PeerAccess,
    /// The copy and fill kernels.
    pub(crate) blit: Once<Blit>,
    /// What kernels ask of the host.
    pub(crate) hostcall: Hostcall,
    /// What cooperative launches share.
    pub(crate) cooperative: Cooperative,
    /// What resident graphs share.
    pub(crate) residence: Mutex<Residence>,
}

impl Context {
    fn new(device: &Device) -> Self {
        Self {
            pools: Pools::default(),
            graph_memory: Footprint::default(),
            peers: PeerAccess::default(),
            blit: Once::default(),
            hostcall: Hostcall::new(device.0.local.properties().size),
            cooperative: Cooperative::default(),
            residence: Mutex::default(),
        }
    }

    fn residence(&self) -> MutexGuard<'_, Residence> {
        self.residence.lock()
    }
}

impl Services for Context {
    fn before_queues_stop(&self) {
        self.residence().withdraw_lost();
    }

    fn all_queues_are_gone(&self) {
        self.hostcall.reset();
    }

    fn work_was_waited_for(&self) {
        self.pools.release();
    }

    fn launched_by_kernels(&self) -> Vec<Fence> {
        let ends = self.residence().launched_by_kernels();
        ends.into_iter().map(|end| Fence::new(end, Vec::new())).collect()
    }
}

impl Device {
    /// All devices, in the order of their ordinals.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if no HSA runtime could be started.
    pub fn all() -> Result<&'static [Device]> {
        Ok(System::get()?.devices())
    }

    /// The device with this ordinal.
    ///
    /// # Errors
    /// [`Error::InvalidDevice`] if there is none.
    pub fn get(ordinal: usize) -> Result<Device> {
        Self::all()?.get(ordinal).cloned().ok_or(Error::InvalidDevice(ordinal as i64))
    }

    /// Its services.
    #[inline]
    pub(crate) fn context(&self) -> &'static Context {
        let services: &'static dyn Any = self.0.services.get_or_make(|| Box::new(Context::new(self)));
        // PANIC: nothing else is put there.
        services.downcast_ref().expect("the context of a device")
    }
}

impl System {
    /// The runtime, started on first use.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] with what every back end that was tried said; the answer stays the same.
    pub fn get() -> Result<&'static System> {
        let system = Self::started()?;
        memory_report::report_at_exit();
        Ok(system)
    }
}
