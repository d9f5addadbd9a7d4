// How wide, high and deep arrays can be.
#include "array.h"

static void side(const char* label, size_t width, size_t height, size_t depth, unsigned flags) {
    hipArray* array = nullptr;
    hipError_t error = hipMalloc3DArray(&array, &floats, make_hipExtent(width, height, depth), flags);
    line("%s %zu %zu %zu: %s", label, width, height, depth, observe::name_of(error).c_str());
    if (error == hipSuccess) NEED(hipFreeArray(array));
}

int main() {
    const size_t sides[] = {1024, 8192, 8193, 16384, 16385, 65536, 1u << 31, ~size_t(0)};
    for (size_t n : sides) side("row", n, 0, 0, hipArrayDefault);
    for (size_t n : sides) side("plane", n, 2, 0, hipArrayDefault);
    for (size_t n : sides) side("plane", 2, n, 0, hipArrayDefault);
    for (size_t n : sides) side("box", n, 2, 2, hipArrayDefault);
    for (size_t n : sides) side("box", 2, n, 2, hipArrayDefault);
    for (size_t n : sides) side("box", 2, 2, n, hipArrayDefault);
    for (size_t n : sides) side("layers", 2, 2, n, hipArrayLayered);
    side("plane", 16384, 16384, 0, hipArrayDefault);
}
