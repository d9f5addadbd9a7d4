// Algorithms of rocPRIM on unsigned and floating-point numbers, as functions that a script calls.

#include <hip/hip_runtime.h>
#include <rocprim/rocprim.hpp>

// Each works on `n` elements in the stream's order, in memory of `bytes` bytes; without memory it gives the bytes.
extern "C" hipError_t sort(void *memory, size_t *bytes, unsigned *in, unsigned *out, size_t n, hipStream_t stream) {
    return rocprim::radix_sort_keys(memory, *bytes, in, out, n, 0, 32, stream);
}

extern "C" hipError_t scan(void *memory, size_t *bytes, unsigned *in, unsigned *out, size_t n, hipStream_t stream) {
    return rocprim::inclusive_scan(memory, *bytes, in, out, n, rocprim::plus<unsigned>(), stream);
}

extern "C" hipError_t sum(void *memory, size_t *bytes, float *in, float *out, size_t n, hipStream_t stream) {
    return rocprim::reduce(memory, *bytes, in, out, n, rocprim::plus<float>(), stream);
}
