// Conditional nodes whose conditions kernels set: IF with and without else, WHILE, SWITCH, and a nest of them.
#include "check.h"
#include "../../capi/include/aqlipse/hip_graph_conditional.h"

static int failures = 0;

static void expect(const char* what, int found, int wanted) {
  if (found != wanted) {
    std::fprintf(stderr, "%s: %d instead of %d\n", what, found, wanted);
    ++failures;
  }
}

__global__ void set(hipGraphConditionalHandle handle, const unsigned* value) {
  if (threadIdx.x == 0) hipGraphSetConditional(handle, *value);
}
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
// Halves a value; the condition is whether anything is left.
__global__ void halve(unsigned* value, int* turns, hipGraphConditionalHandle handle) {
  if (threadIdx.x == 0) {
    *value /= 2;
    *turns += 1;
    hipGraphSetConditional(handle, *value);
  }
}

template <typename... Arguments>
static hipGraphNode_t kernel(hipGraph_t graph, hipGraphNode_t after, void (*function)(Arguments...), Arguments... arguments) {
  void* pointers[] = {&arguments...};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(function);
  params.gridDim = dim3(1);
  params.blockDim = dim3(64);
  params.kernelParams = pointers;
  hipGraphNode_t node;
  CHECK(hipGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
  return node;
}

static hipGraph_t graph_of(void) {
  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  return graph;
}

static hipGraph_t adding(int* data, int value) {
  hipGraph_t graph = graph_of();
  kernel(graph, nullptr, add, data, value);
  return graph;
}

int main() {
  unsigned* value;
  int *data, *turns;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&value), sizeof *value, hipHostMallocDefault));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&data), 64 * sizeof *data, hipHostMallocDefault));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&turns), sizeof *turns, hipHostMallocDefault));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));

  // IF, with one body and with two; SWITCH with three.
  struct { hipGraphConditionalNodeType type; unsigned bodies; } shapes[] = {
      {hipGraphCondTypeIf, 1}, {hipGraphCondTypeIf, 2}, {hipGraphCondTypeSwitch, 3}};
  for (auto shape : shapes) {
    hipGraph_t graph = graph_of();
    hipGraphConditionalHandle handle;
    CHECK(hipGraphConditionalHandleCreate(&handle, graph, 0, hipGraphCondAssignDefault));
    hipGraphNode_t first = kernel(graph, nullptr, set, handle, static_cast<const unsigned*>(value)), node;
    hipGraph_t bodies[] = {adding(data, 1), adding(data, 10), adding(data, 100)};
    CHECK(hipGraphAddConditionalNode(&node, graph, &first, 1, handle, shape.type, shape.bodies, bodies));
    for (hipGraph_t body : bodies) CHECK(hipGraphDestroy(body));
    hipGraphNodeType type;
    CHECK(hipGraphNodeGetType(node, &type));
    expect("type", type, hipGraphNodeTypeConditional);
    kernel(graph, node, add, data, 1000);
    hipGraphExec_t exec;
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(hipGraphDestroy(graph));
    for (unsigned n = 0; n < 5; ++n) {
      *value = n;
      for (int i = 0; i < 64; ++i) data[i] = 0;
      CHECK(hipGraphLaunch(exec, stream));
      CHECK(hipStreamSynchronize(stream));
      int wanted = 1000;
      if (shape.type == hipGraphCondTypeSwitch) wanted += n == 0 ? 1 : n == 1 ? 10 : n == 2 ? 100 : 0;
      else wanted += n != 0 ? 1 : shape.bodies == 2 ? 10 : 0;
      expect("chosen", data[0], wanted);
      expect("chosen", data[63], wanted);
    }
    CHECK(hipGraphExecDestroy(exec));
  }

  // WHILE around an IF that is added through the body that the node hands out.
  hipGraph_t graph = graph_of(), empty = graph_of();
  hipGraphConditionalHandle again, small;
  CHECK(hipGraphConditionalHandleCreate(&again, graph, 1, hipGraphCondAssignDefault));
  hipGraphNode_t loop, choice;
  CHECK(hipGraphAddConditionalNode(&loop, graph, nullptr, 0, again, hipGraphCondTypeWhile, 1, &empty));
  hipGraph_t body;
  CHECK(hipGraphConditionalNodeGetBody(loop, 0, &body));
  CHECK(hipGraphConditionalHandleCreate(&small, body, 0, 0));
  hipGraphNode_t halved = kernel(body, nullptr, halve, value, turns, again);
  hipGraphNode_t chosen = kernel(body, halved, set, small, static_cast<const unsigned*>(value));
  hipGraph_t cases[] = {adding(data, 1), adding(data, 100)};
  CHECK(hipGraphAddConditionalNode(&choice, body, &chosen, 1, small, hipGraphCondTypeIf, 2, cases));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 0; launch < 3; ++launch) {
    *value = 1000;
    *turns = 0;
    for (int i = 0; i < 64; ++i) data[i] = 0;
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    expect("turns", *turns, 10);
    expect("sum", data[5], 109);
  }

  // Misuse is an error, and the program goes on.
  hipGraphNode_t node;
  expect("while with two", hipGraphAddConditionalNode(&node, graph, nullptr, 0, again, hipGraphCondTypeWhile, 2, cases),
         hipErrorInvalidValue);
  expect("handle in use", hipGraphAddConditionalNode(&node, graph, nullptr, 0, again, hipGraphCondTypeIf, 1, cases),
         hipErrorInvalidValue);
  expect("null handle", hipGraphConditionalHandleCreate(nullptr, graph, 0, 0), hipErrorInvalidValue);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  if (failures == 0) std::puts("Validation passed.");
  return failures != 0;
}
