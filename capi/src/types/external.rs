//! Memory and semaphores of other APIs.

use std::ffi::{c_int, c_uint, c_void};

use super::{hipChannelFormatDesc, hipExtent, hipExternalMemoryHandleType, hipExternalSemaphoreHandleType};

c_struct! {
    /// A Windows handle or object name.
    hipExternalWin32Handle: 16, 8 {
        0 handle: *mut c_void,
        8 name: *const c_void,
    }
}

c_union! {
    /// The handle of an external object; the descriptor's `type` says which member is meant.
    hipExternalHandle: 16, 8 {
        fd: c_int,
        win32: hipExternalWin32Handle,
        nvSciObject: *const c_void,
    }
}

c_struct! {
    /// Memory to import; 40 bytes without the reserved tail before HIP 6.
    hipExternalMemoryHandleDesc: 104, 8 {
        0 r#type: hipExternalMemoryHandleType,
        8 handle: hipExternalHandle,
        24 size: u64,
        32 flags: c_uint,
        36 reserved: [c_uint; 16],
    }
}

c_struct! {
    /// A linear range of imported memory.
    hipExternalMemoryBufferDesc: 88, 8 {
        0 offset: u64,
        8 size: u64,
        16 flags: c_uint,
        20 reserved: [c_uint; 16],
    }
}

c_struct! {
    /// A mipmapped array in imported memory.
    hipExternalMemoryMipmappedArrayDesc: 64, 8 {
        0 offset: u64,
        8 formatDesc: hipChannelFormatDesc,
        32 extent: hipExtent,
        56 flags: c_uint,
        60 numLevels: c_uint,
    }
}

c_struct! {
    /// A semaphore to import; 32 bytes without the reserved tail before HIP 6.
    hipExternalSemaphoreHandleDesc: 96, 8 {
        0 r#type: hipExternalSemaphoreHandleType,
        8 handle: hipExternalHandle,
        24 flags: c_uint,
        28 reserved: [c_uint; 16],
    }
}

c_struct! {
    /// What to signal: the fence value, or the key of a keyed mutex.
    hipExternalSemaphoreSignalValue: 72, 8 {
        0 fence: u64,
        8 nvSciSync: u64,
        16 keyedMutex: u64,
        24 reserved: [c_uint; 12],
    }
}

c_struct! {
    /// The key of a keyed mutex and how long to wait for it.
    hipExternalKeyedMutexWait: 16, 8 {
        0 key: u64,
        8 timeoutMs: c_uint,
    }
}

c_struct! {
    /// What to wait for: the fence value, or the key of a keyed mutex.
    hipExternalSemaphoreWaitValue: 72, 8 {
        0 fence: u64,
        8 nvSciSync: u64,
        16 keyedMutex: hipExternalKeyedMutexWait,
        32 reserved: [c_uint; 10],
    }
}

c_struct! {
    /// How to signal one imported semaphore.
    hipExternalSemaphoreSignalParams: 144, 8 {
        0 params: hipExternalSemaphoreSignalValue,
        72 flags: c_uint,
        76 reserved: [c_uint; 16],
    }
}

c_struct! {
    /// How to wait for one imported semaphore.
    hipExternalSemaphoreWaitParams: 144, 8 {
        0 params: hipExternalSemaphoreWaitValue,
        72 flags: c_uint,
        76 reserved: [c_uint; 16],
    }
}
