// hipThreadExchangeStreamCaptureMode: the calling thread's mode, bad values, other threads.
#include "captured.h"

#include <thread>

static std::string mode_name(hipStreamCaptureMode mode) {
    for (const CaptureMode& known : CAPTURE_MODES) {
        if (known.value == mode) return known.name;
    }
    return "mode " + std::to_string(static_cast<int>(mode));
}

int main() {
    for (const CaptureMode& wanted : CAPTURE_MODES) {
        hipStreamCaptureMode mode = wanted.value;
        show(std::string("exchange for ") + wanted.name, hipThreadExchangeStreamCaptureMode(&mode));
        show(std::string("before ") + wanted.name, mode_name(mode));
    }
    show("null", hipThreadExchangeStreamCaptureMode(nullptr));
    for (int value : {-1, 3, 100}) {
        hipStreamCaptureMode mode = static_cast<hipStreamCaptureMode>(value);
        show("exchange for " + std::to_string(value), hipThreadExchangeStreamCaptureMode(&mode));
        show("mode is left alone by " + std::to_string(value), static_cast<int>(mode) == value);
    }
    std::string there;
    std::thread([&] {
        hipStreamCaptureMode mode = hipStreamCaptureModeThreadLocal;
        NEED(hipThreadExchangeStreamCaptureMode(&mode));
        there = mode_name(mode);
    }).join();
    show("a new thread's mode", there);
    hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
    NEED(hipThreadExchangeStreamCaptureMode(&mode));
    show("this thread's mode still", mode_name(mode));
    return 0;
}
