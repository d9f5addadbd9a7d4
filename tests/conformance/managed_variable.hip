// Managed variables of a program: initial values, the host's and the kernels' view, pointer attributes, a reset.
// proves: __hipRegisterManagedVar
#include "observe.h"

#ifndef __managed__
#define __managed__ __attribute__((managed))
#endif

struct Pair {
    short first;
    double second;
};

__managed__ int counter = 7;
__managed__ int table[4] = {1, 2, 3, 4};
__managed__ Pair pair = {5, 2.5};
__managed__ long nothing[3];

__global__ void change() {
    table[threadIdx.x] *= 10;
    if (threadIdx.x == 0) {
        counter += table[0];
        pair.second += pair.first;
        nothing[2] = 9;
    }
}

static void print(const char* when) {
    line("%s: %d, %d %d %d %d, %d %g, %ld %ld %ld", when, counter, table[0], table[1], table[2], table[3],
         pair.first, pair.second, nothing[0], nothing[1], nothing[2]);
}

int main() {
    print("initially");
    counter = 100;
    pair.first = 1;
    change<<<1, 4>>>();
    show("launch", hipGetLastError());
    show("synchronise", hipDeviceSynchronize());
    print("after the kernel");
    int values[4] = {-1, -2, -3, -4};
    show("copy to it", hipMemcpy(table, values, sizeof values, hipMemcpyDefault));
    print("after a copy");
    show("fill it", hipMemset(&counter, 0, sizeof counter));
    show("synchronise", hipDeviceSynchronize());
    print("after a fill");
    hipPointerAttribute_t attributes{};
    show("attributes", hipPointerGetAttributes(&attributes, &counter));
    show("managed", attributes.isManaged != 0);
    show("device pointer is its address", attributes.devicePointer == &counter);
    show("host pointer is its address", attributes.hostPointer == &counter);
    void* address = nullptr;
    size_t bytes = 0;
    show("address by symbol", hipGetSymbolAddress(&address, HIP_SYMBOL(counter)));
    show("size by symbol", hipGetSymbolSize(&bytes, HIP_SYMBOL(counter)));
    show("copy to the symbol", hipMemcpyToSymbol(HIP_SYMBOL(counter), values, 4));
    print("after that");
}
