//! Memory of other devices: which may access it.

use std::collections::BTreeSet;

use parking_lot::{Mutex, MutexGuard};

use super::{Backing, Origin, Region};
use crate::{
    device::Device,
    error::{Error, Result, explain},
};

/// What a device may do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Nothing: an access is a fault.
    None,
    /// Read only.
    Read,
    /// Read and write.
    ReadWrite,
}

/// The devices that may access what is allocated on a device, by ordinal.
#[derive(Default)]
pub(crate) struct PeerAccess(Mutex<BTreeSet<usize>>);

impl PeerAccess {
    /// Held while memory is allocated, so that no device is let in between allocation and grant.
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.0.lock()
    }
}

/// Whether the hardware lets `device` access the memory of `peer`; no device is a peer of itself.
///
/// # Errors
/// [`Error::Hsa`].
pub fn can_access_peer(device: &Device, peer: &Device) -> Result<bool> {
    Ok(device != peer && peer.0.local.access(&device.0.agent)? != hsa::PoolAccess::Never)
}

/// The way from `device` to the memory of `peer`; `None` if they are the same, or there is none.
///
/// # Errors
/// [`Error::Hsa`].
pub fn link(device: &Device, peer: &Device) -> Result<Option<hsa::Link>> {
    let link = peer.0.local.link(&device.0.agent)?;
    Ok(link.filter(|_| device != peer))
}

/// Lets kernels on `device` access what was and will be allocated on `peer` ([`allocate`](super::allocate)).
///
/// # Errors
/// [`Error::PeerAccessUnsupported`], [`Error::PeerAccessAlreadyEnabled`].
pub fn enable_peer_access(device: &Device, peer: &Device) -> Result<()> {
    if !can_access_peer(device, peer)? {
        return Err(Error::PeerAccessUnsupported);
    }
    let mut peers = peer.context().peers.lock();
    if !peers.insert(device.ordinal()) {
        return Err(Error::PeerAccessAlreadyEnabled);
    }
    let granted = grant_all(peer, &peers);
    if granted.is_err() {
        peers.remove(&device.ordinal());
    }
    granted
}

/// Undoes [`enable_peer_access`].
///
/// # Errors
/// [`Error::PeerAccessNotEnabled`].
pub fn disable_peer_access(device: &Device, peer: &Device) -> Result<()> {
    let mut peers = peer.context().peers.lock();
    if !peers.remove(&device.ordinal()) {
        return Err(Error::PeerAccessNotEnabled);
    }
    grant_all(peer, &peers)
}

/// Lets exactly the owner and its peers access an allocation.
pub(crate) fn grant(owner: &Device, peers: &BTreeSet<usize>, allocation: &hsa::Allocation) -> Result<()> {
    let devices = owner.0.system.devices();
    let agents = peers.iter().filter_map(|&ordinal| devices.get(ordinal)).chain([owner]);
    Ok(allocation.allow_access(&agents.map(|device| device.0.agent.clone()).collect::<Vec<_>>())?)
}

fn grant_all(owner: &Device, peers: &BTreeSet<usize>) -> Result<()> {
    let regions = owner
        .0
        .system
        .memory()
        .regions(|region| region.device == owner.ordinal() && region.origin == Origin::Device);
    regions.iter().try_for_each(|region| match &region.backing {
        Backing::Allocation(allocation) | Backing::Array(allocation) => grant(owner, peers, allocation),
        _ => Ok(()),
    })
}

/// Whether kernels on `device` may access a region.
pub(crate) fn reaches(device: &Device, region: &Region) -> bool {
    if let Backing::Mapped(mapped) = &region.backing {
        return mapped.access(device.ordinal()) == hsa::Access::ReadWrite;
    }
    // Every device was given access when it was mapped.
    if matches!(region.origin, Origin::Imported | Origin::External) {
        return true;
    }
    if !region.origin.is_device() || region.device == device.ordinal() {
        return true;
    }
    if let Backing::Owned(owner) = &region.backing {
        return owner.is_open_to(device);
    }
    let owner = device.0.system.devices().get(region.device);
    region.origin == Origin::Device
        && owner.is_some_and(|owner| owner.context().peers.lock().contains(&device.ordinal()))
}

/// Asks whether memory of `owner` can be given to `device` in this way.
///
/// # Errors
/// [`Error::NotSupported`] for [`Right::Read`], which no link can enforce; [`Error::InvalidValue`] if the owner would
/// have none; [`Error::PeerAccessUnsupported`] for a device without a link.
pub(crate) fn check_right(owner: &Device, device: &Device, right: Right) -> Result<()> {
    match right {
        Right::Read => {
            explain("device memory cannot be read-only to a device: ask for reading and writing");
            Err(Error::NotSupported("read-only access to device memory"))
        }
        Right::None if device == owner => {
            explain("a device cannot lose access to its own memory");
            Err(Error::InvalidValue("the device that has the memory keeps its access"))
        }
        Right::ReadWrite if device != owner && !can_access_peer(device, owner)? => {
            explain("there is no link over which the device could access the memory");
            Err(Error::PeerAccessUnsupported)
        }
        _ => Ok(()),
    }
}
