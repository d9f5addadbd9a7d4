// An HSA program on AMD's runtime: `hsa kernels.co TOPIC`. It prints what it observes; the first call that fails ends
// it with its name.
#define _GNU_SOURCE
#include <aqlipse_thunk.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    hsa_status_t status_ = (call);                                                         \
    if (status_ != HSA_STATUS_SUCCESS) {                                                   \
      fprintf(stderr, "%s:%d: %s: %#x\n", __FILE__, __LINE__, #call, (unsigned)status_);   \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

enum { ITEMS = 4096, GROUP = 256 };

// The last of each kind, and how many devices are before it.
static hsa_agent_t host, device;
static uint32_t ordinal;
static hsa_amd_memory_pool_t host_pool, kernarg_pool, device_pool;
static hsa_executable_t executable;

static hsa_status_t find_agent(hsa_agent_t agent, void *unused) {
  (void)unused;
  hsa_device_type_t type;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  ordinal += type == HSA_DEVICE_TYPE_GPU && device.handle;
  *(type == HSA_DEVICE_TYPE_GPU ? &device : &host) = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *agent) {
  hsa_amd_segment_t segment;
  uint32_t flags;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if (agent == &device) device_pool = pool;
  else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) kernarg_pool = pool;
  else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) host_pool = pool;
  return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t bytes) {
  void *memory;
  CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
  CHECK(hsa_amd_agents_allow_access(1, &device, NULL, memory));
  return memory;
}

static void load(const char *path) {
  int file = open(path, O_RDONLY);
  hsa_code_object_reader_t reader;
  CHECK(hsa_code_object_reader_create_from_file(file, &reader));
  CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable));
  CHECK(hsa_executable_load_agent_code_object(executable, device, reader, NULL, NULL));
  CHECK(hsa_executable_freeze(executable, NULL));
}

struct kernel {
  uint64_t object;
  uint32_t group, private;
};

static struct kernel kernel(const char *name) {
  char symbol_name[64];
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  hsa_executable_symbol_t symbol;
  struct kernel found;
  CHECK(hsa_executable_get_symbol_by_name(executable, symbol_name, &device, &symbol));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &found.object));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &found.group));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &found.private));
  return found;
}

static hsa_signal_t signal_at(hsa_signal_value_t value) {
  hsa_signal_t signal;
  CHECK(hsa_signal_create(value, 0, NULL, &signal));
  return signal;
}

// Sleeps until a signal is 0.
static void await(hsa_signal_t signal) {
  hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

static atomic_int queue_status;
static hsa_signal_t stopped;

static void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)queue, (void)data;
  atomic_store(&queue_status, (int)status);
  hsa_signal_store_screlease(stopped, 0);
}

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data) {
  (void)data;
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_SUCCESS;
  printf("memory fault at %#llx, reasons %#x, agent %s\n", (unsigned long long)event->memory_fault.virtual_address,
         (unsigned)event->memory_fault.fault_reason_mask,
         event->memory_fault.agent.handle == device.handle ? "is the device" : "is another");
  hsa_signal_store_screlease(stopped, 0);
  return HSA_STATUS_SUCCESS;
}

static hsa_queue_t *queue(void) {
  hsa_queue_t *made;
  CHECK(hsa_queue_create(device, 64, HSA_QUEUE_TYPE_MULTI, on_queue_error, NULL, UINT32_MAX, UINT32_MAX, &made));
  return made;
}

