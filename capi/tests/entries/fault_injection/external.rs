//! Semaphores and memory that others have made.

use std::{ffi::c_int, os::fd::IntoRawFd, ptr};

use aqlipse::external::{ExternalSemaphore, SemaphoreKind};

use super::{
    graphs::{captured, instantiated, run},
    memory::stream,
    *,
};
use crate::external::{
    description, exportable, hipDestroyExternalMemory, hipDestroyExternalSemaphore,
    hipExternalMemoryGetMappedBuffer, hipImportExternalMemory, hipImportExternalSemaphore, hipMemCreate,
    hipMemExportToShareableHandle, hipMemRelease, hipSignalExternalSemaphoresAsync,
    hipWaitExternalSemaphoresAsync, memory_description, zeroed,
};

/// A semaphore at 0: as a handle, and as another process has it.
fn semaphore() -> (hipExternalSemaphore_t, ExternalSemaphore) {
    let mut made = ExternalSemaphore::create(SemaphoreKind::Timeline, 0);
    if made.is_err() && fault_injection::refused() > 0 {
        fault_injection::refuse(Refusals::None);
        made = ExternalSemaphore::create(SemaphoreKind::Timeline, 0);
    }
    let ((descriptor, other), mut handle) = (made.expect("there is memory"), hipExternalSemaphore_t::NULL);
    // The library takes the descriptor over when it succeeds: until then the same call can be made again.
    let description = description(SemaphoreKind::Timeline, descriptor.into_raw_fd());
    tried!(hipImportExternalSemaphore(&mut handle, &description));
    (handle, other)
}

/// Waits for 1 and signals 2.
fn one_then_two(handle: hipExternalSemaphore_t, stream: hipStream_t) -> Result<(), hipError_t> {
    let (mut one, mut two): (hipExternalSemaphoreWaitParams, hipExternalSemaphoreSignalParams) =
        (zeroed(), zeroed());
    (one.params.fence, two.params.fence) = (1, 2);
    // SAFETY: both calls read one handle and one set of parameters.
    let calls = unsafe {
        [
            hipWaitExternalSemaphoresAsync(&handle, &one, 1, stream),
            hipSignalExternalSemaphoresAsync(&handle, &two, 1, stream),
        ]
    };
    calls.into_iter().find(|&code| code != hipSuccess).map_or(Ok(()), Err)
}

pub fn semaphores() {
    let (stream, (handle, other)) = (stream(), semaphore());
    // Signalled and taken up again: what was refused is done once more, and changes nothing if it was done.
    tried!(one_then_two(handle, stream).err().unwrap_or(hipSuccess));
    other.signal(1);
    tried!(hipStreamSynchronize(stream), hipDestroyExternalSemaphore(handle));
    assert_eq!(other.value(), 2);
    tried!(hipStreamDestroy(stream));
}

pub fn semaphores_in_a_graph() {
    let (handle, other) = semaphore();
    let graph = captured(|stream| one_then_two(handle, stream));
    other.signal(1);
    run(instantiated(graph, 0), 2);
    assert_eq!(other.value(), 2);
    tried!(hipDestroyExternalSemaphore(handle), graphs::hipGraphDestroy(graph));
}

pub fn memory() {
    const BYTES: usize = 2 << 20;
    let (mut made, mut descriptor) = (hipMemGenericAllocationHandle_t::NULL, -1 as c_int);
    let (mut memory, mut address, mut value) = (hipExternalMemory_t::NULL, ptr::null_mut(), 0u32);
    // SAFETY: the handle has room for the answer.
    if !is_there("hipMemCreate", || unsafe { hipMemCreate(&mut made, BYTES, &exportable(), 0) }) {
        return;
    }
    let kind = hipMemHandleTypePosixFileDescriptor;
    tried!(
        hipMemExportToShareableHandle((&raw mut descriptor).cast(), made, kind, 0),
        hipMemRelease(made),
        hipImportExternalMemory(&mut memory, &memory_description(descriptor, BYTES as u64)),
    );
    let mut whole: hipExternalMemoryBufferDesc = zeroed();
    whole.size = BYTES as u64;
    tried!(
        hipExternalMemoryGetMappedBuffer(&mut address, memory, &whole),
        hipDestroyExternalMemory(memory),
        hipMemset(address, 7, BYTES),
        hipMemcpy((&raw mut value).cast(), address, 4, hipMemcpyDeviceToHost),
        hipFree(address),
    );
    assert_eq!(value, 0x0707_0707);
}
