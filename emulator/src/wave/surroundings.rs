//! What is around a wave: its device's memory, the apertures in it, and the host.

use std::sync::Arc;

use super::sync::WaveSync;
use crate::memory::Map;

/// Where the generic address space shows LDS and scratch: two windows of 4 GiB that no allocation overlaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apertures {
    /// SRC_SHARED_BASE; its low 32 bits are zero.
    pub shared: u64,
    /// SRC_PRIVATE_BASE; its low 32 bits are zero.
    pub private: u64,
}

impl Default for Apertures {
    /// The values of AMD's kernel driver on GFX9: 1 << 48 and 2 << 48, which are no canonical host addresses.
    fn default() -> Self {
        Self { shared: 1 << 48, private: 2 << 48 }
    }
}

/// What a wave sends to the world outside its workgroup.
pub trait Host: Send + Sync {
    /// `s_sendmsg`: the message word (identifier in bits 3..0) and M0.
    fn message(&self, message: u16, m0: u32);

    /// A wave reads memory of a socket of the host, `early` if it has not stored anything yet. Called where the map
    /// [is watched](Map::is_watched).
    fn read(&self, _socket: u32, _early: bool) {}

    /// The resources of `ds_gws_*` that the queue may use; `None` if it was given none.
    fn wave_sync(&self) -> Option<&WaveSync> {
        None
    }
}

/// Nothing receives messages: they are dropped.
pub struct Deaf;

impl Host for Deaf {
    fn message(&self, _message: u16, _m0: u32) {}
}

/// What all waves of a dispatch share.
#[derive(Clone)]
pub struct Surroundings {
    /// The device's live allocations, asked when a wave's snapshot does not know an address.
    pub map: Arc<Map>,
    /// Windows of the generic address space.
    pub apertures: Apertures,
    /// Where messages go.
    pub host: Arc<dyn Host>,
}

impl Surroundings {
    pub(super) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.map, &other.map)
            && Arc::ptr_eq(&self.host, &other.host)
            && self.apertures == other.apertures
    }
}
