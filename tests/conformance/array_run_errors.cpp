// hipMemcpyToArray, hipMemcpyFromArray, hipMemcpyAtoH and hipMemcpyHtoA: what they refuse, and copies of nothing.
// DIFFERS to, behind the last row: 5.2.3 copies nothing and calls it a success; CUDA Runtime API, cudaMemcpyToArray
// DIFFERS from, behind the last row: as to it; CUDA Runtime API, cudaMemcpyFromArray
#include "array.h"

int main() {
    static float host[4096];
    hipArray *a = plane(), *row = plane(16, 0);
    const auto h2d = hipMemcpyHostToDevice, d2h = hipMemcpyDeviceToHost;
    show("to, more than there is", hipMemcpyToArray(a, 4, 0, host, 512, h2d));
    show("to, behind the last row", hipMemcpyToArray(a, 0, 8, host, 4, h2d));
    show("to, from null", hipMemcpyToArray(a, 0, 0, nullptr, 64, h2d));
    show("to, no array", hipMemcpyToArray(nullptr, 0, 0, host, 64, h2d));
    show("to, nothing", hipMemcpyToArray(a, 0, 0, host, 0, h2d));
    show("from, more than there is", hipMemcpyFromArray(host, a, 4, 0, 512, d2h));
    show("from, behind the last row", hipMemcpyFromArray(host, a, 0, 8, 4, d2h));
    show("from, to null", hipMemcpyFromArray(nullptr, a, 0, 0, 64, d2h));
    show("from, no array", hipMemcpyFromArray(host, nullptr, 0, 0, 64, d2h));
    show("from, nothing", hipMemcpyFromArray(host, a, 0, 0, 0, d2h));
    show("array to host, more than there is", hipMemcpyAtoH(host, a, 0, 513));
    show("array to host, over the end", hipMemcpyAtoH(host, row, 60, 8));
    show("array to host, behind the end", hipMemcpyAtoH(host, row, 64, 4));
    show("array to null", hipMemcpyAtoH(nullptr, row, 0, 8));
    show("no array to host", hipMemcpyAtoH(host, nullptr, 0, 8));
    show("host to array, over the end", hipMemcpyHtoA(row, 60, host, 8));
    show("host to array, behind the end", hipMemcpyHtoA(row, 64, host, 4));
    show("null to array", hipMemcpyHtoA(row, 0, nullptr, 4));
    show("host to no array", hipMemcpyHtoA(nullptr, 0, host, 4));
    NEED(hipFreeArray(a));
    NEED(hipFreeArray(row));
}