// Publishes a packet whose header and setup are the low 32 bits of `first`.
static void publish(hsa_queue_t *queue, const void *packet, uint32_t first) {
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) continue;
  uint32_t *slot = (uint32_t *)((char *)queue->base_address + 64 * (index % queue->size));
  memcpy(slot + 1, (const uint32_t *)packet + 1, 60);
  __atomic_store_n(slot, first, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static uint32_t header(hsa_packet_type_t type, int barrier) {
  return (uint32_t)type << HSA_PACKET_HEADER_TYPE | (uint32_t)barrier << HSA_PACKET_HEADER_BARRIER |
         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
}

// A dispatch behind the packet before it; kernel arguments are never freed: the program is short.
static void dispatch(hsa_queue_t *queue, const char *name, int *data, int value, hsa_signal_t completion) {
  struct kernel which = kernel(name);
  struct {
    int *data;
    int value;
    char hidden[244];
  } *arguments = allocate(kernarg_pool, 256);
  memset(arguments, 0, 256);
  arguments->data = data;
  arguments->value = value;
  hsa_kernel_dispatch_packet_t packet = {
      .workgroup_size_x = GROUP, .workgroup_size_y = 1, .workgroup_size_z = 1,
      .grid_size_x = ITEMS, .grid_size_y = 1, .grid_size_z = 1,
      .private_segment_size = which.private, .group_segment_size = which.group,
      .kernel_object = which.object, .kernarg_address = arguments, .completion_signal = completion};
  publish(queue, &packet, header(HSA_PACKET_TYPE_KERNEL_DISPATCH, 1) | 1u << 16);
}

static void barrier_and(hsa_queue_t *queue, hsa_signal_t first, hsa_signal_t second, hsa_signal_t completion) {
  hsa_barrier_and_packet_t packet = {.dep_signal = {first, second}, .completion_signal = completion};
  publish(queue, &packet, header(HSA_PACKET_TYPE_BARRIER_AND, 1));
}

static void *release_later(void *signal) {
  struct timespec while_ = {0, 30000000};
  nanosleep(&while_, NULL);
  hsa_signal_store_screlease(*(hsa_signal_t *)signal, 0);
  return NULL;
}

static int wrong(const int *data, int base, int factor, int value) {
  int count = 0;
  for (int i = 0; i < ITEMS; ++i) count += data[i] != (base + i) * factor + value;
  return count;
}

// Kernels on two queues, ordered by barrier-AND packets across them, one of which the host releases late.
static void queues(void) {
  hsa_queue_t *one = queue(), *two = queue();
  int *data = allocate(host_pool, ITEMS * sizeof(int));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < ITEMS; ++i) data[i] = round + i;
    hsa_signal_t gate = signal_at(1), scaled = signal_at(1), added = signal_at(1), none = {0};
    barrier_and(two, scaled, none, none);
    dispatch(two, "add", data, 7, added);
    barrier_and(one, gate, none, none);
    dispatch(one, "scale", data, 3, scaled);
    pthread_t thread;
    pthread_create(&thread, NULL, release_later, &gate);
    printf("before the gate opens: %s\n", hsa_signal_load_scacquire(added) == 1 ? "waiting" : "done");
    await(added);
    printf("round %d: wrong %d\n", round, wrong(data, round, 3, 7));
    pthread_join(thread, NULL);
    hsa_signal_t signals[] = {gate, scaled, added};
    for (int i = 0; i < 3; ++i) CHECK(hsa_signal_destroy(signals[i]));
  }
  // More packets than the ring holds, each behind the one before.
  for (int i = 0; i < ITEMS; ++i) data[i] = i;
  hsa_signal_t done = signal_at(1), none = {0};
  for (int i = 0; i < 999; ++i) dispatch(one, "add", data, 1, none);
  dispatch(one, "add", data, 1, done);
  await(done);
  printf("1000 dispatches: wrong %d\n", wrong(data, 0, 1, 1000));
  hsa_signal_store_relaxed(done, 1);
  dispatch(one, "spill", data, 5, done);
  await(done);
  int bad = 0;
  for (int i = 0; i < ITEMS; ++i) bad += data[i] != 255 * 128;
  printf("private memory: wrong %d\n", bad);
  CHECK(hsa_queue_destroy(one));
  CHECK(hsa_queue_destroy(two));
}

static void fill_random(unsigned char *bytes, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)((i + seed) * 2654435761u >> 13);
}

