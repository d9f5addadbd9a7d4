// Declarations of graph memory and of nodes' parameters, which came after HIP 5.2.3.
#pragma once

struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void* dptr;
};
static_assert(sizeof(hipMemAllocNodeParams) == 120, "the size that the library expects");

struct hipMemFreeNodeParams {
  void* dptr;
};

struct hipGraphNodeParams {
  hipGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    hipMemAllocNodeParams alloc;
    hipMemFreeNodeParams free;
  };
  long long reserved2;
};
static_assert(sizeof(hipGraphNodeParams) == 256, "the size that the library expects");

enum hipGraphMemAttributeType {
  hipGraphMemAttrUsedMemCurrent = 0,
  hipGraphMemAttrUsedMemHigh,
  hipGraphMemAttrReservedMemCurrent,
  hipGraphMemAttrReservedMemHigh,
};

extern "C" {
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t dependency_count, hipMemAllocNodeParams* params);
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams* params);
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                  size_t dependency_count, void* pointer);
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* pointer);
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params);
hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params);
hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value);
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value);
hipError_t hipDeviceGraphMemTrim(int device);
}
