//! `hipError_t`: every code, its name and its text.
//!
//! Clients compare the texts, so they are spelled as AMD's library spells them.

use std::ffi::{CStr, c_uint};

/// A HIP status code; any number may come in from a caller.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
#[allow(non_camel_case_types)]
pub struct hipError_t(pub c_uint);

/// Declares the codes and the table behind [`hipError_t::name`] and [`hipError_t::text`].
macro_rules! codes {
    ($($number:literal $name:ident $text:literal,)*) => {
        $(
            #[doc = $text]
            #[allow(non_upper_case_globals)]
            pub const $name: hipError_t = hipError_t($number);
        )*

        /// Number, name and text of every code, by number.
        const CODES: &[(c_uint, &str, &str)] =
            &[$(($number, concat!(stringify!($name), "\0"), concat!($text, "\0")),)*];

        impl crate::shown::Shown for hipError_t {
            const SHOW: crate::shown::Show = crate::shown::Show::Name(&[$(($number, stringify!($name)),)*]);
        }
    };
}

// HIP: 6.4.3, hipGetErrorName and hipGetErrorString of every number; 911, 912, 914 to 916 and 1054, which it does not
// know, by the public headers of HIP 7 and 10.
codes! {
    0 hipSuccess "no error",
    1 hipErrorInvalidValue "invalid argument",
    2 hipErrorOutOfMemory "out of memory",
    3 hipErrorNotInitialized "initialization error",
    4 hipErrorDeinitialized "driver shutting down",
    5 hipErrorProfilerDisabled "profiler disabled while using external profiling tool",
    6 hipErrorProfilerNotInitialized "profiler is not initialized",
    7 hipErrorProfilerAlreadyStarted "profiler already started",
    8 hipErrorProfilerAlreadyStopped "profiler already stopped",
    9 hipErrorInvalidConfiguration "invalid configuration argument",
    12 hipErrorInvalidPitchValue "invalid pitch argument",
    13 hipErrorInvalidSymbol "invalid device symbol",
    17 hipErrorInvalidDevicePointer "invalid device pointer",
    21 hipErrorInvalidMemcpyDirection "invalid copy direction for memcpy",
    35 hipErrorInsufficientDriver "driver version is insufficient for runtime version",
    52 hipErrorMissingConfiguration "__global__ function call is not configured",
    53 hipErrorPriorLaunchFailure "unspecified launch failure in prior launch",
    98 hipErrorInvalidDeviceFunction "invalid device function",
    100 hipErrorNoDevice "no ROCm-capable device is detected",
    101 hipErrorInvalidDevice "invalid device ordinal",
    200 hipErrorInvalidImage "device kernel image is invalid",
    201 hipErrorInvalidContext "invalid device context",
    202 hipErrorContextAlreadyCurrent "context is already current context",
    205 hipErrorMapFailed "mapping of buffer object failed",
    206 hipErrorUnmapFailed "unmapping of buffer object failed",
    207 hipErrorArrayIsMapped "array is mapped",
    208 hipErrorAlreadyMapped "resource already mapped",
    209 hipErrorNoBinaryForGpu "no kernel image is available for execution on the device",
    210 hipErrorAlreadyAcquired "resource already acquired",
    211 hipErrorNotMapped "resource not mapped",
    212 hipErrorNotMappedAsArray "resource not mapped as array",
    213 hipErrorNotMappedAsPointer "resource not mapped as pointer",
    214 hipErrorECCNotCorrectable "uncorrectable ECC error encountered",
    215 hipErrorUnsupportedLimit "limit is not supported on this architecture",
    216 hipErrorContextAlreadyInUse "exclusive-thread device already in use by a different thread",
    217 hipErrorPeerAccessUnsupported "peer access is not supported between these two devices",
    218 hipErrorInvalidKernelFile "invalid kernel file",
    219 hipErrorInvalidGraphicsContext "invalid OpenGL or DirectX context",
    300 hipErrorInvalidSource "device kernel image is invalid",
    301 hipErrorFileNotFound "file not found",
    302 hipErrorSharedObjectSymbolNotFound "shared object symbol not found",
    303 hipErrorSharedObjectInitFailed "shared object initialization failed",
    304 hipErrorOperatingSystem "OS call failed or operation not supported on this OS",
    400 hipErrorInvalidHandle "invalid resource handle",
    401 hipErrorIllegalState "the operation cannot be performed in the present state",
    500 hipErrorNotFound "named symbol not found",
    600 hipErrorNotReady "device not ready",
    700 hipErrorIllegalAddress "an illegal memory access was encountered",
    701 hipErrorLaunchOutOfResources "too many resources requested for launch",
    702 hipErrorLaunchTimeOut "the launch timed out and was terminated",
    704 hipErrorPeerAccessAlreadyEnabled "peer access is already enabled",
    705 hipErrorPeerAccessNotEnabled "peer access has not been enabled",
    708 hipErrorSetOnActiveProcess "cannot set while device is active in this process",
    709 hipErrorContextIsDestroyed "context is destroyed",
    710 hipErrorAssert "device-side assert triggered",
    712 hipErrorHostMemoryAlreadyRegistered "part or all of the requested memory range is already mapped",
    713 hipErrorHostMemoryNotRegistered "pointer does not correspond to a registered memory region",
    719 hipErrorLaunchFailure "unspecified launch failure",
    720 hipErrorCooperativeLaunchTooLarge "too many blocks in cooperative launch",
    801 hipErrorNotSupported "operation not supported",
    900 hipErrorStreamCaptureUnsupported "operation not permitted when stream is capturing",
    901 hipErrorStreamCaptureInvalidated "operation failed due to a previous error during capture",
    902 hipErrorStreamCaptureMerge "operation would result in a merge of separate capture sequences",
    903 hipErrorStreamCaptureUnmatched "capture was not ended in the same stream as it began",
    904 hipErrorStreamCaptureUnjoined "capturing stream has unjoined work",
    905 hipErrorStreamCaptureIsolation "dependency created on uncaptured work in another stream",
    906 hipErrorStreamCaptureImplicit "operation would make the legacy stream depend on a capturing blocking stream",
    907 hipErrorCapturedEvent "operation not permitted on an event last recorded in a capturing stream",
    908 hipErrorStreamCaptureWrongThread "attempt to terminate a thread-local capture sequence from another thread",
    910 hipErrorGraphExecUpdateFailure "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update",
    911 hipErrorInvalidChannelDescriptor "invalid channel descriptor",
    912 hipErrorInvalidTexture "invalid texture reference",
    914 hipErrorInvalidResourceType "invalid resource type",
    915 hipErrorInvalidResourceConfiguration "invalid resource configuration",
    916 hipErrorStreamDetached "stream is detached",
    999 hipErrorUnknown "unknown error",
    1052 hipErrorRuntimeMemory "runtime memory call returned error",
    1053 hipErrorRuntimeOther "runtime call other than memory returned error",
    1054 hipErrorInvalidClusterSize "invalid cluster size",
}

