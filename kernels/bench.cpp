// The kernels of `cargo bench --bench emulator`: `rounds` times a block of BLOCK equal instructions, so that what a
// wave executes is known without counting. The loop adds a few instructions a round.

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 256))) void

// As many as benches/emulator.rs counts with.
#define BLOCK(instruction) ".rept 256\n" instruction "\n.endr\n"

static inline unsigned item() {
  return __builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x();
}

// `data` has an element for each work-item.

KERNEL scalar_add(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = 1;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("s_add_u32 %0, %0, %1") : "+s"(sum) : "s"(rounds) : "scc");
  data[item()] = sum;
}

KERNEL vector_add(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item(), term = data[item()];
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_add_u32_e32 %0, %0, %1") : "+v"(sum) : "v"(term));
  data[item()] = sum;
}

KERNEL fma_f32(GLOBAL float *data, unsigned rounds) {
  float sum = data[item()], factor = 0.5f, term = 1.0f;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_fma_f32 %0, %0, %1, %2") : "+v"(sum) : "v"(factor), "v"(term));
  data[item()] = sum;
}

KERNEL fma_f64(GLOBAL float *data, unsigned rounds) {
  double sum = data[item()], factor = 0.5, term = 1.0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_fma_f64 %0, %0, %1, %2") : "+v"(sum) : "v"(factor), "v"(term));
  data[item()] = static_cast<float>(sum);
}

KERNEL global_load(GLOBAL unsigned *data, unsigned rounds) {
  GLOBAL unsigned *own = data + item();
  unsigned value = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("global_load_dword %0, %1, off") "s_waitcnt vmcnt(0)" : "=&v"(value) : "v"(own) : "memory");
  *own = value;
}

KERNEL global_store(GLOBAL unsigned *data, unsigned rounds) {
  GLOBAL unsigned *own = data + item();
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("global_store_dword %0, %1, off") : : "v"(own), "v"(round) : "memory");
}

KERNEL lds_load(GLOBAL unsigned *data, unsigned rounds) {
  static LDS unsigned shared[256] __attribute__((loader_uninitialized));
  LDS unsigned *own = shared + __builtin_amdgcn_workitem_id_x();
  *own = item();
  unsigned value = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("ds_read_b32 %0, %1") "s_waitcnt lgkmcnt(0)" : "=&v"(value) : "v"(own) : "memory");
  data[item()] = value;
}

KERNEL lds_store(GLOBAL unsigned *data, unsigned rounds) {
  static LDS unsigned shared[256] __attribute__((loader_uninitialized));
  LDS unsigned *own = shared + __builtin_amdgcn_workitem_id_x();
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("ds_write_b32 %0, %1") : : "v"(own), "v"(round) : "memory");
  data[item()] = *own;
}
