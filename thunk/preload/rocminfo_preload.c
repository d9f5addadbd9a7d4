// A preload for rocminfo, which looks for the kernel module before it starts the HSA runtime: it asks lsmod for
// "amdgpu" and opens /dev/kfd. Both are answered here; nothing else is changed, and no other program needs this.
//
//     LD_LIBRARY_PATH=target/dist/thunk LD_PRELOAD=target/dist/thunk/librocminfo_preload.so rocminfo
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

static const char *device(const char *path) { return path && !strcmp(path, "/dev/kfd") ? "/dev/null" : path; }

static int open_with(const char *name, const char *path, int flags, mode_t mode) {
  int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
  return next(device(path), flags, mode);
}

FILE *popen(const char *command, const char *type) {
  FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "popen");
  return next(strstr(command, "lsmod") ? "echo amdgpu 1 0" : command, type);
}

// The mode is read only where the caller passes one.
#define OPEN(name)                                      \
  int name(const char *path, int flags, ...) {          \
    mode_t mode = 0;                                    \
    if (flags & (O_CREAT | O_TMPFILE)) {                \
      va_list arguments;                                \
      va_start(arguments, flags);                       \
      mode = va_arg(arguments, mode_t);                 \
      va_end(arguments);                                \
    }                                                   \
    return open_with(#name, path, flags, mode);         \
  }

OPEN(open)
OPEN(open64)
