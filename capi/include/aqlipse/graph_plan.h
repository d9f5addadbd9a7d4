/* Plans by measured durations: launches of an executable graph measure how long its kernels take, and the graph is
 * planned again with that.
 *
 * No released HIP has this; names are aqlipse's own. Include it behind <hip/hip_runtime.h>, or hip_runtime_api.h on the
 * host. docs/adr/0039 tells more. */
#ifndef AQLIPSE_GRAPH_PLAN_H
#define AQLIPSE_GRAPH_PLAN_H

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Lets the next launches of the executable measure how long each kernel, copy and fill on the device takes; 0 ends it.
 * Off by default: such a launch needs a signal for each of them. What is measured, the medians of the latest launches,
 * belongs to the graph that the executable was made of: it decides about the plans of executables that are made of that
 * graph later, and of this one when it is planned again. Nodes in bodies of conditional nodes are not measured.
 * hipErrorInvalidValue: no such executable. hipErrorNotSupported: one made with hipGraphInstantiateFlagDeviceLaunch. */
hipError_t aqlipseGraphExecProfile(hipGraphExec_t graphExec, unsigned int launches);

/* Plans the executable again, with what launches that have completed have measured. Its nodes keep their parameters, and
 * what is disabled stays so; launches in flight go on as they were planned, later ones come behind them.
 * hipErrorInvalidValue: no such executable. hipErrorNotSupported, and nothing has changed: one made with
 * hipGraphInstantiateFlagDeviceLaunch or hipGraphInstantiateFlagUseNodePriority, or one whose buffers share memory by the
 * plan (AQLIPSE_MEMORY). */
hipError_t aqlipseGraphExecReplan(hipGraphExec_t graphExec);
#ifdef __cplusplus
}
#endif
#endif
