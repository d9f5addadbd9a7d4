//! What is not offered: each function says so once, in its status and at `AQLIPSE_LOG=info`.

use std::ffi::c_void;

use super::say_once;
use crate::{abi::HSAKMT_STATUS_NOT_SUPPORTED, entry::entry, session};

/// Exports functions that refuse.
macro_rules! refused {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        entry! { $(
            $(#[$meta])*
            fn $name($($arg: $ty),*) {
                session::current()?;
                $(let _ = $arg;)*
                say_once!(info, concat!(stringify!($name), " is not supported"));
                Err(HSAKMT_STATUS_NOT_SUPPORTED)
            }
        )* }
    };
}

refused! {
    /// Reads where the state of a queue's waves is saved: waves are never swapped out.
    fn hsaKmtGetQueueInfo(queue: u64, information: *mut c_void);
    /// Copies from another process.
    fn hsaKmtProcessVMRead(
        process: u32,
        local: *mut c_void,
        local_count: u64,
        remote: *mut c_void,
        remote_count: u64,
        copied: *mut u64,
    );
    /// Copies to another process.
    fn hsaKmtProcessVMWrite(
        process: u32,
        local: *mut c_void,
        local_count: u64,
        remote: *mut c_void,
        remote_count: u64,
        copied: *mut u64,
    );
    /// Maps a buffer of a graphics driver.
    fn hsaKmtMapGraphicHandle(
        node: u32,
        device: u64,
        resource: u64,
        offset: u64,
        size: u64,
        address: *mut u64,
    );
    /// Unmaps a buffer of a graphics driver.
    fn hsaKmtUnmapGraphicHandle(node: u32, address: u64, size: u64);
    /// Takes the streaming performance monitor.
    fn hsaKmtSPMAcquire(node: u32);
    /// Gives back the streaming performance monitor.
    fn hsaKmtSPMRelease(node: u32);
    /// Sets the buffer of the streaming performance monitor.
    fn hsaKmtSPMSetDestBuffer(
        node: u32,
        size: u32,
        timeout: *mut u32,
        copied: *mut u32,
        destination: *mut c_void,
        lost: *mut u8,
    );
    /// Lists performance counters: an emulated device has none that would mean anything.
    fn hsaKmtPmcGetCounterProperties(node: u32, properties: *mut *mut c_void);
    /// Chooses performance counters.
    fn hsaKmtPmcRegisterTrace(node: u32, count: u32, counters: *mut c_void, root: *mut c_void);
    /// Forgets a choice of performance counters.
    fn hsaKmtPmcUnregisterTrace(node: u32, trace: u64);
    /// Takes performance counters.
    fn hsaKmtPmcAcquireTraceAccess(node: u32, trace: u64);
    /// Gives back performance counters.
    fn hsaKmtPmcReleaseTraceAccess(node: u32, trace: u64);
    /// Starts performance counters.
    fn hsaKmtPmcStartTrace(trace: u64, buffer: *mut c_void, size: u64);
    /// Reads performance counters.
    fn hsaKmtPmcQueryTrace(trace: u64);
    /// Stops performance counters.
    fn hsaKmtPmcStopTrace(trace: u64);
    /// Opens the stream of a device's management events.
    fn hsaKmtOpenSMI(node: u32, descriptor: *mut i32);
    /// Replaces a page for the address sanitizer.
    fn hsaKmtReplaceAsanHeaderPage(address: *mut c_void);
    /// Brings back a page for the address sanitizer.
    fn hsaKmtReturnAsanHeaderPage(address: *mut c_void);
    /// Whether program counters can be sampled: no.
    fn hsaKmtPcSamplingSupport();
    /// Lists ways of sampling program counters.
    fn hsaKmtPcSamplingQueryCapabilities(node: u32, information: *mut c_void, room: u32, needed: *mut u32);
    /// Chooses a way of sampling program counters.
    fn hsaKmtPcSamplingCreate(node: u32, information: *mut c_void, trace: *mut u32);
    /// Forgets a way of sampling program counters.
    fn hsaKmtPcSamplingDestroy(node: u32, trace: u32);
    /// Starts sampling program counters.
    fn hsaKmtPcSamplingStart(node: u32, trace: u32);
    /// Stops sampling program counters.
    fn hsaKmtPcSamplingStop(node: u32, trace: u32);
    /// Reads or writes a file from device memory.
    fn hsaKmtAisReadWriteFile(
        address: *mut c_void,
        size: u64,
        descriptor: i32,
        offset: i64,
        flags: u32,
        copied: *mut u64,
        status: *mut i32,
    );
    /// Makes a handle of memory.
    fn hsaKmtGetMemoryHandle(address: *mut c_void, memory: *mut c_void, size: u64, handle: *mut u64);
    /// Opens a handle of memory.
    fn hsaKmtHandleImport(description: *const c_void, result: *mut c_void, flags: *mut c_void);
    /// Maps a memory object to devices.
    fn hsaKmtMemoryVaMap(handle: *mut c_void, offset: u64, size: u64, address: u64, flags: u32);
    /// Unmaps a memory object from devices.
    fn hsaKmtMemoryVaUnmap(handle: *mut c_void, offset: u64, size: u64, address: u64);
    /// Maps a memory object to the host.
    fn hsaKmtMemoryCpuMap(handle: *mut c_void, address: *mut *mut c_void);
    /// Forgets a memory object.
    fn hsaKmtMemHandleFree(handle: *mut c_void);
    /// Tells where the host sees a memory object.
    fn hsaKmtMemoryGetCpuAddr(
        device: *mut c_void,
        handle: *mut c_void,
        descriptor: *mut i32,
        address: *mut u64,
    );
}
