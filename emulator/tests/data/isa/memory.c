// Memory, control flow and lanes: scalar loads, global, flat, LDS, scratch, atomics, calls, switches, DPP.
#define KERNEL __attribute__((amdgpu_kernel)) void
#define LDS __attribute__((address_space(3)))
#define SHARED static __attribute__((address_space(3), loader_uninitialized))
#define CONSTANT __attribute__((address_space(4)))
#define ID __builtin_amdgcn_workitem_id_x()

typedef unsigned u32;
typedef unsigned char u8;
typedef unsigned long long u64;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float3 __attribute__((ext_vector_type(3)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef float float32 __attribute__((ext_vector_type(32)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef short short4 __attribute__((ext_vector_type(4)));

KERNEL widths(u8 *b, unsigned short *s, short *t, u32 *w, u64 *d, float3 *e, float4 *f, signed char *c)
{
    b[ID] += b[ID + 1];
    s[ID] += c[ID];
    t[ID] -= t[ID * 3];
    w[ID + 1000] = w[ID - 1000];
    d[ID] ^= d[ID + 7];
    e[ID] += e[ID + 1];
    f[ID] *= f[ID + 5000];
}

KERNEL lds(float *out, const float *in, int n)
{
    SHARED float tile[1024];
    SHARED double wide[256];
    SHARED u8 bytes[256];
    SHARED float4 quads[64];
    int i = ID;
    tile[i] = in[i];
    bytes[i] = (u8)i;
    quads[i & 63] = (float4){in[i], in[i + 1], in[i + 2], in[i + 3]};
    wide[i & 255] = in[i + 4];
    __builtin_amdgcn_s_barrier();
    for (int step = 128; step > 0; step /= 2) {
        if (i < step) tile[i] += tile[i + step];
        __builtin_amdgcn_s_barrier();
    }
    out[i] = tile[0] + tile[i + 256] + (float)wide[i ^ 1] + bytes[i ^ 3] + quads[(i + 1) & 63].z;
    __atomic_fetch_add((LDS u32 *)tile + n, 1u, __ATOMIC_RELAXED);
    out[n] = __atomic_fetch_max((LDS int *)tile + i, n, __ATOMIC_ACQ_REL);
}

KERNEL atomics(u32 *w, int *s, u64 *d, float *f, double *g)
{
    int i = ID;
    w[0] = __atomic_fetch_add(&w[i], 3u, __ATOMIC_SEQ_CST);
    w[1] = __atomic_fetch_and(&w[i], 5u, __ATOMIC_RELAXED);
    w[2] = __atomic_exchange_n(&w[i], 7u, __ATOMIC_ACQUIRE);
    __atomic_fetch_or(&w[i], 9u, __ATOMIC_RELEASE);
    __atomic_fetch_xor(&d[i], 9ull, __ATOMIC_RELAXED);
    s[3] = __atomic_fetch_min(&s[i], -4, __ATOMIC_RELAXED);
    u32 expected = 4;
    w[4] = __atomic_compare_exchange_n(&w[i], &expected, 11u, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    d[5] = __atomic_fetch_sub(&d[i], 2ull, __ATOMIC_RELAXED);
    u64 wide = 12;
    __atomic_compare_exchange_n(&d[i], &wide, 13ull, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    f[0] = __atomic_fetch_add(&f[i], 1.5f, __ATOMIC_RELAXED);
    g[0] = __atomic_fetch_add(&g[i], 1.5, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static int square(int x) { return x * x; }
__attribute__((noinline)) static int twice(int x) { return x + x; }

KERNEL calls(int *out, const int CONSTANT *table, int n)
{
    int (*functions[2])(int) = {square, twice};
    int stack[32];
    for (int i = 0; i < 32; i++) stack[i] = table[i];
    stack[n & 31] = out[ID];
    switch (out[ID + 1]) {
    case 0: n += 3; break;
    case 1: n *= 5; break;
    case 2: n -= table[n]; break;
    case 3: n = ~n; break;
    case 7: n = functions[n & 1](n); break;
    default: n ^= 0x12345678;
    }
    out[ID] = functions[ID & 1](n) + stack[out[ID + 2] & 31];
    if (n == 77) __builtin_trap();
}

KERNEL lanes(u32 *out, u64 *mask, int n)
{
    u32 x = out[ID];
    out[0] = __builtin_amdgcn_update_dpp(x, x, 0xb1, 0xf, 0xf, 1);
    out[1] = __builtin_amdgcn_update_dpp(0, x, 0x111, 0xe, 0xc, 0) + x;
#ifdef __GFX9__
    out[2] = __builtin_amdgcn_mov_dpp(x, 0x142, 0xa, 0xf, 0);
    mask[0] = __builtin_amdgcn_ballot_w64(x > 5);
    mask[1] = __builtin_amdgcn_s_memtime() + __builtin_amdgcn_s_memrealtime();
#else
    out[2] = __builtin_amdgcn_mov_dpp8(x, 0x53977) + __builtin_amdgcn_permlanex16(x, n, 1, 2, 0, 1);
    mask[0] = __builtin_amdgcn_ballot_w32(x > 5);
    mask[1] = __builtin_readcyclecounter();
#endif
    out[3] = __builtin_amdgcn_ds_swizzle(x, 0x401f) + __builtin_amdgcn_ds_swizzle(x, 0x80e4);
    out[4] = __builtin_amdgcn_ds_bpermute(n, x) + __builtin_amdgcn_ds_permute(n, x);
    out[5] = __builtin_amdgcn_readlane(x, n) + __builtin_amdgcn_readfirstlane(x);
    out[6] = __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, n));
    mask[2] = __builtin_amdgcn_read_exec();
    __builtin_amdgcn_s_sleep(3);
    __builtin_amdgcn_s_sendmsg(1, n);
    __builtin_amdgcn_s_setprio(2);
    out[7] = __builtin_amdgcn_s_getreg(0x1801);
    __builtin_amdgcn_s_waitcnt(0x3f70);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

#ifdef __GFX9__
KERNEL matrices(float32 *a, float16 *b, float4 *c, double4 *d, half4 *h, short4 *s, double *e)
{
    float x = c[ID].x, y = c[ID].y;
    a[ID] = __builtin_amdgcn_mfma_f32_32x32x1f32(x, y, a[ID], 1, 2, 3);
    b[ID] = __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, b[ID], 0, 0, 0);
    b[1] = __builtin_amdgcn_mfma_f32_32x32x8f16(h[ID], h[ID + 1], b[ID], 0, 0, 0);
    c[ID] = __builtin_amdgcn_mfma_f32_16x16x16f16(h[ID], h[ID + 1], c[ID], 0, 0, 0);
    c[1] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(s[ID], s[ID + 1], c[ID], 0, 0, 0);
    d[ID] = __builtin_amdgcn_mfma_f64_16x16x4f64(e[ID], e[ID + 1], d[ID], 0, 0, 0);
    e[0] = __builtin_amdgcn_mfma_f64_4x4x4f64(e[ID], e[ID + 1], e[2], 0, 0, 1);
}
#elif defined(__GFX11__)
KERNEL matrices(half16 *a, float8 *c)
{
    c[ID] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a[ID], a[ID + 1], c[ID]);
}
#elif defined(__GFX12__)
KERNEL matrices(half8 *a, float8 *c)
{
    c[ID] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a[ID], a[ID + 1], c[ID]);
}
#endif
