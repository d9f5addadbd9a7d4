// Arguments in a buffer whose size the list gives wrong: programs point it at an int, beside which anything may lie.
// proves: hipModuleLaunchKernel
#include "image.h"

extern "C" __global__ void add(int* out, int a, short b) { out[threadIdx.x] = a + b; }

int main() {
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    NEED(hipModuleGetFunction(&function, module, "add"));
    int* out = nullptr;
    NEED(hipMalloc(&out, sizeof(int)));
    struct {
        int* out;
        int a;
        short b;
    } packed = {out, 100, 7};
    size_t bytes = 0;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    for (size_t size : {sizeof packed, size_t{0}, size_t{12}, ~size_t{0} << 32 | sizeof packed}) {
        packed.a += 100;
        bytes = size;
        show("launch", hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
        int back = 0;
        NEED(hipMemcpy(&back, out, sizeof back, hipMemcpyDeviceToHost));
        line("it has written %d", back);
    }
    NEED(hipModuleUnload(module));
    NEED(hipFree(out));
}
