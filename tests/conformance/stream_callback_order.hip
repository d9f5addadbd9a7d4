// A callback runs behind the work before it and ahead of the work behind it.
#include "captured.h"
#include "hold.h"

struct Look {
    int* pinned;
    int seen;
};
static void look(hipStream_t, hipError_t, void* data) {
    Look* at = static_cast<Look*>(data);
    at->seen = at->pinned[63];
    for (int i = 0; i < 64; ++i) at->pinned[i] += 1000;
}

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    hipStream_t stream;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    Look first = {pinned, -1}, second = {pinned, -1};
    set_slowly<<<1, 64, 0, stream>>>(pinned, 5, 500);
    NEED(hipStreamAddCallback(stream, look, &first, 0));
    multiply<<<1, 64, 0, stream>>>(pinned, 2);
    NEED(hipStreamAddCallback(stream, look, &second, 0));
    multiply<<<1, 64, 0, stream>>>(pinned, 3);
    show("synchronise", hipStreamSynchronize(stream));
    show("the first saw", first.seen);
    show("the second saw", second.seen);
    show_all("in the end", pinned, 64, 9030);
    return 0;
}
