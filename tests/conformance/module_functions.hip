// Functions of modules: the same handle for a name, one per module, launched by both argument routes.
#include "image.h"

extern "C" __global__ void store(int* out, short a, char b, long c) { *out = int(a + b + c); }

static int run(hipFunction_t function, int* out, bool packed) {
    struct {
        int* out;
        short a;
        char b;
        long c;
    } arguments = {out, 1000, 20, 3};
    size_t bytes = sizeof arguments;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    void* parameters[] = {&arguments.out, &arguments.a, &arguments.b, &arguments.c};
    NEED(hipMemset(out, 0, sizeof *out));
    NEED(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, packed ? nullptr : parameters,
                               packed ? extra : nullptr));
    int value = 0;
    NEED(hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost));
    return value;
}

int main() {
    std::vector<char> image = own_code_object(), bundle = own_bundle();
    hipModule_t one = nullptr, two = nullptr;
    hipFunction_t first = nullptr, again = nullptr, other = nullptr;
    int* out = nullptr;
    NEED(hipMalloc(&out, sizeof *out));
    NEED(hipModuleLoadData(&one, image.data()));
    NEED(hipModuleLoadData(&two, bundle.data()));
    NEED(hipModuleGetFunction(&first, one, "store"));
    NEED(hipModuleGetFunction(&again, one, "store"));
    NEED(hipModuleGetFunction(&other, two, "store"));
    show("the same handle", first == again);
    show("another module, another handle", first != other);
    line("by pointers: %d %d", run(first, out, false), run(other, out, false));
    line("packed: %d %d", run(first, out, true), run(other, out, true));
    int value = -1;
    for (auto attribute : {HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                           HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES}) {
        hipError_t error = hipFuncGetAttribute(&value, attribute, first);
        line("attribute %d: %s, %d", int(attribute), observe::name_of(error).c_str(), value);
    }
    show("unload", hipModuleUnload(one));
    line("the other module's: %d", run(other, out, false));
    NEED(hipModuleUnload(two));
    NEED(hipFree(out));
}
