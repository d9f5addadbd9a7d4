// Copies of the driver interface, between memory of the host and of the device.
#pragma once

#include "observe.h"

// Parameters of a copy, `hip_Memcpy2D` or `HIP_MEMCPY3D`, with its two ends; all else is 0.
template <typename Parameters>
Parameters between(hipMemoryType from, void* source, hipMemoryType to, void* target) {
    Parameters p;
    std::memset(&p, 0, sizeof p);
    p.srcMemoryType = from;
    p.dstMemoryType = to;
    if (from == hipMemoryTypeHost)
        p.srcHost = source;
    else
        p.srcDevice = source;
    if (to == hipMemoryTypeHost)
        p.dstHost = target;
    else
        p.dstDevice = target;
    return p;
}
