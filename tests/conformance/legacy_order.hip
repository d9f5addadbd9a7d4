// The legacy stream waits for blocking streams, and they for it; the data shows it.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b, *c;
    for (int** data : {&a, &b, &c}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    NEED(hipDeviceSynchronize());
    hipStream_t first, second;
    NEED(hipStreamCreate(&first));
    NEED(hipStreamCreate(&second));
    int host[64];
    for (int round = 1; round <= 3; ++round) {
        std::string name = "round " + std::to_string(round);
        // a on one blocking stream, b from it on the legacy stream, c from that on another blocking stream.
        set_slowly<<<1, 64, 0, first>>>(a, round, 300);
        add<<<1, 64>>>(b, a, 10);
        add<<<1, 64, 0, second>>>(c, b, 100);
        NEED(hipStreamSynchronize(second));
        NEED(hipMemcpy(host, c, sizeof host, hipMemcpyDeviceToHost));
        show_all(("behind the legacy stream, " + name).c_str(), host, 64, 110 + round);
    }
    // The other way round: a slow kernel on the legacy stream.
    set_slowly<<<1, 64>>>(a, 50, 300);
    add<<<1, 64, 0, first>>>(b, a, 1);
    add<<<1, 64, 0, second>>>(c, a, 2);
    sum<<<1, 64>>>(a, b, c);
    show("synchronise null", hipStreamSynchronize(nullptr));
    NEED(hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost));
    show_all("legacy, two blocking, legacy", host, 64, 103);
    return 0;
}
