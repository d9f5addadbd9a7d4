//! Host memory that a copy node names: within the device's reach while the copy runs, or copied by the host.

use std::{ffi::c_void, io};

use super::unit::Pin;
use crate::{
    device::{Device, slabs::Block},
    error::{Error, Result},
    graph::RunCopy,
    memory::{self, Stage},
};

/// Bytes that the host has copied at once, where a device does not do it alone: what a launch has ready.
pub(super) const STAGE_BYTES: usize = 256 << 10;

/// Host memory that the device can reach while a copy runs.
pub(super) enum PinnedPages {
    Pinned(hsa::Pinned),
    /// A copy of pages that refuse to be pinned, such as a read-only mapping.
    Staged(Block),
}

impl PinnedPages {
    /// Brings the pages within the device's reach; `None` if there is no memory for that, and the host has copied them
    /// through `stage`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] without a stage; what pinning is refused for.
    pub(super) fn reach(device: &Device, pin: &Pin, stage: Option<&Stage>) -> Result<Option<Self>> {
        match (Self::new(device, pin), stage) {
            (Err(Error::OutOfMemory { .. }), Some(stage)) => copy_through(device, pin, stage).map(|()| None),
            (pages, _) => pages.map(Some),
        }
    }

    fn new(device: &Device, pin: &Pin) -> Result<Self> {
        // SAFETY: the caller that gave the node's parameters promised that its host operands are valid whenever the graph
        // runs.
        match unsafe { memory::pin(device, pin.address, pin.bytes) } {
            Ok(pinned) => Ok(Self::Pinned(pinned)),
            Err(_) if pin.reads => {
                let block = device.0.staging.take(pin.bytes as usize)?;
                match fill(&block, pin) {
                    // Where processes may not call for that.
                    Err(Error::OutOfMemory { .. }) => {
                        // SAFETY: the caller that gave the node's parameters promised that its source is readable
                        // whenever the graph runs.
                        block.write(0, unsafe { memory::host_bytes(pin.address, pin.bytes) });
                    }
                    filled => filled?,
                }
                Ok(Self::Staged(block))
            }
            Err(e) => Err(e),
        }
    }

    pub(super) fn address(&self) -> u64 {
        match self {
            Self::Pinned(pages) => pages.agent_address(),
            Self::Staged(block) => block.address(),
        }
    }
}

/// Copies the pages into a block. Those that refuse to be pinned may be gone, which the operating system finds out.
///
/// # Errors
/// As [`transfer`].
fn fill(block: &Block, pin: &Pin) -> Result<()> {
    /// Bytes that one call moves at most: 2 GiB and more it would move in part.
    const PIECE: u64 = 1 << 30;
    for done in (0..pin.bytes).step_by(PIECE as usize) {
        // CAST: at most a piece.
        let piece = (pin.bytes - done).min(PIECE) as usize;
        transfer(block.address() + done, pin.address + done, piece, Way::In)?;
    }
    Ok(())
}

/// Does the copy on the host, piece by piece: it takes no more memory than the stage.
fn copy_through(device: &Device, pin: &Pin, stage: &Stage) -> Result<()> {
    let runtime = device.0.system.runtime();
    tracing::debug!("{} bytes of pageable memory are copied by the host: they cannot be pinned", pin.bytes);
    for RunCopy { dst, src, bytes } in memory::rows(&pin.copy)? {
        for done in (0..bytes).step_by(stage.len()) {
            // CAST: no more than the stage has.
            let piece = (bytes - done).min(stage.len() as u64) as usize;
            let (dst, src) = (dst + done, src + done);
            if pin.reads {
                transfer(stage.address(), src, piece, Way::In)?;
                // SAFETY: the stage has so many bytes; the other end was checked when the node was made, and what comes
                // before the copy in the graph has completed.
                unsafe { runtime.copy(dst, stage.address(), piece) }?;
            } else {
                // SAFETY: as above.
                unsafe { runtime.copy(stage.address(), src, piece) }?;
                transfer(stage.address(), dst, piece, Way::Out)?;
            }
        }
    }
    Ok(())
}

/// Which way bytes are moved: into memory of the runtime's, or out of it.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

/// Moves `bytes` bytes between memory of the runtime's, at `here`, and the program's. ROCr also says that there is no memory if pages are not
/// there or may not be written: so it is the operating system that moves them, and finds out.
///
/// # Errors
/// [`Error::InvalidValue`] for such pages; [`Error::OutOfMemory`] where processes may not call for this.
fn transfer(here: u64, address: u64, bytes: usize, way: Way) -> Result<()> {
    let local = libc::iovec { iov_base: here as usize as *mut c_void, iov_len: bytes };
    let remote = libc::iovec { iov_base: address as usize as *mut c_void, iov_len: bytes };
    // SAFETY: the call has no preconditions.
    let this = unsafe { libc::getpid() };
    let moved = match way {
        // SAFETY: what is here has so many bytes, which no other step uses. The system finds out about the other end, and the
        // caller that gave the node's parameters promised that it is the copy's whenever the graph runs.
        Way::In => unsafe { libc::process_vm_readv(this, &local, 1, &remote, 1, 0) },
        // SAFETY: as above.
        Way::Out => unsafe { libc::process_vm_writev(this, &local, 1, &remote, 1, 0) },
    };
    match usize::try_from(moved) {
        Ok(moved) if moved == bytes => Ok(()),
        Err(_) if io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT) => {
            Err(Error::OutOfMemory { bytes })
        }
        _ => Err(Error::InvalidValue("not memory that the copy may use")),
    }
}
