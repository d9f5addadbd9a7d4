//! Copies on a stream: by kernel or by copy engine where the device reaches both ends, through pinning or staging where
//! not. The device's cost table says which.

use std::sync::Arc;

use super::{Node, Stream, StreamKind, host};
use crate::{
    callback,
    device::{Fence, fence::Keep, slabs::Block},
    error::{Error, Result},
    memory::{self, Ends, EngineCopy, Relay},
};
use aqlipse_graph::{Memcpy, RunCopy};

/// Staging memory for one step of a copy: while the device copies one, the host copies the next.
const STEP: usize = 512 * 1024;

impl Stream {
    /// Copies memory. Host memory that no device reaches is read before the call returns, and has been
    /// written when it returns; so has pinned memory that a run of bytes of pinned memory is copied to.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a null operand or a range that leaves its allocation,
    /// [`Error::InvalidMemcpyDirection`] if `kind` contradicts the operands; what capture forbids.
    ///
    /// # Safety
    /// Operands that lie in ordinary host memory must be valid for the bytes copied, until the call returns or,
    /// in a capture, whenever the graph runs.
    pub unsafe fn memcpy(&self, copy: Memcpy) -> Result<()> {
        let ends = memory::check_memcpy(self.device(), &copy)?;
        if self.is_capturing() {
            return self.record(Node::Memcpy(copy));
        }
        if copy.is_empty() {
            return Ok(());
        }
        if ends == Ends::Foreign {
            let pageable = memory::is_pageable(&copy)?;
            if pageable {
                callback::refuse_inside()?;
            }
            // SAFETY: the caller's promise; the call returns when ordinary host memory is done with.
            return unsafe { self.relay(Relay::Copy(copy), pageable) };
        }
        if !matches!(ends, Ends::Reachable | Ends::Pinned) {
            // Before anything is published: it would use pages that no call could wait to keep.
            callback::refuse_inside()?;
        }
        match ends {
            // HIP: such a copy is complete on return. A host function must not wait for the stream that waits for it.
            Ends::Pinned if matches!(copy, Memcpy::Linear { .. }) && !callback::is_inside() => {
                self.copy_and_wait(&copy)
            }
            Ends::Reachable | Ends::Pinned => self.copy_in_order(&copy, []),
            Ends::FromHost => {
                // SAFETY: the caller's promise.
                unsafe { self.copy_from_host(copy) }
            }
            Ends::ToHost => {
                // SAFETY: the caller's promise.
                unsafe { self.copy_to_host(copy) }
            }
            // Done above.
            Ends::Foreign => Ok(()),
            Ends::HostOnly => {
                self.wait_for_all()?;
                // SAFETY: the caller's promise; what the stream wrote there before has landed.
                unsafe { memory::host_copy(&copy) };
                Ok(())
            }
        }
    }

    /// Has a copy or a fill done by the host, in the stream's order, and `waits` for it or not.
    ///
    /// # Safety
    /// Operands in ordinary host memory stay valid until the stream has passed.
    pub(super) unsafe fn relay(&self, relay: Relay, waits: bool) -> Result<()> {
        let (faults, epoch) = (self.device().0.faults.clone(), self.device().0.faults.epoch());
        let stage = memory::Stage::new(self.device(), relay.stage_bytes().min(STEP))?;
        let work = move || {
            // SAFETY: the caller's promise.
            if let Err(error) = unsafe { relay.run(&stage) } {
                faults.record(error, epoch);
            }
        };
        self.start_worker()?;
        let mut submission = self.submission()?;
        if !waits {
            submission.run_on_host(|| work)?;
            return submission.finish();
        }
        let end = submission.armed_fence()?;
        submission.run_on_host(|| work)?;
        self.device().wait(&submission.ending(end)?, self.attributes().wait)
    }

