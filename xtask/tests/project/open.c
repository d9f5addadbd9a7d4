// Opens the library by the name on its command line and calls it.
#define _GNU_SOURCE // dlvsym
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*last_error)(void) = (int (*)(void))dlvsym(library, "hipGetLastError", "hip_4.2");
  if (!last_error || last_error() != 0) return 1;
  return dlclose(library);
}
