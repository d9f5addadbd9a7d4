// hipModuleUnload of modules that are not loaded, or not any more.
#include "image.h"

extern "C" __global__ void nothing() {}

int main() {
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    show("unload", hipModuleUnload(module));
    show("unload again", hipModuleUnload(module));
    show("unload null", hipModuleUnload(nullptr));
    return 0;
}
