// A 2-D Jacobi stencil over several ranks, one GPU each. A launch is one captured graph of four sweeps; in each, kernels
// pack the edges, they travel, kernels unpack them, and the cells within are computed meanwhile.
//
//   mpirun -n 4 halo [cells] [launches]         edges travel by host functions that call MPI
//   mpirun -n 4 halo --ipc [cells] [launches]   kernels read the neighbours' memory, in the order of flags (one machine)
//
// The result does not depend on the number of ranks: the checksum that rank 0 prints is that of one rank, to the bit.
#include <hip/hip_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "stencil.h"

// An error of one rank ends them all: none waits for one that is gone.
#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    hipError_t status_ = (call);                                                                       \
    if (status_ != hipSuccess) {                                                                       \
      std::fprintf(stderr, "rank %d: %s:%d: %s: %s\n", rank, __FILE__, __LINE__, #call, hipGetErrorName(status_)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
    }                                                                                                  \
  } while (0)

static int rank = 0;

// Sweeps of a launch. A neighbour is at most one sweep ahead or behind: of four phases no two that meet are alike.
constexpr int SWEEPS = 4;

struct Exchange {
  Part part;
  MPI_Comm grid;
  int neighbours[SIDES];  // MPI_PROC_NULL at the border of the grid
  double *send, *receive;  // pinned
};

// Runs between two copies of a launch.
static void exchange(void* data) {
  const Exchange& e = *static_cast<Exchange*>(data);
  MPI_Request requests[2 * SIDES];
  for (int side = 0; side < SIDES; ++side) {
    const int length = e.part.length(side), offset = e.part.offset(side);
    // A message is named by the side that it leaves from.
    MPI_Irecv(e.receive + offset, length, MPI_DOUBLE, e.neighbours[side], opposite(side), e.grid, &requests[2 * side]);
    MPI_Isend(e.send + offset, length, MPI_DOUBLE, e.neighbours[side], side, e.grid, &requests[2 * side + 1]);
  }
  MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
}

// What a rank shows to its neighbours: edges of each phase, and behind them a flag. Only its owner writes it.
struct Shared {
  double* edges = nullptr;
  uint32_t* flag = nullptr;
  Part part{};
};

// In one launch: `u` -> `v` -> `u` -> ...
static hipGraphExec_t capture(hipStream_t stream, Exchange& e, double* u, double* v, double* edges, const Shared* own,
                              const Shared* others) {
  const Part part = e.part;
  const int longest = std::max(part.width, part.height);
  const dim3 line(128), lines((longest + 127) / 128, SIDES), block(16, 16);
  const dim3 blocks((part.width + 15) / 16, (part.height + 15) / 16);
  hipStream_t aside;
  hipEvent_t fork, join;
  CHECK(hipStreamCreateWithFlags(&aside, hipStreamNonBlocking));
  CHECK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  CHECK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  for (int phase = 0; phase < SWEEPS; ++phase) {
    CHECK(hipEventRecord(fork, stream));
    CHECK(hipStreamWaitEvent(aside, fork, 0));
    inner<<<blocks, block, 0, aside>>>(part, u, v);
    CHECK(hipEventRecord(join, aside));
    const size_t bytes = part.edges() * sizeof(double);
    double* packed = own ? own->edges + size_t(phase) * part.edges() : edges;
    pack<<<lines, line, 0, stream>>>(part, u, packed);
    if (own) {
      CHECK(hipStreamWriteValue32(stream, own->flag, 1u << phase, 0));
    } else {
      CHECK(hipMemcpyAsync(e.send, edges, bytes, hipMemcpyDeviceToHost, stream));
      CHECK(hipLaunchHostFunc(stream, exchange, &e));
      CHECK(hipMemcpyAsync(edges, e.receive, bytes, hipMemcpyHostToDevice, stream));
    }
    for (int side = 0; side < SIDES; ++side) {
      if (e.neighbours[side] == MPI_PROC_NULL) continue;
      const double* edge = edges + part.offset(side);
      if (own) {
        const Shared& other = others[side];
        const uint32_t there = 1u << phase | 1u << (phase + 1) % SWEEPS;
        CHECK(hipStreamWaitValue32(stream, other.flag, there, hipStreamWaitValueAnd, 0xffffffff));
        edge = other.edges + size_t(phase) * other.part.edges() + other.part.offset(opposite(side));
      }
      unpack<<<lines.x, line, 0, stream>>>(part, u, edge, side);
    }
    outer<<<lines, line, 0, stream>>>(part, u, v);
    CHECK(hipStreamWaitEvent(stream, join, 0));
    std::swap(u, v);
  }
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipEventDestroy(fork));
  CHECK(hipEventDestroy(join));
  CHECK(hipStreamDestroy(aside));
  return exec;
}

