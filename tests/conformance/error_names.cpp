// Name and text of every error code.
#include "observe.h"

int main() {
    const int codes[] = {0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   12,  13,  17,  21,  35,  52,  53,
                         98,  100, 101, 200, 201, 202, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215,
                         216, 217, 218, 219, 300, 301, 302, 303, 304, 400, 401, 500, 600, 700, 701, 702, 704,
                         705, 708, 709, 710, 712, 713, 719, 720, 801, 900, 901, 902, 903, 904, 905, 906, 907,
                         908, 910, 999, 1052, 1053};
    // DIFFERS text of: 5.2.3 gives the name again; 6.4.3 gives these sentences (capi/src/error.rs)
    for (int code : codes) {
        line("name of %d: %s", code, hipGetErrorName(static_cast<hipError_t>(code)));
        line("text of %d: %s", code, hipGetErrorString(static_cast<hipError_t>(code)));
    }
    // Numbers that are no codes.
    // DIFFERS name of the number 911: a code since 5.2.3; HIP 7's hip_runtime_api.h
    // DIFFERS name of the number 1054: hipErrorTbd is the end of the enumeration; 6.4.3 (capi/src/error.rs)
    for (int code : {-1, 10, 11, 99, 703, 899, 911, 998, 1000, 1051, 1054, 123456}) {
        line("name of the number %d: %s", code, hipGetErrorName(static_cast<hipError_t>(code)));
        line("text of the number %d: %s", code, hipGetErrorString(static_cast<hipError_t>(code)));
    }
    // Asking for a name is no call that fails.
    show("last error", hipGetLastError());
}
