//! Copies and fills of memory that the device of their stream may not access: the host has them done, by devices that may.

use std::sync::{Arc, atomic::Ordering};

use hsa::Access;

use super::{Place, host_bytes, host_bytes_mut, rows, virtual_memory};
use crate::{
    device::{Device, System, fence::PooledSignal, slabs::Block},
    error::{Error, Result},
};
use aqlipse_graph::{Memcpy, Memset, RunCopy};

/// A copy or a fill of memory that the device of its stream may not access.
#[derive(Clone, Debug)]
pub(crate) enum Relay {
    Copy(Memcpy),
    Fill(Memset),
    /// Copies in no order.
    Batch(Box<[RunCopy]>),
}

impl Relay {
    /// Bytes of the most that it copies in one run: more of a stage is of no use.
    pub(crate) fn stage_bytes(&self) -> usize {
        let most = match self {
            Self::Copy(Memcpy::Linear { bytes, .. }) => *bytes,
            Self::Copy(Memcpy::Box(copy)) => copy.extent[0],
            Self::Batch(copies) => copies.iter().map(|run| run.bytes).max().unwrap_or(0),
            Self::Fill(set) => set.width * u64::from(set.element_size),
        };
        // CAST: a 64-bit process.
        most as usize
    }

    /// Does it through `stage`, and returns when it is done.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for memory that no device may access any more; what the HSA runtime refuses; the fault that
    /// took a device.
    ///
    /// # Safety
    /// Operands in ordinary host memory are valid for the bytes copied.
    pub(crate) unsafe fn run(&self, stage: &Stage) -> Result<()> {
        // SAFETY: the caller's promise.
        let copy = |run: RunCopy| unsafe { copy(stage, run) };
        match self {
            Self::Copy(all) => rows(all)?.try_for_each(copy),
            Self::Batch(copies) => copies.iter().copied().try_for_each(copy),
            // SAFETY: the caller's promise.
            Self::Fill(set) => unsafe { fill(stage, set) },
        }
    }
}

/// Memory of the host that every device may access, and what it takes to have devices copy to and from it, one after the
/// other.
pub(crate) struct Stage {
    memory: Block,
    copied: Arc<PooledSignal>,
}

impl Stage {
    /// A stage of at least `bytes` bytes, near to `device`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self> {
        let memory = device.0.staging.take(bytes)?;
        Ok(Self { memory, copied: device.0.signals.take(0, device.0.faults.epoch())? })
    }

    pub(crate) fn address(&self) -> u64 {
        self.memory.address()
    }

    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }

    /// Has a device copy between two ranges that it may access, of which one is in the stage; waits until it has.
    ///
    /// `hsa_memory_copy` would look for agents itself, and takes mapped memory for the host's (ROCr's runtime 1.18).
    ///
    /// # Errors
    /// What the HSA runtime refuses; what took the device, if it is lost.
    ///
    /// # Safety
    /// Both ranges exist, and no other copy uses the stage.
    unsafe fn copy_by(&self, device: &Device, dst: u64, src: u64, bytes: u64) -> Result<()> {
        device.refuse_if_lost()?;
        let (runtime, agent) = (device.0.system.runtime(), &device.0.agent);
        self.copied.arm();
        let copied = self.copied.for_engine();
        // Between an agent and itself no engine copies, in which the copy could come behind one that a fault has left there.
        // SAFETY: the caller's promise; the signal is the stage's alone.
        // CAST: a 64-bit process.
        let submitted =
            unsafe { runtime.copy_async((dst, agent), (src, agent), bytes as usize, &[], copied) };
        if let Err(error) = submitted {
            copied.silent_store(0, Ordering::Relaxed);
            return Err(error.into());
        }
        self.copied.wait_unless_lost(device)
    }
}

/// Copies a run of bytes, as many at once as the stage has.
///
/// # Safety
/// As [`Relay::run`].
unsafe fn copy(stage: &Stage, run: RunCopy) -> Result<()> {
    let RunCopy { dst, src, bytes } = run;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (End::find(dst, bytes, Access::ReadWrite)?, End::find(src, bytes, Access::Read)?);
    for at in (0..bytes).step_by(stage.len()) {
        let len = (bytes - at).min(stage.len() as u64);
        // SAFETY: the caller's promise.
        unsafe {
            from.read(src + at, stage, len)?;
            to.write(dst + at, stage, len)?;
        }
    }
    Ok(())
}

/// Fills rows, of each as many bytes at once as the stage has.
///
/// # Safety
/// As [`Relay::run`].
unsafe fn fill(stage: &Stage, set: &Memset) -> Result<()> {
    let element = &set.value.to_le_bytes()[..set.element_size as usize];
    let row = set.width * u64::from(set.element_size);
    // Whole elements: they are of 1, 2, 4 or 8 bytes, and a stage of whole cache lines.
    stage.memory.write(0, &element.repeat(stage.len().min(row as usize) / element.len()));
    for y in 0..set.height {
        let dst = set.dst + y * set.pitch;
        let to = End::find(dst, row, Access::ReadWrite)?;
        for at in (0..row).step_by(stage.len()) {
            // SAFETY: the caller's promise.
            unsafe { to.write(dst + at, stage, (row - at).min(stage.len() as u64))? };
        }
    }
    Ok(())
}

/// What reaches an end of a copy.
enum End {
    Host,
    Device(Device),
}

impl End {
    /// What reaches a range; the device whose memory it is before others.
    fn find(address: u64, bytes: u64, wanted: Access) -> Result<Self> {
        let region = match System::get()?.memory().place(address, bytes)? {
            Place::Region(region) if region.origin.is_device() => region,
            _ => return Ok(Self::Host),
        };
        let reaches = |device: &&Device| virtual_memory::access_of(device, &region) >= wanted;
        let (devices, owner) = (Device::all()?, Device::get(region.device)?);
        let found = std::iter::once(&owner).chain(devices).find(reaches);
        found.cloned().map(Self::Device).ok_or(Error::InvalidValue("no device may access the memory"))
    }

    /// Brings bytes into the stage.
    ///
    /// # Safety
    /// Host memory is readable.
    unsafe fn read(&self, address: u64, stage: &Stage, bytes: u64) -> Result<()> {
        match self {
            // SAFETY: the range was looked up.
            Self::Device(device) => unsafe { stage.copy_by(device, stage.address(), address, bytes) },
            Self::Host => {
                // SAFETY: the caller's promise.
                stage.memory.write(0, unsafe { host_bytes(address, bytes) });
                Ok(())
            }
        }
    }

    /// Brings bytes out of the stage.
    ///
    /// # Safety
    /// Host memory is writable.
    unsafe fn write(&self, address: u64, stage: &Stage, bytes: u64) -> Result<()> {
        match self {
            // SAFETY: the range was looked up.
            Self::Device(device) => unsafe { stage.copy_by(device, address, stage.address(), bytes) },
            Self::Host => {
                // SAFETY: the caller's promise.
                stage.memory.read(unsafe { host_bytes_mut(address, bytes) });
                Ok(())
            }
        }
    }
}
