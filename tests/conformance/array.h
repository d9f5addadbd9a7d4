// Making and describing arrays. AMD's library copies them with image instructions, which need an AMD GPU: the programs
// look at everything but the copied texels.
#pragma once

#include "observe.h"

static const hipChannelFormatDesc floats = {32, 0, 0, 0, hipChannelFormatKindFloat};

inline hipArray* plane(size_t width = 16, size_t height = 8) {
    hipArray* array = nullptr;
    NEED(hipMallocArray(&array, &floats, width, height, hipArrayDefault));
    return array;
}

inline hipArray* cube(size_t width = 16, size_t height = 8, size_t depth = 4) {
    hipArray* array = nullptr;
    NEED(hipMalloc3DArray(&array, &floats, make_hipExtent(width, height, depth), hipArrayDefault));
    return array;
}

inline void show_array(const char* label, const hipArray* a) {
    if (!a) return line("%s: none", label);
    line("%s: %u %u %u, format %d of %u channels, driver %d, bits %d %d %d %d, kind %d", label, a->width, a->height,
         a->depth, static_cast<int>(a->Format), a->NumChannels, static_cast<int>(a->isDrv), a->desc.x, a->desc.y,
         a->desc.z, a->desc.w, static_cast<int>(a->desc.f));
}

// What one call made of it, and its end.
inline void made(const std::string& label, hipError_t error, hipArray* array) {
    show(label.c_str(), error);
    if (error != hipSuccess) return;
    show_array(label.c_str(), array);
    show((label + " freed").c_str(), hipFreeArray(array));
}
