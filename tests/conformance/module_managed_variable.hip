// A managed variable of a module that the program loads: where it is, what it holds, and that each load has its own.
#include "image.h"

#ifndef __managed__
#define __managed__ __attribute__((managed))
#endif

__managed__ int shared_value = 7;

extern "C" __global__ void advance() { shared_value += 1; }

static int* find(hipModule_t module, const char* label) {
    hipDeviceptr_t address = nullptr;
    size_t bytes = 0;
    hipError_t error = hipModuleGetGlobal(&address, &bytes, module, "shared_value");
    line("%s: %s, %zu bytes", label, observe::name_of(error).c_str(), bytes);
    hipPointerAttribute_t attributes{};
    NEED(hipPointerGetAttributes(&attributes, address));
    line("%s, managed: %d", label, attributes.isManaged != 0);
    return static_cast<int*>(address);
}

int main() {
    std::vector<char> image = own_code_object();
    hipModule_t first = nullptr, second = nullptr;
    NEED(hipModuleLoadData(&first, image.data()));
    NEED(hipModuleLoadData(&second, image.data()));
    int *a = find(first, "first"), *b = find(second, "second");
    show("two loads, two variables", a != b);
    show("neither is the program's", a != &shared_value && b != &shared_value);
    line("initially: %d %d %d", *a, *b, shared_value);
    *a = 50;
    hipFunction_t function = nullptr;
    NEED(hipModuleGetFunction(&function, first, "advance"));
    show("launch", hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    show("synchronise", hipDeviceSynchronize());
    line("after a kernel of the first: %d %d %d", *a, *b, shared_value);
    advance<<<1, 1>>>();
    show("synchronise", hipDeviceSynchronize());
    line("after a kernel of the program: %d %d %d", *a, *b, shared_value);
    NEED(hipModuleUnload(first));
    line("the others outlive a module: %d %d", *b, shared_value);
    NEED(hipModuleUnload(second));
}
