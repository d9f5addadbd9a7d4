//! Which devices besides its own may access a pool's memory.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::{Mutex, MutexGuard};

use super::{Arena, StreamPool};
use crate::{
    device::Device,
    error::Result,
    memory::peer::{self, Right},
};

/// Ordinals of the devices that were let in.
#[derive(Default)]
pub(super) struct Access(Mutex<BTreeSet<usize>>);

impl Access {
    /// Lets all devices access `arena` that may access the pool, and has it put among the pool's; `None` if the HSA
    /// runtime refuses.
    pub(super) fn open(&self, arena: Arena, place: impl FnOnce(Arc<Arena>)) -> Option<()> {
        // Under the lock, so that no device is let in without finding this memory among the pool's.
        let peers = self.lock();
        if !peers.is_empty() {
            peer::grant(&arena.device, &peers, &arena.memory).ok()?;
        }
        place(Arc::new(arena));
        Some(())
    }

    /// Whether a device was let in.
    pub(super) fn lets_in(&self, device: &Device) -> bool {
        self.lock().contains(&device.ordinal())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.0.lock()
    }
}

impl StreamPool {
    /// What `device` may do with the pool's memory.
    pub fn right_of(&self, device: &Device) -> Right {
        let own = *device == self.0.device;
        if own || self.0.access.lets_in(device) { Right::ReadWrite } else { Right::None }
    }

    /// The devices besides the pool's own that may access its memory.
    pub(crate) fn peers(&self) -> Vec<Device> {
        let devices = self.0.device.0.system.devices();
        let peers = self.0.access.lock();
        peers.iter().filter_map(|&ordinal| devices.get(ordinal).cloned()).collect()
    }

    /// Says what devices may do with the pool's memory, of which there is and of which there will be; all or none. The
    /// last word on a device counts.
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) if the pool's own device would lose access;
    /// [`Error::PeerAccessUnsupported`](crate::Error::PeerAccessUnsupported) for a device without a link to it;
    /// [`Error::NotSupported`](crate::Error::NotSupported) for [`Right::Read`], which no link can enforce.
    pub fn set_rights(&self, rights: &[(Device, Right)]) -> Result<()> {
        let owner = &self.0.device;
        for (device, right) in rights {
            peer::check_right(owner, device, *right)?;
        }
        let mut peers = self.0.access.lock();
        let before = peers.clone();
        for (device, right) in rights.iter().filter(|(device, _)| device != owner) {
            match right {
                Right::None => peers.remove(&device.ordinal()),
                _ => peers.insert(device.ordinal()),
            };
        }
        if *peers == before {
            return Ok(());
        }
        // An arena that comes meanwhile waits for the lock, and is opened to the new set.
        let arenas: Vec<Arc<Arena>> = self.state().space.memory().cloned().collect();
        let opened = arenas.iter().try_for_each(|arena| peer::grant(owner, &peers, &arena.memory));
        if opened.is_err() {
            *peers = before;
            for arena in &arenas {
                // What could not be granted has changed nothing; what was is taken back as far as it can be.
                let _ = peer::grant(owner, &peers, &arena.memory);
            }
        }
        opened
    }
}
