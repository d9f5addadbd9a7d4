//! Flag words and reserved numbers of the public header.

use std::ffi::{c_int, c_uint, c_ulonglong};

/// Declares constants of one type.
macro_rules! flags {
    ($ty:ty { $($name:ident = $value:expr,)* }) => { $(pub const $name: $ty = $value;)* };
}

flags! { c_int {
    hipCpuDeviceId = -1,
    hipInvalidDeviceId = -2,
} }

// Streams and events.
flags! { c_uint {
    hipStreamDefault = 0x00,
    hipStreamNonBlocking = 0x01,
    hipStreamWaitValueGte = 0x0,
    hipStreamWaitValueEq = 0x1,
    hipStreamWaitValueAnd = 0x2,
    hipStreamWaitValueNor = 0x3,
    hipEventDefault = 0x0,
    hipEventBlockingSync = 0x1,
    hipEventDisableTiming = 0x2,
    hipEventInterprocess = 0x4,
    hipEventDisableSystemFence = 0x2000_0000,
    hipEventReleaseToDevice = 0x4000_0000,
    hipEventReleaseToSystem = 0x8000_0000,
    hipEventRecordDefault = 0x0,
    hipEventRecordExternal = 0x1,
    hipEventWaitDefault = 0x0,
    hipEventWaitExternal = 0x1,
} }

// Devices.
flags! { c_uint {
    hipDeviceScheduleAuto = 0x0,
    hipDeviceScheduleSpin = 0x1,
    hipDeviceScheduleYield = 0x2,
    hipDeviceScheduleBlockingSync = 0x4,
    hipDeviceScheduleMask = 0x7,
    hipDeviceMapHost = 0x8,
    hipDeviceLmemResizeToMax = 0x10,
} }

// Memory.
flags! { c_uint {
    hipHostMallocDefault = 0x0,
    hipHostMallocPortable = 0x1,
    hipHostMallocMapped = 0x2,
    hipHostMallocWriteCombined = 0x4,
    hipHostMallocNumaUser = 0x2000_0000,
    hipHostMallocCoherent = 0x4000_0000,
    hipHostMallocNonCoherent = 0x8000_0000,
    hipHostRegisterDefault = 0x0,
    hipHostRegisterPortable = 0x1,
    hipHostRegisterMapped = 0x2,
    hipHostRegisterIoMemory = 0x4,
    hipHostRegisterReadOnly = 0x8,
    hipExtHostRegisterCoarseGrained = 0x8,
    hipDeviceMallocDefault = 0x0,
    hipDeviceMallocFinegrained = 0x1,
    hipMallocSignalMemory = 0x2,
    hipDeviceMallocUncached = 0x3,
    hipDeviceMallocContiguous = 0x4,
    hipMemAttachGlobal = 0x1,
    hipMemAttachHost = 0x2,
    hipMemAttachSingle = 0x4,
    hipIpcMemLazyEnablePeerAccess = 0x1,
    hipExternalMemoryDedicated = 0x1,
} }

// Handles for ranges of addresses.
flags! { c_ulonglong {
    hipMemRangeFlagDmaBufMappingTypePcie = 0x1,
} }

// Arrays and textures.
flags! { c_uint {
    hipArrayDefault = 0x0,
    hipArrayLayered = 0x1,
    hipArraySurfaceLoadStore = 0x2,
    hipArrayCubemap = 0x4,
    hipArrayTextureGather = 0x8,
    HIP_TRSA_OVERRIDE_FORMAT = 0x1,
    HIP_TRSF_READ_AS_INTEGER = 0x1,
    HIP_TRSF_NORMALIZED_COORDINATES = 0x2,
    HIP_TRSF_SRGB = 0x10,
} }

// Launches.
flags! { c_uint {
    hipOccupancyDefault = 0x0,
    hipOccupancyDisableCachingOverride = 0x1,
    hipExtAnyOrderLaunch = 0x1,
    hipCooperativeLaunchMultiDeviceNoPreSync = 0x1,
    hipCooperativeLaunchMultiDeviceNoPostSync = 0x2,
} }

// Which default stream `hipGetProcAddress` and `hipGetDriverEntryPoint` assume.
flags! { c_uint {
    hipEnableDefault = 0x0,
    hipEnableLegacyStream = 0x1,
    hipEnablePerThreadDefaultStream = 0x2,
} }

// Keys of the `extra` argument of a launch: pairs of key and value up to the end key.
flags! { usize {
    HIP_LAUNCH_PARAM_BUFFER_POINTER = 1,
    HIP_LAUNCH_PARAM_BUFFER_SIZE = 2,
    HIP_LAUNCH_PARAM_END = 3,
} }
