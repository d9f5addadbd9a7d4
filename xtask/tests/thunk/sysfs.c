// What programs that look for GPUs find in /sys and /dev: `sysfs`. It walks the kernel driver's topology, compares the
// nodes with those that libhsakmt tells of, and opens the devices.
#define _GNU_SOURCE
#include <hsakmt.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NODES "/sys/class/kfd/kfd/topology/nodes"

// The text of a file, without the last end of line.
static const char *text(const char *path) {
  static char found[1 << 16];
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(1);
  }
  size_t length = fread(found, 1, sizeof found - 1, file);
  fclose(file);
  found[length] = 0;
  if (length && found[length - 1] == '\n') found[length - 1] = 0;
  return found;
}

// The number beside a name in a file of properties.
static unsigned long long number(const char *path, const char *name) {
  const char *line = text(path);
  size_t length = strlen(name);
  while (line && (strncmp(line, name, length) || line[length] != ' ')) {
    line = strchr(line, '\n');
    line += line != NULL;
  }
  if (!line) {
    fprintf(stderr, "%s has no %s\n", path, name);
    exit(1);
  }
  return strtoull(line + length, NULL, 10);
}

// How many entries a folder has.
static unsigned entries(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) {
    perror(path);
    exit(1);
  }
  unsigned count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static const char *below(const char *folder, const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static unsigned numbers, different;

static void equal(const char *where, const char *name, unsigned long long wanted) {
  unsigned long long found = number(where, name);
  ++numbers;
  if (found == wanted) return;
  ++different;
  fprintf(stderr, "%s: %s is %llu, and libhsakmt says %llu\n", where, name, found, wanted);
}

static void compare_node(const char *folder, unsigned node) {
  char path[PATH_MAX];
  HsaNodeProperties p;
  if (hsaKmtGetNodeProperties(node, &p)) exit(1);
  snprintf(path, sizeof path, "%s/properties", folder);
  const struct {
    const char *name;
    unsigned long long value;
  } both[] = {
      {"cpu_cores_count", p.NumCPUCores}, {"simd_count", p.NumFComputeCores}, {"cpu_core_id_base", p.CComputeIdLo},
      {"simd_id_base", p.FComputeIdLo}, {"max_waves_per_simd", p.MaxWavesPerSIMD}, {"lds_size_in_kb", p.LDSSizeInKB},
      {"gds_size_in_kb", p.GDSSizeInKB}, {"num_gws", p.NumGws}, {"wave_front_size", p.WaveFrontSize},
      {"array_count", p.NumShaderBanks * p.NumArrays}, {"simd_arrays_per_engine", p.NumArrays},
      {"cu_per_simd_array", p.NumCUPerArray}, {"simd_per_cu", p.NumSIMDPerCU},
      {"max_slots_scratch_cu", p.MaxSlotsScratchCU},
      {"gfx_target_version",
       p.EngineId.ui32.Major * 10000 + p.EngineId.ui32.Minor * 100 + p.EngineId.ui32.Stepping},
      {"vendor_id", p.VendorId}, {"device_id", p.DeviceId}, {"location_id", p.LocationId}, {"domain", p.Domain},
      {"drm_render_minor", p.DrmRenderMinor < 0 ? 0 : p.DrmRenderMinor}, {"hive_id", p.HiveID},
      {"num_sdma_engines", p.NumSdmaEngines}, {"num_sdma_xgmi_engines", p.NumSdmaXgmiEngines},
      {"num_sdma_queues_per_engine", p.NumSdmaQueuesPerEngine}, {"num_cp_queues", p.NumCpQueues},
      {"max_engine_clk_ccompute", p.MaxEngineClockMhzCCompute}};
  for (unsigned i = 0; i < sizeof both / sizeof *both; ++i) equal(path, both[i].name, both[i].value);
  if (!p.NumFComputeCores) return;
  equal(path, "max_engine_clk_fcompute", p.MaxEngineClockMhzFCompute);
  equal(path, "local_mem_size", p.LocalMemSize);
  equal(path, "fw_version", p.EngineId.ui32.uCode);
  equal(path, "sdma_fw_version", p.uCodeEngineVersions.uCodeSDMA);
  equal(path, "capability", p.Capability.Value);
  equal(path, "unique_id", p.UniqueID);
}

// The banks that the kernel driver has come first.
static void compare_memory(const char *folder, unsigned node, unsigned count) {
  char path[PATH_MAX];
  HsaMemoryProperties banks[8];
  if (count > 8 || hsaKmtGetNodeMemoryProperties(node, count, banks)) exit(1);
  for (unsigned i = 0; i < count; ++i) {
    snprintf(path, sizeof path, "%s/mem_banks/%u/properties", folder, i);
    equal(path, "heap_type", banks[i].HeapType);
    equal(path, "size_in_bytes", banks[i].SizeInBytes);
    equal(path, "width", banks[i].Width);
    equal(path, "mem_clk_max", banks[i].MemoryClockMax);
  }
}

static void compare_caches(const char *folder, unsigned node, unsigned count) {
  char path[PATH_MAX];
  HsaCacheProperties caches[8];
  if (count > 8 || (count && hsaKmtGetNodeCacheProperties(node, 0, count, caches))) exit(1);
  for (unsigned i = 0; i < count; ++i) {
    snprintf(path, sizeof path, "%s/caches/%u/properties", folder, i);
    equal(path, "level", caches[i].CacheLevel);
    equal(path, "size", caches[i].CacheSize);
    equal(path, "cache_line_size", caches[i].CacheLineSize);
    equal(path, "type", caches[i].CacheType.Value);
    const char *siblings = strstr(text(path), "sibling_map ");
    unsigned commas = 0;
    for (; siblings && *siblings; ++siblings) commas += *siblings == ',';
    if (commas != HSA_CPU_SIBLINGS - 1) ++different;
  }
}

// Links of the host, and links between devices, which newer kernels keep apart.
static void compare_links(const char *folder, unsigned node, unsigned hosts, unsigned peers) {
  char path[PATH_MAX];
  HsaIoLinkProperties links[64];
  if (hosts + peers > 64 || hsaKmtGetNodeIoLinkProperties(node, hosts + peers, links)) exit(1);
  for (unsigned i = 0; i < hosts + peers; ++i) {
    snprintf(path, sizeof path, "%s/%s/%u/properties", folder, i < hosts ? "io_links" : "p2p_links",
             i < hosts ? i : i - hosts);
    equal(path, "type", links[i].IoLinkType);
    equal(path, "node_from", links[i].NodeFrom);
    equal(path, "node_to", links[i].NodeTo);
    equal(path, "weight", links[i].Weight);
    equal(path, "flags", links[i].Flags.LinkProperty);
  }
}

// The folder of a kind has as many entries as the node's properties say.
static unsigned counted(const char *folder, const char *kind) {
  char path[PATH_MAX], name[64];
  snprintf(path, sizeof path, "%s/properties", folder);
  snprintf(name, sizeof name, "%s_count", kind);
  unsigned count = (unsigned)number(path, name), found = entries(below(folder, kind));
  if (found != count) printf("%s has %u entries, not %u\n", kind, found, count);
  return count;
}

// A node of a driver opens, and answers no request: the first of the kernel driver's and of graphics drivers alike.
static const char *opened(const char *path) {
  int node = open(path, O_RDWR);
  if (node < 0) return "does not open";
  char room[64] = {0};
  int answer = ioctl(node, _IOC(_IOC_READ, 'K', 1, 8), room);
  int is_refused = answer < 0 && errno == ENOTTY;
  close(node);
  return is_refused ? "opens" : "opens and answers";
}

static void graphics(unsigned minor) {
  char link[PATH_MAX], place[PATH_MAX];
  snprintf(link, sizeof link, "/sys/class/drm/renderD%u/device", minor);
  if (!realpath(link, place)) {
    perror(link);
    exit(1);
  }
  printf("  PCI device %s: ", strrchr(place, '/') + 1);
  printf("vendor %s, ", text(below(place, "vendor")));
  printf("device %s, ", text(below(place, "device")));
  printf("%s bytes, ", text(below(place, "mem_info_vram_total")));
  printf("%s, ", text(below(place, "product_name")));
  snprintf(place, sizeof place, "/dev/dri/renderD%u", minor);
  printf("%s\n", access(place, R_OK | W_OK) ? "is not accessible" : opened(place));
}

int main(void) {
  if (hsaKmtOpenKFD()) return 1;
  HsaSystemProperties system;
  if (hsaKmtAcquireSystemProperties(&system)) return 1;
  number("/sys/class/kfd/kfd/topology/system_properties", "platform_id");
  printf("generation %s, ", text("/sys/class/kfd/kfd/topology/generation_id"));
  printf("%u nodes of %u, /dev/kfd %s\n", entries(NODES), (unsigned)system.NumNodes, opened("/dev/kfd"));
  for (unsigned node = 0; node < system.NumNodes; ++node) {
    char folder[64];
    snprintf(folder, sizeof folder, NODES "/%u", node);
    unsigned banks = counted(folder, "mem_banks"), caches = counted(folder, "caches");
    unsigned hosts = counted(folder, "io_links"), peers = counted(folder, "p2p_links");
    compare_node(folder, node);
    compare_memory(folder, node, banks);
    compare_caches(folder, node, caches);
    compare_links(folder, node, hosts, peers);
    printf("node %u: gpu_id %s, ", node, text(below(folder, "gpu_id")));
    printf("name '%s', ", text(below(folder, "name")));
    printf("%u memory banks, %u caches, %u links, %u to other devices\n", banks, caches, hosts, peers);
    snprintf(folder, sizeof folder, NODES "/%u/properties", node);
    if (number(folder, "simd_count")) graphics((unsigned)number(folder, "drm_render_minor"));
  }
  printf("%s numbers, %u of them different\n", numbers > 50 ? "many" : "few", different);
  return 0;
}
