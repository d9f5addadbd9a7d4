// A client of libdtif.so: `dtif LIBRARY EXPORTS`. Sizes and offsets are those of ROCr's hsakmttypes.h as of August 2025
// (runtime 1.18), written out here because no package has that header.
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
  NODE_PROPERTIES = 368, NUM_MEMORY_BANKS = 12, NUM_IO_LINKS = 20, ENGINE_ID = 76, AMD_NAME = 240, NUM_XCC = 356,
  FAMILY_ID = 364, LINK = 52, LINK_TYPE = 0, LINK_TO = 16, LINK_FLAGS = 48, GPU_INFO = 416, COUNTER_FREQUENCY = 72,
  PCIE = 2, AQL = 21, PAGE = 4096
};
enum { READ_INDEX = 128, WRITE_INDEX = 56 };  // of amd_queue_t

static void *library;

static void *function(const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    printf("%s is missing\n", name);
    exit(1);
  }
  return found;
}

static uint32_t word(const char *bytes, int offset) {
  uint32_t value;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

#define CALL(name, ...) ((int (*)())function(name))(__VA_ARGS__)
#define CHECK(name, ...)                       \
  do {                                         \
    int status = CALL(name, __VA_ARGS__);      \
    if (status != 0) {                         \
      printf("%s: %d\n", name, status);        \
      exit(1);                                 \
    }                                          \
  } while (0)

static char *memory(uint32_t node, uint64_t size) {
  char *address = NULL;
  uint32_t nodes[] = {1};
  CHECK("hsaKmtAllocMemoryAlign", node, size, (uint64_t)0, 0, &address);
  CHECK("hsaKmtMapMemoryToGPUNodes", address, size, (uint64_t *)NULL, 0, (uint64_t)1, nodes);
  return address;
}

enum { NO_ADDRESS = 1 << 18, ONLY_ADDRESS = 1 << 19, DMA_BUF = 2, KMS = 1, MAP = 1, UNMAP = 2, READ = 2, GEM_MMAP = 1 };

struct import {
  char *address;
  uint64_t size, metadata;
  uint32_t metadata_size, node;
};

static void *import_buffer(void *device, int descriptor) {
  struct {
    void *buffer;
    uint64_t size;
  } result;
  CHECK("amdgpu_bo_import", device, DMA_BUF, descriptor, &result);
  if (result.size != 2 * PAGE) exit(1);
  return result.buffer;
}

// Memory and addresses apart, as ROCr's virtual memory has them: the steps are those that it takes.
static void virtual_memory(void *device) {
  char *name = NULL, *place = NULL, *other = NULL;
  const uint64_t size = 2 * PAGE;
  CHECK("hsaKmtAllocMemory", 1, size, NO_ADDRESS, &name);
  CHECK("hsaKmtAllocMemoryAlign", 0, size, (uint64_t)PAGE, ONLY_ADDRESS, &place);
  CHECK("hsaKmtAllocMemoryAlign", 0, size, (uint64_t)PAGE, ONLY_ADDRESS, &other);
  int descriptor = -1;
  uint64_t offset = 77;
  CHECK("hsaKmtExportDMABufHandle", name, size, &descriptor, &offset);
  if (offset) exit(1);
  void *buffer = import_buffer(device, descriptor);
  // What libdrm's amdgpu_device_get_fd reads, and what ROCr maps for the host.
  int32_t file = ((int32_t *)device)[4];
  uint32_t handle[2] = {0, 0};
  CHECK("amdgpu_bo_export", buffer, KMS, handle);
  CHECK("drmCommandWriteRead", file, (unsigned long)GEM_MMAP, handle, (unsigned long)sizeof handle);
  uint64_t at;
  memcpy(&at, handle, sizeof at);
  uint32_t *host = mmap(place, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)at);
  if ((char *)host != place) exit(1);
  host[PAGE / 4] = 42;
  CHECK("amdgpu_bo_va_op", buffer, (uint64_t)PAGE, (uint64_t)PAGE, other, (uint64_t)READ, MAP);
  printf("virtual memory: %u at both places\n", ((uint32_t *)other)[0]);

  struct import import;
  uint32_t nodes[] = {1};
  CHECK("hsaKmtRegisterGraphicsHandleToNodes", (uint64_t)descriptor, &import, (uint64_t)1, nodes);
  CHECK("hsaKmtMapMemoryToGPUNodes", import.address, import.size, (uint64_t *)NULL, 0, (uint64_t)1, nodes);
  printf("import: %u of node %u\n", ((uint32_t *)import.address)[PAGE / 4], import.node);
  CHECK("hsaKmtUnmapMemoryToGPU", import.address);
  CHECK("hsaKmtDeregisterMemory", import.address);
  CHECK("hsaKmtRegisterGraphicsHandleToNodes", (uint64_t)descriptor, &import, (uint64_t)0, (uint32_t *)NULL);
  printf("refused:");
  printf(" a name mapped %d", CALL("hsaKmtMapMemoryToGPU", import.address, size, (uint64_t *)NULL));
  printf(", outside %d", CALL("amdgpu_bo_va_op", buffer, (uint64_t)PAGE, size, place, (uint64_t)0, MAP) == -EINVAL);
  printf(", no reservation %d", CALL("amdgpu_bo_va_op", buffer, (uint64_t)0, size, name, (uint64_t)0, MAP) == -EINVAL);
  printf(", mapped twice %d", CALL("amdgpu_bo_va_op", buffer, (uint64_t)0, (uint64_t)PAGE, other, (uint64_t)0, MAP) == -EINVAL);
  printf(", a pipe imported %d", CALL("hsaKmtRegisterGraphicsHandleToNodes", (uint64_t)1, &import, (uint64_t)0, (uint32_t *)NULL));
  printf(", beyond the end %d\n", CALL("hsaKmtExportDMABufHandle", name, size + 1, &descriptor, &offset));
  CHECK("hsaKmtFreeMemory", import.address, size);

  CHECK("amdgpu_bo_va_op", buffer, (uint64_t)PAGE, (uint64_t)PAGE, other, (uint64_t)0, UNMAP);
  munmap(place, size);
  CHECK("hsaKmtFreeMemory", name, size);
  printf("freed: %u still mapped by the buffer\n", (CALL("amdgpu_bo_cpu_map", buffer, &host), host[PAGE / 4]));
  CHECK("amdgpu_bo_free", buffer);
  printf("freed twice: %d\n", CALL("amdgpu_bo_free", buffer) == -EINVAL);
  CHECK("hsaKmtFreeMemory", place, size);
  CHECK("hsaKmtFreeMemory", other, size);
  close(descriptor);

  // What is allocated as ever can be exported, too, from any page on.
  char *memory_of_device = memory(1, 2 * PAGE);
  *(uint32_t *)(memory_of_device + PAGE) = 43;
  CHECK("hsaKmtExportDMABufHandle", memory_of_device + PAGE, (uint64_t)PAGE, &descriptor, &offset);
  host = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, descriptor, (off_t)offset);
  printf("export: %u at %u\n", *host, (unsigned)offset);
  close(descriptor);

  uint32_t shared[8];
  char *attached = NULL;
  uint64_t bytes = 0;
  CHECK("hsaKmtShareMemory", memory_of_device, size, shared);
  CHECK("hsaKmtRegisterSharedHandle", shared, &attached, &bytes);
  printf("attached: %u of %u bytes\n", *(uint32_t *)(attached + PAGE), (unsigned)bytes);
  CHECK("hsaKmtDeregisterMemory", attached);
  CHECK("hsaKmtUnmapMemoryToGPU", memory_of_device);
  CHECK("hsaKmtFreeMemory", memory_of_device, size);
  printf("freed: %d", CALL("hsaKmtRegisterSharedHandle", shared, &attached, &bytes));
  shared[0] ^= 1;
  printf(", no handle: %d\n", CALL("hsaKmtRegisterSharedHandle", shared, &attached, &bytes));
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  library = dlopen(arguments[1], RTLD_NOW);
  if (!library) {
    puts(dlerror());
    return 1;
  }
  FILE *table = fopen(arguments[2], "r");
  char line[256];
  while (fgets(line, sizeof line, table)) {
    char *tab = strchr(line, '\t');
    if (line[0] == '#' || !tab || !strncmp(tab + 1, "hsakmt", 6)) continue;
    *tab = 0;
    function(line);
  }
  puts("functions: all");

  if (!((void *(*)(const char *))function("DtifCreate"))("a test")) return 1;
  CHECK("hsaKmtOpenKFD");
  uint32_t system[4];
  CHECK("hsaKmtAcquireSystemProperties", system);
  printf("nodes: %u\n", system[0]);

  char node[NODE_PROPERTIES + 16];
  memset(node, 0xee, sizeof node);
  CHECK("hsaKmtGetNodeProperties", 1, node);
  uint32_t engine = word(node, ENGINE_ID);
  printf("node: %s, %u.%u.%u, dies %u, family %u, %s behind\n", node + AMD_NAME, engine >> 10 & 63, engine >> 16 & 255,
         engine >> 24, word(node, NUM_XCC), word(node, FAMILY_ID),
         word(node, NODE_PROPERTIES) == 0xeeeeeeee ? "untouched" : "overwritten");
  if (word(node, NUM_MEMORY_BANKS) != 4 || word(node, NUM_IO_LINKS) != 1) return 1;

  char links[2 * LINK];
  memset(links, 0xee, sizeof links);
  CHECK("hsaKmtGetNodeIoLinkProperties", 1, 1, links);
  if (word(links, LINK_FLAGS) != 1) return 1;
  printf("links: %s to %u, %s behind\n", word(links, LINK_TYPE) == PCIE ? "PCIe" : "another", word(links, LINK_TO),
         word(links, LINK) == 0xeeeeeeee ? "untouched" : "overwritten");

  void *device;
  char information[GPU_INFO];
  CHECK("hsaKmtGetAMDGPUDeviceHandle", 1, &device);
  CHECK("amdgpu_query_gpu_info", device, information);
  printf("clock: %u kHz\n", word(information, COUNTER_FREQUENCY));

  // A queue whose doorbell is a call: one barrier-AND packet that waits for nothing.
  char *ring = memory(0, PAGE), *control = memory(0, PAGE);
  struct {
    uint64_t id, doorbell, write_index, read_index, error;
  } resource = {.write_index = (uint64_t)(control + WRITE_INDEX), .read_index = (uint64_t)(control + READ_INDEX)};
  for (int i = 0; i < PAGE; i += 64) ring[i] = 1;
  CHECK("hsaKmtCreateQueueExt", 1, AQL, 100, 0, 0, ring, (uint64_t)PAGE, (void *)NULL, &resource);
  *(uint64_t *)(control + WRITE_INDEX) = 1;
  __atomic_store_n((uint16_t *)ring, 3 | 1 << 8, __ATOMIC_RELEASE);
  CHECK("hsaKmtQueueRingDoorbell", resource.id);
  struct timespec nap = {0, 1000000};
  for (int i = 0; i < 10000 && !__atomic_load_n((uint64_t *)(control + READ_INDEX), __ATOMIC_ACQUIRE); ++i)
    nanosleep(&nap, NULL);
  printf("queue: a barrier packet %s\n", *(uint64_t *)(control + READ_INDEX) == 1 ? "is done when it is rung for" : "hangs");
  CHECK("hsaKmtDestroyQueue", resource.id);

  virtual_memory(device);
  CHECK("hsaKmtCloseKFD");
  ((void (*)(void))function("DtifDestroy"))();
  puts("done");
  return 0;
}
