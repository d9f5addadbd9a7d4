// What every conformance program prints with: one line an observation, `label: value`.
//
// Return codes are printed by name, from a table of our own: hipGetErrorName belongs to what is observed.
#pragma once

#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace observe {

inline std::string name_of(hipError_t error) {
    switch (static_cast<int>(error)) {
        case hipSuccess: return "hipSuccess";
        case hipErrorInvalidValue: return "hipErrorInvalidValue";
        case hipErrorOutOfMemory: return "hipErrorOutOfMemory";
        case hipErrorNotInitialized: return "hipErrorNotInitialized";
        case hipErrorDeinitialized: return "hipErrorDeinitialized";
        case hipErrorProfilerDisabled: return "hipErrorProfilerDisabled";
        case hipErrorProfilerNotInitialized: return "hipErrorProfilerNotInitialized";
        case hipErrorProfilerAlreadyStarted: return "hipErrorProfilerAlreadyStarted";
        case hipErrorProfilerAlreadyStopped: return "hipErrorProfilerAlreadyStopped";
        case hipErrorInvalidConfiguration: return "hipErrorInvalidConfiguration";
        case hipErrorInvalidPitchValue: return "hipErrorInvalidPitchValue";
        case hipErrorInvalidSymbol: return "hipErrorInvalidSymbol";
        case hipErrorInvalidDevicePointer: return "hipErrorInvalidDevicePointer";
        case hipErrorInvalidMemcpyDirection: return "hipErrorInvalidMemcpyDirection";
        case hipErrorInsufficientDriver: return "hipErrorInsufficientDriver";
        case hipErrorMissingConfiguration: return "hipErrorMissingConfiguration";
        case hipErrorPriorLaunchFailure: return "hipErrorPriorLaunchFailure";
        case hipErrorInvalidDeviceFunction: return "hipErrorInvalidDeviceFunction";
        case hipErrorNoDevice: return "hipErrorNoDevice";
        case hipErrorInvalidDevice: return "hipErrorInvalidDevice";
        case hipErrorInvalidImage: return "hipErrorInvalidImage";
        case hipErrorInvalidContext: return "hipErrorInvalidContext";
        case hipErrorContextAlreadyCurrent: return "hipErrorContextAlreadyCurrent";
        case hipErrorMapFailed: return "hipErrorMapFailed";
        case hipErrorUnmapFailed: return "hipErrorUnmapFailed";
        case hipErrorArrayIsMapped: return "hipErrorArrayIsMapped";
        case hipErrorAlreadyMapped: return "hipErrorAlreadyMapped";
        case hipErrorNoBinaryForGpu: return "hipErrorNoBinaryForGpu";
        case hipErrorAlreadyAcquired: return "hipErrorAlreadyAcquired";
        case hipErrorNotMapped: return "hipErrorNotMapped";
        case hipErrorNotMappedAsArray: return "hipErrorNotMappedAsArray";
        case hipErrorNotMappedAsPointer: return "hipErrorNotMappedAsPointer";
        case hipErrorECCNotCorrectable: return "hipErrorECCNotCorrectable";
        case hipErrorUnsupportedLimit: return "hipErrorUnsupportedLimit";
        case hipErrorContextAlreadyInUse: return "hipErrorContextAlreadyInUse";
        case hipErrorPeerAccessUnsupported: return "hipErrorPeerAccessUnsupported";
        case hipErrorInvalidKernelFile: return "hipErrorInvalidKernelFile";
        case hipErrorInvalidGraphicsContext: return "hipErrorInvalidGraphicsContext";
        case hipErrorInvalidSource: return "hipErrorInvalidSource";
        case hipErrorFileNotFound: return "hipErrorFileNotFound";
        case hipErrorSharedObjectSymbolNotFound: return "hipErrorSharedObjectSymbolNotFound";
        case hipErrorSharedObjectInitFailed: return "hipErrorSharedObjectInitFailed";
        case hipErrorOperatingSystem: return "hipErrorOperatingSystem";
        case hipErrorInvalidHandle: return "hipErrorInvalidHandle";
        case hipErrorIllegalState: return "hipErrorIllegalState";
        case hipErrorNotFound: return "hipErrorNotFound";
        case hipErrorNotReady: return "hipErrorNotReady";
        case hipErrorIllegalAddress: return "hipErrorIllegalAddress";
        case hipErrorLaunchOutOfResources: return "hipErrorLaunchOutOfResources";
        case hipErrorLaunchTimeOut: return "hipErrorLaunchTimeOut";
        case hipErrorPeerAccessAlreadyEnabled: return "hipErrorPeerAccessAlreadyEnabled";
        case hipErrorPeerAccessNotEnabled: return "hipErrorPeerAccessNotEnabled";
        case hipErrorSetOnActiveProcess: return "hipErrorSetOnActiveProcess";
        case hipErrorContextIsDestroyed: return "hipErrorContextIsDestroyed";
        case hipErrorAssert: return "hipErrorAssert";
        case hipErrorHostMemoryAlreadyRegistered: return "hipErrorHostMemoryAlreadyRegistered";
        case hipErrorHostMemoryNotRegistered: return "hipErrorHostMemoryNotRegistered";
        case hipErrorLaunchFailure: return "hipErrorLaunchFailure";
        case hipErrorCooperativeLaunchTooLarge: return "hipErrorCooperativeLaunchTooLarge";
        case hipErrorNotSupported: return "hipErrorNotSupported";
        case hipErrorStreamCaptureUnsupported: return "hipErrorStreamCaptureUnsupported";
        case hipErrorStreamCaptureInvalidated: return "hipErrorStreamCaptureInvalidated";
        case hipErrorStreamCaptureMerge: return "hipErrorStreamCaptureMerge";
        case hipErrorStreamCaptureUnmatched: return "hipErrorStreamCaptureUnmatched";
        case hipErrorStreamCaptureUnjoined: return "hipErrorStreamCaptureUnjoined";
        case hipErrorStreamCaptureIsolation: return "hipErrorStreamCaptureIsolation";
        case hipErrorStreamCaptureImplicit: return "hipErrorStreamCaptureImplicit";
        case hipErrorCapturedEvent: return "hipErrorCapturedEvent";
        case hipErrorStreamCaptureWrongThread: return "hipErrorStreamCaptureWrongThread";
        case hipErrorGraphExecUpdateFailure: return "hipErrorGraphExecUpdateFailure";
        case hipErrorUnknown: return "hipErrorUnknown";
        case hipErrorRuntimeMemory: return "hipErrorRuntimeMemory";
        case hipErrorRuntimeOther: return "hipErrorRuntimeOther";
        default: return "error " + std::to_string(static_cast<int>(error));
    }
}

}  // namespace observe