    /// Copies runs of bytes, in no order among each other; what they read and write must not overlap. As
    /// [`Stream::memcpy`] for host memory that no device reaches.
    ///
    /// # Errors
    /// As [`Stream::memcpy`], before anything is copied.
    ///
    /// # Safety
    /// As [`Stream::memcpy`].
    pub unsafe fn memcpy_batch(&self, copies: &[RunCopy]) -> Result<()> {
        if self.is_capturing() {
            copies.iter().try_for_each(|run| memory::check_copy(&run.copy()))?;
            return self.record(Node::MemcpyBatch(copies.into()));
        }
        if let Some(reached) = memory::batch::reached(self.device(), copies)? {
            if reached.is_empty() {
                return Ok(());
            }
            let dispatch = self.device().blit()?.copy_batch(&reached);
            let mut submission = self.submission()?;
            submission.dispatch(&dispatch)?;
            return submission.finish();
        }
        // SAFETY: the caller's promise.
        copies.iter().try_for_each(|run| unsafe { self.memcpy(run.copy()) })
    }

    /// Copies memory and waits for it.
    ///
    /// # Errors
    /// As [`Stream::memcpy`], the fault of earlier work, and on the default stream
    /// [`CaptureError::Implicit`](crate::CaptureError::Implicit) while a stream captures.
    ///
    /// # Safety
    /// As [`Stream::memcpy`].
    pub unsafe fn memcpy_and_wait(&self, copy: Memcpy) -> Result<()> {
        if self.kind() == StreamKind::Legacy {
            super::rules::check_default_stream(self.device(), "copying and waiting for the copy")?;
        }
        // SAFETY: the caller's promise.
        unsafe { self.memcpy(copy) }?;
        self.complete()
    }

    fn copy_in_order(&self, copy: &Memcpy, keeps: impl IntoIterator<Item = Keep>) -> Result<()> {
        if let Some(dispatch) = self.device().blit()?.memcpy(&memory::device_addresses(copy))? {
            let engine = self.engine_copy(copy)?;
            let mut submission = self.submission()?;
            submission.copy_bytes(engine.as_ref(), &dispatch)?;
            keeps.into_iter().for_each(|keep| submission.keep(keep));
            submission.finish()?;
        }
        Ok(())
    }

    /// As [`Stream::copy_in_order`], and waits. Operands may be the caller's again when it returns, whatever it says.
    fn copy_and_wait(&self, copy: &Memcpy) -> Result<()> {
        let end = self.copy_and_fence(copy, [])?;
        end.map_or(Ok(()), |end| self.device().wait(&end, self.attributes().wait))
    }

    /// As [`Stream::copy_in_order`], and says when the copy is over; nothing if there is nothing to copy. What there is to
    /// wait for is there before the copy is published.
    fn copy_and_fence(&self, copy: &Memcpy, keeps: impl IntoIterator<Item = Keep>) -> Result<Option<Fence>> {
        let Some(dispatch) = self.device().blit()?.memcpy(&memory::device_addresses(copy))? else {
            return Ok(None);
        };
        let engine = self.engine_copy(copy)?;
        let mut submission = self.submission()?;
        let end = submission.armed_fence()?;
        submission.copy_bytes(engine.as_ref(), &dispatch)?;
        keeps.into_iter().for_each(|keep| submission.keep(keep));
        submission.ending(end).map(Some)
    }

    /// The copy as a copy engine does it, if that is the better way.
    fn engine_copy(&self, copy: &Memcpy) -> Result<Option<EngineCopy>> {
        match copy {
            Memcpy::Linear { bytes, .. } if self.device().costs()?.prefers_engine_on_stream(*bytes) => {
                EngineCopy::of(self.device(), copy)
            }
            _ => Ok(None),
        }
    }

    /// Whether a copy of pageable memory goes through staging memory: pinning its pages costs more.
    fn is_staged(&self, copy: &Memcpy) -> Result<bool> {
        let most = u64::from(self.device().costs()?.staged_bytes);
        Ok(matches!(copy, Memcpy::Linear { bytes, .. } if *bytes <= most))
    }

