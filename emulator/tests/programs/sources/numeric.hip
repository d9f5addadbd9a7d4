// Floating point whose every step IEEE 754 defines; fused multiply-adds are written as such.
#pragma clang fp contract(off)
FN u32 bits(float x) { return x != x ? 0x7fc00000u : __builtin_bit_cast(u32, x); }
FN u64 bits(double x) { return x != x ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, x); }
FN float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FN double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
// Two roundings: the host has no fused multiply-add of halves.
FN _Float16 fused(_Float16 a, _Float16 b, _Float16 c) {
    _Float16 product = a * b;
    return product + c;
}
FN float root(float a) { return __builtin_sqrtf(a); }
FN double root(double a) { return __builtin_sqrt(a); }

// Numbers between -1 and 1.
template <class T> FN T number(u32 x) { return (T)(i32)x / (T)2147483648.0; }

template <class T> struct Complex { T re, im; };
template <class T> FN Complex<T> times(Complex<T> a, Complex<T> b) {
    return {fused(a.re, b.re, -(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
}
template <class T> FN Complex<T> plus(Complex<T> a, Complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> FN Complex<T> minus(Complex<T> a, Complex<T> b) { return {a.re - b.re, a.im - b.im}; }
// exp(-2 pi i k / 64) out of the one for k = 1.
template <class T> FN Complex<T> turn(u32 k) {
    Complex<T> power = {(T)0.99518472667219693, (T)-0.098017140329560604}, r = {1, 0};
    for (; k; k >>= 1, power = times(power, power))
        if (k & 1) r = times(r, power);
    return r;
}

// 64 points, radix 4, in LDS; 16 work-items for each transform.
template <class T> FN void transform(const u32 *in, T *out, Complex<T> (*x)[64]) {
    u32 item = tid % 16, which = tid / 16, first = (block * (block_size / 16) + which) * 64;
    Complex<T> *v = x[which];
    for (u32 i = item; i < 64; i += 16) {
        u32 reversed = (i & 3) << 4 | (i & 12) | i >> 4;
        v[reversed] = {number<T>(in[(first + i) * 2]), number<T>(in[(first + i) * 2 + 1])};
    }
    for (u32 span = 1; span < 64; span *= 4) {
        barrier();
        u32 k = item % span, at = item / span * span * 4 + k;
        Complex<T> a = v[at], b = times(v[at + span], turn<T>(k * (16 / span)));
        Complex<T> c = times(v[at + 2 * span], turn<T>(2 * k * (16 / span)));
        Complex<T> d = times(v[at + 3 * span], turn<T>(3 * k * (16 / span)));
        Complex<T> s = plus(a, c), t = minus(a, c), u = plus(b, d), w = minus(b, d);
        v[at] = plus(s, u);
        v[at + span] = {t.re + w.im, t.im - w.re};
        v[at + 2 * span] = minus(s, u);
        v[at + 3 * span] = {t.re - w.im, t.im + w.re};
    }
    barrier();
    for (u32 i = item; i < 64; i += 16) {
        out[(first + i) * 2] = v[i].re;
        out[(first + i) * 2 + 1] = v[i].im;
    }
}
KERNEL fft_single(const u32 *in, float *out, u32 n) {
    SHARED Complex<float> x[16][64];
    transform(in, out, x);
}
KERNEL fft_double(const u32 *in, double *out, u32 n) {
    SHARED Complex<double> x[16][64];
    transform(in, out, x);
}

// LU with partial pivoting of an 8x8 matrix each, then the solution for one right side.
KERNEL lu(const u32 *in, u64 *out, u32 n) {
    u32 lane = block * block_size + tid;
    double a[8][9], x[8];
    for (u32 i = 0; i < 8; i++)
        for (u32 j = 0; j < 9; j++) a[i][j] = number<double>(in[(lane * 3 + i * 9 + j) % n]);
    for (u32 k = 0; k < 8; k++) {
        u32 pivot = k;
        for (u32 i = k + 1; i < 8; i++)
            if (__builtin_fabs(a[i][k]) > __builtin_fabs(a[pivot][k])) pivot = i;
        for (u32 j = 0; j < 9; j++) { double t = a[k][j]; a[k][j] = a[pivot][j]; a[pivot][j] = t; }
        for (u32 i = k + 1; i < 8; i++) {
            double factor = a[i][k] / a[k][k];
            a[i][k] = factor;
            for (u32 j = k + 1; j < 9; j++) a[i][j] = fused(-factor, a[k][j], a[i][j]);
        }
    }
    for (u32 i = 8; i--;) {
        double sum = a[i][8];
        for (u32 j = i + 1; j < 8; j++) sum = fused(-a[i][j], x[j], sum);
        x[i] = sum / a[i][i];
    }
    for (u32 i = 0; i < 8; i++) out[lane * 8 + i] = bits(x[i]);
}

// Cholesky of a 16x16 matrix in LDS, one for each workgroup of 256.
KERNEL cholesky(const u32 *in, u32 *out, u32 n) {
    SHARED float a[16][17];
    u32 i = tid / 16, j = tid % 16;
    float sum = i == j ? 1.0f : 0.0f;
    for (u32 k = 0; k < 16; k++)
        sum = fused(number<float>(in[block * 256 + i * 16 + k]), number<float>(in[block * 256 + j * 16 + k]), sum);
    a[i][j] = sum;
    for (u32 k = 0; k < 16; k++) {
        barrier();
        float diagonal = root(a[k][k]), mine = a[i][j], row = a[i][k], column = a[j][k];
        barrier();
        if (i == k && j == k) a[i][j] = diagonal;
        else if (j == k && i > k) a[i][j] = mine / diagonal;
        else if (j > k && i >= j) a[i][j] = fused(-(row / diagonal), column / diagonal, mine);
        else if (j > k) a[i][j] = fused(-(column / diagonal), row / diagonal, mine);
    }
    barrier();
    out[block * 256 + tid] = bits(a[i][j]);
}

// Three steps of 256 bodies that pass their positions through LDS.
KERNEL bodies(const u32 *in, u32 *out, u32 n) {
    SHARED float place[3][256];
    float p[3], v[3];
    for (u32 d = 0; d < 3; d++) {
        p[d] = number<float>(in[(block * 256 + tid) * 8 + d]);
        v[d] = number<float>(in[(block * 256 + tid) * 8 + 4 + d]) / 16;
    }
    for (u32 step = 0; step < 3; step++) {
        for (u32 d = 0; d < 3; d++) place[d][tid] = p[d];
        barrier();
        float f[3] = {0, 0, 0};
        for (u32 other = 0; other < 256; other++) {
            float r[3], square = 0.0009765625f;
            for (u32 d = 0; d < 3; d++) {
                r[d] = place[d][other] - p[d];
                square = fused(r[d], r[d], square);
            }
            float inverse = 1.0f / root(square), cube = inverse * inverse * inverse;
            for (u32 d = 0; d < 3; d++) f[d] = fused(r[d], cube, f[d]);
        }
        barrier();
        for (u32 d = 0; d < 3; d++) {
            v[d] = fused(f[d], 0.0001f, v[d]);
            p[d] = fused(v[d], 0.01f, p[d]);
        }
    }
    for (u32 d = 0; d < 3; d++) {
        out[(block * 256 + tid) * 6 + d] = bits(p[d]);
        out[(block * 256 + tid) * 6 + 3 + d] = bits(v[d]);
    }
}

template <class T> FN u32 escape(T x, T y) {
    T a = 0, b = 0;
    u32 steps = 0;
    for (; steps < 200 && fused(a, a, b * b) < 4; steps++) {
        T square = a * a, other = b * b, real = square - other, twice = 2 * a;
        T next = real + x;
        b = fused(twice, b, y);
        a = next;
    }
    return steps;
}
KERNEL mandelbrot(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    float x = (float)(lane % 32) / 12 - 2, y = (float)(lane / 32) / 8 - 1;
    out[lane] = escape(x, y) | escape((double)x, (double)y) << 16 | escape((_Float16)x, (_Float16)y) << 8;
}

// Rows of a sparse matrix in compressed form, as many entries in each as its first word says.
KERNEL sparse(const u32 *in, u64 *out, u32 n) {
    u32 row = block * block_size + tid;
    double sum = 0;
    float single = 0;
    for (u32 k = 0, count = in[row] % 23; k < count; k++) {
        u32 entry = in[(row * 23 + k) % n], column = in[(row * 7 + k * 3) % n] % n;
        sum = fused(number<double>(entry), number<double>(in[column]), sum);
        single += number<float>(entry) * number<float>(in[column]);
    }
    out[row] = bits(sum) ^ (u64)bits(single) << 7;
}
