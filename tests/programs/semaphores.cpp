// A stream and a process without a GPU hand each other the turn, by a timeline and a binary semaphore that the program
// made itself.
#include "check.h"
#include SEMAPHORE_H
#include <cstring>
#include <sys/wait.h>

// Newer than the header of HIP 5.
constexpr unsigned TIMELINE = 9;
constexpr uint64_t ROUNDS = 20;
constexpr int64_t LONG = 60000;

static int without_gpu(int timeline, int binary) {
  aqlipseSemaphorePage *turns = aqlipseMapSemaphore(timeline), *end = aqlipseMapSemaphore(binary);
  if (!turns || !end) return 2;
  if (aqlipseWaitSemaphore(turns, 1000, 10) == 0 || errno != ETIMEDOUT) return 3;
  for (uint64_t round = 0; round < ROUNDS; ++round) {
    if (aqlipseWaitSemaphore(turns, 2 * round + 1, LONG)) return 4;
    aqlipseSignalSemaphore(turns, 2 * round + 2);
  }
  return aqlipseWaitSemaphore(end, 0, LONG) ? 5 : 0;
}

static hipExternalSemaphore_t import(unsigned type, int descriptor) {
  hipExternalSemaphoreHandleDesc description;
  std::memset(&description, 0, sizeof description);
  std::memcpy(&description.type, &type, sizeof type);
  description.handle.fd = descriptor;
  hipExternalSemaphore_t semaphore;
  CHECK(hipImportExternalSemaphore(&semaphore, &description));
  return semaphore;
}

int main() {
  int timeline, binary;
  if (aqlipseCreateSemaphore(&timeline, 3, 0) == 0 || aqlipseCreateSemaphore(&timeline, AQLIPSE_SEMAPHORE_TIMELINE, 0) ||
      aqlipseCreateSemaphore(&binary, AQLIPSE_SEMAPHORE_BINARY, 0))
    return 1;
  const pid_t other = fork();
  if (other == 0) _exit(without_gpu(timeline, binary));

  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  hipExternalSemaphore_t turns = import(TIMELINE, timeline), end = import(hipExternalSemaphoreHandleTypeOpaqueFd, binary);
  hipExternalSemaphoreSignalParams signal;
  hipExternalSemaphoreWaitParams wait;
  std::memset(&signal, 0, sizeof signal);
  std::memset(&wait, 0, sizeof wait);
  for (uint64_t round = 0; round < ROUNDS; ++round) {
    signal.params.fence.value = 2 * round + 1;
    wait.params.fence.value = 2 * round + 2;
    CHECK(hipSignalExternalSemaphoresAsync(&turns, &signal, 1, stream));
    CHECK(hipWaitExternalSemaphoresAsync(&turns, &wait, 1, stream));
  }
  CHECK(hipSignalExternalSemaphoresAsync(&end, &signal, 1, stream));
  CHECK(hipStreamSynchronize(stream));
  int status = 0;
  if (waitpid(other, &status, 0) != other || status != 0) {
    std::fprintf(stderr, "the other process: %d\n", status);
    return 1;
  }
  CHECK(hipDestroyExternalSemaphore(turns));
  CHECK(hipDestroyExternalSemaphore(end));
  CHECK(hipStreamDestroy(stream));
  std::puts("Validation passed.");
  return 0;
}
