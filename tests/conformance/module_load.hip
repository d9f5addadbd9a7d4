// Modules from files and memory; what is no module; functions and variables by name; unloading.
#include "image.h"

__device__ int counter = 41;
__constant__ float table[7] = {1, 2, 3, 4, 5, 6, 7};

extern "C" __global__ void count(int* out) { out[0] = counter + int(table[6]); }
extern "C" __global__ void other(int* out) { out[0] = 5; }

static void look(const char* label, hipModule_t module) {
    hipFunction_t f = nullptr, again = nullptr;
    hipDeviceptr_t address = nullptr;
    size_t bytes = 0;
    line("%s, function: %s", label, observe::name_of(hipModuleGetFunction(&f, module, "count")).c_str());
    line("%s, function again: %s", label,
         observe::name_of(hipModuleGetFunction(&again, module, "count")).c_str());
    line("%s, the same handle: %d", label, f == again);
    line("%s, no such function: %s", label,
         observe::name_of(hipModuleGetFunction(&f, module, "nothing")).c_str());
    line("%s, a variable as function: %s", label,
         observe::name_of(hipModuleGetFunction(&f, module, "counter")).c_str());
    line("%s, empty name: %s", label, observe::name_of(hipModuleGetFunction(&f, module, "")).c_str());
    hipError_t error = hipModuleGetGlobal(&address, &bytes, module, "counter");
    line("%s, variable: %s, %zu bytes, set %d", label, observe::name_of(error).c_str(), bytes,
         address != nullptr);
    int value = 0;
    if (error == hipSuccess) NEED(hipMemcpy(&value, address, sizeof value, hipMemcpyDeviceToHost));
    line("%s, its value: %d", label, value);
    error = hipModuleGetGlobal(&address, &bytes, module, "table");
    line("%s, constant: %s, %zu bytes", label, observe::name_of(error).c_str(), bytes);
    line("%s, no such variable: %s", label,
         observe::name_of(hipModuleGetGlobal(&address, &bytes, module, "nothing")).c_str());
    line("%s, a function as variable: %s", label,
         observe::name_of(hipModuleGetGlobal(&address, &bytes, module, "count")).c_str());
}

// DIFFERS text as an image: 5.2.3 says hipErrorInvalidKernelFile; CUDA has an error for it
//     (CUDA_ERROR_INVALID_IMAGE)
int main() {
    std::vector<char> bundle = own_bundle(), object = own_code_object();
    std::string bundle_file = store(bundle), object_file = store(object), empty_file = store({});
    hipModule_t module = nullptr;

    show("bundle from memory", hipModuleLoadData(&module, bundle.data()));
    look("bundle", module);
    show("unload", hipModuleUnload(module));
    show("code object from memory", hipModuleLoadData(&module, object.data()));
    look("code object", module);
    hipFunction_t f = nullptr;
    show("null function result", hipModuleGetFunction(nullptr, module, "count"));
    show("null function name", hipModuleGetFunction(&f, module, nullptr));
    show("unload", hipModuleUnload(module));
    show("bundle from a file", hipModuleLoad(&module, bundle_file.c_str()));
    NEED(hipModuleUnload(module));
    show("code object from a file", hipModuleLoad(&module, object_file.c_str()));
    NEED(hipModuleUnload(module));
    hipJitOption options[1] = {hipJitOptionMaxRegisters};
    void* values[1] = {reinterpret_cast<void*>(32)};
    show("with options", hipModuleLoadDataEx(&module, object.data(), 1, options, values));
    NEED(hipModuleUnload(module));
    show("with no options", hipModuleLoadDataEx(&module, object.data(), 0, nullptr, nullptr));
    NEED(hipModuleUnload(module));

    module = reinterpret_cast<hipModule_t>(0x10);
    show("no such file", hipModuleLoad(&module, "/nonexistent/module.co"));
    show("null file name", hipModuleLoad(&module, nullptr));
    show("empty file name", hipModuleLoad(&module, ""));
    show("empty file", hipModuleLoad(&module, empty_file.c_str()));
    show("null image", hipModuleLoadData(&module, nullptr));
    show("null image with options", hipModuleLoadDataEx(&module, nullptr, 0, nullptr, nullptr));
    std::vector<char> text(4096, 'x');
    show("text as an image", hipModuleLoadData(&module, text.data()));
    for (const std::string* name : {&bundle_file, &object_file, &empty_file}) std::remove(name->c_str());
}
