// What profilers ask by number: names of commands and of functions; and profiling that starts and stops.
// proves: hipGetCmdName, hipProfilerStart, hipProfilerStop
#include "observe.h"

extern "C" const char* hipGetCmdName(unsigned kind);

// DIFFERS function 6: 5.2.3 knows it by the name that HIP 6 gave to another; hip_prof_str.h of HIP 7
// DIFFERS function 340: 5.2.3 does not know it yet; hip_prof_str.h of HIP 7
// DIFFERS start: AMD's refuses, as its header says; cudaProfilerStart succeeds, and programs call both without
//     looking
// DIFFERS stop: AMD's refuses, as its header says; cudaProfilerStart succeeds, and programs call both without
//     looking
int main() {
    for (unsigned kind = 0x11ee; kind < 0x1210; ++kind) line("command %#x: %s", kind, hipGetCmdName(kind));
    for (unsigned kind : {0u, 1u, 0x1240u, ~0u}) line("command %#x: %s", kind, hipGetCmdName(kind));
    for (unsigned id : {0u, 1u, 2u, 3u, 6u, 31u, 100u, 200u, 300u, 330u, 340u, 1000u, ~0u}) {
        line("function %u: %s", id, hipApiName(id));
    }
    show("start", hipProfilerStart());
    show("stop", hipProfilerStop());
}