// Prints a line; the label and its colon are part of the format.
__attribute__((format(printf, 1, 2))) inline void line(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::printf("\n");
    // A crash must not take what has been observed with it.
    std::fflush(stdout);
}

inline void show(const char* label, hipError_t error) { line("%s: %s", label, observe::name_of(error).c_str()); }

inline void show(const char* label, bool value) { line("%s: %s", label, value ? "true" : "false"); }
inline void show(const char* label, int value) { line("%s: %d", label, value); }
inline void show(const char* label, unsigned value) { line("%s: %u", label, value); }
inline void show(const char* label, long value) { line("%s: %ld", label, value); }
inline void show(const char* label, unsigned long value) { line("%s: %lu", label, value); }
inline void show(const char* label, long long value) { line("%s: %lld", label, value); }
inline void show(const char* label, unsigned long long value) { line("%s: %llu", label, value); }
inline void show(const char* label, float value) { line("%s: %.9g", label, value); }
inline void show(const char* label, double value) { line("%s: %.17g", label, value); }
inline void show(const char* label, const char* value) { line("%s: %s", label, value ? value : "(null)"); }
inline void show(const char* label, const std::string& value) { line("%s: %s", label, value.c_str()); }

// For calls that are not the topic: a failure is said and ends the program.
inline void need(hipError_t error, const char* call, int where) {
    if (error != hipSuccess) {
        line("line %d, %s: %s", where, call, observe::name_of(error).c_str());
        std::exit(1);
    }
}
#define NEED(call) need((call), #call, __LINE__)

// Prints "all <count> are <value>" or where the first difference is.
template <typename T>
inline void show_all(const char* label, const T* data, size_t count, T expected) {
    for (size_t i = 0; i < count; ++i) {
        if (data[i] != expected) {
            line("%s: element %zu of %zu is %.9g", label, i, count, static_cast<double>(data[i]));
            return;
        }
    }
    line("%s: all %zu are %.9g", label, count, static_cast<double>(expected));
}

// A 64-bit FNV-1a sum of bytes: data too long to print.
inline void show_sum(const char* label, const void* data, size_t bytes) {
    unsigned long long sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    line("%s: sum %016llx", label, sum);
}
