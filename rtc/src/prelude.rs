//! What sources may use without an include, and what stands in place of HIP's own headers.

/// The header that is included before every program.
pub const FIRST: &str = "aqlipse_rtc/hiprtc.h";

const INSTEAD: &str = include_str!("prelude/instead.h");

/// Names and texts.
pub const FILES: [(&str, &str); 16] = [
    (FIRST, include_str!("prelude/hiprtc.h")),
    ("aqlipse_rtc/core.h", include_str!("prelude/core.h")),
    ("aqlipse_rtc/vector.h", include_str!("prelude/vector.h")),
    ("aqlipse_rtc/bits.h", include_str!("prelude/bits.h")),
    ("aqlipse_rtc/wave.h", include_str!("prelude/wave.h")),
    ("aqlipse_rtc/atomic.h", include_str!("prelude/atomic.h")),
    ("aqlipse_rtc/half.h", include_str!("prelude/half.h")),
    ("hip/hip_runtime.h", INSTEAD),
    ("hip/hip_runtime_api.h", INSTEAD),
    ("hip/hip_common.h", INSTEAD),
    ("hip/hip_version.h", INSTEAD),
    ("hip/hip_vector_types.h", INSTEAD),
    ("hip/hip_fp16.h", INSTEAD),
    ("hip/hip_bf16.h", include_str!("prelude/bf16.h")),
    ("hip/device_functions.h", INSTEAD),
    ("hip/math_functions.h", INSTEAD),
];
