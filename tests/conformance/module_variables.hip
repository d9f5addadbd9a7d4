// Variables of modules: kinds and sizes, copies in and out, and that each load and the program have their own.
#include "image.h"

extern "C" {
__device__ int number = 11;
__device__ double reals[5] = {0.5, 1.5, 2.5};
__constant__ char letters[6] = "abcde";
__device__ struct {
    char c;
    long l;
} record = {'x', 77};
__device__ int* pointer = &number;
__global__ void add(int by) {
    number += by;
    reals[4] = letters[1];
    record.l += by;
    *pointer += 1;
}
}

static hipDeviceptr_t find(hipModule_t module, const char* name) {
    hipDeviceptr_t address = nullptr;
    size_t bytes = 0;
    hipError_t error = hipModuleGetGlobal(&address, &bytes, module, name);
    line("%s: %s, %zu bytes", name, observe::name_of(error).c_str(), bytes);
    return address;
}

static int number_in(hipDeviceptr_t address) {
    int value = 0;
    NEED(hipMemcpyDtoH(&value, address, sizeof value));
    return value;
}

// DIFFERS the same address: 5.2.3 stores nothing without a place for the size; CUDA ignores what is null
//     (cuModuleGetGlobal)
int main() {
    std::vector<char> image = own_code_object();
    hipModule_t one = nullptr, two = nullptr;
    NEED(hipModuleLoadData(&one, image.data()));
    NEED(hipModuleLoadData(&two, image.data()));
    hipDeviceptr_t in_one = find(one, "number"), in_two = find(two, "number"), own = nullptr;
    for (const char* name : {"reals", "letters", "record", "pointer"}) find(one, name);
    NEED(hipGetSymbolAddress(&own, HIP_SYMBOL(number)));
    show("three places", in_one != in_two && in_one != own && in_two != own);
    int five = 5, by = 100;
    NEED(hipMemcpyHtoD(in_one, &five, sizeof five));
    line("numbers: %d %d %d", number_in(in_one), number_in(in_two), number_in(own));
    hipFunction_t function = nullptr;
    NEED(hipModuleGetFunction(&function, two, "add"));
    void* arguments[] = {&by};
    show("launch", hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    NEED(hipDeviceSynchronize());
    line("numbers: %d %d %d", number_in(in_one), number_in(in_two), number_in(own));
    double reals_of_two[5];
    NEED(hipMemcpyDtoH(reals_of_two, find(two, "reals"), sizeof reals_of_two));
    line("reals: %g %g %g", reals_of_two[0], reals_of_two[3], reals_of_two[4]);
    hipDeviceptr_t address = nullptr;
    size_t bytes = 0;
    show("without size", hipModuleGetGlobal(&address, nullptr, one, "number"));
    show("the same address", address == in_one);
    show("a kernel's name", hipModuleGetGlobal(&address, &bytes, one, "add"));
    show("no name in the module", hipModuleGetGlobal(&address, &bytes, one, "Number"));
    NEED(hipModuleUnload(one));
    line("one module gone: %d %d", number_in(in_two), number_in(own));
    NEED(hipModuleUnload(two));
}
