//! What steps of the host take from the device in a launch: had before anything is published, so that it is the launch
//! that fails for want of memory, and not the device in the middle of one.

#![forbid(unsafe_code)]

use super::{conditional::Means, units::Unit};
use crate::{
    device::{Device, cooperative::Reserved},
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
}

impl Reserve {
    /// Takes what `unit` needs on `device` in a launch of `epoch`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), a fault.
    pub(super) fn take(device: &Device, unit: &Unit, epoch: u64) -> Result<Self> {
        Ok(match unit {
            Unit::Cooperative(dispatch) => Self::Cooperative(device.reserve_cooperative(dispatch, epoch)?),
            Unit::Conditional(conditional) => Self::Conditional(conditional.means(epoch)?),
            _ => Self::Nothing,
        })
    }
}
