// hipMemcpyHtoD, DtoH, DtoD and their asynchronous forms: the bytes, at offsets.
#include "observe.h"

int main() {
    const int count = 1024;
    int *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, count * sizeof(int)));
    NEED(hipMalloc(&b, count * sizeof(int)));
    std::vector<int> host(count), back(count, -1);
    for (int i = 0; i < count; ++i) host[i] = i * 3;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));

    show("HtoD", hipMemcpyHtoD(a, host.data(), count * sizeof(int)));
    show("DtoD", hipMemcpyDtoD(b, a, count * sizeof(int)));
    show("DtoH", hipMemcpyDtoH(back.data(), b, count * sizeof(int)));
    show("the same", back == host);
    show("HtoD of a part", hipMemcpyHtoD(a + 10, host.data() + 500, 20 * sizeof(int)));
    show("DtoH of a part", hipMemcpyDtoH(back.data(), a + 5, 30 * sizeof(int)));
    line("the part: %d %d %d %d", back[0], back[5], back[24], back[25]);

    show("HtoDAsync", hipMemcpyHtoDAsync(b, host.data(), count * sizeof(int), stream));
    show("DtoDAsync", hipMemcpyDtoDAsync(a, b, count * sizeof(int), stream));
    std::vector<int> again(count, -1);
    show("DtoHAsync", hipMemcpyDtoHAsync(again.data(), a, count * sizeof(int), stream));
    show("synchronize", hipStreamSynchronize(stream));
    show("the same again", again == host);

    show("HtoD of device memory", hipMemcpyHtoD(b, a, 64));
    show("DtoH of host memory", hipMemcpyDtoH(back.data(), host.data(), 64));
    show("DtoD of host memory", hipMemcpyDtoD(back.data() + 100, host.data(), 64));
    line("the host's part: %d %d", back[1], back[101]);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
