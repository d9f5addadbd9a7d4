// Sorting, counting and scanning within a workgroup of 256.

KERNEL bitonic(const u32 *in, u32 *out, u32 n) {
    SHARED u32 keys[512];
    for (u32 i = tid; i < 512; i += 256) keys[i] = in[block * 512 + i];
    for (u32 size = 2; size <= 512; size *= 2)
        for (u32 stride = size / 2; stride; stride /= 2) {
            barrier();
            u32 a = tid / stride * 2 * stride + tid % stride, b = a + stride;
            bool up = (a & size) == 0;
            u32 x = keys[a], y = keys[b];
            if ((x > y) == up) { keys[a] = y; keys[b] = x; }
        }
    barrier();
    for (u32 i = tid; i < 512; i += 256) out[block * 512 + i] = keys[i];
}

KERNEL hillis_steele(const u32 *in, u32 *out, u32 n) {
    SHARED u64 sums[2][256];
    u32 from = 0;
    sums[0][tid] = in[block * 256 + tid];
    for (u32 step = 1; step < 256; step *= 2) {
        barrier();
        sums[!from][tid] = sums[from][tid] + (tid >= step ? sums[from][tid - step] : 0);
        from = !from;
    }
    ((u64 *)out)[block * 256 + tid] = sums[from][tid];
}

KERNEL blelloch(const u32 *in, u32 *out, u32 n) {
    SHARED u32 sums[512];
    sums[2 * tid] = in[block * 512 + 2 * tid];
    sums[2 * tid + 1] = in[block * 512 + 2 * tid + 1];
    u32 step = 1;
    for (u32 active = 256; active; active /= 2, step *= 2) {
        barrier();
        if (tid < active) sums[step * (2 * tid + 2) - 1] += sums[step * (2 * tid + 1) - 1];
    }
    if (tid == 0) sums[511] = 0;
    for (u32 active = 1; active <= 256; active *= 2) {
        step /= 2;
        barrier();
        if (tid < active) {
            u32 a = step * (2 * tid + 1) - 1, b = step * (2 * tid + 2) - 1, left = sums[a];
            sums[a] = sums[b];
            sums[b] += left;
        }
    }
    barrier();
    out[block * 512 + 2 * tid] = sums[2 * tid];
    out[block * 512 + 2 * tid + 1] = sums[2 * tid + 1];
}

// Stable, two bits at a time: each work-item counts those of its digit before it.
KERNEL radix(const u32 *in, u32 *out, u32 n) {
    SHARED u32 keys[256], counts[4][256], starts[4];
    u32 key = in[block * 256 + tid] & 0xffff;
    for (u32 shift = 0; shift < 16; shift += 2) {
        u32 digit = key >> shift & 3;
        for (u32 d = 0; d < 4; d++) counts[d][tid] = digit == d;
        for (u32 step = 1; step < 256; step *= 2) {
            barrier();
            u32 before[4];
            for (u32 d = 0; d < 4; d++) before[d] = tid >= step ? counts[d][tid - step] : 0;
            barrier();
            for (u32 d = 0; d < 4; d++) counts[d][tid] += before[d];
        }
        barrier();
        if (tid < 4) {
            starts[tid] = 0;
            for (u32 d = 0; d < tid; d++) starts[tid] += counts[d][255];
        }
        barrier();
        keys[starts[digit] + counts[digit][tid] - 1] = key;
        barrier();
        key = keys[tid];
    }
    out[block * 256 + tid] = key;
}

KERNEL histogram(const u32 *in, u32 *out, u32 n) {
    SHARED u32 bins[64];
    SHARED u32 least, most;
    if (tid < 64) bins[tid] = 0;
    if (tid == 0) { least = ~0u; most = 0; }
    barrier();
    for (u32 i = tid; i < 1024; i += block_size) {
        u32 x = in[block * 1024 + i];
        for (u32 b = 0; b < 4; b++) __atomic_fetch_add(&bins[x >> (8 * b) & 63], 1, __ATOMIC_RELAXED);
        __atomic_fetch_min(&least, x, __ATOMIC_RELAXED);
        __atomic_fetch_max(&most, x, __ATOMIC_RELAXED);
    }
    barrier();
    if (tid < 64) __atomic_fetch_add(&out[tid], bins[tid], __ATOMIC_RELAXED);
    if (tid == 64) __atomic_fetch_max(&out[64], most, __ATOMIC_RELAXED);
    if (tid == 65) __atomic_fetch_max(&out[65], ~least, __ATOMIC_RELAXED);
}

// Quick sort with a stack of its own, and once more by calling itself; 24 signed numbers each.
NOINLINE FN void recurse(i32 *x, i32 low, i32 high) {
    if (low >= high) return;
    i32 pivot = x[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (x[i] < pivot) i++;
        while (x[j] > pivot) j--;
        if (i <= j) { i32 t = x[i]; x[i++] = x[j]; x[j--] = t; }
    }
    recurse(x, low, j);
    recurse(x, i, high);
}
KERNEL quick(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    i32 a[24], b[24], stack[48];
    for (u32 i = 0; i < 24; i++) a[i] = b[i] = (i32)in[lane * 8 + i] >> (lane & 31);
    recurse(a, 0, 23);
    i32 top = 0;
    stack[top++] = 0; stack[top++] = 23;
    while (top) {
        i32 high = stack[--top], low = stack[--top], last = low;
        for (i32 i = low; i < high; i++)
            if (b[i] < b[high]) { i32 t = b[i]; b[i] = b[last]; b[last++] = t; }
        i32 t = b[high]; b[high] = b[last]; b[last] = t;
        if (low < last - 1) { stack[top++] = low; stack[top++] = last - 1; }
        if (last + 1 < high) { stack[top++] = last + 1; stack[top++] = high; }
    }
    for (u32 i = 0; i < 24; i++) { out[lane * 48 + i] = (u32)a[i]; out[lane * 48 + 24 + i] = (u32)b[i]; }
}
