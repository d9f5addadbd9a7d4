//! Memory and semaphores of other APIs, by file descriptor.

use std::{
    ffi::{c_int, c_uint, c_void},
    os::fd::{FromRawFd, OwnedFd},
};

use aqlipse::{
    external::{ExternalSemaphore, SemaphoreKind},
    memory::external::ExternalMemory,
};

use crate::{
    api::memory::mipmap,
    caller, current, descriptor,
    error::{hipError_t, hipErrorInvalidValue, hipErrorNotSupported, hipErrorOutOfMemory},
    handle::{Kind, Table},
    object,
    semaphores::{SEMAPHORES, semaphore},
    soname,
    types::*,
};

static MEMORIES: Table<ExternalMemory> = Table::new(Kind::ExternalMemory);

/// Closes a descriptor that was imported: it is the library's then, as with CUDA.
fn take_over(number: c_int) {
    // SAFETY: importing has succeeded, so it was open, and the caller gave it up with that.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}

entry! {
    /// Imports memory, and with it the file descriptor.
    fn hipImportExternalMemory(
        memory: *mut hipExternalMemory_t,
        description: *const hipExternalMemoryHandleDesc,
    ) -> hipError_t {
        if memory.is_null() || description.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // ABI: the structure was shorter before HIP 6: only the fields that it always had are read.
        // SAFETY: the caller's structure, which is not null.
        let (kind, handle, bytes, flags) = unsafe {
            (
                caller::read(&raw const (*description).r#type)?,
                caller::read((&raw const (*description).handle).cast::<c_int>())?,
                caller::read(&raw const (*description).size)?,
                caller::read(&raw const (*description).flags)?,
            )
        };
        match kind {
            hipExternalMemoryHandleTypeOpaqueFd => {}
            hipExternalMemoryHandleType(2..=8) => return Err(hipErrorNotSupported),
            _ => return Err(hipErrorInvalidValue),
        }
        if flags & !hipExternalMemoryDedicated != 0 {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let imported = ExternalMemory::import(descriptor::borrowed(handle)?, bytes)?;
        let found = MEMORIES.give(imported)?;
        take_over(handle);
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(memory, hipExternalMemory_t(found)) }
    }
}

entry! {
    /// Shows a range of imported memory to the devices; `hipFree` ends that.
    fn hipExternalMemoryGetMappedBuffer(
        address: *mut *mut c_void,
        memory: hipExternalMemory_t,
        description: *const hipExternalMemoryBufferDesc,
    ) -> hipError_t {
        if address.is_null() || description.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // ABI: as above.
        // SAFETY: the caller's structure, which is not null.
        let (offset, bytes, flags) = unsafe {
            (
                caller::read(&raw const (*description).offset)?,
                caller::read(&raw const (*description).size)?,
                caller::read(&raw const (*description).flags)?,
            )
        };
        let memory = MEMORIES.get(memory.0).ok_or(hipErrorInvalidValue)?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let start = memory.buffer(&current::device()?, offset, bytes)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(address, start as usize as *mut c_void) }
    }
}

entry! {
    /// Shows a part of imported memory as a mipmapped array, which `hipFreeMipmappedArray` ends. Its levels lie there as
    /// arrays of the library's own do: one behind the other, in rows without padding.
    fn hipExternalMemoryGetMappedMipmappedArray(
        array: *mut hipMipmappedArray_t,
        memory: hipExternalMemory_t,
        description: *const hipExternalMemoryMipmappedArrayDesc,
    ) -> hipError_t {
        if array.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's structure, null or readable.
        let description = unsafe { caller::read(description) }?;
        let memory = MEMORIES.get(memory.0).ok_or(hipErrorInvalidValue)?;
        let made = mipmap::in_memory(&memory, &description)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(array, made) }
    }
}

entry! {
    /// Lets go of imported memory; its buffers stay.
    fn hipDestroyExternalMemory(memory: hipExternalMemory_t) -> hipError_t {
        MEMORIES.remove(memory.0).map(drop).ok_or(hipErrorInvalidValue)
    }
}

