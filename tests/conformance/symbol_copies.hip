// Copies to and from device and constant variables: offsets, kinds, kernels that see the data.
#include "observe.h"

__device__ int numbers[64];
__constant__ int constants[16] = {9, 8, 7, 6};
__device__ double one_double = 2.5;

__global__ void sum(int* out) {
    int total = 0;
    for (int i = 0; i < 64; ++i) total += numbers[i];
    out[0] = total;
    out[1] = constants[0] + constants[15];
    out[2] = int(one_double * 10);
    one_double = 7.25;
}

// DIFFERS to a constant, default kind: 6.3 refuses a kind that the pointers decide; its header has it as the default of
//     other copies, and CUDA takes it (cudaMemcpyToSymbol)
// DIFFERS a kernel sees: the copy before is refused; as there
int main() {
    int host[64], back[64] = {};
    for (int i = 0; i < 64; ++i) host[i] = i;
    show("initial constant", hipMemcpyFromSymbol(back, HIP_SYMBOL(constants), 4 * sizeof(int)));
    line("initial constants: %d %d %d %d", back[0], back[1], back[2], back[3]);
    show("to a variable", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, sizeof numbers));
    show("from a variable", hipMemcpyFromSymbol(back, HIP_SYMBOL(numbers), sizeof numbers));
    show("the same", std::memcmp(host, back, sizeof host) == 0);
    int part[3] = {100, 200, 300};
    show("to an offset", hipMemcpyToSymbol(HIP_SYMBOL(numbers), part, sizeof part, 10 * sizeof(int)));
    show("from an offset", hipMemcpyFromSymbol(back, HIP_SYMBOL(numbers), 5 * sizeof(int), 9 * sizeof(int)));
    line("around it: %d %d %d %d %d", back[0], back[1], back[2], back[3], back[4]);
    int last = 77;
    show("to the last element",
         hipMemcpyToSymbol(HIP_SYMBOL(constants), &last, sizeof last, 15 * sizeof(int)));
    show("to a constant, default kind",
         hipMemcpyToSymbol(HIP_SYMBOL(constants), part, 4, 0, hipMemcpyDefault));

    int* device = nullptr;
    NEED(hipMalloc(&device, 64 * sizeof(int)));
    sum<<<1, 1>>>(device);
    NEED(hipMemcpy(back, device, 3 * sizeof(int), hipMemcpyDeviceToHost));
    line("a kernel sees: %d %d %d", back[0], back[1], back[2]);
    double value = 0;
    show("from what it wrote", hipMemcpyFromSymbol(&value, HIP_SYMBOL(one_double), sizeof value));
    show("value", value);

    NEED(hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice));
    show("to a variable from the device",
         hipMemcpyToSymbol(HIP_SYMBOL(numbers), device, sizeof numbers, 0, hipMemcpyDeviceToDevice));
    show("from a variable to the device",
         hipMemcpyFromSymbol(device + 32, HIP_SYMBOL(numbers), 32 * sizeof(int), 0, hipMemcpyDeviceToDevice));
    NEED(hipMemcpy(back, device, sizeof back, hipMemcpyDeviceToHost));
    line("device copies: %d %d %d", back[31], back[32], back[63]);

    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("async to",
         hipMemcpyToSymbolAsync(HIP_SYMBOL(numbers), part, sizeof part, 0, hipMemcpyHostToDevice, stream));
    show("async from",
         hipMemcpyFromSymbolAsync(back, HIP_SYMBOL(numbers), sizeof part, 0, hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    line("async: %d %d %d", back[0], back[1], back[2]);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
}