    /// # Safety
    /// The source is readable host memory.
    unsafe fn copy_from_host(&self, copy: Memcpy) -> Result<()> {
        let pages = if self.is_staged(&copy)? { None } else { copy.source_span() };
        // SAFETY: the caller's promise; the pages are let go before the call returns.
        if let Some(pinned) = unsafe { self.pin(pages) } {
            return self.copy_and_wait(&copy.with_source(pinned.agent_address()));
        }
        let Memcpy::Linear { dst, src, bytes, kind } = copy else {
            return Err(Error::NotSupported("copying a box from host memory that cannot be pinned"));
        };
        self.wait_for_host_functions()?;
        for at in (0..bytes).step_by(STEP) {
            let len = (bytes - at).min(STEP as u64);
            let block = self.stage(len as usize)?;
            // SAFETY: the caller's promise.
            block.write(0, unsafe { memory::host_bytes(src + at, len) });
            let step = Memcpy::Linear { dst: dst + at, src: block.address(), bytes: len, kind };
            self.copy_in_order(&step, [Keep::Block(block)])?;
        }
        Ok(())
    }

    /// # Safety
    /// The destination is writable host memory.
    unsafe fn copy_to_host(&self, copy: Memcpy) -> Result<()> {
        let pages = if self.is_staged(&copy)? { None } else { copy.destination_span() };
        // SAFETY: the caller's promise; the pages are let go before the call returns.
        if let Some(pinned) = unsafe { self.pin(pages) } {
            return self.copy_and_wait(&copy.with_destination(pinned.agent_address()));
        }
        let Memcpy::Linear { dst, src, bytes, kind } = copy else {
            return Err(Error::NotSupported("copying a box to host memory that cannot be pinned"));
        };
        // The step that the device copies while the host copies the one before.
        let mut under_way: Option<Staged> = None;
        for at in (0..bytes).step_by(STEP) {
            let len = (bytes - at).min(STEP as u64);
            let block = Arc::new(self.stage(len as usize)?);
            let step = Memcpy::Linear { dst: block.address(), src: src + at, bytes: len, kind };
            // The device writes there until the fence has fired, whatever becomes of this call.
            let end = self.copy_and_fence(&step, [Keep::Other(block.clone())])?;
            let before = under_way.replace(Staged { block, end, dst: dst + at, len });
            if let Some(before) = before {
                // SAFETY: the caller's promise.
                unsafe { before.take(self) }?;
            }
        }
        // SAFETY: the caller's promise.
        under_way.map_or(Ok(()), |last| unsafe { last.take(self) })
    }

    /// Waits for the stream if a host function is under way anywhere: it may be about to write what the next copy
    /// reads on the host, and the copy's place is behind it.
    fn wait_for_host_functions(&self) -> Result<()> {
        if host::any_outstanding() { self.wait_for_all() } else { Ok(()) }
    }

    /// Staging memory. Where there is no more, that of the copies before this one is waited for.
    fn stage(&self, bytes: usize) -> Result<Block> {
        let staging = &self.device().0.staging;
        staging.take(bytes).or_else(|_| {
            self.wait_for_all()?;
            staging.take(bytes)
        })
    }

    /// Pins the pages of one end of a copy; read-only mappings and pages beyond a limit refuse.
    ///
    /// # Safety
    /// The range stays mapped until the result is dropped.
    unsafe fn pin(&self, span: Option<(u64, u64)>) -> Option<hsa::Pinned> {
        let (address, bytes) = span?;
        // SAFETY: the caller's promise.
        let pinned = unsafe { memory::pin(self.device(), address, bytes) };
        pinned.inspect_err(|e| tracing::debug!("pinning {bytes} bytes at {address:#x}: {e}")).ok()
    }
}

/// A step of a copy to the host that lies in staging memory when `end` has fired.
struct Staged {
    block: Arc<Block>,
    end: Option<Fence>,
    dst: u64,
    len: u64,
}

impl Staged {
    /// Copies it to where it belongs.
    ///
    /// # Safety
    /// The destination is writable host memory.
    unsafe fn take(self, stream: &Stream) -> Result<()> {
        let Self { block, end, dst, len } = self;
        if let Some(end) = end {
            stream.device().wait(&end, stream.attributes().wait)?;
        }
        // SAFETY: the caller's promise.
        block.read(unsafe { memory::host_bytes_mut(dst, len) });
        Ok(())
    }
}
