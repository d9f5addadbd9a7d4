// A stream that is destroyed with work on it still does the work.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 256 * sizeof(int)));
    NEED(hipMemset(data, 0, 256 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    for (unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
        std::string name = flags == hipStreamDefault ? "blocking" : "non-blocking";
        hipStream_t stream;
        NEED(hipStreamCreateWithFlags(&stream, flags));
        set_slowly<<<4, 64, 0, stream>>>(data, 7, 500);
        multiply<<<4, 64, 0, stream>>>(data, 3);
        show("destroy, " + name, hipStreamDestroy(stream));
        show("device synchronise, " + name, hipDeviceSynchronize());
        int host[256];
        NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
        show_all(("data, " + name).c_str(), host, 256, 21);
        NEED(hipMemset(data, 0, sizeof host));
    }
    return 0;
}
