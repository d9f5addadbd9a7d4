//! Memory pools that several processes have a part in.

use std::{
    ffi::{c_int, c_uint, c_void},
    os::fd::IntoRawFd,
};

use aqlipse::memory::{self, PoolPointer, StreamPool};

use super::stream_ordered::{POOLS, pool};
use crate::{caller, current, descriptor, error::hipErrorInvalidValue, soname, types::*};

/// The 64 bytes that name an allocation, as four words beside the HSA runtime's eight halves.
fn named(data: hipMemPoolPtrExportData) -> PoolPointer {
    let (halves, _) = data.reserved.as_chunks::<4>();
    let (words, _) = data.reserved.as_chunks::<8>();
    let [.., allocated, offset, length, pool] =
        std::array::from_fn::<_, 8, _>(|n| u64::from_ne_bytes(words[n]));
    let words = std::array::from_fn(|n| u32::from_ne_bytes(halves[n]));
    PoolPointer { words, allocated, offset, bytes: length, pool }
}

fn data_of(pointer: &PoolPointer) -> hipMemPoolPtrExportData {
    let PoolPointer { words, allocated, offset, bytes, pool } = pointer;
    let rest = [*allocated, *offset, *bytes, *pool];
    let all = words
        .iter()
        .flat_map(|half| half.to_ne_bytes())
        .chain(rest.iter().flat_map(|word| word.to_ne_bytes()));
    let mut reserved = [0; 64];
    reserved.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
    hipMemPoolPtrExportData { reserved }
}

entry! {
    /// Stores a file descriptor by which another process imports a pool; the caller closes it.
    fn hipMemPoolExportToShareableHandle(
        shared: *mut c_void,
        handle: hipMemPool_t,
        kind: hipMemAllocationHandleType,
        flags: c_uint,
    ) -> hipError_t {
        let pool = pool(handle)?;
        if shared.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        descriptor::only(kind)?;
        let exported = pool.export()?;
        // SAFETY: the caller's pointer, which is not null and has room for a descriptor.
        unsafe { caller::write(shared.cast::<c_int>(), exported.into_raw_fd()) }
    }
}

entry! {
    /// Stores a handle for the pool behind a file descriptor, which is passed as a pointer's value and stays the
    /// caller's.
    fn hipMemPoolImportFromShareableHandle(
        handle: *mut hipMemPool_t,
        shared: *mut c_void,
        kind: hipMemAllocationHandleType,
        flags: c_uint,
    ) -> hipError_t {
        if handle.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        descriptor::only(kind)?;
        // SAFETY: what callers of the ABI pass.
        let shared = unsafe { descriptor::passed(shared, soname::major()) }?;
        let imported = StreamPool::import(&current::device()?, shared)?;
        let made = hipMemPool_t(POOLS.give(imported)?);
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, made) }
    }
}

entry! {
    /// Stores what names an allocation of a pool to the processes that have imported the pool.
    fn hipMemPoolExportPointer(data: *mut hipMemPoolPtrExportData, address: *mut c_void) -> hipError_t {
        if data.is_null() || address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let exported = memory::export_pointer(address as u64)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(data, data_of(&exported)) }
    }
}

entry! {
    /// Maps another process's allocation; `hipFree` and `hipFreeAsync` unmap it.
    fn hipMemPoolImportPointer(
        address: *mut *mut c_void,
        handle: hipMemPool_t,
        data: *mut hipMemPoolPtrExportData,
    ) -> hipError_t {
        let pool = pool(handle)?;
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer, null or readable.
        let data = unsafe { caller::read(data) }?;
        let start = pool.import_pointer(&named(data))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(address, start as usize as *mut c_void) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_allocation_fills_the_bytes_that_there_are() {
        let words = std::array::from_fn(|n| 0x0101_0101 * (n as u32 + 1));
        let pointer = PoolPointer { words, allocated: u64::MAX, offset: 1 << 63, bytes: 77, pool: 1 << 40 };
        assert_eq!(named(data_of(&pointer)), pointer);
    }
}
