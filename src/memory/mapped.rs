//! Physical memory where it is mapped, and which processors may access it there.

#![forbid(unsafe_code)]

use std::sync::Arc;

use hsa::Access;
use parking_lot::{Mutex, MutexGuard};

use super::ledger::Processor;

/// Physical memory, as programs name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalId(pub(super) u64);

impl PhysicalId {
    /// The handle's number; never 0.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The name with this number, whether or not it names anything.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// What physical memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The device whose memory it is.
    pub device: usize,
    /// Whether it may leave the process as a file descriptor.
    pub shareable: bool,
    /// Number of bytes.
    pub bytes: u64,
}

pub(super) struct Physical {
    pub(super) id: PhysicalId,
    pub(super) memory: hsa::PhysicalMemory,
    pub(super) properties: Properties,
}

/// Physical memory where it is mapped, and which processors may access it there.
#[derive(Clone)]
pub(crate) struct Mapped {
    pub(super) physical: Arc<Physical>,
    rights: Arc<Mutex<Rights>>,
}

/// What processors may do.
#[derive(Clone)]
pub(super) struct Rights {
    host: Access,
    /// By ordinal; nothing for devices that are missing.
    devices: Vec<Access>,
}

impl Rights {
    pub(super) fn of(&self, processor: Processor) -> Access {
        match processor {
            Processor::Host => self.host,
            Processor::Device(ordinal) => self.devices.get(ordinal).copied().unwrap_or(Access::None),
        }
    }

    pub(super) fn set(&mut self, processor: Processor, access: Access) {
        match processor {
            Processor::Host => self.host = access,
            Processor::Device(ordinal) => {
                if self.devices.len() <= ordinal {
                    self.devices.resize(ordinal + 1, Access::None);
                }
                self.devices[ordinal] = access;
            }
        }
    }
}

impl Mapped {
    /// Physical memory that no processor may access yet where it is mapped.
    pub(super) fn new(physical: Arc<Physical>) -> Self {
        let rights = Rights { host: Access::None, devices: Vec::new() };
        Self { physical, rights: Arc::new(Mutex::new(rights)) }
    }

    pub(super) fn rights(&self) -> MutexGuard<'_, Rights> {
        self.rights.lock()
    }

    /// What a device may do there.
    pub(crate) fn access(&self, ordinal: usize) -> Access {
        self.rights().of(Processor::Device(ordinal))
    }

    /// Whether there is a device that may do as much.
    pub(super) fn lets_any_device(&self, wanted: Access) -> bool {
        self.rights().devices.iter().any(|access| *access >= wanted)
    }

    /// Both as one: a processor may do what it may in both.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        let (ours, theirs) = (self.rights().clone(), other.rights().clone());
        let devices = ours.devices.iter().zip(&theirs.devices).map(|(a, b)| *a.min(b)).collect();
        let rights = Rights { host: ours.host.min(theirs.host), devices };
        Self { physical: self.physical.clone(), rights: Arc::new(Mutex::new(rights)) }
    }
}
