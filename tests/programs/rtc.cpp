// Compiles a program at run time through libhiprtc.so, without an architecture, and runs it: templates, a header, a log.
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

static const char* const SOURCE =
    "#include \"scale.h\"\n"
    "namespace app {\n"
    "template <class T> __global__ void scale(T* x, T factor, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] = offset(x[i] * factor);\n"
    "}\n"
    "}\n";
static const char* const HEADER = "template <class T> __device__ T offset(T x) { return x + T(1); }\n";

static std::string log_of(hiprtcProgram program) {
  size_t bytes = 0;
  CHECK(hiprtcGetProgramLogSize(program, &bytes) == HIPRTC_SUCCESS);
  std::string log(bytes, ' ');
  if (bytes > 0) CHECK(hiprtcGetProgramLog(program, &log[0]) == HIPRTC_SUCCESS);
  return log;
}

template <class T>
static void run(hipModule_t module, const char* kernel) {
  const int count = 1000;
  std::vector<T> values(count);
  for (int i = 0; i < count; ++i) values[i] = T(i);
  T* device = nullptr;
  T factor = 3;
  int n = count;
  CHECK(hipMalloc(reinterpret_cast<void**>(&device), count * sizeof(T)) == hipSuccess);
  CHECK(hipMemcpy(device, values.data(), count * sizeof(T), hipMemcpyHostToDevice) == hipSuccess);
  hipFunction_t function;
  CHECK(hipModuleGetFunction(&function, module, kernel) == hipSuccess);
  void* arguments[] = {&device, &factor, &n};
  CHECK(hipModuleLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr) == hipSuccess);
  CHECK(hipMemcpy(values.data(), device, count * sizeof(T), hipMemcpyDeviceToHost) == hipSuccess);
  for (int i = 0; i < count; ++i) CHECK(values[i] == T(3 * i + 1));
  CHECK(hipFree(device) == hipSuccess);
}

int main() {
  int major = 0, minor = 0;
  CHECK(hiprtcVersion(&major, &minor) == HIPRTC_SUCCESS && major == 9);
  CHECK(std::string(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION)) == "HIPRTC_ERROR_COMPILATION");

  hiprtcProgram program;
  const char* headers[] = {HEADER};
  const char* names[] = {"scale.h"};
  CHECK(hiprtcCreateProgram(&program, SOURCE, "scale.hip", 1, headers, names) == HIPRTC_SUCCESS);
  CHECK(hiprtcAddNameExpression(program, "app::scale<float>") == HIPRTC_SUCCESS);
  CHECK(hiprtcAddNameExpression(program, "&app::scale<long>") == HIPRTC_SUCCESS);
  const char* options[] = {"-O2", "-Wall"};
  if (hiprtcCompileProgram(program, 2, options) != HIPRTC_SUCCESS) {
    std::printf("%s\n", log_of(program).c_str());
    return 1;
  }
  size_t bytes = 0;
  CHECK(hiprtcGetCodeSize(program, &bytes) == HIPRTC_SUCCESS);
  std::vector<char> code(bytes);
  CHECK(hiprtcGetCode(program, code.data()) == HIPRTC_SUCCESS);

  hipModule_t module;
  CHECK(hipModuleLoadData(&module, code.data()) == hipSuccess);
  const char* lowered = nullptr;
  CHECK(hiprtcGetLoweredName(program, "app::scale<float>", &lowered) == HIPRTC_SUCCESS);
  run<float>(module, lowered);
  CHECK(hiprtcGetLoweredName(program, "&app::scale<long>", &lowered) == HIPRTC_SUCCESS);
  run<long>(module, lowered);
  CHECK(hipModuleUnload(module) == hipSuccess);
  CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);

  CHECK(hiprtcCreateProgram(&program, "\n__global__ void f() { oops(); }", "wrong.hip", 0, nullptr, nullptr) ==
        HIPRTC_SUCCESS);
  CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION);
  CHECK(log_of(program).find("wrong.hip:2:23: error") != std::string::npos);
  CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);
  std::printf("Validation passed.\n");
}