entry! {
    /// Imports a semaphore, and with it the file descriptor.
    fn hipImportExternalSemaphore(
        semaphore: *mut hipExternalSemaphore_t,
        description: *const hipExternalSemaphoreHandleDesc,
    ) -> hipError_t {
        if semaphore.is_null() || description.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // ABI: as above.
        // SAFETY: the caller's structure, which is not null.
        let (kind, handle, flags) = unsafe {
            (
                caller::read(&raw const (*description).r#type)?,
                caller::read((&raw const (*description).handle).cast::<c_int>())?,
                caller::read(&raw const (*description).flags)?,
            )
        };
        let kind = match kind {
            hipExternalSemaphoreHandleTypeOpaqueFd => SemaphoreKind::Binary,
            hipExternalSemaphoreHandleTypeTimelineSemaphoreFd => SemaphoreKind::Timeline,
            hipExternalSemaphoreHandleType(2..=10) => return Err(hipErrorNotSupported),
            _ => return Err(hipErrorInvalidValue),
        };
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let imported = ExternalSemaphore::import(descriptor::borrowed(handle)?, kind)?;
        let found = SEMAPHORES.give(imported)?;
        take_over(handle);
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(semaphore, hipExternalSemaphore_t(found)) }
    }
}

entry! {
    /// Lets go of a semaphore; what is under way with it ends as it would.
    fn hipDestroyExternalSemaphore(semaphore: hipExternalSemaphore_t) -> hipError_t {
        SEMAPHORES.remove(semaphore.0).map(drop).ok_or(hipErrorInvalidValue)
    }
}

/// Where a caller's structure for a signal or a wait has its flags, and its size: before HIP 6 it lacked a word. The
/// value of a fence is its first word in both.
fn layout() -> (usize, usize) {
    if soname::major() <= 5 { (64, 136) } else { (72, 144) }
}

/// The semaphores of a call, each with its value.
///
/// # Errors
/// `hipErrorInvalidValue` for a null array, a handle that names none, or flags, which only other kinds have.
///
/// # Safety
/// Both arrays are null or have `count` elements, the second of the caller's layout.
pub unsafe fn steps(
    semaphores: *const hipExternalSemaphore_t,
    params: *const c_void,
    count: c_uint,
) -> Result<Vec<(ExternalSemaphore, u64)>, hipError_t> {
    if params.is_null() && count > 0 {
        return Err(hipErrorInvalidValue);
    }
    let (flags, size) = layout();
    // SAFETY: the caller's array.
    let handles = unsafe { caller::read_slice(semaphores, count as usize) }?;
    let mut steps = Vec::new();
    steps.try_reserve_exact(handles.len()).map_err(|_| hipErrorOutOfMemory)?;
    for (index, handle) in handles.into_iter().enumerate() {
        let element = params.wrapping_byte_add(index * size);
        // SAFETY: an element of the caller's array.
        let (value, flags) = unsafe {
            (
                caller::read(element.cast::<u64>())?,
                caller::read(element.wrapping_byte_add(flags).cast::<c_uint>())?,
            )
        };
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        steps.push((semaphore(handle)?, value));
    }
    Ok(steps)
}

entry! {
    /// Signals semaphores when a stream gets there.
    fn hipSignalExternalSemaphoresAsync(
        semaphores: *const hipExternalSemaphore_t,
        params: *const hipExternalSemaphoreSignalParams,
        count: c_uint,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arrays.
        let steps = unsafe { steps(semaphores, params.cast(), count) }?;
        Ok(object::stream(stream)?.signal_semaphores(steps)?)
    }
}

entry! {
    /// Holds a stream back until semaphores are signalled.
    fn hipWaitExternalSemaphoresAsync(
        semaphores: *const hipExternalSemaphore_t,
        params: *const hipExternalSemaphoreWaitParams,
        count: c_uint,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arrays.
        let steps = unsafe { steps(semaphores, params.cast(), count) }?;
        Ok(object::stream(stream)?.wait_semaphores(steps)?)
    }
}
