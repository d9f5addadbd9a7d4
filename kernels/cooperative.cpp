// Prepares a cooperative launch.

// Sets the barrier that the device library's grid synchronisation waits at (global wave sync, resource 0) up for
// last + 1 workgroups. One work-item.
extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64))) void gws_init(unsigned last) {
  __builtin_amdgcn_ds_gws_init(last, 0);
}
