// hipArrayCreate and hipArray3DCreate: formats, channels and shapes as the driver describes them.
#include "array.h"

static HIP_ARRAY_DESCRIPTOR flat(size_t width, size_t height, int format, unsigned channels) {
    HIP_ARRAY_DESCRIPTOR desc{};
    desc.Width = width;
    desc.Height = height;
    desc.Format = static_cast<hipArray_Format>(format);
    desc.NumChannels = channels;
    return desc;
}

static void create(const std::string& label, const HIP_ARRAY_DESCRIPTOR& desc) {
    hipArray* array = nullptr;
    hipError_t error = hipArrayCreate(&array, &desc);
    show(label.c_str(), error);
    if (error != hipSuccess) return;
    show_array(label.c_str(), array);
    show((label + " destroyed").c_str(), hipArrayDestroy(array));
}

int main() {
    for (int format : {0, 1, 2, 3, 4, 8, 9, 10, 16, 32, 64})
        for (unsigned channels : {0u, 1u, 2u, 3u, 4u, 5u})
            create("format " + std::to_string(format) + " of " + std::to_string(channels), flat(4, 4, format, channels));
    create("a row", flat(4, 0, HIP_AD_FORMAT_FLOAT, 1));
    create("no width", flat(0, 4, HIP_AD_FORMAT_FLOAT, 1));
    create("a width that overflows", flat(~size_t(0), 1, HIP_AD_FORMAT_FLOAT, 1));

    const size_t shapes[][3] = {{4, 4, 4}, {4, 0, 0}, {4, 4, 0}, {4, 0, 4}, {0, 4, 4}};
    for (auto& shape : shapes) {
        HIP_ARRAY3D_DESCRIPTOR desc{};
        desc.Width = shape[0];
        desc.Height = shape[1];
        desc.Depth = shape[2];
        desc.Format = HIP_AD_FORMAT_UNSIGNED_INT16;
        desc.NumChannels = 2;
        hipArray* array = nullptr;
        std::string label = "box";
        for (size_t n : shape) label += " " + std::to_string(n);
        hipError_t error = hipArray3DCreate(&array, &desc);
        made(label, error, array);
    }
}
