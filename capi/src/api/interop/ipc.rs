//! Memory and events of other processes.

use std::{
    ffi::{c_char, c_uint, c_void},
    process,
};

use aqlipse::{Event, external::EventHandle, memory::ipc};

use crate::{
    caller, current,
    error::{hipErrorInvalidConfiguration, hipErrorInvalidContext, hipErrorInvalidValue},
    object::EVENTS,
    soname,
    types::*,
};

/// First words of handles, so that what is none is told from one.
const MEMORY: u32 = u32::from_le_bytes(*b"aqMH");
const EVENT: u32 = u32::from_le_bytes(*b"aqEH");

/// A handle's 64 bytes from its words; what is left over is 0.
fn bytes_of(words: &[u32]) -> [c_char; 64] {
    let mut bytes = [0; 64];
    let flat = words.iter().flat_map(|word| word.to_ne_bytes());
    // CAST: bytes, whatever the signedness of C's char.
    bytes.iter_mut().zip(flat).for_each(|(place, byte)| *place = byte as c_char);
    bytes
}

fn words_of(bytes: [c_char; 64]) -> [u32; 16] {
    // CAST: as above.
    std::array::from_fn(|word| u32::from_ne_bytes(std::array::from_fn(|i| bytes[4 * word + i] as u8)))
}

fn halves(word: u64) -> [u32; 2] {
    // CAST: the low half; the other fits.
    [word as u32, (word >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Mark, process, device, bytes asked for, bytes of the HSA allocation, and the HSA handle.
fn memory_handle(handle: &ipc::MemoryHandle) -> hipIpcMemHandle_t {
    let head = [MEMORY, handle.process, handle.device];
    let words: Vec<u32> = head
        .into_iter()
        .chain(halves(handle.bytes))
        .chain(halves(handle.allocated))
        .chain(handle.words)
        .collect();
    hipIpcMemHandle_t { reserved: bytes_of(&words) }
}

fn named_memory(handle: hipIpcMemHandle_t) -> Option<ipc::MemoryHandle> {
    let [mark, process, device, b0, b1, a0, a1, words @ .., _] = words_of(handle.reserved);
    (mark == MEMORY).then(|| ipc::MemoryHandle {
        words,
        allocated: whole(a0, a1),
        bytes: whole(b0, b1),
        process,
        device,
    })
}

entry! {
    /// Stores a handle by which other processes open an allocation of device memory.
    fn hipIpcGetMemHandle(handle: *mut hipIpcMemHandle_t, address: *mut c_void) -> hipError_t {
        if handle.is_null() || address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let exported = ipc::export(address as u64)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, memory_handle(&exported)) }
    }
}

/// What flags must be: the only one that there is, 0 in the headers of releases up to 5.
fn lazy_peer_access() -> c_uint {
    if soname::major() <= 5 { 0 } else { hipIpcMemLazyEnablePeerAccess }
}

entry! {
    /// Maps another process's device memory.
    fn hipIpcOpenMemHandle(address: *mut *mut c_void, handle: hipIpcMemHandle_t, flags: c_uint) -> hipError_t {
        if address.is_null() || flags != lazy_peer_access() {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device()?;
        let named = named_memory(handle).ok_or(hipErrorInvalidValue)?;
        if named.is_ours() {
            return Err(hipErrorInvalidContext);
        }
        let region = ipc::open(&device, &named)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(address, region.address as usize as *mut c_void) }
    }
}

entry! {
    /// Unmaps another process's device memory.
    fn hipIpcCloseMemHandle(address: *mut c_void) -> hipError_t {
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        Ok(ipc::close(address as u64)?)
    }
}

entry! {
    /// Stores a handle by which other processes open an event.
    fn hipIpcGetEventHandle(handle: *mut hipIpcEventHandle_t, event: hipEvent_t) -> hipError_t {
        if handle.is_null() || event == hipEvent_t::NULL {
            return Err(hipErrorInvalidValue);
        }
        let event = EVENTS.get(event.0).ok_or(hipErrorInvalidValue)?;
        let found = event.handle().map_err(|error| match error {
            // An event of one process.
            aqlipse::Error::InvalidHandle => hipErrorInvalidConfiguration,
            error => error.into(),
        })?;
        let [i0, i1] = halves(found.inode);
        let words = [EVENT, found.process, found.descriptor, i0, i1];
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, hipIpcEventHandle_t { reserved: bytes_of(&words) }) }
    }
}

entry! {
    /// Opens another process's event.
    fn hipIpcOpenEventHandle(event: *mut hipEvent_t, handle: hipIpcEventHandle_t) -> hipError_t {
        if event.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let [mark, owner, descriptor, i0, i1, ..] = words_of(handle.reserved);
        if mark != EVENT {
            return Err(hipErrorInvalidValue);
        }
        if owner == process::id() {
            return Err(hipErrorInvalidContext);
        }
        let opened = Event::open(EventHandle { process: owner, descriptor, inode: whole(i0, i1) })?;
        let handle = EVENTS.give(opened)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(event, hipEvent_t(handle)) }
    }
}
