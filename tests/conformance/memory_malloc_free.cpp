// hipMalloc and hipFree: sizes of zero and beyond the device, null, double and interior frees.
#include "observe.h"

// DIFFERS free of an interior pointer: 5.2.3 frees the whole allocation; the pointer must be what hipMalloc
//     gave
// DIFFERS free at last: 5.2.3 has freed it already by an interior pointer; cudaFree
int main() {
    void* p = reinterpret_cast<void*>(0x10);
    show("malloc of 0 bytes", hipMalloc(&p, 0));
    show("its pointer is null", p == nullptr);
    show("malloc into null", hipMalloc(static_cast<void**>(nullptr), 16));
    show("malloc of 0 bytes into null", hipMalloc(static_cast<void**>(nullptr), 0));

    void* big = reinterpret_cast<void*>(0x10);
    show("malloc of SIZE_MAX", hipMalloc(&big, SIZE_MAX));
    show("last error", hipGetLastError());
    show("last error is gone", hipGetLastError());
    show("malloc of 2^62", hipMalloc(&big, size_t(1) << 62));
    show("peeked error", hipPeekAtLastError());
    size_t free_bytes = 0, total = 0;
    NEED(hipMemGetInfo(&free_bytes, &total));
    show("malloc of the total and a bit", hipMalloc(&big, total + (size_t(1) << 30)));

    show("free of null", hipFree(nullptr));
    void* a = nullptr;
    void* b = nullptr;
    show("malloc of 1 byte", hipMalloc(&a, 1));
    show("malloc of 1 MiB", hipMalloc(&b, 1 << 20));
    show("both are set", a && b);
    show("they differ", a != b);
    show("alignment of 256",
         reinterpret_cast<uintptr_t>(a) % 256 == 0 && reinterpret_cast<uintptr_t>(b) % 256 == 0);
    show("free of an interior pointer", hipFree(static_cast<char*>(b) + 256));
    show("free of the byte behind", hipFree(static_cast<char*>(b) + (1 << 20)));
    show("free at last", hipFree(b));
    show("free twice", hipFree(b));
    show("free of the other", hipFree(a));

    int local = 0;
    show("free of a stack address", hipFree(&local));
    void* heap = std::malloc(4096);
    show("free of malloc's pointer", hipFree(heap));
    std::free(heap);
    show("free of a small number", hipFree(reinterpret_cast<void*>(0x1000)));
    show("last error after wrong frees", hipGetLastError());

    std::vector<void*> many(200);
    int failed = 0;
    for (size_t i = 0; i < many.size(); ++i) failed += hipMalloc(&many[i], 1 + i * 37) != hipSuccess;
    show("200 allocations that failed", failed);
    bool apart = true;
    for (size_t i = 0; i < many.size(); ++i) {
        for (size_t j = 0; j < many.size(); ++j) {
            char *x = static_cast<char*>(many[i]), *y = static_cast<char*>(many[j]);
            if (i != j && x <= y && y < x + 1 + i * 37) apart = false;
        }
    }
    show("none overlaps another", apart);
    for (void* one : many) failed += hipFree(one) != hipSuccess;
    show("frees that failed", failed);
}
