//! Memory that repeated work gets again, in the order in which it asks.

use std::{collections::HashMap, sync::Arc};

use super::{DeviceBuffer, Plain, buffer::Owned};
use crate::{
    device::Device,
    error::{Error, Result},
};

/// Device memory that is kept between the runs of some work, so that a capture of it allocates nothing.
///
/// Work asks for its temporary buffers in an [`AllocationCache::scope`]. The first run allocates them; when its scope
/// ends they stay, and the next run gets the same memory in the same order, so that a graph that was captured in
/// one run and launched later uses what the cache still has.
///
/// A buffer of an earlier run that is still held shares its memory with the next. That is what makes graphs of one
/// cache cheap, and it is right as long as they run one after the other, on one stream say; work that overlaps
/// wants caches of its own. Graphs keep the memory that they use, whatever becomes of the cache.
///
/// ```
/// use aqlipse::{Device, typed::AllocationCache};
///
/// let device = Device::get(0)?;
/// let mut cache = AllocationCache::new(&device);
/// let first = cache.scope().buffer::<f32>(1000)?.slice().address();
/// let again = cache.scope().buffer::<f32>(1000)?.slice().address();
/// assert_eq!((first, cache.bytes()), (again, 4000));
/// # Ok::<(), aqlipse::Error>(())
/// ```
#[derive(Debug)]
pub struct AllocationCache {
    device: Device,
    /// By size in bytes; what is asked for first is last.
    free: HashMap<usize, Vec<Arc<Owned>>>,
    bytes: usize,
}

/// One run of the work of an [`AllocationCache`].
#[derive(Debug)]
pub struct CacheScope<'c> {
    cache: &'c mut AllocationCache,
    /// What was asked for, in order.
    taken: Vec<(usize, Arc<Owned>)>,
}

impl AllocationCache {
    /// A cache without memory.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), free: HashMap::new(), bytes: 0 }
    }

    /// Begins a run; it ends when the answer is dropped.
    pub fn scope(&mut self) -> CacheScope<'_> {
        CacheScope { cache: self, taken: Vec::new() }
    }

    /// Bytes that the cache holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Lets go of everything. What graphs or buffers of earlier runs use stays until they are gone.
    pub fn clear(&mut self) {
        self.free.clear();
        self.bytes = 0;
    }
}

impl CacheScope<'_> {
    /// Device memory for `len` elements, whose contents are undefined.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; what capture forbids, if the cache has no memory of that size left.
    pub fn buffer<T: Plain>(&mut self, len: usize) -> Result<DeviceBuffer<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory { bytes: usize::MAX })?;
        let kept = self.cache.free.get_mut(&bytes).and_then(Vec::pop);
        let owner = match kept {
            Some(owner) => owner,
            None => {
                let owner = Owned::on_device(&self.cache.device, bytes)?;
                self.cache.bytes += bytes;
                owner
            }
        };
        self.taken.push((bytes, owner.clone()));
        Ok(DeviceBuffer::of(owner, len))
    }
}

impl Drop for CacheScope<'_> {
    fn drop(&mut self) {
        for (bytes, owner) in self.taken.drain(..).rev() {
            self.cache.free.entry(bytes).or_default().push(owner);
        }
    }
}
