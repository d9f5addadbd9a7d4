// Options of hipModuleLoadDataEx: logs of a compiler that there is none of, options that do not exist, no arrays.
#include "image.h"

extern "C" __global__ void nothing() {}

// What a log says: nothing was written, the empty string, or a text.
static const char* state_of(const char* log) { return log[0] == '#' ? "untouched" : log[0] ? "a text" : "empty"; }

static void load(const char* what, const void* image) {
    char error[256], info[256];
    std::memset(error, '#', sizeof error);
    std::memset(info, '#', sizeof info);
    hipJitOption options[] = {hipJitOptionErrorLogBuffer, hipJitOptionErrorLogBufferSizeBytes,
                              hipJitOptionInfoLogBuffer, hipJitOptionInfoLogBufferSizeBytes,
                              hipJitOptionOptimizationLevel};
    void* values[] = {error, reinterpret_cast<void*>(sizeof error), info,
                      reinterpret_cast<void*>(sizeof info), reinterpret_cast<void*>(3)};
    hipModule_t module = nullptr;
    hipError_t result = hipModuleLoadDataEx(&module, image, 5, options, values);
    show(what, result);
    line("log of %s: errors %s, information %s, sizes %s", what, state_of(error), state_of(info),
         values[1] == reinterpret_cast<void*>(sizeof error) ? "untouched" : "written");
    if (result == hipSuccess) NEED(hipModuleUnload(module));
}

// DIFFERS log of: 5.2.3 leaves logs alone; CUDA says in them how it went (cuModuleLoadDataEx)
// DIFFERS text as an image: 5.2.3 says hipErrorInvalidKernelFile; CUDA has an error for it
//     (CUDA_ERROR_INVALID_IMAGE)
int main() {
    std::vector<char> image = own_code_object(), text(4096, 'x');
    load("an image", image.data());
    load("text as an image", text.data());
    hipModule_t module = nullptr;
    hipJitOption unknown[] = {static_cast<hipJitOption>(4711)};
    void* values[] = {nullptr};
    show("an option that there is not", hipModuleLoadDataEx(&module, image.data(), 1, unknown, values));
    NEED(hipModuleUnload(module));
    show("a count without arrays", hipModuleLoadDataEx(&module, image.data(), 1, nullptr, nullptr));
    NEED(hipModuleUnload(module));
    return 0;
}
