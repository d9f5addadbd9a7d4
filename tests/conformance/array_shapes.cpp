// hipMallocArray and hipMalloc3DArray: rows, planes, boxes and layers, and shapes that no array has.
#include "array.h"

static void flat(size_t width, size_t height) {
    hipArray* array = nullptr;
    hipError_t error = hipMallocArray(&array, &floats, width, height, hipArrayDefault);
    made("plane " + std::to_string(width) + " " + std::to_string(height), error, array);
}

static void deep(size_t width, size_t height, size_t depth, unsigned flags) {
    hipArray* array = nullptr;
    hipError_t error = hipMalloc3DArray(&array, &floats, make_hipExtent(width, height, depth), flags);
    std::string label = flags ? "layers " : "box ";
    for (size_t n : {width, height, depth}) label += std::to_string(n) + " ";
    made(label, error, array);
}

int main() {
    flat(16, 8);
    flat(1, 1);
    flat(16, 0);
    flat(0, 8);
    flat(0, 0);
    for (unsigned flags : {hipArrayDefault, hipArrayLayered}) {
        deep(4, 4, 4, flags);
        deep(4, 0, 4, flags);
        deep(4, 4, 0, flags);
        deep(4, 0, 0, flags);
        deep(0, 4, 4, flags);
        deep(0, 0, 0, flags);
        deep(1, 1, 1, flags);
        deep(7, 5, 3, flags);
    }
}
