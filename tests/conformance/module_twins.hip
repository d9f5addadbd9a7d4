// Two modules of one image: functions and variables are each module's own, and other than the program's.
#include "image.h"

__device__ int state = 1;

extern "C" __global__ void add(int n, int* out) {
    state += n;
    *out = state;
}

static int run(hipFunction_t f, int n, int* device) {
    void* args[] = {&n, &device};
    NEED(hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
    int value = 0;
    NEED(hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost));
    return value;
}

int main() {
    std::vector<char> image = own_code_object();
    hipModule_t first = nullptr, second = nullptr;
    NEED(hipModuleLoadData(&first, image.data()));
    NEED(hipModuleLoadData(&second, image.data()));
    show("modules differ", first != second);
    hipFunction_t f = nullptr, g = nullptr;
    NEED(hipModuleGetFunction(&f, first, "add"));
    NEED(hipModuleGetFunction(&g, second, "add"));
    show("functions differ", f != g);
    hipDeviceptr_t x = nullptr, y = nullptr;
    void* own = nullptr;
    size_t bytes = 0;
    NEED(hipModuleGetGlobal(&x, &bytes, first, "state"));
    NEED(hipModuleGetGlobal(&y, &bytes, second, "state"));
    NEED(hipGetSymbolAddress(&own, HIP_SYMBOL(state)));
    show("variables differ", x != y && x != own && y != own);
    int* device = nullptr;
    NEED(hipMalloc(&device, sizeof(int)));
    show("first", run(f, 10, device));
    show("second", run(g, 100, device));
    show("first again", run(f, 10, device));
    add<<<1, 1>>>(1000, device);
    int value = 0;
    NEED(hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost));
    show("the program's", value);
    value = 50;
    NEED(hipMemcpy(x, &value, sizeof value, hipMemcpyHostToDevice));
    show("first from 50", run(f, 1, device));
    NEED(hipModuleUnload(first));
    show("second behind the unload", run(g, 1, device));
    NEED(hipModuleUnload(second));
    NEED(hipFree(device));
}