/// Older name of [`hipErrorOutOfMemory`].
#[allow(non_upper_case_globals)]
pub const hipErrorMemoryAllocation: hipError_t = hipErrorOutOfMemory;

/// Older name of [`hipErrorNotInitialized`].
#[allow(non_upper_case_globals)]
pub const hipErrorInitializationError: hipError_t = hipErrorNotInitialized;

/// Older name of [`hipErrorMapFailed`].
#[allow(non_upper_case_globals)]
pub const hipErrorMapBufferObjectFailed: hipError_t = hipErrorMapFailed;

/// Older name of [`hipErrorInvalidHandle`].
#[allow(non_upper_case_globals)]
pub const hipErrorInvalidResourceHandle: hipError_t = hipErrorInvalidHandle;

impl hipError_t {
    /// The code's name; `hipErrorUnknown` for a number that is no code.
    pub fn name(self) -> &'static CStr {
        terminated(self.row().1)
    }

    /// The code's text; `unknown error` for a number that is no code.
    pub fn text(self) -> &'static CStr {
        terminated(self.row().2)
    }

    /// Whether the number is a code of this table.
    pub fn is_known(self) -> bool {
        CODES.binary_search_by_key(&self.0, |row| row.0).is_ok()
    }

    fn row(self) -> &'static (c_uint, &'static str, &'static str) {
        const UNKNOWN: &(c_uint, &str, &str) = &(999, "hipErrorUnknown\0", "unknown error\0");
        CODES.binary_search_by_key(&self.0, |row| row.0).map_or(UNKNOWN, |index| &CODES[index])
    }
}

fn terminated(text: &'static str) -> &'static CStr {
    CStr::from_bytes_until_nul(text.as_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_end_in_their_only_nul() {
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (_, name, text) in CODES {
            assert_eq!(name.find('\0'), Some(name.len() - 1));
            assert_eq!(text.find('\0'), Some(text.len() - 1));
        }
    }

    #[test]
    fn numbers_that_are_no_code_read_as_unknown() {
        for number in [10, 1051, u32::MAX] {
            assert!(!hipError_t(number).is_known());
            assert_eq!(hipError_t(number).name(), c"hipErrorUnknown");
            assert_eq!(hipError_t(number).text(), c"unknown error");
        }
        assert_eq!(hipErrorInvalidValue.text(), c"invalid argument");
        assert_eq!(hipErrorInvalidResourceType.name(), c"hipErrorInvalidResourceType");
        assert_eq!(hipErrorStreamDetached.text(), c"stream is detached");
        assert!(hipErrorInvalidClusterSize.is_known() && !hipError_t(1055).is_known());
        assert_eq!(hipErrorMemoryAllocation.name(), c"hipErrorOutOfMemory");
    }
}
