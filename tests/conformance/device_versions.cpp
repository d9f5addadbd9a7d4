// Version numbers of runtime and driver and how they belong together.
#include "observe.h"

int main() {
    int runtime = -1, driver = -1;
    show("runtime", hipRuntimeGetVersion(&runtime));
    show("driver", hipDriverGetVersion(&driver));
    show("runtime is the driver's", runtime == driver);
    show("runtime is at least the header's", runtime >= HIP_VERSION);
    show("major is plausible", runtime / 10000000 >= 5 && runtime / 10000000 < 20);
    show("runtime to null", hipRuntimeGetVersion(nullptr));
    show("driver to null", hipDriverGetVersion(nullptr));
    show("last error", hipGetLastError());
}
