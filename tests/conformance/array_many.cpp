// A thousand arrays at once, and memory that comes back when they go.
#include "array.h"

int main() {
    std::vector<hipArray*> arrays;
    bool all = true;
    for (int i = 0; i < 1000; ++i) {
        hipArray* array = nullptr;
        all = all && hipMallocArray(&array, &floats, 1 + i % 100, i % 7, hipArrayDefault) == hipSuccess;
        arrays.push_back(array);
    }
    show("all were made", all);
    bool distinct = true, right = true;
    for (size_t i = 0; i < arrays.size(); ++i) {
        right = right && arrays[i]->width == 1 + i % 100 && arrays[i]->height == i % 7;
        for (size_t j = 0; j < i; ++j) distinct = distinct && arrays[i] != arrays[j];
    }
    show("no two are the same", distinct);
    show("each is as it was asked for", right);
    for (size_t i = 0; i < arrays.size(); i += 2) all = all && hipFreeArray(arrays[i]) == hipSuccess;
    for (size_t i = 1; i < arrays.size(); i += 2) all = all && hipArrayDestroy(arrays[i]) == hipSuccess;
    show("all were freed", all);
    show("null is no array", hipFreeArray(nullptr));
    show("null is no array of the driver's", hipArrayDestroy(nullptr));
}
