//! What tools ask for: names of functions and commands, and more or less on stderr.

use std::{
    ffi::{CStr, c_char},
    ptr,
};

use timeline::recorder;

use super::api_id::NAMES;
use crate::log;

entry! {
    /// The name of the function with a number of the profiler's header; `unknown` for a number that none has.
    plain fn hipApiName(id: u32) -> *const c_char, or ptr::null(); {
        let name = id.checked_sub(1).and_then(|index| NAMES.get(index as usize));
        name.copied().filter(|name| !name.is_empty()).unwrap_or(c"unknown").as_ptr()
    }
}

entry! {
    /// The name of a kind of command.
    plain fn hipGetCmdName(kind: u32) -> *const c_char, or ptr::null(); {
        command(kind).unwrap_or(c"Unknown command kind").as_ptr()
    }
}

/// Commands, from [`FIRST_COMMAND`] on.
// HIP: measured on 5.2.3 and on AMD's runtime of October 2024 (tests/conformance/profiler_names.cpp).
#[rustfmt::skip]
const COMMANDS: [&CStr; 30] = [
    c"KernelExecution", c"Task", c"NativeKernel", c"CopyDeviceToHost", c"CopyHostToDevice", c"CopyDeviceToDevice",
    c"ReadImage", c"WriteImage", c"CopyImage", c"CopyImageToBuffer", c"CopyBufferToImage", c"MapBuffer", c"MapImage",
    c"UnmapMemObject", c"Marker", c"AcquireGLObjects", c"ReleaseGLObjects", c"CopyDeviceToHost2D",
    c"CopyHostToDevice2D", c"CopyDeviceToDevice2D", c"User", c"Barrier", c"MigrateMemObjects", c"FillBuffer",
    c"FillImage", c"SvmFree", c"SvmMemcpy", c"SvmMemFill", c"SvmMap", c"SvmUnmap",
];

/// `kHipVdiCommandKernel` of the profiler's header.
const FIRST_COMMAND: u32 = 0x11f0;

fn command(kind: u32) -> Option<&'static CStr> {
    match kind {
        0 => Some(c"InternalMarker"),
        _ => COMMANDS.get(kind.checked_sub(FIRST_COMMAND)? as usize).copied(),
    }
}

entry! {
    /// Has events recorded again, if `AQLIPSE_TRACE` asks for them.
    // The header of HIP 7 has this deprecated and refused, CUDA accepts it; programs call it without looking.
    fn hipProfilerStart() -> hipError_t {
        tracing::info!("the program starts to be profiled");
        recorder::resume();
        Ok(())
    }
}

entry! {
    /// Has no more events recorded.
    fn hipProfilerStop() -> hipError_t {
        tracing::info!("the program stops to be profiled");
        recorder::pause();
        Ok(())
    }
}

entry! {
    /// Has the log say as much as `hipExtSetLoggingParams` has set, instead of what `AQLIPSE_LOG` asks for.
    fn hipExtEnableLogging() -> hipError_t {
        log::enable(true);
        Ok(())
    }
}

entry! {
    /// Has the log say what `AQLIPSE_LOG` asks for.
    fn hipExtDisableLogging() -> hipError_t {
        log::enable(false);
        Ok(())
    }
}

entry! {
    /// Sets how much the log says while it is enabled: nothing (0), errors, warnings, information, details, everything
    /// (5); nothing if no component is to be logged. The size is reserved, as the header says.
    fn hipExtSetLoggingParams(level: usize, _size: usize, components: usize) -> hipError_t {
        log::set_verbosity(if components == 0 { 0 } else { level });
        Ok(())
    }
}
