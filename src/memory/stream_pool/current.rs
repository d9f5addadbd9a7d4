//! The pools of one device.

use std::sync::{
    OnceLock, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::{Inner, PoolOptions, StreamPool, free_lists::Wanted, shared::Sharing};
use crate::{
    device::{Device, Fence},
    error::{Error, Result},
};

/// The pools whose memory lies on a device, and which of them an allocation without a pool takes.
#[derive(Default)]
pub(crate) struct Pools {
    default: OnceLock<StreamPool>,
    /// The default one unless a caller has chosen another.
    current: Mutex<Option<StreamPool>>,
    /// What tells the current one from others; 0 for the default one. Written with `current` locked.
    current_id: AtomicU64,
    all: Mutex<Vec<Weak<Inner>>>,
    /// Bytes of the device's memory that are theirs, or were and are still in use.
    pub(super) mapped: AtomicU64,
    /// Memory was freed that a synchronisation may give back to the device.
    freed: AtomicBool,
    /// Whether other processes can map the device's memory, once that was tried.
    pub(super) shares: OnceLock<bool>,
}

impl Pools {
    pub(super) fn register(&self, pool: &StreamPool) {
        let mut all = self.all.lock();
        all.retain(|pool| pool.strong_count() > 0);
        all.push(std::sync::Arc::downgrade(&pool.0));
    }

    pub(super) fn note_free(&self) {
        // Written only where it changes: all threads that free memory come by.
        if !self.freed.load(Ordering::Relaxed) {
            self.freed.store(true, Ordering::Release);
        }
    }

    /// What tells the current pool from others; nothing before there is one.
    pub(super) fn current_id(&self) -> Option<u64> {
        match self.current_id.load(Ordering::Relaxed) {
            0 => self.default.get().map(|pool| pool.0.id),
            id => Some(id),
        }
    }

    /// Gives back what pools retain beyond their thresholds, as far as it is unused: what a synchronisation does.
    pub(crate) fn release(&self) {
        if !self.freed.load(Ordering::Relaxed) || !self.freed.swap(false, Ordering::Acquire) {
            return;
        }
        for pool in self.live() {
            // What a pool without a holder retains is not used again.
            let keep = if pool.has_other_holders() { pool.release_threshold() } else { 0 };
            let all = pool.trim_some(keep);
            let over = pool.reserved().current > keep;
            if !all || over && pool.state().space.has_idle() {
                // Frees that are not over yet: the next synchronisation looks again.
                self.note_free();
            }
        }
    }

    /// Gives back all that pools retain, as far as it is unused.
    pub(crate) fn trim(&self) {
        self.live().iter().for_each(|pool| pool.trim(0));
    }

    /// The frees that memory of the pools waits for.
    pub(super) fn pending(&self) -> Vec<Fence> {
        let mut fences = Vec::new();
        for pool in self.live() {
            pool.0.gather(&Wanted::REALLY_ALL);
            fences.extend(pool.state().space.pending().map(|(free, _)| free.fence.clone()));
        }
        fences
    }

    /// Bytes that the pools have of the device, those included that a stream has yet to let go of.
    pub(crate) fn mapped_bytes(&self) -> u64 {
        self.mapped.load(Ordering::Relaxed)
    }

    fn live(&self) -> Vec<StreamPool> {
        self.all.lock().iter().filter_map(|pool| pool.upgrade().map(StreamPool::hold)).collect()
    }
}

impl Device {
    /// The pool that there always is.
    pub fn default_pool(&self) -> &StreamPool {
        self.context()
            .pools
            .default
            .get_or_init(|| StreamPool::make(self, PoolOptions::default(), Sharing::None))
    }

    /// The pool that stream-ordered allocations on the device's streams come from.
    pub fn pool(&self) -> StreamPool {
        self.context().pools.current.lock().clone().unwrap_or_else(|| self.default_pool().clone())
    }

    /// Sets the pool that stream-ordered allocations on the device's streams come from.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for memory of another device; [`Error::NotSupported`] for another process's pool.
    pub fn set_pool(&self, pool: &StreamPool) -> Result<()> {
        pool.check_allocates()?;
        if pool.device() != self {
            return Err(Error::InvalidValue("the pool's memory lies on another device"));
        }
        let chosen = (pool != self.default_pool()).then(|| pool.clone());
        let mut current = self.context().pools.current.lock();
        self.context().pools.current_id.store(chosen.as_ref().map_or(0, |pool| pool.0.id), Ordering::Relaxed);
        let before = std::mem::replace(&mut *current, chosen);
        drop(current);
        drop(before);
        Ok(())
    }

    /// Lets the default pool take the place of `pool`, if that was the current one: its maker lets go of it.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for the default pool, which stays.
    pub fn retire_pool(&self, pool: &StreamPool) -> Result<()> {
        if pool == self.default_pool() {
            return Err(Error::InvalidValue("the default memory pool of a device cannot be destroyed"));
        }
        let mut current = self.context().pools.current.lock();
        let retired = current.take_if(|current| current == pool);
        if retired.is_some() {
            self.context().pools.current_id.store(0, Ordering::Relaxed);
        }
        drop(current);
        drop(retired);
        Ok(())
    }
}
