// A client of the public headers, linked with -lamdhip64: error texts, error state, version numbers, refusals.
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
      return 1;                                                               \
    }                                                                         \
  } while (0)

// Newer than the headers, or in no header.
hipError_t hipDrvGetErrorName(hipError_t error, const char **name);
hipError_t hipDrvGetErrorString(hipError_t error, const char **text);
hipError_t hipExtGetLastError(void);
hipError_t hipInitDevice(void);
const char *hiprtcGetErrorString(int result);
const char *amd_dbgapi_get_build_name(void);
const char *amd_dbgapi_get_git_hash(void);
size_t amd_dbgapi_get_build_id(void);

static int texts(void) {
  CHECK(!strcmp(hipGetErrorName(hipSuccess), "hipSuccess"));
  CHECK(!strcmp(hipGetErrorString(hipSuccess), "no error"));
  CHECK(!strcmp(hipGetErrorName(hipErrorInvalidResourceHandle), "hipErrorInvalidHandle"));
  CHECK(!strcmp(hipGetErrorString(hipErrorInvalidValue), "invalid argument"));
  CHECK(!strcmp(hipGetErrorString(hipErrorNoBinaryForGpu), "no kernel image is available for execution on the device"));
  CHECK(!strcmp(hipGetErrorString((hipError_t)4711), "unknown error"));

  const char *text = NULL;
  CHECK(hipDrvGetErrorName(hipErrorNotReady, &text) == hipSuccess && !strcmp(text, "hipErrorNotReady"));
  CHECK(hipDrvGetErrorString(hipErrorNotReady, &text) == hipSuccess && !strcmp(text, "device not ready"));
  CHECK(hipDrvGetErrorString((hipError_t)4711, &text) == hipErrorInvalidValue && !strcmp(text, "unknown error"));
  CHECK(hipDrvGetErrorName(hipSuccess, NULL) == hipErrorInvalidValue);

  CHECK(!strcmp(hiprtcGetErrorString(6), "HIPRTC_ERROR_COMPILATION"));
  CHECK(hiprtcGetErrorString(99) == NULL);
  return 0;
}

static int error_state(void) {
  int version;
  (void)hipGetLastError();
  CHECK(hipRuntimeGetVersion(NULL) == hipErrorInvalidValue);
  CHECK(hipRuntimeGetVersion(&version) == hipSuccess);
  CHECK(hipExtGetLastError() == hipSuccess);
  CHECK(hipPeekAtLastError() == hipErrorInvalidValue);
  CHECK(hipGetLastError() == hipErrorInvalidValue);
  CHECK(hipGetLastError() == hipSuccess);
  return 0;
}

static int versions(void) {
  int runtime = 0, driver = 0;
  CHECK(hipRuntimeGetVersion(&runtime) == hipSuccess && runtime / 100000 == 702);
  CHECK(hipDriverGetVersion(&driver) == hipSuccess && driver == runtime);
  CHECK(!strcmp(amd_dbgapi_get_build_name(), "") && !strcmp(amd_dbgapi_get_git_hash(), ""));
  CHECK(amd_dbgapi_get_build_id() == 0);
  return 0;
}

static int values(void) {
  struct hipChannelFormatDesc format = hipCreateChannelDesc(8, 16, 24, 32, hipChannelFormatKindFloat);
  CHECK(format.x == 8 && format.y == 16 && format.z == 24 && format.w == 32);
  CHECK(format.f == hipChannelFormatKindFloat);

  const char *header = "unchanged";
  unsigned bytes = 1;
  __hipGetPCH(&header, &bytes);
  CHECK(header == NULL && bytes == 0);
  return 0;
}

static int refusals(void) {
  CHECK(hipInitDevice() == hipErrorNotSupported);
  CHECK(hipInitDevice() == hipErrorNotSupported);
  CHECK(hipGetLastError() == hipErrorNotSupported);
  CHECK(hipGetLastError() == hipSuccess);
  return 0;
}

int main(void) { return texts() || error_state() || versions() || values() || refusals(); }
