// Names that the library gives: hipKernelNameRef, hipKernelNameRefByPtr, hipApiName.
// proves: hipKernelNameRef, hipKernelNameRefByPtr
#include "image.h"
#include "resources.h"

__global__ void mangled(float*, int) {}

// DIFFERS by pointer: 5.2.3 has no answer; the name of the kernel is asked for
int main() {
    show("by pointer", hipKernelNameRefByPtr(reinterpret_cast<const void*>(small), nullptr));
    show("by pointer, mangled", hipKernelNameRefByPtr(reinterpret_cast<const void*>(mangled), nullptr));
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    hipFunction_t f = nullptr;
    NEED(hipModuleGetFunction(&f, module, "small"));
    show("of a module", hipKernelNameRef(f));
    NEED(hipModuleGetFunction(&f, module, "_Z7mangledPfi"));
    show("of a module, mangled", hipKernelNameRef(f));
    NEED(hipModuleUnload(module));
}
