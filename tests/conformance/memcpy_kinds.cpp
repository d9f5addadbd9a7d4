// hipMemcpy with every kind between every pair of memories: return codes, and the bytes that arrive.
#include "observe.h"

static const size_t bytes = 4096;
static const hipMemcpyKind kinds[] = {hipMemcpyHostToHost,     hipMemcpyHostToDevice, hipMemcpyDeviceToHost,
                                      hipMemcpyDeviceToDevice, hipMemcpyDefault,      hipMemcpyKind(17)};
static const char* const kind_names[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default", "kind 17"};

// DIFFERS kind 17: 5.2.3 takes any number for a kind; hipErrorInvalidMemcpyDirection is for that (cudaMemcpy)
int main() {
    std::vector<char> pageable(2 * bytes), registered(2 * bytes);
    char *device = nullptr, *device2 = nullptr, *pinned = nullptr, *managed = nullptr;
    NEED(hipMalloc(&device, bytes));
    NEED(hipMalloc(&device2, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    NEED(hipMallocManaged(&managed, bytes));
    struct Memory {
        const char* name;
        char* address;
        bool host;
    } memories[] = {{"device", device, false},
                    {"pinned", pinned, true},
                    {"managed", managed, true},
                    {"pageable", pageable.data(), true}};
    std::vector<char> pattern(bytes), seen(bytes);
    for (size_t i = 0; i < bytes; ++i) pattern[i] = char(i * 13 + 5);

    for (auto& from : memories) {
        for (auto& to : memories) {
            for (int k = 0; k < 6; ++k) {
                char* target =
                    from.address == to.address ? (to.host ? pageable.data() + bytes : device2) : to.address;
                std::vector<char> zero(bytes, 0);
                NEED(hipMemcpy(from.host ? pinned : from.address, pattern.data(), bytes,
                               hipMemcpyHostToDevice));
                if (from.host) std::memcpy(from.address, pattern.data(), bytes);
                if (to.host)
                    std::memset(target, 0, bytes);
                else
                    NEED(hipMemcpy(target, zero.data(), bytes, hipMemcpyHostToDevice));
                hipError_t error = hipMemcpy(target, from.address, bytes, kinds[k]);
                NEED(hipDeviceSynchronize());
                if (to.host)
                    std::memcpy(seen.data(), target, bytes);
                else
                    NEED(hipMemcpy(seen.data(), target, bytes, hipMemcpyDeviceToHost));
                line("%s from %s to %s: %s, copied %d", kind_names[k], from.name, to.name,
                     observe::name_of(error).c_str(), seen == pattern);
            }
        }
    }
    NEED(hipFree(device));
    NEED(hipFree(device2));
    NEED(hipHostFree(pinned));
    NEED(hipFree(managed));
}
