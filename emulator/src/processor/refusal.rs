//! Packets that cannot be processed.

use hsa_sys::{HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, hsa_status_t};

/// A packet that cannot be processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: hsa_status_t,
    pub(super) reason: String,
}

impl Refusal {
    pub(super) fn format(reason: String) -> Self {
        Self { status: HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, reason }
    }
}
