/* Conditional graph nodes for HIP, as aqlipse's libamdhip64 implements them.
 *
 * Names and layouts are those of AMD's public proposal of 2026, which no released HIP contains;
 * hipGraphConditionalNodeGetBody is aqlipse's own. Include this behind <hip/hip_runtime.h> (or hip_runtime_api.h on
 * the host) and link with aqlipse's libamdhip64.so. docs/conditional-nodes.md tells more. */
#ifndef AQLIPSE_HIP_GRAPH_CONDITIONAL_H
#define AQLIPSE_HIP_GRAPH_CONDITIONAL_H

#include <hip/hip_runtime_api.h>
#include <stdint.h>

/* What hipGraphNodeGetType stores for a conditional node. */
#define hipGraphNodeTypeConditional ((hipGraphNodeType)15)

/* Result of an instantiation: a handle has no conditional node. */
#define hipGraphInstantiateConditionalHandleUnused ((hipGraphInstantiateResult)5)

/* Flag of hipGraphConditionalHandleCreate. Every launch begins with the default, with the flag and without it. */
#define hipGraphCondAssignDefault 0x1u

/* The value that decides at one conditional node. Kernels take it by value, for hipGraphSetConditional. */
typedef struct hipGraphConditionalHandle {
  uint64_t device_ptr;    /* where the value lies, 64 bits */
  uint64_t default_value; /* what every launch begins with */
  uint64_t signal_handle; /* the HSA signal whose value it is: 8 bytes before device_ptr */
} hipGraphConditionalHandle;

typedef enum hipGraphConditionalNodeType {
  hipGraphCondTypeIf = 0,    /* body 0 if the value is not 0, otherwise body 1 if there is one */
  hipGraphCondTypeWhile = 1, /* body 0, again and again while the value is not 0 */
  hipGraphCondTypeSwitch = 2 /* the body whose number the value is, if there is one */
} hipGraphConditionalNodeType;

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a handle for one conditional node of the graph, or of a graph nested in it. It lives as long as the graph, its
 * copies and their executables.
 * hipErrorInvalidValue: a null pointer, no such graph, an unknown flag. */
hipError_t hipGraphConditionalHandleCreate(hipGraphConditionalHandle* handle, hipGraph_t graph,
                                           unsigned int defaultLaunchValue, unsigned int flags);

/* Adds a conditional node. The bodies are copied, deeply, as child graphs are: they stay the caller's, and what is
 * changed in them later does not matter to the node. Memory that a body allocates, and must free, becomes the node's:
 * the caller's graph cannot be instantiated or become a body again.
 * hipErrorInvalidValue: a null pointer, a body that is null, named twice or the graph itself, no such graph or
 * dependency, a handle of another graph or with a node already, a number of bodies that the type cannot have (IF 1 or 2,
 * WHILE 1, SWITCH at least 1).
 * hipErrorNotSupported: a body that leaves memory allocated. */
hipError_t hipGraphAddConditionalNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t numDependencies, hipGraphConditionalHandle handle,
                                      hipGraphConditionalNodeType type, unsigned int numBodies, hipGraph_t* bodies);

/* A conditional node for hipGraphAddNode: type is hipGraphNodeTypeConditional, and this stands where the union of
 * hipGraphNodeParams begins. The node is made with size empty bodies, and phGraph_out is set to their handles, which are
 * those of hipGraphConditionalNodeGetBody; the array is the node's. At most 65536 bodies are made so.
 * hipErrorInvalidValue: as for hipGraphAddConditionalNode. */
typedef struct hipConditionalNodeParams {
  hipGraphConditionalHandle handle;
  hipGraphConditionalNodeType type;
  unsigned int size;
  hipGraph_t* phGraph_out;
} hipConditionalNodeParams;

/* Stores the graph that is a body of a conditional node. It belongs to the node, like the graph inside a child graph
 * node: nodes and handles can be added to it, its nodes name those of executables, and only the node's end destroys
 * it.
 * hipErrorInvalidValue: a null pointer, no conditional node, no body of that number. */
hipError_t hipGraphConditionalNodeGetBody(hipGraphNode_t node, unsigned int index, hipGraph_t* body);

#ifdef __cplusplus
}
#endif

#if defined(__HIP__)
/* Gives a condition its value, from device code: what the conditional node finds that runs behind the kernel. */
static inline __attribute__((device)) void hipGraphSetConditional(hipGraphConditionalHandle handle,
                                                                  unsigned long long value) {
  *(volatile unsigned long long*)handle.device_ptr = value;
}
#endif

#endif
