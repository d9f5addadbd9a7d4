// Which libraries a program gets, and whether they come up.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

int main() {
    hipError_t started = hipInit(0);
    int devices = 0;
    if (started == hipSuccess) started = hipGetDeviceCount(&devices);
    std::printf("hip: %s\n", hipGetErrorName(started));
    std::printf("devices: %d\n", devices);
    int runtime = 0, driver = 0;
    if (hipRuntimeGetVersion(&runtime) == hipSuccess) std::printf("runtime: %d\n", runtime);
    if (hipDriverGetVersion(&driver) == hipSuccess) std::printf("driver: %d\n", driver);
    hipDeviceProp_t properties;
    if (devices > 0 && hipGetDeviceProperties(&properties, 0) == hipSuccess)
        std::printf("gpu: %s\n", properties.gcnArchName);

    // HIP's codes do not say why ROCr does not start.
    if (started != hipSuccess || devices == 0) {
        void* rocr = dlopen("libhsa-runtime64.so.1", RTLD_NOW);
        auto init = reinterpret_cast<int (*)()>(rocr ? dlsym(rocr, "hsa_init") : nullptr);
        auto text = reinterpret_cast<int (*)(int, const char**)>(rocr ? dlsym(rocr, "hsa_status_string") : nullptr);
        if (init && text) {
            int status = init();
            const char* words = "a status without text";
            text(status, &words);
            std::printf("hsa_init: %#x %s\n", status, words);
        } else {
            std::printf("hsa_init: %s\n", dlerror());
        }
    }

    std::set<std::string> libraries;
    FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    while (maps && std::fgets(line, sizeof line, maps)) {
        const char* path = std::strchr(line, '/');
        if (!path || (!std::strstr(path, "/libamdhip64") && !std::strstr(path, "/libhsa"))) continue;
        libraries.insert(std::string(path, std::strcspn(path, "\n")));
    }
    for (const std::string& library : libraries) std::printf("library: %s\n", library.c_str());
}
