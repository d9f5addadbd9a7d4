// hipMemcpy2D and hipMemcpy2DAsync: every direction between pinned, pageable and device memory, with hipMemcpyDefault.
#include "observe.h"

static const size_t pitch = 80, width = 33, height = 7, total = pitch * height;

int main() {
    unsigned char *device[2], *pinned[2];
    std::vector<unsigned char> pageable[2];
    for (int i = 0; i < 2; ++i) {
        NEED(hipMalloc(&device[i], total));
        NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned[i]), total, 0));
        pageable[i].assign(total, 0);
    }
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    const char* names[] = {"device", "pinned", "pageable"};
    unsigned char* from[] = {device[0], pinned[0], pageable[0].data()};
    unsigned char* to[] = {device[1], pinned[1], pageable[1].data()};
    std::vector<unsigned char> input(total), zero(total, 0), found(total);
    for (size_t i = 0; i < total; ++i) input[i] = static_cast<unsigned char>(i * 13 + 5);
    for (int s = 0; s < 3; ++s)
        for (int d = 0; d < 3; ++d)
            for (bool async : {false, true}) {
                NEED(hipMemcpy(from[s], input.data(), total, hipMemcpyDefault));
                NEED(hipMemcpy(to[d], zero.data(), total, hipMemcpyDefault));
                hipError_t error = async ? hipMemcpy2DAsync(to[d], pitch, from[s] + 3, pitch, width, height - 1,
                                                            hipMemcpyDefault, stream)
                                         : hipMemcpy2D(to[d], pitch, from[s] + 3, pitch, width, height - 1,
                                                       hipMemcpyDefault);
                std::string label = std::string(names[s]) + " to " + names[d] + (async ? " on a stream" : "");
                show(label.c_str(), error);
                NEED(hipStreamSynchronize(stream));
                NEED(hipDeviceSynchronize());
                NEED(hipMemcpy(found.data(), to[d], total, hipMemcpyDefault));
                show_sum((label + ", bytes").c_str(), found.data(), total);
            }
    for (int i = 0; i < 2; ++i) {
        NEED(hipFree(device[i]));
        NEED(hipHostFree(pinned[i]));
    }
    NEED(hipStreamDestroy(stream));
}
