// What copies to and from symbols refuse, and hipGetSymbolAddress and hipGetSymbolSize.
#include "observe.h"

__device__ int numbers[64];
__constant__ short constants[10];
static int plain[64];

__global__ void use(int* out) { *out = numbers[3] + constants[2]; }

// DIFFERS bad kind: 5.2.3 takes any; hipErrorInvalidMemcpyDirection is for those that are not of a symbol
//     (cudaMemcpyToSymbol)
int main() {
    int host[64] = {};
    show("too many bytes", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, sizeof numbers + 4));
    show("offset too far", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 8, sizeof numbers - 4));
    show("offset beyond", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 4, sizeof numbers + 4));
    show("0 bytes", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 0));
    show("0 bytes at the end", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 0, sizeof numbers));
    show("null source", hipMemcpyToSymbol(HIP_SYMBOL(numbers), nullptr, 4));
    show("null symbol", hipMemcpyToSymbol(nullptr, host, 4));
    show("no symbol", hipMemcpyToSymbol(plain, host, 4));
    show("bad kind, DtoH", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 4, 0, hipMemcpyDeviceToHost));
    show("bad kind, HtoH", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 4, 0, hipMemcpyHostToHost));
    show("bad kind, 9", hipMemcpyToSymbol(HIP_SYMBOL(numbers), host, 4, 0, hipMemcpyKind(9)));
    show("from, too many bytes", hipMemcpyFromSymbol(host, HIP_SYMBOL(numbers), sizeof numbers + 4));
    show("from, offset too far", hipMemcpyFromSymbol(host, HIP_SYMBOL(numbers), 8, sizeof numbers - 4));
    show("from, 0 bytes", hipMemcpyFromSymbol(host, HIP_SYMBOL(numbers), 0));
    show("from, null target", hipMemcpyFromSymbol(nullptr, HIP_SYMBOL(numbers), 4));
    show("from, null symbol", hipMemcpyFromSymbol(host, nullptr, 4));
    show("from, no symbol", hipMemcpyFromSymbol(host, plain, 4));
    show("bad kind, from, HtoD", hipMemcpyFromSymbol(host, HIP_SYMBOL(numbers), 4, 0, hipMemcpyHostToDevice));
    show("bad kind, from, HtoH", hipMemcpyFromSymbol(host, HIP_SYMBOL(numbers), 4, 0, hipMemcpyHostToHost));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("async, too many bytes", hipMemcpyToSymbolAsync(HIP_SYMBOL(numbers), host, sizeof numbers + 4, 0,
                                                         hipMemcpyHostToDevice, stream));
    show("async, null source",
         hipMemcpyToSymbolAsync(HIP_SYMBOL(numbers), nullptr, 4, 0, hipMemcpyHostToDevice, stream));
    show("async, no symbol", hipMemcpyToSymbolAsync(plain, host, 4, 0, hipMemcpyHostToDevice, stream));
    show("async from, null target",
         hipMemcpyFromSymbolAsync(nullptr, HIP_SYMBOL(numbers), 4, 0, hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));

    void *address = nullptr, *again = nullptr;
    size_t bytes = 0;
    show("address", hipGetSymbolAddress(&address, HIP_SYMBOL(numbers)));
    show("address again", hipGetSymbolAddress(&again, HIP_SYMBOL(numbers)));
    show("the same", address && address == again);
    show("size", hipGetSymbolSize(&bytes, HIP_SYMBOL(numbers)));
    show("bytes", bytes);
    show("size of a constant", hipGetSymbolSize(&bytes, HIP_SYMBOL(constants)));
    show("bytes", bytes);
    show("address of null", hipGetSymbolAddress(&address, nullptr));
    show("address of no symbol", hipGetSymbolAddress(&address, plain));
    show("size of null", hipGetSymbolSize(&bytes, nullptr));
    show("size of no symbol", hipGetSymbolSize(&bytes, plain));
    // HIP: 5.2.3 crashes on a null result of either function.
    NEED(hipGetSymbolAddress(&address, HIP_SYMBOL(numbers)));
    show("copy to its address", hipMemcpy(address, host, sizeof numbers, hipMemcpyHostToDevice));
    show("copy beyond it", hipMemcpy(host, static_cast<char*>(address) + 128, 128, hipMemcpyDeviceToHost));
}
