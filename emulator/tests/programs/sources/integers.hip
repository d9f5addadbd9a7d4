// Wide integers, random numbers, and floating point made of integers.

// The product of two numbers of 256 bits, and its remainder by a number of 32 bits.
KERNEL multiply(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid, r[16] = {};
    const u32 *a = in + lane * 16, *b = a + 8;
    for (u32 i = 0; i < 8; i++) {
        u64 carry = 0;
        for (u32 j = 0; j < 8; j++) {
            carry += (u64)a[i] * b[j] + r[i + j];
            r[i + j] = (u32)carry;
            carry >>= 32;
        }
        r[i + 8] = (u32)carry;
    }
    u64 rest = 0;
    for (u32 i = 16; i--;) rest = (rest << 32 | r[i]) % (a[0] | 1);
    for (u32 i = 0; i < 16; i++) out[lane * 17 + i] = r[i];
    out[lane * 17 + 16] = (u32)rest;
}

// Montgomery's power modulo a prime of 61 bits, by 128-bit products.
KERNEL power(const u32 *in, u64 *out, u32 n) {
    u32 lane = block * block_size + tid;
    u64 modulus = (1ull << 61) - 1, base = ((u64)in[lane * 2] << 32 | in[lane * 2 + 1]) % modulus, r = 1;
    for (u64 e = (u64)in[lane * 2 + 1] << 20 | in[lane]; e; e >>= 1) {
        if (e & 1) r = (u64)((unsigned __int128)r * base % modulus);
        unsigned __int128 square = (unsigned __int128)base * base;
        u64 sum = (u64)(square & modulus) + (u64)(square >> 61);
        base = sum >= modulus ? sum - modulus : sum;
    }
    out[lane] = r;
}

// Three generators of random numbers, a hundred steps each: xorshift64*, PCG32, and Philox 2x32.
KERNEL generators(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    u64 x = (u64)in[lane] << 32 | lane | 1, state = x + 99;
    u32 low = in[lane], high = lane, key = in[lane] ^ 0x9e3779b9, sum = 0;
    for (u32 i = 0; i < 100; i++) {
        x ^= x >> 12; x ^= x << 25; x ^= x >> 27;
        sum = sum * 7 + (u32)(x * 2685821657736338717ull >> 32);
        u32 mixed = (u32)((state >> 18 ^ state) >> 27), turn = state >> 59;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        sum ^= mixed >> turn | mixed << (-turn & 31);
        u64 product = (u64)low * 0xd256d193;
        low = (u32)(product >> 32) ^ key ^ high;
        high = (u32)product;
        key += 0x9e3779b9;
        sum += low ^ high << 1;
    }
    out[lane] = sum;
}

// IEEE 754 singles in integers: sum, product and quotient rounded to nearest even, beside those of the processor.
FN u32 rounded(u32 sign, i32 exponent, u64 mantissa) {
    // The mantissa's value is mantissa * 2^(exponent - 62), bit 62 the leading one once it is normal.
    if (!mantissa) return sign;
    while (!(mantissa >> 62)) { mantissa <<= 1; exponent--; }
    i32 biased = exponent + 127;
    if (biased > 255) return sign | 0x7f800000;
    u32 drop = 39;
    if (biased <= 0) {
        drop += 1 - biased > 24 ? 24 : (u32)(1 - biased);
        if (1 - biased > 24) mantissa = 1;
        biased = 0;
    }
    u64 kept = mantissa >> drop, rest = mantissa & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    if (rest > half || (rest == half && kept & 1)) kept++;
    u32 r = biased ? (u32)kept + ((u32)(biased - 1) << 23) : (u32)kept;
    return sign | (r >= 0x7f800000 ? 0x7f800000 : r);
}
FN void unpack(u32 x, i32 &exponent, u64 &mantissa) {
    exponent = (i32)(x >> 23 & 255) - 127;
    mantissa = x & 0x7fffff;
    if (exponent == -127) exponent = -126; else mantissa |= 0x800000;
}
KERNEL soft(const u32 *in, u32 *out, u32 n) {
#pragma clang fp contract(off)
    u32 lane = block * block_size + tid;
    // No infinities and NaNs; exponents near enough to each other, and some denormals.
    u32 a = in[lane * 2], b = in[lane * 2 + 1];
    if (lane & 1) b = (b & 0x807fffff) | ((a & 0x7f800000) ^ (b >> 5 & 0x3800000));
    if (lane % 8 == 2) a &= 0x80ffffff;
    if (lane % 8 == 3) b &= 0x807fffff;
    if ((a & 0x7f800000) == 0x7f800000) a ^= 0x40000000;
    if ((b & 0x7f800000) == 0x7f800000) b ^= 0x40000000;
    i32 ea, eb;
    u64 ma, mb;
    unpack(a, ea, ma);
    unpack(b, eb, mb);
    u32 sign = (a ^ b) & 0x80000000;
    u32 product = rounded(sign, ea + eb + 16, ma * mb);
    u32 quotient = sign | 0x7f800000;
    if (mb) {
        u64 top = ma << 39, q = 0;
        i32 e = ea - eb + 23;
        u64 divisor = mb;
        while (ma && !(top >> 62)) { top <<= 1; e--; }
        while (!(divisor >> 23)) { divisor <<= 1; e++; }
        q = top / divisor;
        if (top % divisor) q |= 1;
        quotient = rounded(sign, e, q);
    }
    u32 sum;
    {
        u32 x = a, y = b;
        if ((x & 0x7fffffff) < (y & 0x7fffffff)) { u32 t = x; x = y; y = t; }
        i32 ex, ey;
        u64 mx, my;
        unpack(x, ex, mx);
        unpack(y, ey, my);
        mx <<= 36; my <<= 36;
        u32 shift = (u32)(ex - ey);
        my = shift > 62 ? my != 0 : my >> shift | ((my & ((1ull << shift) - 1)) != 0);
        u64 m = (x ^ y) >> 31 ? mx - my : mx + my;
        u32 zero = (x & y) & 0x80000000;
        sum = m ? rounded(x & 0x80000000, ex + 3, m) : zero;
    }
    float fa = __builtin_bit_cast(float, a), fb = __builtin_bit_cast(float, b);
    float s = fa + fb, p = fa * fb, q = fa / fb;
    out[lane * 6] = sum; out[lane * 6 + 1] = __builtin_bit_cast(u32, s);
    out[lane * 6 + 2] = product; out[lane * 6 + 3] = __builtin_bit_cast(u32, p);
    out[lane * 6 + 4] = mb ? quotient : 0; out[lane * 6 + 5] = mb ? __builtin_bit_cast(u32, q) : 0;
}
