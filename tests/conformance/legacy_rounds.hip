// Many rounds between the legacy stream and three blocking streams.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    hipStream_t streams[3];
    for (hipStream_t& stream : streams) NEED(hipStreamCreate(&stream));
    unsigned expected = 0;
    for (int round = 0; round < 60; ++round) {
        // Blocking streams are ordered through the legacy stream only.
        add<<<1, 64, 0, streams[round % 3]>>>(data, data, round);
        multiply<<<1, 64>>>(data, 3);
        expected = (expected + round) * 3;
    }
    int host[64];
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    int right = 0;
    for (int x : host) right += static_cast<unsigned>(x) == expected;
    show("right elements", right);
    return 0;
}
