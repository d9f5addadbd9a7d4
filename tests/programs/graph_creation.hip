// The documentation's graph, built node by node with its true dependencies.
//
// With NO_GRAPH_MEMORY, as HIP 5.2.3 can have it: memory is allocated beforehand, and empty nodes take the place of
// those that allocate and free.
#include "check.h"
#include "kernels.h"

#ifdef NO_GRAPH_MEMORY
static void* allocation_node(hipGraphNode_t* node, hipGraph_t graph, size_t bytes) {
  void* memory;
  CHECK(hipMalloc(&memory, bytes));
  CHECK(hipGraphAddEmptyNode(node, graph, nullptr, 0));
  return memory;
}

static void free_node(hipGraphNode_t* node, hipGraph_t graph, hipGraphNode_t after, void*) {
  CHECK(hipGraphAddEmptyNode(node, graph, &after, 1));
}
#else
static void* allocation_node(hipGraphNode_t* node, hipGraph_t graph, size_t bytes) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.poolProps.location.id = 0;
  params.bytesize = bytes;
  CHECK(hipGraphAddMemAllocNode(node, graph, nullptr, 0, &params));
  return params.dptr;
}

static void free_node(hipGraphNode_t* node, hipGraph_t graph, hipGraphNode_t after, void* memory) {
  CHECK(hipGraphAddMemFreeNode(node, graph, &after, 1, memory));
}
#endif

static void kernel_node(hipGraphNode_t* node, hipGraph_t graph, std::vector<hipGraphNode_t> after,
                        const void* function, size_t n, void** arguments) {
  hipKernelNodeParams params{};
  params.func = const_cast<void*>(function);
  params.gridDim = dim3(static_cast<unsigned>(n / 1024));
  params.blockDim = dim3(1024);
  params.kernelParams = arguments;
  CHECK(hipGraphAddKernelNode(node, graph, after.data(), after.size(), &params));
}

int main(int argc, char** argv) {
  const size_t n = problem_size(argc, argv);
  const int rounds = launches(argc, argv);
  std::vector<double> host(n);
  Fill job{&host, 2.0};

  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t alloc_a, alloc_b, fill_node, to_device, node_a, node_b, node_c, to_host, free_a, free_b;
  auto* a = static_cast<double*>(allocation_node(&alloc_a, graph, n * sizeof(double)));
  auto* b = static_cast<int*>(allocation_node(&alloc_b, graph, n * sizeof(int)));

  hipHostNodeParams fill_params{};
  fill_params.fn = fill;
  fill_params.userData = &job;
  CHECK(hipGraphAddHostNode(&fill_node, graph, nullptr, 0, &fill_params));

  hipGraphNode_t before_copy[] = {alloc_a, fill_node};
  CHECK(hipGraphAddMemcpyNode1D(&to_device, graph, before_copy, 2, a, host.data(), n * sizeof(double),
                                hipMemcpyHostToDevice));
  void* arguments_a[] = {&a};
  kernel_node(&node_a, graph, {to_device}, reinterpret_cast<const void*>(kernelA), n, arguments_a);
  void* arguments_b[] = {&b};
  kernel_node(&node_b, graph, {alloc_b}, reinterpret_cast<const void*>(kernelB), n, arguments_b);
  void* arguments_c[] = {&a, &b};
  kernel_node(&node_c, graph, {node_a, node_b}, reinterpret_cast<const void*>(kernelC), n, arguments_c);
  CHECK(hipGraphAddMemcpyNode1D(&to_host, graph, &node_c, 1, host.data(), a, n * sizeof(double),
                                hipMemcpyDeviceToHost));
  free_node(&free_a, graph, to_host, a);
  free_node(&free_b, graph, node_c, b);

  size_t nodes = 0, edges = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  if (nodes != 10 || edges != 9) {
    std::fprintf(stderr, "%zu nodes, %zu edges\n", nodes, edges);
    return 1;
  }

  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  for (int round = 0; round < rounds; ++round) {
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    if (!all_equal(host, 7.0)) return 1;
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
#ifdef NO_GRAPH_MEMORY
  CHECK(hipFree(a));
  CHECK(hipFree(b));
#endif
  std::puts("Validation passed.");
  return 0;
}
