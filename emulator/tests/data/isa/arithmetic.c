// Integer, float, double and half arithmetic: something for most rows of VOP1, VOP2, VOP3 and VOP3P.
#define KERNEL __attribute__((amdgpu_kernel)) void
#define ID __builtin_amdgcn_workitem_id_x()

typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));

#define BINARY(NAME, TYPE)                                                                                   \
    KERNEL NAME(TYPE *out, const TYPE *a, const TYPE *b, TYPE s)                                             \
    {                                                                                                        \
        TYPE x = a[ID], y = b[ID];                                                                           \
        out[0] = x + y;                                                                                      \
        out[1] = x - y * s;                                                                                  \
        out[2] = x * y + s;                                                                                  \
        out[3] = x / y;                                                                                      \
        out[4] = x < y ? x : y;                                                                              \
        out[5] = x > s ? x : s;                                                                              \
        out[6] = x == y ? x : s;                                                                                    \
        out[7] = -x;                                                                                         \
    }
BINARY(f32, float)
BINARY(f64, double)
BINARY(f16, half)
BINARY(s32, int)
BINARY(s64, i64)
BINARY(s16, short)
BINARY(s8, signed char)
BINARY(w32, u32)
BINARY(w64, u64)
BINARY(w16, unsigned short)
BINARY(v2f16, half2)
BINARY(v2i16, short2)
BINARY(v4f32, float4)

#define BITS(NAME, TYPE)                                                                                     \
    KERNEL NAME(TYPE *out, const TYPE *a, const TYPE *b, TYPE s)                                             \
    {                                                                                                        \
        TYPE x = a[ID], y = b[ID];                                                                           \
        out[0] = x % (y | 1);                                                                                \
        out[1] = x << (y & 15);                                                                              \
        out[2] = x >> (y & 15);                                                                              \
        out[3] = x & y | s;                                                                                  \
        out[4] = x ^ ~y;                                                                                     \
        out[5] = (x >> 3) & 0x1f;                                                                            \
        out[6] = (TYPE)__builtin_popcountll(x) + (TYPE)__builtin_clzll(y | 1);                               \
        out[7] = (TYPE)__builtin_ctzll(s | 8);                                                               \
        out[8] = (x << 5 | y) + s;                                                                           \
    }
BITS(bits_s32, int)
BITS(bits_s64, i64)
BITS(bits_w32, u32)
BITS(bits_w64, u64)
BITS(bits_w16, unsigned short)

#define CONVERT(NAME, FROM)                                                                                  \
    KERNEL NAME(FROM *in, float *f, double *d, half *h, int *i, u32 *u, i64 *l, u64 *w, short *s, char *c)   \
    {                                                                                                        \
        FROM x = in[ID];                                                                                     \
        f[ID] = (float)x;                                                                                    \
        d[ID] = (double)x;                                                                                   \
        h[ID] = (half)x;                                                                                     \
        i[ID] = (int)x;                                                                                      \
        u[ID] = (u32)x;                                                                                      \
        l[ID] = (i64)x;                                                                                      \
        w[ID] = (u64)x;                                                                                      \
        s[ID] = (short)x;                                                                                    \
        c[ID] = (char)x;                                                                                     \
    }
CONVERT(from_f32, float)
CONVERT(from_f64, double)
CONVERT(from_f16, half)
CONVERT(from_s32, int)
CONVERT(from_w32, u32)
CONVERT(from_s64, i64)
CONVERT(from_w64, u64)
CONVERT(from_u8, unsigned char)

KERNEL math32(float *out, float x, float y, float z, int n)
{
    float v = out[ID];
    out[0] = __builtin_sqrtf(v) + __builtin_fabsf(x);
    out[1] = __builtin_floorf(v) - __builtin_ceilf(y);
    out[2] = __builtin_truncf(v) * __builtin_rintf(-y);
    out[3] = __builtin_fmaf(v, -x, __builtin_fabsf(y));
    out[4] = __builtin_fminf(__builtin_fmaxf(v, 0.0f), 1.0f);
    out[5] = __builtin_amdgcn_rcpf(v) + __builtin_amdgcn_rsqf(x);
    out[6] = __builtin_amdgcn_sinf(v) + __builtin_amdgcn_cosf(v) + __builtin_amdgcn_fractf(v);
    out[7] = __builtin_amdgcn_exp2f(v) + __builtin_amdgcn_logf(v);
    out[8] = __builtin_amdgcn_ldexpf(v, n) + __builtin_amdgcn_frexp_mantf(v);
    out[9] = __builtin_amdgcn_fmed3f(v, x, y) + v * 0.15915494f;
    out[10] = __builtin_amdgcn_class(v, 0x1f8) ? 0.5f : -4.0f;
    out[11] = __builtin_amdgcn_cubeid(v, x, y) + __builtin_amdgcn_cubema(v, x, y);
    out[12] = __builtin_amdgcn_frexp_expf(v);
    out[13] = __builtin_copysignf(v, x) + __builtin_fminf(__builtin_fminf(v, x), z);
    out[14] = (v + 2.0f) * 4.0f;
    out[15] = (v * x) * 0.5f;
}

KERNEL math64(double *out, double x, int n)
{
    double v = out[ID];
    out[0] = __builtin_sqrt(v) + __builtin_fabs(x);
    out[1] = __builtin_floor(v) - __builtin_ceil(x);
    out[2] = __builtin_trunc(v) * __builtin_rint(x);
    out[3] = __builtin_fma(v, -x, 1.0);
    out[4] = __builtin_fmin(__builtin_fmax(v, 0.0), x);
    out[5] = __builtin_amdgcn_rcp(v) + __builtin_amdgcn_rsq(x);
    out[6] = __builtin_amdgcn_ldexp(v, n) + __builtin_amdgcn_frexp_mant(v);
    out[7] = v * 0.15915494309189532 + 3.25;
    out[8] = __builtin_amdgcn_frexp_exp(v) + __builtin_amdgcn_trig_preop(v, n);
}

KERNEL packed(float2 *f, half2 *h, short2 *s, int *i, float x)
{
    float2 a = f[ID], b = f[ID + 64];
    f[0] = a * b + (float2){x, x};
    f[1] = a + b;
    f[2] = a * b.yx;
    f[3] = __builtin_elementwise_fma(a, b, a);
    half2 p = h[ID], q = h[ID + 64];
    h[0] = __builtin_elementwise_fma(p, q, -p);
    h[1] = __builtin_elementwise_max(p, q.yx);
    h[2] = __builtin_elementwise_min(p, q);
    f[4].x = __builtin_amdgcn_fdot2(p, q, x, 1);
    short2 u = s[ID], v = s[ID + 64];
    s[0] = u + v;
    s[1] = u * v.yx - (short2){3, 4};
    s[2] = u << (short2){1, 2};
#ifdef __GFX9__
    i[0] = __builtin_amdgcn_sdot2(u, v, i[1], 0);
    i[2] = __builtin_amdgcn_sdot4(i[3], i[4], i[5], 0);
#endif
    i[6] = __builtin_amdgcn_udot8(i[7], i[8], i[9], 1);
    i[10] = __builtin_amdgcn_perm(i[11], i[12], i[13]);
    i[14] = __builtin_amdgcn_sad_u8(i[15], i[16], i[17]);
    i[18] = __builtin_amdgcn_alignbit(i[19], i[20], i[21]) + __builtin_amdgcn_ubfe(i[22], 3, 7);
    i[23] = __builtin_amdgcn_lerp(i[24], i[25], i[26]) + __builtin_amdgcn_sbfe(i[27], i[28], 9);
    f[5].x = (float)p.x * (float)q.y + x;
}
