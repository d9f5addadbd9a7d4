// What only OpenCL says in its metadata: argument names, access qualifiers, a required workgroup size.

kernel __attribute__((reqd_work_group_size(8, 4, 2))) void blend(global const float *restrict source,
                                                                 constant float *weights, local float *tile,
                                                                 global float *destination) {
  uint i = __builtin_amdgcn_workitem_id_x();
  tile[i] = source[i];
  destination[i] = tile[i] * weights[i & 7];
}
