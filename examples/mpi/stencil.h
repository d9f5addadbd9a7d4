// The part of a rank, and the kernels: for `halo.hip`, and for `halo.rs`, which has them compiled when it runs.
#pragma once

enum Side { WEST, EAST, NORTH, SOUTH, SIDES };
constexpr Side opposite(int side) { return Side(side ^ 1); }

// A rank's part of the grid, with one row or column of others' cells around it.
struct Part {
  int width, height;
  __host__ __device__ size_t at(int x, int y) const { return size_t(y + 1) * (width + 2) + (x + 1); }
  size_t cells() const { return size_t(width + 2) * (height + 2); }
  __host__ __device__ int length(int side) const { return side < NORTH ? height : width; }
  // Where the edge of a side begins in a buffer of all edges.
  __host__ __device__ int offset(int side) const {
    const int starts[] = {0, height, 2 * height, 2 * height + width};
    return starts[side];
  }
  int edges() const { return 2 * (width + height); }
  // The n-th cell of an edge; `out` is 1 for the neighbour's row or column beside it.
  __host__ __device__ size_t edge(int side, int n, int out) const {
    switch (side) {
      case WEST: return at(-out, n);
      case EAST: return at(width - 1 + out, n);
      case NORTH: return at(n, -out);
      default: return at(n, height - 1 + out);
    }
  }
};

extern "C" __global__ void pack(Part part, const double* u, double* edges) {
  const int side = blockIdx.y, n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < part.length(side)) edges[part.offset(side) + n] = u[part.edge(side, n, 0)];
}

// `edge` is that of the neighbour on `side`.
extern "C" __global__ void unpack(Part part, double* u, const double* edge, int side) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < part.length(side)) u[part.edge(side, n, 1)] = edge[n];
}

__device__ void cell(const Part& part, const double* u, double* v, int x, int y) {
  v[part.at(x, y)] = 0.25 * ((u[part.at(x - 1, y)] + u[part.at(x + 1, y)]) + (u[part.at(x, y - 1)] + u[part.at(x, y + 1)]));
}

// The cells that need no neighbour's.
extern "C" __global__ void inner(Part part, const double* u, double* v) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x < part.width - 1 && y < part.height - 1) cell(part, u, v, x, y);
}

extern "C" __global__ void outer(Part part, const double* u, double* v) {
  const int side = blockIdx.y, n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= part.length(side)) return;
  const int along_x = side >= NORTH;
  const int last = side == EAST ? part.width - 1 : side == SOUTH ? part.height - 1 : 0;
  cell(part, u, v, along_x ? n : last, along_x ? last : n);
}
