//! What the host does for a unit, and what that takes from the device.
//!
//! A launch takes it before it publishes anything. So the launch fails for want of memory, and not the device in the middle
//! of one.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    pages::{PinnedPages, STAGE_BYTES},
    unit::Unit,
};
use crate::{
    cooperative::Reserved,
    device::{Device, slabs::Block, timeline},
    error::{Error, Result},
    memory,
};

/// What one step takes.
pub(super) enum Reserve {
    /// Nothing that could be known before.
    Nothing,
    /// For a cooperative kernel.
    Cooperative(Reserved),
    /// For a copy of pages that cannot be pinned, or of memory that the device may not access.
    Stage(Stage),
}

/// Where copies pass that the host has done for one device, one after the other.
pub(super) type Stage = Arc<memory::Stage>;

impl Reserve {
    /// Takes what `unit` needs on `device` in a launch of `epoch`; `stage` is that of an earlier step of the launch, if it
    /// is the device's.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], a fault.
    pub(super) fn take(device: &Device, unit: &Unit, epoch: u64, stage: Option<&Stage>) -> Result<Self> {
        Ok(match unit {
            Unit::Cooperative(dispatch) => Self::Cooperative(device.reserve_cooperative(dispatch, epoch)?),
            unit if is_staged(unit) => {
                Self::Stage(stage.map_or_else(|| new_stage(device), |stage| Ok(stage.clone()))?)
            }
            _ => Self::Nothing,
        })
    }

    /// The stage, if it is one.
    pub(super) fn stage(&self) -> Option<&Stage> {
        match self {
            Self::Stage(stage) => Some(stage),
            _ => None,
        }
    }
}

/// Whether a unit's work may need a stage.
pub(super) fn is_staged(unit: &Unit) -> bool {
    matches!(unit, Unit::Pin(_) | Unit::Relay(_))
}

/// A stage for copies of a device.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn new_stage(device: &Device) -> Result<Stage> {
    memory::Stage::new(device, STAGE_BYTES).map(Arc::new)
}

/// Does the work of a unit that is no packet. `arguments` are those of the next unit's kernel; what is pinned for it
/// must stay until that has run. What `reserve` lacks is taken now. The timeline has `noted`, the launch and the node, if events
/// are recorded.
pub(super) fn run_on_host(
    device: &Device,
    unit: &Unit,
    arguments: Option<&(Arc<Block>, usize)>,
    reserve: Reserve,
    pinned: &Mutex<Vec<PinnedPages>>,
    epoch: u64,
    noted: Option<&(timeline::Launch, String)>,
) {
    // Without it nothing behind can run either. A fault is recorded already, and this is another one's epoch then.
    let failed = |error| device.0.faults.record(error, epoch);
    match unit {
        Unit::Host(function) => function.call(),
        Unit::Cooperative(dispatch) => {
            let reserved = match reserve {
                Reserve::Cooperative(reserved) => Ok(reserved),
                _ => device.reserve_cooperative(dispatch, epoch),
            };
            let traced = noted.map(|(launch, node)| (*launch, Some(&**node)));
            reserved.and_then(|reserved| device.run_cooperative(&reserved, traced)).unwrap_or_else(failed);
        }
        // SAFETY: the caller that gave the node's parameters promised that its host operands are valid whenever the graph runs.
        Unit::HostCopy(copy) => unsafe { memory::host_copy(copy) },
        Unit::Relay(relay) => {
            let stage = reserve.stage().map_or_else(|| new_stage(device), |stage| Ok(stage.clone()));
            // SAFETY: as above.
            stage.and_then(|stage| unsafe { relay.run(&stage) }).unwrap_or_else(failed);
        }
        Unit::Pin(pin) => match PinnedPages::reach(device, pin, reserve.stage().map(Arc::as_ref)) {
            Ok(pages) => {
                if let Some((block, offset)) = arguments {
                    let (place, extent) = pin.extent();
                    // What the host has copied is no more the kernel's to copy.
                    let extent = if pages.is_some() { extent } else { 0 };
                    block.write(offset + place, &extent.to_le_bytes());
                    if let Some(pages) = &pages {
                        block.write(offset + pin.argument, &pages.address().to_le_bytes());
                    }
                    block.publish().unwrap_or_else(failed);
                }
                pinned.lock().extend(pages);
            }
            Err(e) => {
                let (bytes, address) = (pin.bytes, pin.address);
                let why = format!("{bytes} bytes at {address:#x} cannot be pinned for a copy: {e}");
                failed(match e {
                    // Told apart from what a launch does wrong: the next one may have the memory.
                    Error::OutOfMemory { .. } => {
                        tracing::error!("{why}");
                        // CAST: a 64-bit process.
                        Error::OutOfMemory { bytes: bytes as usize }
                    }
                    _ => Error::LaunchFailure(why),
                });
            }
        },
        Unit::Dispatch(_) | Unit::Record(_) | Unit::Wait(_) | Unit::Conditional { .. } | Unit::Join => {}
    }
}
