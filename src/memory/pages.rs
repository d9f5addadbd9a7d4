//! Pages of the process's own that all devices reach: managed memory where the driver moves it.

use memmap2::{MmapMut, UncheckedAdvice};

use crate::{
    device::System,
    error::{Error, Result},
    memory_report,
};
use hsa::{Agent, Attribute, SharedMemory};

/// Bytes of a page.
const PAGE: usize = 4096;
/// The driver moves so many bytes at once; a range that is as large begins at a multiple of them.
const BLOCK: usize = 2 << 20;

/// Pages, mapped and shared with the devices until they are dropped.
pub(crate) struct Pages {
    mapping: MmapMut,
    /// Bytes of the mapping before the first page.
    before: usize,
    bytes: usize,
    shared: SharedMemory,
}

impl Pages {
    /// At least `bytes` bytes of zeros that take no memory until they are touched.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn new(system: &System, shared: &SharedMemory, bytes: usize) -> Result<Self> {
        let short = || memory_report::short(bytes);
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE).ok_or_else(short)?;
        let alignment = if bytes >= BLOCK { BLOCK } else { PAGE };
        let size = bytes.checked_add(alignment - PAGE).ok_or_else(short)?;
        if hsa::fault_injection::refuses() {
            return Err(short());
        }
        let mapping = MmapMut::map_anon(size).map_err(|_| short())?;
        let before = mapping.as_ptr().addr().next_multiple_of(alignment) - mapping.as_ptr().addr();
        let pages = Self { mapping, before, bytes, shared: shared.clone() };
        let gpus = system.gpu_agents();
        let everyone = gpus.iter().map(Attribute::Accessible);
        let attributes: Vec<_> = everyone.chain([Attribute::FineGrained(true)]).collect();
        shared.set(pages.address(), bytes, &attributes).map_err(|_| short())?;
        Ok(pages)
    }

    /// First byte.
    pub(super) fn address(&self) -> u64 {
        self.mapping.as_ptr().expose_provenance() as u64 + self.before as u64
    }

    /// Says something about the pages of some bytes.
    ///
    /// # Errors
    /// [`Error::Hsa`].
    pub(super) fn say(&self, start: u64, bytes: u64, what: Attribute<'_>) -> Result<()> {
        // CAST: within the mapping, which the caller has checked.
        Ok(self.shared.set(self.address() + start, bytes as usize, &[what])?)
    }

    /// The driver's functions for them.
    pub(crate) fn shared(&self) -> &SharedMemory {
        &self.shared
    }

    /// Gives up the memory of whole pages between two bytes, wherever it lies: they hold zeros then. What shares a page with
    /// other bytes keeps what it holds.
    ///
    /// # Safety
    /// No reference to the bytes exists.
    pub(super) unsafe fn discard(&self, start: u64, end: u64) {
        let (start, end) = ((start as usize).next_multiple_of(PAGE), end as usize / PAGE * PAGE);
        if start >= end {
            return;
        }
        // SAFETY: the caller's promise.
        let given_up = unsafe {
            self.mapping.unchecked_advise_range(UncheckedAdvice::DontNeed, self.before + start, end - start)
        };
        // What is kept is as good.
        if let Err(error) = given_up {
            tracing::debug!("discarding {} bytes: {error}", end - start);
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Devices let go of the pages before they go, and whatever is mapped at their address next inherits nothing.
        let gpus = System::get().map(System::gpu_agents).unwrap_or_default();
        let access = |gpu| match self.shared.is_accessible_by_default() {
            true => Attribute::Accessible(gpu),
            false => Attribute::NoAccess(gpu),
        };
        let rest =
            [Attribute::FineGrained(true), Attribute::ReadMostly(false), Attribute::PreferredLocation(None)];
        let attributes: Vec<_> = gpus.iter().map(access).chain(rest).collect();
        if let Err(error) = self.shared.set(self.address(), self.bytes, &attributes) {
            tracing::debug!("{} pages keep their attributes: {error}", self.bytes / PAGE);
        }
    }
}

/// The agent of a processor, if the machine has it.
pub(crate) fn agent(system: &System, processor: super::Processor) -> Result<Agent> {
    match processor {
        super::Processor::Host => Ok(system.host_agent().clone()),
        super::Processor::Device(ordinal) => {
            let device = system.devices().get(ordinal);
            device.map(|device| device.0.agent.clone()).ok_or(Error::InvalidDevice(ordinal as i64))
        }
    }
}
