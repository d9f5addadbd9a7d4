// hipFuncGetAttributes and hipFuncGetAttribute of kernels that differ, and what is refused.
// CARD: version, registers and threads
#include "image.h"
#include "resources.h"

// DIFFERS version of: 5.2.3 says 2 and 30 of every kernel; the header has 10 * major + minor of the binary
int main() {
    std::vector<char> image = own_code_object();
    hipModule_t module = nullptr;
    NEED(hipModuleLoadData(&module, image.data()));
    const struct {
        const char* name;
        hipFunction_attribute attribute;
    } attributes[] = {
        {"threads per block", HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
        {"shared bytes", HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
        {"constant bytes", HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES},
        {"local bytes", HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
        {"registers", HIP_FUNC_ATTRIBUTE_NUM_REGS},
        {"cache mode", HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA},
        {"dynamic shared bytes", HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
        {"carve-out", HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
    };
    for (const NamedKernel& kernel : all_kernels) {
        hipFuncAttributes a;
        std::memset(&a, 0x5a, sizeof a);
        show(kernel.name, hipFuncGetAttributes(&a, kernel.function));
        line("version of %s: %d", kernel.name, a.binaryVersion);
        line("%s, cache mode: %d", kernel.name, a.cacheModeCA);
        line("%s, constant bytes: %zu", kernel.name, a.constSizeBytes);
        line("%s, local bytes: %zu", kernel.name, a.localSizeBytes);
        line("%s, dynamic shared bytes: %d", kernel.name, a.maxDynamicSharedSizeBytes);
        line("%s, threads per block: %d", kernel.name, a.maxThreadsPerBlock);
        line("%s, registers: %d", kernel.name, a.numRegs);
        line("%s, carve-out: %d", kernel.name, a.preferredShmemCarveout);
        line("version of %s, PTX: %d", kernel.name, a.ptxVersion);
        line("%s, shared bytes: %zu", kernel.name, a.sharedSizeBytes);
        hipFunction_t f = nullptr;
        NEED(hipModuleGetFunction(&f, module, kernel.name));
        int ptx = -77, binary = -77;
        NEED(hipFuncGetAttribute(&ptx, HIP_FUNC_ATTRIBUTE_PTX_VERSION, f));
        NEED(hipFuncGetAttribute(&binary, HIP_FUNC_ATTRIBUTE_BINARY_VERSION, f));
        line("version of %s in a module: %d, PTX %d", kernel.name, binary, ptx);
        for (const auto& one : attributes) {
            int value = -77;
            hipError_t error = hipFuncGetAttribute(&value, one.attribute, f);
            line("%s of a module, %s: %s, %d", kernel.name, one.name, observe::name_of(error).c_str(), value);
        }
    }
    hipFuncAttributes a;
    int host = 0;
    show("into null", hipFuncGetAttributes(nullptr, all_kernels[0].function));
    show("of null", hipFuncGetAttributes(&a, nullptr));
    show("of no kernel", hipFuncGetAttributes(&a, &host));
    hipFunction_t f = nullptr;
    NEED(hipModuleGetFunction(&f, module, "small"));
    show("one, into null", hipFuncGetAttribute(nullptr, HIP_FUNC_ATTRIBUTE_NUM_REGS, f));
    show("one, of null", hipFuncGetAttribute(&host, HIP_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
    show("no such attribute", hipFuncGetAttribute(&host, hipFunction_attribute(77), f));
    NEED(hipModuleUnload(module));
}
