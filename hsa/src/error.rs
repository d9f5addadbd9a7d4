//! What can go wrong between here and a device.

use hsa_sys::{HSA_STATUS_SUCCESS, hsa_status_t};

use crate::packet::PacketError;

/// A claim found less room than it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring has {free} free slots")]
pub struct QueueFull {
    /// Slots that were free.
    pub free: u32,
}

/// Why an operation of this crate did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A function of the table refused.
    #[error("{function}: {status:?}")]
    Call {
        /// The header's name of the function.
        function: &'static str,
        /// What it returned.
        status: hsa_status_t,
    },
    /// The runtime library is too old, or the device too simple, for an optional function.
    #[error("this HSA runtime has no {function}")]
    Unsupported {
        /// The header's name of the function.
        function: &'static str,
    },
    /// The queue accepts no packets any more: it was inactivated, or its error callback ran.
    #[error("the queue has stopped: {status:?}")]
    QueueStopped {
        /// What the error callback was told, or `HSA_STATUS_ERROR_INVALID_QUEUE` after an inactivation.
        status: hsa_status_t,
    },
    /// The ring has no room at the moment.
    #[error(transparent)]
    QueueFull(#[from] QueueFull),
    /// More packets were to be claimed at once than the ring will ever hold.
    #[error("{packets} packets were claimed at once from a ring of {size}")]
    ClaimTooLarge {
        /// Packets asked for.
        packets: u64,
        /// Slots of the ring.
        size: u32,
    },
    /// A claim was published with another number of packets than it has slots.
    #[error("a claim of {claimed} slots was published with {given} packets")]
    ClaimMismatch {
        /// Slots of the claim.
        claimed: u32,
        /// Packets given.
        given: usize,
    },
    /// A ring's size is zero or no power of two.
    #[error("a ring cannot have {size} slots")]
    RingSize {
        /// Slots that the queue reports.
        size: u32,
    },
    /// A packet cannot be encoded, or may not be submitted.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// A range does not lie in the object that it is a range of.
    #[error("range of {len} bytes at offset {offset} in an object of {size} bytes")]
    OutOfRange {
        /// Start of the range in bytes.
        offset: usize,
        /// Length of the range in bytes.
        len: usize,
        /// Length of the object in bytes.
        size: usize,
    },
    /// A name has a zero byte inside, so that C cannot take it.
    #[error("a name contains a zero byte at {position}")]
    InteriorNul {
        /// Offset of the zero byte.
        position: usize,
    },
}

impl Error {
    /// The status behind the error, where a function of the table returned one.
    pub fn status(&self) -> Option<hsa_status_t> {
        match self {
            Self::Call { status, .. } | Self::QueueStopped { status } => Some(*status),
            _ => None,
        }
    }
}

/// Turns what `function` returned into a result.
pub(crate) fn check(function: &'static str, status: hsa_status_t) -> Result<(), Error> {
    if status == HSA_STATUS_SUCCESS { Ok(()) } else { Err(Error::Call { function, status }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_function_and_status() {
        let error = check("hsa_queue_create", hsa_sys::HSA_STATUS_ERROR_OUT_OF_RESOURCES).unwrap_err();
        assert_eq!(error.to_string(), "hsa_queue_create: HSA_STATUS_ERROR_OUT_OF_RESOURCES");
        assert_eq!(error.status(), Some(hsa_sys::HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    }
}
