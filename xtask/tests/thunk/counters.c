// Prints the thunk's counters when the program that it is loaded into ends.
#define _GNU_SOURCE
#include <aqlipse_thunk.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

__attribute__((destructor)) static void report(void) {
  int (*read)(uint32_t, aqlipse_thunk_counters_t *) =
      (int (*)(uint32_t, aqlipse_thunk_counters_t *))dlsym(RTLD_DEFAULT, "aqlipseThunkCounters");
  aqlipse_thunk_counters_t c;
  if (!read || read(0, &c) != 0 || read(1, &c) != 5 || read(0, NULL) != 3) return;
  fprintf(stderr, "counters %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
          " %" PRIu64 " %" PRIu64 "\n", c.kernels, c.barrier_and, c.barrier_bits, c.completion_signals, c.interrupts,
          c.doorbells, c.engine_copies, c.engine_bytes);
}
