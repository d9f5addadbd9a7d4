// Flags of arrays: layers, surfaces and gathers are taken, cubemaps and what is no flag are not.
#include "array.h"

int main() {
    for (unsigned flags : {0x0u, 0x2u, 0x4u, 0x8u, 0x10u, 0x40u, 0x80000000u}) {
        hipArray* array = nullptr;
        hipError_t error = hipMallocArray(&array, &floats, 6, 6, flags);
        made("plane with flags " + std::to_string(flags), error, array);
    }
    for (unsigned flags : {0x0u, 0x1u, 0x2u, 0x4u, 0x5u, 0x8u, 0x10u, 0x40u, 0x80000000u}) {
        hipArray* array = nullptr;
        hipError_t error = hipMalloc3DArray(&array, &floats, make_hipExtent(6, 6, 6), flags);
        made("box with flags " + std::to_string(flags), error, array);
        HIP_ARRAY3D_DESCRIPTOR desc{};
        desc.Width = desc.Height = desc.Depth = 6;
        desc.Format = HIP_AD_FORMAT_FLOAT;
        desc.NumChannels = 1;
        desc.Flags = flags;
        array = nullptr;
        error = hipArray3DCreate(&array, &desc);
        made("the driver's with flags " + std::to_string(flags), error, array);
    }
    hipArray* array = nullptr;
    made("plane of layers", hipMallocArray(&array, &floats, 6, 6, hipArrayLayered), array);
}