int main(int argc, char** argv) {
  // Host functions of a launch call MPI from a thread of the runtime.
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_SERIALIZED) {
    std::fprintf(stderr, "this MPI has no calls from other threads\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const bool ipc = argc > 1 && !std::strcmp(argv[1], "--ipc");
  argv += ipc, argc -= ipc;
  const int cells = argc > 1 ? std::atoi(argv[1]) : 256, launches = argc > 2 ? std::atoi(argv[2]) : 25;

  int ranks, dims[2] = {}, periods[2] = {}, coordinates[2];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  Exchange e{};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &e.grid);
  MPI_Comm_rank(e.grid, &rank);
  MPI_Cart_coords(e.grid, rank, 2, coordinates);
  MPI_Cart_shift(e.grid, 1, 1, &e.neighbours[WEST], &e.neighbours[EAST]);
  MPI_Cart_shift(e.grid, 0, 1, &e.neighbours[NORTH], &e.neighbours[SOUTH]);
  if (cells < 2 || launches < 1 || cells % dims[0] || cells % dims[1] || cells / dims[0] < 2 || cells / dims[1] < 2) {
    if (rank == 0) std::fprintf(stderr, "usage: halo [--ipc] [cells] [launches]; cells are a multiple of %d and %d\n", dims[0], dims[1]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const Part part = e.part = {cells / dims[1], cells / dims[0]};
  const int left = coordinates[1] * part.width, top = coordinates[0] * part.height;

  // As many ranks of a machine share a device as there are more than devices.
  MPI_Comm machine;
  int local, devices;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &local);
  CHECK(hipGetDeviceCount(&devices));
  CHECK(hipSetDevice(local % devices));

  double *u, *v, *edges;
  CHECK(hipMalloc(&u, part.cells() * sizeof(double)));
  CHECK(hipMalloc(&v, part.cells() * sizeof(double)));
  CHECK(hipMalloc(&edges, part.edges() * sizeof(double)));
  CHECK(hipHostMalloc(&e.send, part.edges() * sizeof(double), 0));
  CHECK(hipHostMalloc(&e.receive, part.edges() * sizeof(double), 0));
  // Within the grid a pattern; around it 1, which nobody changes.
  std::vector<double> values(part.cells(), 1.0);
  for (int y = 0; y < part.height; ++y)
    for (int x = 0; x < part.width; ++x) values[part.at(x, y)] = double((left + x) * 31 + (top + y) * 17 & 255) / 3.0;
  CHECK(hipMemcpy(u, values.data(), part.cells() * sizeof(double), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(v, values.data(), part.cells() * sizeof(double), hipMemcpyHostToDevice));

  Shared own, others[SIDES];
  if (ipc) {
    const size_t bytes = SWEEPS * part.edges() * sizeof(double);
    own.part = part;
    CHECK(hipMalloc(&own.edges, bytes + sizeof(uint32_t)));
    CHECK(hipMemset(own.edges, 0, bytes + sizeof(uint32_t)));
    own.flag = reinterpret_cast<uint32_t*>(own.edges + SWEEPS * part.edges());
    hipIpcMemHandle_t handle;
    CHECK(hipIpcGetMemHandle(&handle, own.edges));
    std::vector<hipIpcMemHandle_t> handles(ranks);
    MPI_Allgather(&handle, sizeof handle, MPI_BYTE, handles.data(), sizeof handle, MPI_BYTE, e.grid);
    for (int side = 0; side < SIDES; ++side) {
      if (e.neighbours[side] == MPI_PROC_NULL) continue;
      others[side] = own;  // All parts are of one size.
      void* there;
      CHECK(hipIpcOpenMemHandle(&there, handles[e.neighbours[side]], hipIpcMemLazyEnablePeerAccess));
      others[side].edges = static_cast<double*>(there);
      others[side].flag = reinterpret_cast<uint32_t*>(others[side].edges + SWEEPS * part.edges());
    }
  }

  hipStream_t stream;
  CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  const hipGraphExec_t exec = capture(stream, e, u, v, edges, ipc ? &own : nullptr, others);
  // For the test of what becomes of the others: "1 3" kills rank 1 before its launch 3.
  int victim = -1, last = -1;
  if (const char* text = std::getenv("HALO_KILL")) std::sscanf(text, "%d %d", &victim, &last);
  std::vector<double> calls;
  MPI_Barrier(e.grid);
  for (int launch = 0; launch < launches; ++launch) {
    if (rank == victim && launch == last) std::raise(SIGKILL);
    const auto start = std::chrono::steady_clock::now();
    CHECK(hipGraphLaunch(exec, stream));
    calls.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    CHECK(hipStreamSynchronize(stream));
  }

  // The whole grid, row by row, on rank 0.
  CHECK(hipMemcpy(values.data(), u, part.cells() * sizeof(double), hipMemcpyDeviceToHost));
  std::vector<double> rows(size_t(part.width) * part.height), all(rank == 0 ? rows.size() * ranks : 0);
  for (int y = 0; y < part.height; ++y) std::copy_n(&values[part.at(0, y)], part.width, &rows[size_t(y) * part.width]);
  MPI_Gather(rows.data(), int(rows.size()), MPI_DOUBLE, all.data(), int(rows.size()), MPI_DOUBLE, 0, e.grid);
  if (rank == 0) {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x) {
        const int column = x / part.width, row = y / part.height;
        const size_t place = (size_t(row * dims[1] + column) * part.height + y % part.height) * part.width + x % part.width;
        unsigned char bytes[sizeof(double)];
        std::memcpy(bytes, &all[place], sizeof bytes);
        for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
      }
    std::sort(calls.begin(), calls.end());
    std::printf("%d sweeps of %d x %d cells: %016llx\n", launches * SWEEPS, cells, cells, static_cast<unsigned long long>(hash));
    std::fprintf(stderr, "%d ranks, a launch call of rank 0: %.2f us (median of %zu)\n", ranks, calls[calls.size() / 2], calls.size());
  }

  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipStreamDestroy(stream));
  // Nobody's memory goes while a neighbour reads it.
  MPI_Barrier(e.grid);
  for (int side = 0; ipc && side < SIDES; ++side)
    if (others[side].edges) CHECK(hipIpcCloseMemHandle(others[side].edges));
  MPI_Barrier(e.grid);
  if (ipc) CHECK(hipFree(own.edges));
  for (void* memory : {u, v, edges}) CHECK(hipFree(memory));
  for (void* memory : {e.send, e.receive}) CHECK(hipHostFree(memory));
  MPI_Finalize();
}
