// Copies by the engines of two devices, on AMD's runtime. It prints what it observes, and how many copies and bytes
// the thunk has counted for each device.
#include <aqlipse_thunk.h>
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    hsa_status_t status_ = (call);                                                         \
    if (status_ != HSA_STATUS_SUCCESS) {                                                   \
      fprintf(stderr, "%s:%d: %s: %#x\n", __FILE__, __LINE__, #call, (unsigned)status_);   \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

enum { BYTES = 6 << 20 };

static hsa_agent_t host, devices[2];
static int device_count;
static hsa_amd_memory_pool_t host_pool, device_pools[2];

static hsa_status_t find_agent(hsa_agent_t agent, void *unused) {
  (void)unused;
  hsa_device_type_t type;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type != HSA_DEVICE_TYPE_GPU) host = agent;
  else if (device_count < 2) devices[device_count++] = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *place) {
  hsa_amd_segment_t segment;
  uint32_t flags;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) *(hsa_amd_memory_pool_t *)place = pool;
  return HSA_STATUS_SUCCESS;
}

// Memory that both devices reach.
static unsigned char *allocate(hsa_amd_memory_pool_t pool) {
  void *memory;
  CHECK(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &memory));
  CHECK(hsa_amd_agents_allow_access(2, devices, NULL, memory));
  return memory;
}

// What was counted since the last call.
static void counted(const char *what) {
  static aqlipse_thunk_counters_t before[2];
  static int (*read)(uint32_t, aqlipse_thunk_counters_t *);
  if (!read) read = (int (*)(uint32_t, aqlipse_thunk_counters_t *))dlsym(RTLD_DEFAULT, "aqlipseThunkCounters");
  printf("%s:", what);
  for (uint32_t device = 0; device < 2; ++device) {
    aqlipse_thunk_counters_t now;
    if (!read || read(device, &now) != 0) exit(2);
    printf(" %" PRIu64 " copies, %" PRIu64 " bytes, %" PRIu64 " kernels;", now.engine_copies - before[device].engine_copies,
           now.engine_bytes - before[device].engine_bytes, now.kernels - before[device].kernels);
    before[device] = now;
  }
  puts("");
}

static hsa_signal_t signal_of(hsa_signal_value_t value) {
  hsa_signal_t signal;
  CHECK(hsa_signal_create(value, 0, NULL, &signal));
  return signal;
}

static void await(hsa_signal_t signal) {
  hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t bytes) {
  hsa_signal_t done = signal_of(1);
  CHECK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, NULL, done));
  await(done);
  CHECK(hsa_signal_destroy(done));
}

static hsa_status_t faulted(const hsa_amd_event_t *event, void *unused) {
  (void)unused;
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  printf("memory fault at %#" PRIx64 ", agent is %s\n", event->memory_fault.virtual_address,
         event->memory_fault.agent.handle == devices[0].handle ? "device 0" : "another");
  fflush(stdout);
  _exit(0);
}

int main(int argc, char **argv) {
  CHECK(hsa_init());
  CHECK(hsa_iterate_agents(find_agent, NULL));
  if (device_count != 2) return 3;
  CHECK(hsa_amd_agent_iterate_memory_pools(host, find_pool, &host_pool));
  for (int i = 0; i < 2; ++i) CHECK(hsa_amd_agent_iterate_memory_pools(devices[i], find_pool, &device_pools[i]));
  unsigned char *source = allocate(host_pool), *back = allocate(host_pool);
  unsigned char *first = allocate(device_pools[0]), *second = allocate(device_pools[1]);
  for (size_t i = 0; i < BYTES; ++i) source[i] = (unsigned char)(i * 2654435761u >> 13);
  counted("at first");

  if (argc > 1 && strcmp(argv[1], "stray") == 0) {
    CHECK(hsa_amd_register_system_event_handler(faulted, NULL));
    CHECK(hsa_amd_memory_async_copy(first, devices[0], (void *)0xdead000, host, 4096, 0, NULL, signal_of(1)));
    sleep(30);
    return 4;
  }

  // More than one packet holds, at odd addresses.
  copy(first + 1, devices[0], source + 3, host, 5000001);
  counted("up");
  copy(back + 2, host, first + 1, devices[0], 5000001);
  counted("down");
  printf("there and back: %s\n", memcmp(back + 2, source + 3, 5000001) == 0 ? "right" : "wrong");

  copy(second, devices[1], first + 1, devices[0], 70000);
  counted("to the peer");
  printf("on the peer: %s\n", memcmp(second, source + 3, 70000) == 0 ? "right" : "wrong");

  // A dependency, of which the high half comes first.
  hsa_signal_t gate = signal_of(5ll << 32), done = signal_of(1);
  memset(back, 0, BYTES);
  CHECK(hsa_amd_memory_async_copy(back, host, first + 1, devices[0], 64, 1, &gate, done));
  usleep(20000);
  printf("before the gate opens: %s\n", hsa_signal_load_scacquire(done) == 1 && back[5] == 0 ? "waiting" : "done");
  hsa_signal_store_screlease(gate, 0);
  await(done);
  printf("behind the gate: %s\n", memcmp(back, source + 3, 64) == 0 ? "right" : "wrong");
  counted("behind the gate");

  // A box: 7 bytes of 5 rows of 3 slices.
  hsa_pitched_ptr_t to = {first, 64, 1024}, from = {source, 128, 4096};
  hsa_dim3_t there = {3, 2, 1}, here = {9, 4, 2}, range = {7, 5, 3};
  CHECK(hsa_amd_memory_fill(first, 0, 8192));
  hsa_signal_store_screlease(done, 1);
  CHECK(hsa_amd_memory_async_copy_rect(&to, &there, &from, &here, &range, devices[0], hsaHostToDevice, 0, NULL, done));
  await(done);
  memset(back, 0, 32768);
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 5; ++y)
      memcpy(back + (1 + z) * 1024 + (2 + y) * 64 + 3, source + (2 + z) * 4096 + (4 + y) * 128 + 9, 7);
  printf("a box: %s\n", memcmp(back, first, 32768) == 0 ? "right" : "wrong");
  counted("a box");

  // More than a ring holds, in flight together; and the times of one of them.
  enum { MANY = 20000 };
  CHECK(hsa_amd_profiling_async_copy_enable(true));
  hsa_signal_t all = signal_of(MANY);
  for (int i = 0; i < MANY; ++i)
    CHECK(hsa_amd_memory_async_copy(first + 8 * i, devices[0], source + 8 * (MANY - i), host, 8, 0, NULL, all));
  await(all);
  int wrong = 0;
  for (int i = 0; i < MANY; ++i) wrong += memcmp(first + 8 * i, source + 8 * (MANY - i), 8) != 0;
  printf("many: wrong %d\n", wrong);
  counted("many");
  uint64_t start, end;
  hsa_amd_profiling_async_copy_time_t time;
  CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &start));
  hsa_signal_store_screlease(done, 1);
  CHECK(hsa_amd_memory_async_copy(first, devices[0], source, host, BYTES, 0, NULL, done));
  await(done);
  CHECK(hsa_amd_profiling_get_async_copy_time(done, &time));
  CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &end));
  printf("times: %s\n", start < time.start && time.start < time.end && time.end < end ? "right" : "wrong");
  CHECK(hsa_shut_down());
  puts("done");
  return 0;
}
