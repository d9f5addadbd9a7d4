// Times between events: signs and sums, for kernels of different length.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    hipStream_t stream;
    hipEvent_t event[3];
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (hipEvent_t& e : event) NEED(hipEventCreate(&e));
    // On a busy machine a short kernel may take longer than a long one now and then, but not again and again.
    float short_one = 0, long_one = 0;
    for (int round = 0; round < 8 && long_one <= short_one; ++round) {
        set_slowly<<<1, 64, 0, stream>>>(data, 5, 1);
        NEED(hipEventRecord(event[0], stream));
        set_slowly<<<1, 64, 0, stream>>>(data, 5, 10);
        NEED(hipEventRecord(event[1], stream));
        set_slowly<<<1, 64, 0, stream>>>(data, 5, 5000);
        NEED(hipEventRecord(event[2], stream));
        NEED(hipEventSynchronize(event[2]));
        NEED(hipEventElapsedTime(&short_one, event[0], event[1]));
        NEED(hipEventElapsedTime(&long_one, event[1], event[2]));
    }
    float first, second, both, back;
    show("first", hipEventElapsedTime(&first, event[0], event[1]));
    show("second", hipEventElapsedTime(&second, event[1], event[2]));
    show("both", hipEventElapsedTime(&both, event[0], event[2]));
    show("back", hipEventElapsedTime(&back, event[2], event[0]));
    show("the first takes time", first > 0);
    show("the second takes time", second > 0);
    show("the second takes longer", second > first);
    show("backwards is negative", back < 0);
    float difference = both - (first + second);
    show("they add up", difference < 0.01f && difference > -0.01f);
    show("less than a minute", both < 60000);
    return 0;
}
