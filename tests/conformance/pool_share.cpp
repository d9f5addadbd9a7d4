// Sharing memory pools that were not made to be shared, and importing what is no pool.
// DIFFERS export: 5.2.3 says so to anything and stores nothing; HIP 7 documentation of hipMemPoolExportToShareableHandle
// DIFFERS import: 5.2.3 says so to anything and stores nothing; HIP 7 documentation of
//     hipMemPoolImportFromShareableHandle and hipMemPoolImportPointer
#include "observe.h"

#include <fcntl.h>
#include <unistd.h>

int main() {
    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool;
    hipStream_t stream;
    void* memory = nullptr;
    NEED(hipMemPoolCreate(&pool, &props));
    NEED(hipStreamCreate(&stream));
    NEED(hipMallocFromPoolAsync(&memory, 64, pool, stream));

    int descriptor = -1;
    const auto kind = hipMemHandleTypePosixFileDescriptor;
    show("export a pool without handle types", hipMemPoolExportToShareableHandle(&descriptor, pool, kind, 0));
    show("export into null", hipMemPoolExportToShareableHandle(nullptr, pool, kind, 0));
    show("export no pool", hipMemPoolExportToShareableHandle(&descriptor, nullptr, kind, 0));
    show("nothing exported", descriptor == -1);
    hipMemPoolPtrExportData data = {};
    show("export an allocation of such a pool", hipMemPoolExportPointer(&data, memory));
    show("export an allocation into null", hipMemPoolExportPointer(nullptr, memory));
    show("export no allocation", hipMemPoolExportPointer(&data, nullptr));
    bool blank = true;
    for (unsigned char byte : data.reserved) blank &= byte == 0;
    show("nothing named", blank);

    hipMemPool_t found = nullptr;
    const int file = open("/dev/null", O_RDWR);
    void* const handle = reinterpret_cast<void*>(static_cast<intptr_t>(file));
    show("import no pool", hipMemPoolImportFromShareableHandle(&found, handle, kind, 0));
    show("import into null", hipMemPoolImportFromShareableHandle(nullptr, handle, kind, 0));
    show("nothing imported", found == nullptr);
    void* address = nullptr;
    show("import an allocation of nothing", hipMemPoolImportPointer(&address, pool, &data));
    show("import an allocation without a pool", hipMemPoolImportPointer(&address, nullptr, &data));
    show("import an allocation into null", hipMemPoolImportPointer(nullptr, pool, &data));
    show("import an allocation from null", hipMemPoolImportPointer(&address, pool, nullptr));
    show("nothing mapped", address == nullptr);
    close(file);

    NEED(hipFreeAsync(memory, stream));
    NEED(hipStreamSynchronize(stream));
    show("destroy", hipMemPoolDestroy(pool));
}
