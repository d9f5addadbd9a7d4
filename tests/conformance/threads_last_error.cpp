// The last error belongs to a thread.
#include "captured.h"

#include <thread>

int main() {
    (void)hipGetLastError();
    show("an error here", hipStreamCreateWithFlags(nullptr, 0));
    hipError_t first = hipErrorUnknown, made = hipErrorUnknown, second = hipErrorUnknown;
    std::thread([&] {
        first = hipPeekAtLastError();
        made = hipEventQuery(nullptr);
        second = hipPeekAtLastError();
    }).join();
    show("a new thread's", first);
    show("an error there", made);
    show("there after it", second);
    show("peek here", hipPeekAtLastError());
    show("get here", hipGetLastError());
    show("get again", hipGetLastError());
    return 0;
}
