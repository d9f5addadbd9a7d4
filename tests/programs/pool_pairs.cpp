// Allocates and frees memory of a warm pool again and again: for a tool that counts instructions.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                          \
    do {                                                                     \
        if ((call) != hipSuccess) {                                          \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #call);  \
            std::exit(1);                                                    \
        }                                                                    \
    } while (0)

int main(int argc, char** argv) {
    const int pairs = argc > 1 ? std::atoi(argv[1]) : 1;
    hipStream_t stream;
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (int pair = 0; pair < pairs; ++pair) {
        void* memory;
        CHECK(hipMallocAsync(&memory, 1 << 16, stream));
        CHECK(hipFreeAsync(memory, stream));
    }
    CHECK(hipStreamSynchronize(stream));
    std::puts("Validation passed.");
}