// Asynchronous copies in all directions, aligned and not, and fills.
static void copies(void) {
  enum { SIZE = 3 << 20 };
  static const size_t sizes[] = {1, 3, 4, 7, 8, 63, 64, 65, 255, 4096, 4097, 65537, 1 << 20, (1 << 20) + 3};
  static const size_t offsets[] = {0, 1, 4, 67};
  unsigned char *source = allocate(host_pool, SIZE), *result = allocate(host_pool, SIZE);
  unsigned char *first = allocate(device_pool, SIZE), *second = allocate(device_pool, SIZE);
  hsa_signal_t done = signal_at(1), none = {0};
  int copies = 0, bad = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; ++o) {
      size_t size = sizes[s], offset = offsets[o];
      fill_random(source, size + offset + 64, (unsigned)(size + offset));
      memset(result, 0xee, size + offset + 64);
      struct {
        void *to, *from;
        hsa_agent_t to_agent, from_agent;
      } steps[] = {{first + offset, source + offset, device, host},
                   {second + 2 * offset, first + offset, device, device},
                   {result + offset, second + 2 * offset, host, device}};
      for (int i = 0; i < 3; ++i) {
        hsa_signal_store_relaxed(done, 1);
        CHECK(hsa_amd_memory_async_copy(steps[i].to, steps[i].to_agent, steps[i].from, steps[i].from_agent, size, 0,
                                        NULL, done));
        await(done);
        ++copies;
      }
      bad += memcmp(result + offset, source + offset, size) != 0;
      bad += result[size + offset] != 0xee || (offset && result[offset - 1] != 0xee);
    }
  }
  printf("%d copies: wrong %d\n", copies, bad);
  bad = 0;
  for (size_t words = 1; words <= 1 << 18; words = words * 3 + 1) {
    CHECK(hsa_amd_memory_fill(result, 0xffffffff, words + 1));
    CHECK(hsa_amd_memory_fill(result, 0x12345678, words));
    for (size_t i = 0; i <= words; ++i) bad += ((uint32_t *)result)[i] != (i < words ? 0x12345678 : 0xffffffff);
  }
  printf("fills: wrong %d\n", bad);
  // Host memory of the program's own, twice over: the ranges overlap.
  unsigned char *own = malloc(1 << 20);
  void *there, *there_too;
  CHECK(hsa_amd_memory_lock(own + 100, 300000, &device, 1, &there));
  CHECK(hsa_amd_memory_lock(own + 200000, 300000, &device, 1, &there_too));
  CHECK(hsa_amd_memory_unlock(own + 100));
  fill_random(own, 1 << 20, 1);
  hsa_signal_store_relaxed(done, 1);
  CHECK(hsa_amd_memory_async_copy(first, device, there_too, device, 300000, 0, NULL, done));
  await(done);
  hsa_signal_store_relaxed(done, 1);
  CHECK(hsa_amd_memory_async_copy(result, host, first, device, 300000, 0, NULL, done));
  await(done);
  printf("locked memory: %s\n", memcmp(result, own + 200000, 300000) ? "wrong" : "right");
  hsa_amd_pointer_info_t information = {.size = sizeof information};
  CHECK(hsa_amd_pointer_info(first + 12345, &information, NULL, NULL, NULL));
  printf("pointer info of an interior address: %s, %zu bytes\n",
         information.agentBaseAddress == first ? "the base" : "another", information.sizeInBytes);
  CHECK(hsa_amd_memory_unlock(own + 200000));
  free(own);
  (void)none;
}

// A queue's error and what its callback is told.
static void error(const char *name) {
  hsa_queue_t *one = queue();
  int *data = allocate(host_pool, ITEMS * sizeof(int));
  stopped = signal_at(1);
  hsa_signal_t none = {0};
  if (!strcmp(name, "packet")) {
    hsa_barrier_and_packet_t packet = {0};
    publish(one, &packet, header((hsa_packet_type_t)77, 0));
  } else {
    dispatch(one, name, data, 1, none);
  }
  await(stopped);
  const char *text = "";
  if (atomic_load(&queue_status)) {
    hsa_status_string((hsa_status_t)atomic_load(&queue_status), &text);
    printf("queue error %#x\n", (unsigned)atomic_load(&queue_status));
  }
  CHECK(hsa_queue_destroy(one));
  // Another queue is none the worse.
  one = queue();
  for (int i = 0; i < ITEMS; ++i) data[i] = i;
  hsa_signal_t done = signal_at(1);
  dispatch(one, "add", data, 4, done);
  await(done);
  printf("afterwards: wrong %d\n", wrong(data, 0, 1, 4));
  CHECK(hsa_queue_destroy(one));
}

// What the device has counted.
static aqlipse_thunk_counters_t counters(void) {
  int (*read)(uint32_t, aqlipse_thunk_counters_t *) =
      (int (*)(uint32_t, aqlipse_thunk_counters_t *))dlsym(RTLD_DEFAULT, "aqlipseThunkCounters");
  aqlipse_thunk_counters_t now = {0};
  if (!read || read(ordinal, &now)) exit(1);
  return now;
}

// A kernel on memory of a CPU agent, with its arguments in that of the last one.
static hsa_status_t on_socket(hsa_agent_t agent, void *number) {
  hsa_device_type_t type;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type != HSA_DEVICE_TYPE_CPU) return HSA_STATUS_SUCCESS;
  CHECK(hsa_amd_agent_iterate_memory_pools(agent, find_pool, &host));
  hsa_amd_memory_pool_link_info_t link;
  CHECK(hsa_amd_agent_memory_pool_get_info(device, host_pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link));
  CHECK(hsa_amd_agent_iterate_memory_pools(host, find_pool, &host));
  hsa_amd_memory_pool_t near = host_pool;
  CHECK(hsa_amd_agent_iterate_memory_pools(agent, find_pool, &host));
  int *data = allocate(host_pool, ITEMS * sizeof(int));
  host_pool = near;
  CHECK(hsa_amd_agent_iterate_memory_pools(host, find_pool, &host));
  for (int i = 0; i < ITEMS; ++i) data[i] = i;
  hsa_queue_t *one = queue();
  hsa_signal_t done = signal_at(1);
  aqlipse_thunk_counters_t before = counters();
  dispatch(one, "add", data, 1, done);
  await(done);
  aqlipse_thunk_counters_t after = counters();
  printf("socket %d: distance %u, wrong %d, %s near, %s far, %s early\n", (*(int *)number)++, link.numa_distance,
         wrong(data, 0, 1, 1), after.near_host_reads > before.near_host_reads ? "some" : "none",
         after.far_host_reads > before.far_host_reads ? "some" : "none",
         after.early_host_reads > before.early_host_reads ? "some" : "none");
  CHECK(hsa_queue_destroy(one));
  return HSA_STATUS_SUCCESS;
}

