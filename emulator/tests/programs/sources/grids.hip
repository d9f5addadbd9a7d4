// Grids of words: what neighbours hold passes through LDS.

// The transpose of 32x32 tiles; 256 work-items move four rows at a time.
KERNEL transpose(const u32 *in, u32 *out, u32 n) {
    SHARED u32 tile[32][33];
    u32 width = 64, x = tid % 32, y = tid / 32, left = block % 2 * 32, top = block / 2 * 32;
    for (u32 r = 0; r < 32; r += 8) tile[y + r][x] = in[(top + y + r) * width + left + x];
    barrier();
    for (u32 r = 0; r < 32; r += 8) out[(left + y + r) * width + top + x] = tile[x][y + r];
}

// Conway's Life on a torus of 32 by 64 cells a workgroup, a bit each; sixteen generations.
KERNEL life(const u32 *in, u32 *out, u32 n) {
    SHARED u32 rows[2][64];
    u32 now = 0;
    if (tid < 64) rows[0][tid] = in[block * 64 + tid];
    for (u32 generation = 0; generation < 16; generation++) {
        barrier();
        if (tid < 64) {
            u32 next = 0;
            for (u32 x = 0; x < 32; x++) {
                u32 alive = 0;
                for (u32 dy = 63; dy <= 65; dy++)
                    for (u32 dx = 31; dx <= 33; dx++)
                        if (dx != 32 || dy != 64) alive += rows[now][(tid + dy) & 63] >> ((x + dx) & 31) & 1;
                next |= (alive == 3 || (alive == 2 && rows[now][tid] >> x & 1)) << x;
            }
            rows[!now][tid] = next;
        }
        now = !now;
    }
    barrier();
    if (tid < 64) out[block * 64 + tid] = rows[now][tid];
}

// The product of two 32x32 matrices of words, tiles of 16x16 in LDS.
KERNEL product(const u32 *in, u32 *out, u32 n) {
    SHARED u32 a[16][16], b[16][17];
    u32 x = tid % 16, y = tid / 16, left = block % 2 * 16, top = block / 2 * 16, sum = 0;
    for (u32 k = 0; k < 32; k += 16) {
        a[y][x] = in[(top + y) * 32 + k + x];
        b[y][x] = in[1024 + (k + y) * 32 + left + x];
        barrier();
        for (u32 i = 0; i < 16; i++) sum += a[y][i] * b[i][x];
        barrier();
    }
    out[(top + y) * 32 + left + x] = sum;
}

// Sums of squares of a 5x5 neighbourhood of bytes, with edges that repeat.
KERNEL blur(const u8 *in, u16 *out, u32 n) {
    i32 lane = (i32)(block * block_size + tid), x = lane % 64, y = lane / 64;
    u32 sum = 0;
    for (i32 dy = -2; dy <= 2; dy++)
        for (i32 dx = -2; dx <= 2; dx++) {
            i32 px = x + dx < 0 ? 0 : x + dx > 63 ? 63 : x + dx, py = y + dy < 0 ? 0 : y + dy > 15 ? 15 : y + dy;
            i8 value = (i8)in[py * 64 + px];
            sum += (u32)(value * value) >> (dx * dx + dy * dy);
        }
    out[lane] = (u16)(sum > 0xffff ? 0xffff : sum);
}
