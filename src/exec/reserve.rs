//! What steps of the host take from the device in a launch: had before anything is published, so that it is the launch
//! that fails for want of memory, and not the device in the middle of one.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{conditional::Means, pages::STAGE_BYTES, units::Unit};
use crate::{
    cooperative::Reserved,
    device::{Device, slabs::Block},
    error::Result,
};

/// What one step takes.
pub(super) enum Reserve {
    /// Nothing that could be known before.
    Nothing,
    /// For a cooperative kernel.
    Cooperative(Reserved),
    /// For a conditional node that the host drives.
    Conditional(Means),
    /// For a copy of pages that cannot be pinned.
    Stage(Stage),
}

/// Where copies of one device pass, one after the other, if there is no memory for anything better.
pub(super) type Stage = Arc<Block>;

impl Reserve {
    /// Takes what `unit` needs on `device` in a launch of `epoch`; `stage` is that of an earlier step of the launch, if it
    /// is the device's.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), a fault.
    pub(super) fn take(device: &Device, unit: &Unit, epoch: u64, stage: Option<&Stage>) -> Result<Self> {
        Ok(match unit {
            Unit::Cooperative(dispatch) => Self::Cooperative(device.reserve_cooperative(dispatch, epoch)?),
            Unit::Conditional(conditional) => Self::Conditional(conditional.means(epoch)?),
            Unit::Pin(_) => Self::Stage(stage.map_or_else(|| new_stage(device), |stage| Ok(stage.clone()))?),
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

/// A stage for copies of a device.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn new_stage(device: &Device) -> Result<Stage> {
    device.0.staging.take(STAGE_BYTES).map(Arc::new)
}