// More events, locked memory and queues than there are.
static void scarce(void) {
  enum { CHUNKS = 8, SIGNALS = 5000, QUEUES = 40 };
  static hsa_signal_t signals[SIGNALS];
  void *chunks[CHUNKS];
  int taken = 0;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  while (taken < CHUNKS && !status) {
    status = hsa_amd_memory_pool_allocate(host_pool, 256 << 20, 0, &chunks[taken]);
    if (!status) CHECK(hsa_amd_agents_allow_access(1, &device, NULL, chunks[taken++]));
  }
  printf("%d chunks of host memory, then %#x\n", taken, (unsigned)status);
  while (taken > 0) CHECK(hsa_amd_memory_pool_free(chunks[--taken]));
  hsa_queue_t *queues[QUEUES];
  for (int i = 0; i < QUEUES; ++i) queues[i] = queue();
  for (int i = 0; i < SIGNALS; ++i) signals[i] = signal_at(1);
  hsa_signal_t none = {0};
  barrier_and(queues[0], none, none, signals[SIGNALS - 1]);
  await(signals[SIGNALS - 1]);
  printf("signal %d: done\n", SIGNALS);
  // Each queue waits for the next one.
  for (int i = 0; i < QUEUES; ++i) barrier_and(queues[i], signals[i + 1], none, signals[i]);
  hsa_signal_store_screlease(signals[QUEUES], 0);
  await(signals[0]);
  printf("%d queues: done, %s\n", QUEUES, counters().quanta ? "in turns" : "at once");
  for (int i = 0; i < QUEUES; ++i) CHECK(hsa_queue_destroy(queues[i]));
}

// What the device has at an address of its own memory.
static int of_device(const int *data) {
  int *copy = allocate(host_pool, sizeof *copy);
  hsa_signal_t done = signal_at(1);
  CHECK(hsa_amd_memory_async_copy(copy, host, data, device, sizeof *copy, 0, NULL, done));
  await(done);
  return *copy;
}

// A store of the host through the window of PCIe, and a flush of the host data path behind it.
static void flush(void) {
  hsa_amd_hdp_flush_t registers = {0};
  CHECK(hsa_agent_get_info(device, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_HDP_FLUSH, &registers));
  printf("registers: %s\n", !registers.HDP_MEM_FLUSH_CNTL                                        ? "none"
                            : registers.HDP_REG_FLUSH_CNTL == registers.HDP_MEM_FLUSH_CNTL + 1 ? "two words, one behind the other"
                                                                                               : "elsewhere");
  int *zero = allocate(host_pool, sizeof *zero), *data = allocate(device_pool, sizeof *data);
  *zero = 0;
  hsa_signal_t done = signal_at(1);
  CHECK(hsa_amd_memory_async_copy(data, device, zero, host, sizeof *data, 0, NULL, done));
  await(done);
  *(volatile int *)data = 7;
  printf("before the flush: %s\n", of_device(data) == 7 ? "new" : "old");
  *(volatile uint32_t *)registers.HDP_MEM_FLUSH_CNTL = 1;
  printf("after the flush: %s\n", of_device(data) == 7 ? "new" : "old");
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  CHECK(hsa_init());
  CHECK(hsa_iterate_agents(find_agent, NULL));
  CHECK(hsa_amd_agent_iterate_memory_pools(host, find_pool, &host));
  CHECK(hsa_amd_agent_iterate_memory_pools(device, find_pool, &device));
  load(arguments[1]);
  if (!strcmp(arguments[2], "queues")) queues();
  else if (!strcmp(arguments[2], "copies")) copies();
  else if (!strcmp(arguments[2], "scarce")) scarce();
  else if (!strcmp(arguments[2], "flush")) flush();
  else if (!strcmp(arguments[2], "sockets")) {
    int number = 0;
    CHECK(hsa_iterate_agents(on_socket, &number));
  }
  else if (!strcmp(arguments[2], "unheard")) error("stray");
  else {
    CHECK(hsa_amd_register_system_event_handler(on_event, NULL));
    error(arguments[2]);
  }
  CHECK(hsa_executable_destroy(executable));
  CHECK(hsa_shut_down());
  puts("done");
  return 0;
}
