// The kernels of `cargo bench --bench emulator`: `rounds` times a block of BLOCK equal instructions, so that what a
// wave executes is known without counting. The loop adds a few instructions a round.

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 256))) void

// As many as benches/emulator/instructions.rs counts with.
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

// A constant, and the lower half of the wave.

KERNEL vector_add_constant(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item();
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_add_u32_e32 %0, 7, %0") : "+v"(sum));
  data[item()] = sum;
}

KERNEL vector_add_scalar(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item();
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_add_u32_e32 %0, %1, %0") : "+v"(sum) : "s"(rounds));
  data[item()] = sum;
}

KERNEL vector_add_half(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item(), term = data[item()];
  if (__builtin_amdgcn_workitem_id_x() % 64u < 32u)
    for (unsigned round = 0; round < rounds; ++round)
      asm volatile(BLOCK("v_add_u32_e32 %0, %0, %1") : "+v"(sum) : "v"(term));
  data[item()] = sum;
}

KERNEL compare(GLOBAL unsigned *data, unsigned rounds) {
  float value = data[item()], limit = 0.5f;
  unsigned sum = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_cmp_lt_f32_e32 vcc, %1, %2") "v_addc_co_u32_e32 %0, vcc, 0, %0, vcc"
                 : "+v"(sum) : "v"(value), "v"(limit) : "vcc");
  data[item()] = sum;
}

KERNEL select(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item(), term = data[item()];
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile("s_mov_b32 vcc_lo, 0x55555555\n"
                 "s_mov_b32 vcc_hi, vcc_lo\n" BLOCK("v_cndmask_b32_e32 %0, %0, %1, vcc")
                 : "+v"(sum) : "v"(term) : "vcc");
  data[item()] = sum;
}

KERNEL negated(GLOBAL float *data, unsigned rounds) {
  float sum = data[item()], factor = 0.5f, term = 1.0f;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_fma_f32 %0, -%0, %1, %2") : "+v"(sum) : "v"(factor), "v"(term));
  data[item()] = sum;
}

KERNEL packed_fma(GLOBAL float *data, unsigned rounds) {
  double sum = data[item()], factor = 0.5, term = 1.0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_pk_fma_f32 %0, %0, %1, %2") : "+v"(sum) : "v"(factor), "v"(term));
  data[item()] = static_cast<float>(sum);
}

KERNEL dpp(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item(), term = data[item()];
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_add_u32_dpp %0, %1, %0 row_shr:1 row_mask:0xf bank_mask:0xf") : "+v"(sum) : "v"(term));
  data[item()] = sum;
}

KERNEL sdwa(GLOBAL unsigned *data, unsigned rounds) {
  unsigned sum = item(), term = data[item()];
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_add_u32_sdwa %0, %0, %1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_1")
                 : "+v"(sum) : "v"(term));
  data[item()] = sum;
}

KERNEL div_scale(GLOBAL float *data, unsigned rounds) {
  float denominator = data[item()] + 3.0f, numerator = 1.0f, scaled = 0.0f;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("v_div_scale_f32 %0, vcc, %1, %1, %2")
                 : "=&v"(scaled) : "v"(denominator), "v"(numerator) : "vcc");
  data[item()] = scaled;
}

// What a kernel does between its memory accesses. Eight instructions of which one is scalar.
KERNEL mixed(GLOBAL float *data, unsigned rounds) {
  float x = data[item()], factor = 0.5f, term = 1.0f;
  unsigned a = item(), b = item() * 3u, count = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(".rept 32\n"
                 "v_fma_f32 %0, %0, %4, %5\n"
                 "v_add_u32_e32 %1, %1, %2\n"
                 "v_lshlrev_b32_e32 %2, 1, %1\n"
                 "s_add_u32 %3, %3, %6\n"
                 "v_mul_f32_e32 %0, %4, %0\n"
                 "v_xor_b32_e32 %2, %2, %1\n"
                 "v_cmp_gt_f32_e32 vcc, %5, %0\n"
                 "v_cndmask_b32_e32 %1, %1, %2, vcc\n"
                 ".endr\n"
                 : "+v"(x), "+v"(a), "+v"(b), "+s"(count) : "v"(factor), "v"(term), "s"(rounds) : "vcc", "scc");
  data[item()] = x + static_cast<float>(a + b + count);
}

// To the next instruction.
KERNEL branch(GLOBAL unsigned *data, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("s_branch 0"));
  data[item()] = rounds;
}

KERNEL global_load(GLOBAL unsigned *data, unsigned rounds) {
  GLOBAL unsigned *own = data + item();
  unsigned value = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("global_load_dword %0, %1, off") "s_waitcnt vmcnt(0)" : "=&v"(value) : "v"(own) : "memory");
  *own = value;
}

// Every lane from somewhere else in its workgroup's part.
KERNEL gather(GLOBAL unsigned *data, unsigned rounds) {
  unsigned first = __builtin_amdgcn_workgroup_id_x() * 256u;
  GLOBAL unsigned *own = data + first + __builtin_amdgcn_workitem_id_x() * 37u % 256u;
  unsigned value = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("global_load_dword %0, %1, off") "s_waitcnt vmcnt(0)" : "=&v"(value) : "v"(own) : "memory");
  if (value == 1) *own = value;
}

KERNEL global_load_wide(GLOBAL unsigned *data, unsigned rounds) {
  typedef unsigned Four __attribute__((ext_vector_type(4)));
  // A workgroup has 1 KiB: a wave reads all of it.
  GLOBAL Four *own = (GLOBAL Four *)(data + __builtin_amdgcn_workgroup_id_x() * 256u) +
                     __builtin_amdgcn_workitem_id_x() % 64u;
  Four value = 0;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile(BLOCK("global_load_dwordx4 %0, %1, off") "s_waitcnt vmcnt(0)" : "=&v"(value) : "v"(own) : "memory");
  if (value.x == 1) own->x = value.y;
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

KERNEL lds_gather(GLOBAL unsigned *data, unsigned rounds) {
  static LDS unsigned shared[256] __attribute__((loader_uninitialized));
  LDS unsigned *own = shared + __builtin_amdgcn_workitem_id_x() * 37u % 256u;
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
