// Reads and writes the structures whose layout or numbers differ between releases of HIP, as the headers that it is compiled
// with declare them, and checks that the library means the same.
#include "check.h"
#include SEMAPHORE_H
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define EXPECT(what)                                                     \
  do {                                                                   \
    if (!(what)) {                                                       \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

extern "C" {
void** __hipRegisterFatBinary(const void* wrapper);
void __hipRegisterFunction(void** handle, const void* host, char* device, const char* name, unsigned limit, void* thread,
                           void* block_index, void* block, void* grid, int* warp);
}

// A structure with bytes behind it that nobody may write.
template <typename T>
struct Guarded {
  T value;
  unsigned char behind[2048];

  Guarded() { std::memset(static_cast<void*>(this), 0xa5, sizeof *this); }
  bool is_intact() const {
    for (unsigned char byte : behind)
      if (byte != 0xa5) return false;
    return true;
  }
};

static void properties() {
  Guarded<hipDeviceProp_t> told;
  CHECK(hipGetDeviceProperties(&told.value, 0));
  EXPECT(told.is_intact());
  size_t bytes = 0;
  int units = 0, warp = 0, major = 0, bus = -1;
  CHECK(hipDeviceTotalMem(&bytes, 0));
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  CHECK(hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, 0));
  CHECK(hipDeviceGetAttribute(&major, hipDeviceAttributeComputeCapabilityMajor, 0));
  CHECK(hipDeviceGetAttribute(&bus, hipDeviceAttributePciBusId, 0));
  EXPECT(told.value.totalGlobalMem == bytes && told.value.multiProcessorCount == units && told.value.warpSize == warp);
  EXPECT(told.value.major == major && told.value.pciBusID == bus);
  EXPECT(std::strncmp(told.value.gcnArchName, "gfx9", 4) == 0);
  EXPECT(told.value.maxThreadsPerBlock == 1024 && told.value.canMapHostMemory == 1);
}

static void pointers() {
  void *device = nullptr, *host = nullptr;
  CHECK(hipMalloc(&device, 64));
  CHECK(hipHostMalloc(&host, 64, 0));
  for (void* pointer : {device, host}) {
    Guarded<hipPointerAttribute_t> told;
    CHECK(hipPointerGetAttributes(&told.value, pointer));
#if HIP_VERSION_MAJOR < 6
    const hipMemoryType type = told.value.memoryType;
#else
    const hipMemoryType type = told.value.type;
#endif
    EXPECT(told.is_intact() && type == (pointer == device ? hipMemoryTypeDevice : hipMemoryTypeHost));
    EXPECT(told.value.device == 0 && told.value.devicePointer != nullptr && told.value.isManaged == 0);
    unsigned kind = 77;
    CHECK(hipPointerGetAttribute(&kind, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
    EXPECT(kind == static_cast<unsigned>(type));
  }
  CHECK(hipFree(device));
  CHECK(hipHostFree(host));
}

// Two rows of two slices, out of the middle of larger ones, to the device and back.
static void boxes() {
  unsigned char from[4 * 4 * 4], to[4 * 4 * 4] = {};
  for (size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<unsigned char>(i + 1);
  void* device = nullptr;
  CHECK(hipMalloc(&device, sizeof from));
  CHECK(hipMemset(device, 0, sizeof from));
  HIP_MEMCPY3D there;
  std::memset(&there, 0, sizeof there);
  there.srcMemoryType = hipMemoryTypeHost;
  there.srcHost = from;
  there.srcXInBytes = 1;
  there.srcY = 1;
  there.srcZ = 1;
  there.srcPitch = there.dstPitch = 4;
  there.srcHeight = there.dstHeight = 4;
  there.dstMemoryType = hipMemoryTypeDevice;
  there.dstDevice = reinterpret_cast<hipDeviceptr_t>(device);
  there.WidthInBytes = 3;
  there.Height = 2;
  there.Depth = 2;
  CHECK(hipDrvMemcpy3D(&there));
  HIP_MEMCPY3D back;
  std::memset(&back, 0, sizeof back);
  back.srcMemoryType = hipMemoryTypeDevice;
  back.srcDevice = reinterpret_cast<hipDeviceptr_t>(device);
  back.dstMemoryType = hipMemoryTypeHost;
  back.dstHost = to;
  back.srcPitch = back.dstPitch = 4;
  back.srcHeight = back.dstHeight = 4;
  back.WidthInBytes = 4;
  back.Height = 4;
  back.Depth = 4;
  CHECK(hipDrvMemcpy3D(&back));
  for (size_t z = 0; z < 4; ++z)
    for (size_t y = 0; y < 4; ++y)
      for (size_t x = 0; x < 4; ++x) {
        const bool moved = x < 3 && y < 2 && z < 2;
        EXPECT(to[(z * 4 + y) * 4 + x] == (moved ? from[((z + 1) * 4 + y + 1) * 4 + x + 1] : 0));
      }
  CHECK(hipFree(device));
}

static void nothing(void*) {}

static hipGraphNodeType type_of(hipGraphNode_t node) {
  hipGraphNodeType type;
  CHECK(hipGraphNodeGetType(node, &type));
  return type;
}

// A kernel of the image, under a byte that stands for its host function.
static const void* kernel() {
  static char host;
  static std::ifstream file(IMAGE, std::ios::binary);
  static const std::vector<char> image(std::istreambuf_iterator<char>(file), {});
  struct Wrapper {
    unsigned magic, version;
    const void *binary, *unused;
  };
  static const Wrapper wrapper{0x48495046, 1, image.data(), nullptr};
  static void** const handle = __hipRegisterFatBinary(&wrapper);
  static const int once = (__hipRegisterFunction(handle, &host, nullptr, "kernelA", 0, nullptr, nullptr, nullptr, nullptr, nullptr), 0);
  return (void)once, &host;
}

static void graphs() {
  hipGraph_t graph, inner;
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphCreate(&inner, 0));
  void* device = nullptr;
  CHECK(hipMalloc(&device, 4096));
  hipGraphNode_t node;

  hipMemsetParams fill{};
  fill.dst = device;
  fill.elementSize = 4;
  fill.width = 3;
  fill.height = 2;
  fill.pitch = 64;
  fill.value = 7;
  CHECK(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  EXPECT(type_of(node) == hipGraphNodeTypeMemset);
  Guarded<hipMemsetParams> filled;
  CHECK(hipGraphMemsetNodeGetParams(node, &filled.value));
  EXPECT(filled.is_intact() && filled.value.dst == device && filled.value.elementSize == 4 && filled.value.width == 3);
  EXPECT(filled.value.height == 2 && filled.value.pitch == 64 && filled.value.value == 7);

  CHECK(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, static_cast<char*>(device) + 64, 64, hipMemcpyDeviceToDevice));
  EXPECT(type_of(node) == hipGraphNodeTypeMemcpy);
  hipHostNodeParams host{};
  host.fn = nothing;
  CHECK(hipGraphAddHostNode(&node, graph, nullptr, 0, &host));
  EXPECT(type_of(node) == hipGraphNodeTypeHost);
  CHECK(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  EXPECT(type_of(node) == hipGraphNodeTypeEmpty);
  CHECK(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
  EXPECT(type_of(node) == hipGraphNodeTypeGraph);
  hipEvent_t event;
  CHECK(hipEventCreate(&event));
  CHECK(hipGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  EXPECT(type_of(node) == hipGraphNodeTypeEventRecord);
  CHECK(hipGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
  EXPECT(type_of(node) == hipGraphNodeTypeWaitEvent);

  void* arguments[] = {&device};
  hipKernelNodeParams params{};
  params.func = const_cast<void*>(kernel());
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = arguments;
  CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  EXPECT(type_of(node) == hipGraphNodeTypeKernel);
#if HIP_VERSION_MAJOR < 6
  const auto cooperative = hipKernelNodeAttributeCooperative;
  Guarded<hipKernelNodeAttrValue> attribute;
#elif HIP_VERSION_MAJOR == 6
  const auto cooperative = hipKernelNodeAttributeCooperative;
  Guarded<hipKernelNodeAttrValue> attribute;
#else
  const auto cooperative = hipLaunchAttributeCooperative;
  Guarded<hipLaunchAttributeValue> attribute;
#endif
  attribute.value.cooperative = 1;
  CHECK(hipGraphKernelNodeSetAttribute(node, cooperative, &attribute.value));
  attribute.value.cooperative = 77;
  CHECK(hipGraphKernelNodeGetAttribute(node, cooperative, &attribute.value));
  EXPECT(attribute.is_intact() && attribute.value.cooperative == 1);

#if HIP_VERSION_MAJOR > 5
  // 6.x has a structure of its own for it.
#if HIP_VERSION_MAJOR == 6
  HIP_MEMSET_NODE_PARAMS driver{};
  driver.dst = reinterpret_cast<hipDeviceptr_t>(device);
#else
  hipMemsetParams driver{};
  driver.dst = device;
#endif
  driver.elementSize = 2;
  driver.width = 5;
  driver.height = 3;
  driver.pitch = 128;
  driver.value = 9;
  hipCtx_t context;
  CHECK(hipDevicePrimaryCtxRetain(&context, 0));
  CHECK(hipDrvGraphAddMemsetNode(&node, graph, nullptr, 0, &driver, context));
  CHECK(hipGraphMemsetNodeGetParams(node, &filled.value));
  EXPECT(filled.value.elementSize == 2 && filled.value.width == 5 && filled.value.height == 3);
  EXPECT(filled.value.pitch == 128 && filled.value.value == 9 && filled.value.dst == device);
  CHECK(hipDevicePrimaryCtxRelease(0));
#endif
  CHECK(hipEventDestroy(event));
  CHECK(hipGraphDestroy(inner));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipFree(device));
}

static hipExternalSemaphore_t imported(int descriptor) {
  hipExternalSemaphoreHandleDesc description;
  std::memset(&description, 0, sizeof description);
  // Newer than the header of HIP 5.
  const unsigned timeline = 9;
  std::memcpy(&description.type, &timeline, sizeof timeline);
  description.handle.fd = descriptor;
  hipExternalSemaphore_t semaphore;
  CHECK(hipImportExternalSemaphore(&semaphore, &description));
  // Flags lie at the end.
  description.flags = 1;
  hipExternalSemaphore_t refused;
  EXPECT(hipImportExternalSemaphore(&refused, &description) == hipErrorInvalidValue);
  return semaphore;
}

static void semaphores() {
  int descriptors[2];
  hipExternalSemaphore_t both[2];
  aqlipseSemaphorePage* pages[2];
  for (int i = 0; i < 2; ++i) {
    EXPECT(aqlipseCreateSemaphore(&descriptors[i], AQLIPSE_SEMAPHORE_TIMELINE, 0) == 0);
    pages[i] = aqlipseMapSemaphore(descriptors[i]);
    EXPECT(pages[i] != nullptr);
    both[i] = imported(descriptors[i]);
  }
  // The second of each lies behind the first.
  hipExternalSemaphoreSignalParams signals[2];
  hipExternalSemaphoreWaitParams waits[2];
  std::memset(signals, 0, sizeof signals);
  std::memset(waits, 0, sizeof waits);
  for (unsigned i = 0; i < 2; ++i) {
    signals[i].params.fence.value = 5 + i;
    waits[i].params.fence.value = 5 + i;
  }
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipSignalExternalSemaphoresAsync(both, signals, 2, stream));
  CHECK(hipWaitExternalSemaphoresAsync(both, waits, 2, stream));
  CHECK(hipStreamSynchronize(stream));
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT(aqlipseWaitSemaphore(pages[i], 5 + i, 60000) == 0);
    EXPECT(aqlipseWaitSemaphore(pages[i], 6 + i, 0) != 0);
  }
  signals[1].flags = 1;
  waits[1].flags = 1;
  EXPECT(hipSignalExternalSemaphoresAsync(both, signals, 2, stream) == hipErrorInvalidValue);
  EXPECT(hipWaitExternalSemaphoresAsync(both, waits, 2, stream) == hipErrorInvalidValue);
  for (hipExternalSemaphore_t semaphore : both) CHECK(hipDestroyExternalSemaphore(semaphore));
  CHECK(hipStreamDestroy(stream));
}

// What the second argument of an import is: until HIP 6 callers pass where the descriptor is, since then itself.
static void* shareable(int& descriptor) {
#if HIP_VERSION_MAJOR <= 6
  return &descriptor;
#else
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
#endif
}

static void memory() {
  int descriptor = -1;
#if HIP_VERSION_MAJOR > 5
  // 5.2 orders the properties of physical memory otherwise, which the library does not know.
  hipMemAllocationProp wanted{};
  wanted.type = hipMemAllocationTypePinned;
  wanted.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  wanted.location.type = hipMemLocationTypeDevice;
  size_t granularity = 0;
  CHECK(hipMemGetAllocationGranularity(&granularity, &wanted, hipMemAllocationGranularityMinimum));
  hipMemGenericAllocationHandle_t physical, again;
  CHECK(hipMemCreate(&physical, granularity, &wanted, 0));
  CHECK(hipMemExportToShareableHandle(&descriptor, physical, hipMemHandleTypePosixFileDescriptor, 0));
  CHECK(hipMemImportFromShareableHandle(&again, shareable(descriptor), hipMemHandleTypePosixFileDescriptor));
  CHECK(hipMemRelease(again));
  CHECK(hipMemImportFromShareableHandle(&again, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)),
                                        hipMemHandleTypePosixFileDescriptor));
  CHECK(hipMemRelease(again));

  hipExternalMemoryHandleDesc description;
  std::memset(&description, 0, sizeof description);
  description.type = hipExternalMemoryHandleTypeOpaqueFd;
  description.handle.fd = descriptor;
  description.size = granularity;
  hipExternalMemory_t external;
  description.flags = 2;
  EXPECT(hipImportExternalMemory(&external, &description) == hipErrorInvalidValue);
  description.flags = 0;
  CHECK(hipImportExternalMemory(&external, &description));
  hipExternalMemoryBufferDesc range;
  std::memset(&range, 0, sizeof range);
  range.size = granularity;
  void* mapped = nullptr;
  CHECK(hipExternalMemoryGetMappedBuffer(&mapped, external, &range));
  CHECK(hipMemset(mapped, 1, granularity));
  CHECK(hipDestroyExternalMemory(external));
  CHECK(hipMemRelease(physical));
#endif

  hipMemPoolProps props{};
  props.allocType = hipMemAllocationTypePinned;
  props.handleTypes = hipMemHandleTypePosixFileDescriptor;
  props.location.type = hipMemLocationTypeDevice;
  hipMemPool_t pool, opened;
  CHECK(hipMemPoolCreate(&pool, &props));
  CHECK(hipMemPoolExportToShareableHandle(&descriptor, pool, hipMemHandleTypePosixFileDescriptor, 0));
  CHECK(hipMemPoolImportFromShareableHandle(&opened, shareable(descriptor), hipMemHandleTypePosixFileDescriptor, 0));
  CHECK(hipMemPoolDestroy(opened));
  CHECK(hipMemPoolDestroy(pool));
}

constexpr size_t SHARED = 4096;

// A descriptor and what names an allocation, as one message.
struct Message {
  hipMemPoolPtrExportData named;
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&named, sizeof named};
  msghdr header{};

  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

// Opens a pool of another process, whose descriptor comes over a socket.
static int opens(int socket) {
  Message message;
  if (recvmsg(socket, &message.header, 0) != sizeof message.named) return 2;
  int descriptor;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof descriptor);
  hipMemPool_t pool;
  CHECK(hipMemPoolImportFromShareableHandle(&pool, shareable(descriptor), hipMemHandleTypePosixFileDescriptor, 0));
  void* memory = nullptr;
  CHECK(hipMemPoolImportPointer(&memory, pool, &message.named));
  std::vector<unsigned char> bytes(SHARED);
  CHECK(hipMemcpy(bytes.data(), memory, SHARED, hipMemcpyDeviceToHost));
  for (unsigned char byte : bytes)
    if (byte != 0x5a) return 3;
  CHECK(hipFree(memory));
  return 0;
}

static void shares(int socket, pid_t other) {
  hipMemPoolProps props{};
  props.allocType = hipMemAllocationTypePinned;
  props.handleTypes = hipMemHandleTypePosixFileDescriptor;
  props.location.type = hipMemLocationTypeDevice;
  hipMemPool_t pool;
  CHECK(hipMemPoolCreate(&pool, &props));
  void* memory = nullptr;
  CHECK(hipMallocFromPoolAsync(&memory, SHARED, pool, nullptr));
  CHECK(hipMemsetAsync(memory, 0x5a, SHARED, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  int descriptor = -1;
  CHECK(hipMemPoolExportToShareableHandle(&descriptor, pool, hipMemHandleTypePosixFileDescriptor, 0));
  Message message;
  CHECK(hipMemPoolExportPointer(&message.named, memory));
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  EXPECT(sendmsg(socket, &message.header, 0) == sizeof message.named);
  int status = 0;
  EXPECT(waitpid(other, &status, 0) == other && status == 0);
  CHECK(hipFreeAsync(memory, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  CHECK(hipMemPoolDestroy(pool));
}

int main() {
  int sockets[2];
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  const pid_t other = fork();
  if (other == 0) _exit(opens(sockets[1]));
  shares(sockets[0], other);
  properties();
  pointers();
  boxes();
  graphs();
  semaphores();
  memory();
  std::printf("HIP %d\n", HIP_VERSION_MAJOR);
  std::puts("Validation passed.");
  return 0;
}
