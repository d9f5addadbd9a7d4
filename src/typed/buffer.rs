//! Device memory and pinned host memory with an element type.

use std::{fmt, marker::PhantomData, ops::Range, sync::Arc};

use super::{Alive, access::Touch};
use crate::{
    device::Device,
    error::{Error, Result},
    graph::Memcpy,
    memory::{self, Origin},
    stream::Stream,
};

/// A type whose values are any bits, so that memory a device wrote can be read as it.
///
/// # Safety
/// Every bit pattern is a value, and no byte is padding.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($ty:ty)*) => { $(
        // SAFETY: a number has no padding and no invalid bits.
        unsafe impl Plain for $ty {}
    )* };
}
plain! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

/// A range of device memory, whatever owns it.
pub struct DeviceSlice<T> {
    address: u64,
    len: usize,
    _elements: PhantomData<fn() -> T>,
}

impl<T: Plain> DeviceSlice<T> {
    pub(crate) fn new(address: u64, len: usize) -> Self {
        Self { address, len, _elements: PhantomData }
    }

    /// The device's address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The elements of `range`, or nothing if it leaves the slice.
    pub fn get(&self, range: Range<usize>) -> Option<Self> {
        let inside = range.start <= range.end && range.end <= self.len;
        let start = self.address + (range.start.min(self.len) * size_of::<T>()) as u64;
        inside.then(|| Self::new(start, range.end - range.start))
    }

    pub(super) fn touch(&self) -> Touch {
        Touch::writing(self.address, self.bytes())
    }
}

impl<T> Clone for DeviceSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<T> {}

impl<T> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSlice({:#x}, {} elements)", self.address, self.len)
    }
}

/// Frees its allocation when the last user lets go.
#[derive(Debug)]
pub(super) struct Owned {
    address: u64,
    free: fn(u64) -> Result<Device>,
}

impl Owned {
    /// Allocates device memory.
    pub(super) fn on_device(device: &Device, bytes: usize) -> Result<Arc<Self>> {
        let address = memory::allocate(device, bytes)?.address;
        Ok(Arc::new(Self { address, free: memory::give_back }))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Err(error) = (self.free)(self.address) {
            tracing::warn!("freeing {:#x}: {error}", self.address);
        }
    }
}

/// Bytes of `len` elements.
fn size<T>(len: usize) -> Result<usize> {
    len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory { bytes: usize::MAX })
}

/// Device memory for `len` elements; clones share it.
#[derive(Clone)]
pub struct DeviceBuffer<T> {
    slice: DeviceSlice<T>,
    owner: Arc<Owned>,
}

impl<T: Plain> DeviceBuffer<T> {
    /// Allocates memory whose contents are undefined.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        Ok(Self::of(Owned::on_device(device, size::<T>(len)?)?, len))
    }

    /// The first `len` elements of an allocation.
    pub(super) fn of(owner: Arc<Owned>, len: usize) -> Self {
        Self { slice: DeviceSlice::new(owner.address, len), owner }
    }

    /// The range of memory.
    pub fn slice(&self) -> DeviceSlice<T> {
        self.slice
    }

    /// Copies the elements to the host, behind everything on `stream`.
    ///
    /// # Errors
    /// The fault of earlier work; what capture forbids; [`Error::OutOfMemory`].
    pub fn read(&self, stream: &Stream) -> Result<Vec<T>> {
        let mut out: Vec<T> = Vec::new();
        // A device may have more memory than the host.
        // CAST: of memory that exists.
        let bytes = self.slice.bytes() as usize;
        out.try_reserve_exact(self.slice.len).map_err(|_| Error::OutOfMemory { bytes })?;
        let copy = Memcpy::linear(out.as_mut_ptr() as u64, self.slice.address, self.slice.bytes());
        if stream.is_capturing() {
            return Err(Error::IllegalState("reading to the host is not captured: copy to a host buffer"));
        }
        // SAFETY: the vector has room for the bytes copied and outlives the wait.
        unsafe { stream.memcpy_and_wait(copy) }?;
        // SAFETY: all elements have just been written, and any bits are values.
        unsafe { out.set_len(self.slice.len) };
        Ok(out)
    }

    /// Copies `values` from the host, behind everything on `stream`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless there is one value for each element; as [`DeviceBuffer::read`].
    pub fn write(&self, stream: &Stream, values: &[T]) -> Result<()> {
        if values.len() != self.slice.len {
            return Err(Error::InvalidValue("as many values as the buffer has elements"));
        }
        if stream.is_capturing() {
            return Err(Error::IllegalState(
                "writing from the host is not captured: copy from a host buffer",
            ));
        }
        let copy = Memcpy::linear(self.slice.address, values.as_ptr() as u64, self.slice.bytes());
        // SAFETY: the values are readable and outlive the wait.
        unsafe { stream.memcpy_and_wait(copy) }
    }

    pub(crate) fn alive(&self) -> Alive {
        self.owner.clone()
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slice.fmt(f)
    }
}

/// Pinned host memory that devices reach; clones share it.
///
/// A device may write it at any time, so no reference into it is ever given out: elements are copied.
#[derive(Clone)]
pub struct HostBuffer<T> {
    address: u64,
    len: usize,
    owner: Arc<Owned>,
    _elements: PhantomData<fn() -> T>,
}

impl<T: Plain> HostBuffer<T> {
    /// Allocates memory, filled with `value`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(device: &Device, len: usize, value: T) -> Result<Self> {
        let address = memory::allocate_host(device, size::<T>(len)?, Origin::Host, 0)?.address;
        let owner = Arc::new(Owned { address, free: memory::give_back_host });
        let buffer = Self { address, len, owner, _elements: PhantomData };
        buffer.fill(value);
        Ok(buffer)
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets every element to `value`.
    pub fn fill(&self, value: T) {
        let start = self.address as usize as *mut T;
        for i in 0..self.len {
            // SAFETY: inside the allocation, which is aligned for any number. Volatile: the device may look at it.
            unsafe { start.add(i).write_volatile(value) };
        }
    }

    /// Copies `values` into it.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for another number of them.
    pub fn write(&self, values: &[T]) -> Result<()> {
        if values.len() != self.len {
            return Err(Error::InvalidValue("as many values as the buffer has elements"));
        }
        let start = self.address as usize as *mut T;
        for (i, value) in values.iter().enumerate() {
            // SAFETY: as above.
            unsafe { start.add(i).write_volatile(*value) };
        }
        Ok(())
    }

    /// The elements as they are now; of those that work in flight writes, any bits.
    pub fn to_vec(&self) -> Vec<T> {
        let start = self.address as usize as *const T;
        // SAFETY: inside the allocation, and any bits are values. Volatile: the device may write it.
        (0..self.len).map(|i| unsafe { start.add(i).read_volatile() }).collect()
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    pub(super) fn touch(&self) -> Touch {
        Touch::writing(self.address, self.bytes())
    }

    pub(crate) fn alive(&self) -> Alive {
        self.owner.clone()
    }
}

impl<T> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({:#x}, {} elements)", self.address, self.len)
    }
}
