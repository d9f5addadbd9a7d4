// What profilers register, with the types of roctracer's ext/prof_protocol.h.
#pragma once

#include "observe.h"

extern "C" {
#include <hip/amd_detail/hip_runtime_prof.h>
}
#include <hip/amd_detail/hip_prof_str.h>

namespace profiler {

// One structure for each call that a thread is in.
inline hip_api_data_t* data(int depth) {
    alignas(8) static thread_local unsigned char slots[8][sizeof(hip_api_data_t)];
    return reinterpret_cast<hip_api_data_t*>(slots[depth]);
}

typedef void* (*Activity)(uint32_t id, void* record, const void* data, void* arg);
typedef void (*Api)(uint32_t domain, uint32_t id, const void* data, void* arg);

inline hipError_t on_activity(uint32_t id, Activity callback, const char* arg) {
    return hipRegisterActivityCallback(id, reinterpret_cast<void*>(callback), const_cast<char*>(arg));
}
inline hipError_t on_api(uint32_t id, Api callback, const char* arg) {
    return hipRegisterApiCallback(id, reinterpret_cast<void*>(callback), const_cast<char*>(arg));
}

}  // namespace profiler
