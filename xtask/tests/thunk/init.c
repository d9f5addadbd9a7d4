// Starts ROCr, and ends with 1 if it does not start or finds no device.
#include <hsa/hsa.h>

static hsa_status_t look(hsa_agent_t agent, void *found) {
  hsa_device_type_t type;
  if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS && type == HSA_DEVICE_TYPE_GPU)
    *(int *)found = 1;
  return HSA_STATUS_SUCCESS;
}

int main(void) {
  int found = 0;
  if (hsa_init() != HSA_STATUS_SUCCESS) return 1;
  hsa_iterate_agents(look, &found);
  return !found;
}
