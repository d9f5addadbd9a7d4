//! Where lanes have their rings.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::{Error, Result};

/// The environment variable that says where the rings of queues are: `system`, `device` or `device-ordinary`.
pub const RING_VARIABLE: &str = "AQLIPSE_RING";

/// Where the packets of a device's queues lie, and how the host stores them there.
///
/// A packet processor fetches packets from a ring in its own memory without crossing the bus; the host writes there
/// through a window of PCIe, without reading. That needs an HSA runtime with `hsa_amd_queue_create` (ROCm 10), or one
/// that `HSA_ALLOCATE_QUEUE_DEV_MEM=1` in the environment tells the same (ROCm 6.4), and a device all of whose memory the
/// host reaches (large BAR). Where the runtime refuses, rings are in system memory, and a warning says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rings {
    /// In memory of the host, which it writes as any other.
    #[default]
    System,
    /// In memory of the device, written past the caches.
    Device,
    /// In memory of the device, written by ordinary stores, to be compared with those past the caches.
    DeviceOrdinary,
}

impl Rings {
    const ALL: [Self; 3] = [Self::System, Self::Device, Self::DeviceOrdinary];

    /// As [`RING_VARIABLE`] spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Device => "device",
            Self::DeviceOrdinary => "device-ordinary",
        }
    }

    /// What [`RING_VARIABLE`] says.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if it says anything else.
    pub(super) fn from_env() -> Result<Self> {
        let wanted = std::env::var_os(RING_VARIABLE).unwrap_or_default();
        if wanted.is_empty() {
            return Ok(Self::default());
        }
        let known = Self::ALL.into_iter().find(|rings| wanted == rings.name());
        known.ok_or_else(|| {
            let wanted = wanted.display();
            Error::NotInitialized(format!(
                "{RING_VARIABLE}={wanted}: expected system, device or device-ordinary"
            ))
        })
    }

    /// The same, as options of a queue.
    fn options(self) -> hsa::QueueOptions {
        let (ring, stores) = match self {
            Self::System => (hsa::RingMemory::System, hsa::RingStores::default()),
            Self::Device => (hsa::RingMemory::Device, hsa::RingStores::NonTemporal),
            Self::DeviceOrdinary => (hsa::RingMemory::Device, hsa::RingStores::Ordinary),
        };
        hsa::QueueOptions { ring, stores, ..hsa::QueueOptions::default() }
    }
}

/// Where the next queues of a device get their rings.
#[derive(Debug)]
pub(crate) struct Placement(AtomicU8);

impl Placement {
    pub(super) fn new(rings: Rings) -> Self {
        Self(AtomicU8::new(rings as u8))
    }

    pub(super) fn set(&self, rings: Rings) {
        self.0.store(rings as u8, Ordering::Relaxed);
    }

    fn get(&self) -> Rings {
        let wanted = self.0.load(Ordering::Relaxed);
        Rings::ALL.into_iter().find(|rings| *rings as u8 == wanted).unwrap_or_default()
    }

    /// Creates a queue with its ring where it is wanted, or in system memory if the runtime refuses.
    ///
    /// # Errors
    /// Those of `create` for system memory.
    pub(super) fn place<T>(
        &self,
        create: impl Fn(hsa::QueueOptions) -> std::result::Result<T, hsa::Error>,
    ) -> std::result::Result<T, hsa::Error> {
        let wanted = self.get();
        let refusal = match create(wanted.options()) {
            Err(refusal) if wanted != Rings::System => refusal,
            made => return made,
        };
        // If no queue can be created at all, the caller gets that error.
        let made = create(Rings::System.options())?;
        let for_good = match &refusal {
            hsa::Error::Unsupported { .. } => true,
            other => other.status() == Some(hsa_sys::HSA_STATUS_ERROR_INVALID_QUEUE_CREATION),
        };
        if for_good {
            self.set(Rings::System);
        }
        tracing::warn!("no ring in device memory ({refusal}): it is in system memory");
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use hsa_sys::*;

    use super::*;

    fn refusal(status: hsa_status_t) -> hsa::Error {
        hsa::Error::Call { function: "hsa_amd_queue_create", status }
    }

    /// Where rings were asked for, and what came of it, when the runtime answers so to those in device memory.
    fn place(
        placement: &Placement,
        answer: &hsa::Error,
    ) -> (Vec<hsa::RingMemory>, std::result::Result<hsa::RingMemory, hsa::Error>) {
        let asked = RefCell::new(Vec::new());
        let made = placement.place(|options| {
            asked.borrow_mut().push(options.ring);
            if options.ring == hsa::RingMemory::System { Ok(options.ring) } else { Err(answer.clone()) }
        });
        (asked.into_inner(), made)
    }

    #[test]
    fn a_runtime_that_cannot_is_asked_once_and_rings_are_in_system_memory() {
        use hsa::RingMemory::{Device, System};
        let answers = [
            hsa::Error::Unsupported { function: "hsa_amd_queue_create" },
            refusal(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION),
        ];
        for answer in answers {
            let placement = Placement::new(Rings::Device);
            assert_eq!(place(&placement, &answer), (vec![Device, System], Ok(System)));
            assert_eq!(place(&placement, &answer), (vec![System], Ok(System)));
        }
    }

    #[test]
    fn a_device_without_room_for_now_is_asked_again() {
        use hsa::RingMemory::{Device, System};
        let placement = Placement::new(Rings::DeviceOrdinary);
        for _ in 0..2 {
            let answer = refusal(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            assert_eq!(place(&placement, &answer), (vec![Device, System], Ok(System)));
        }
    }

    #[test]
    fn the_error_is_that_of_system_memory_if_no_queue_can_be_created() {
        let none = refusal(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        let placement = Placement::new(Rings::Device);
        assert_eq!(placement.place(|_| Err::<(), _>(none.clone())), Err(none));
    }
}
