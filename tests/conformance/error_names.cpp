// Name and text of every error code.
#include "observe.h"

int main() {
    const int codes[] = {0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   12,  13,  17,  21,  35,  52,  53,
                         98,  100, 101, 200, 201, 202, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215,
                         216, 217, 218, 219, 300, 301, 302, 303, 304, 400, 401, 500, 600, 700, 701, 702, 704,
                         705, 708, 709, 710, 712, 713, 719, 720, 801, 900, 901, 902, 903, 904, 905, 906, 907,
                         908, 910, 999, 1052, 1053};
    for (int code : codes) {
        line("name of %d: %s", code, hipGetErrorName(static_cast<hipError_t>(code)));
        line("text of %d: %s", code, hipGetErrorString(static_cast<hipError_t>(code)));
    }
    // Numbers that are no codes.
    for (int code : {-1, 10, 11, 99, 703, 899, 911, 998, 1000, 1051, 1054, 123456}) {
        line("name of the number %d: %s", code, hipGetErrorName(static_cast<hipError_t>(code)));
        line("text of the number %d: %s", code, hipGetErrorString(static_cast<hipError_t>(code)));
    }
    // Asking for a name is no call that fails.
    show("last error", hipGetLastError());
}
