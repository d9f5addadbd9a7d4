// Each work-item hashes or enciphers a block of its own.

CONSTANT u32 sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

FN u32 right(u32 x, u32 n) { return x >> n | x << (32 - n); }
FN u32 left(u32 x, u32 n) { return x << n | x >> (32 - n); }

// SHA-256 (FIPS 180-4) of one message of at most 55 bytes: in[0] is its length, its bytes follow.
KERNEL sha256(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    if (lane >= n) return;
    const u8 *message = (const u8 *)(in + lane * 16 + 1);
    u32 length = in[lane * 16] % 56, w[64];
    for (u32 i = 0; i < 16; i++) {
        w[i] = 0;
        for (u32 b = 0; b < 4; b++) {
            u32 at = i * 4 + b;
            w[i] = w[i] << 8 | (at < length ? message[at] : at == length ? 0x80 : 0);
        }
    }
    w[15] = length * 8;
    for (u32 i = 16; i < 64; i++) {
        u32 a = right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3;
        u32 b = right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s[8];
    for (u32 i = 0; i < 8; i++) s[i] = h[i];
    for (u32 i = 0; i < 64; i++) {
        u32 a = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[i] + w[i];
        u32 b = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (u32 j = 7; j; j--) s[j] = s[j - 1];
        s[4] += a;
        s[0] = a + b;
    }
    for (u32 i = 0; i < 8; i++) out[lane * 8 + i] = h[i] + s[i];
}

FN void quarter(u32 *s, u32 a, u32 b, u32 c, u32 d) {
    s[a] += s[b]; s[d] = left(s[d] ^ s[a], 16);
    s[c] += s[d]; s[b] = left(s[b] ^ s[c], 12);
    s[a] += s[b]; s[d] = left(s[d] ^ s[a], 8);
    s[c] += s[d]; s[b] = left(s[b] ^ s[c], 7);
}

// The ChaCha20 block function (RFC 8439, 2.3): twelve words of key, counter and nonce to sixteen words.
KERNEL chacha20(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    if (lane >= n) return;
    u32 s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, t[16];
    for (u32 i = 4; i < 16; i++) s[i] = in[lane * 16 + i];
    for (u32 i = 0; i < 16; i++) t[i] = s[i];
    for (u32 i = 0; i < 10; i++) {
        quarter(t, 0, 4, 8, 12); quarter(t, 1, 5, 9, 13); quarter(t, 2, 6, 10, 14); quarter(t, 3, 7, 11, 15);
        quarter(t, 0, 5, 10, 15); quarter(t, 1, 6, 11, 12); quarter(t, 2, 7, 8, 13); quarter(t, 3, 4, 9, 14);
    }
    for (u32 i = 0; i < 16; i++) out[lane * 16 + i] = s[i] + t[i];
}

FN u8 times(u8 a, u8 b) {
    u8 r = 0;
    for (u32 i = 0; i < 8; i++) {
        if (b >> i & 1) r ^= a;
        a = a << 1 ^ (a & 0x80 ? 0x1b : 0);
    }
    return r;
}

// AES-128 (FIPS 197) with its S-box and the table of MixColumns in LDS, which the workgroup computes first.
KERNEL aes128(const u32 *in, u32 *out, u32 n) {
    SHARED u8 box[256];
    SHARED u32 mix[256];
    for (u32 x = tid; x < 256; x += block_size) {
        // The inverse of x is x to the power of 254.
        u8 inverse = 1, power = x;
        for (u32 bits = 254; bits; bits >>= 1, power = times(power, power))
            if (bits & 1) inverse = times(inverse, power);
        u8 s = 0x63;
        for (u32 i = 0; i < 5; i++) s ^= inverse << i | inverse >> (8 - i);
        box[x] = s;
        mix[x] = times(s, 2) | s << 8 | s << 16 | (u32)times(s, 3) << 24;
    }
    barrier();
    u32 lane = block * block_size + tid;
    if (lane >= n) return;
    u32 key[44], state[4], next[4];
    for (u32 i = 0; i < 4; i++) key[i] = in[lane * 16 + i];
    u8 round = 1;
    for (u32 i = 4; i < 44; i++) {
        u32 t = key[i - 1];
        if (i % 4 == 0) {
            t = right(t, 8);
            t = box[t & 255] | box[t >> 8 & 255] << 8 | box[t >> 16 & 255] << 16 | (u32)box[t >> 24] << 24;
            t ^= round;
            round = times(round, 2);
        }
        key[i] = key[i - 4] ^ t;
    }
    for (u32 i = 0; i < 4; i++) state[i] = in[lane * 16 + 4 + i] ^ key[i];
    for (u32 r = 1; r < 10; r++) {
        for (u32 c = 0; c < 4; c++)
            next[c] = mix[state[c] & 255] ^ left(mix[state[(c + 1) & 3] >> 8 & 255], 8) ^
                left(mix[state[(c + 2) & 3] >> 16 & 255], 16) ^ left(mix[state[(c + 3) & 3] >> 24], 24) ^ key[r * 4 + c];
        for (u32 c = 0; c < 4; c++) state[c] = next[c];
    }
    for (u32 c = 0; c < 4; c++)
        out[lane * 4 + c] = key[40 + c] ^
            (box[state[c] & 255] | box[state[(c + 1) & 3] >> 8 & 255] << 8 | box[state[(c + 2) & 3] >> 16 & 255] << 16 |
             (u32)box[state[(c + 3) & 3] >> 24] << 24);
}

// CRC-32 (ISO-HDLC) byte by byte, and once more bit by bit.
KERNEL crc32(const u32 *in, u32 *out, u32 n) {
    SHARED u32 table[256];
    for (u32 x = tid; x < 256; x += block_size) {
        u32 c = x;
        for (u32 i = 0; i < 8; i++) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        table[x] = c;
    }
    barrier();
    u32 lane = block * block_size + tid;
    if (lane >= n) return;
    const u8 *bytes = (const u8 *)(in + lane * 16 + 1);
    u32 length = in[lane * 16] % 56, quick = ~0u, slow = ~0u;
    for (u32 i = 0; i < length; i++) {
        quick = quick >> 8 ^ table[(u8)quick ^ bytes[i]];
        for (u32 b = 0; b < 8; b++) slow = slow >> 1 ^ ((slow ^ bytes[i] >> b) & 1 ? 0xedb88320 : 0);
    }
    out[lane * 2] = ~quick;
    out[lane * 2 + 1] = ~slow;
}
