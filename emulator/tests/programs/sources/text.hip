// Bytes and strings.

// The edit distance of two strings of at most 20 letters out of four, by rows.
KERNEL levenshtein(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    const u8 *a = (const u8 *)(in + lane * 12), *b = a + 24;
    u32 m = a[23] % 21, k = b[23] % 21;
    u8 row[21];
    for (u32 j = 0; j <= k; j++) row[j] = j;
    for (u32 i = 1; i <= m; i++) {
        u8 corner = row[0];
        row[0] = i;
        for (u32 j = 1; j <= k; j++) {
            u8 change = corner + ((a[i - 1] & 3) != (b[j - 1] & 3)), least = row[j] < row[j - 1] ? row[j] : row[j - 1];
            corner = row[j];
            row[j] = change < least + 1 ? change : least + 1;
        }
    }
    out[lane] = row[k];
}

// The first place and the number of places of a pattern, by Knuth, Morris and Pratt.
KERNEL find(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    const u8 *text = (const u8 *)in + lane * 4;
    u32 length = 1 + (text[0] >> 3) % 4;
    u8 pattern[4], fail[4];
    for (u32 i = 0; i < length; i++) pattern[i] = text[i + 7] & 1;
    fail[0] = 0;
    for (u32 i = 1, k = 0; i < length; i++) {
        while (k && pattern[i] != pattern[k]) k = fail[k - 1];
        if (pattern[i] == pattern[k]) k++;
        fail[i] = k;
    }
    u32 first = ~0u, count = 0;
    for (u32 i = 0, k = 0; i < 200; i++) {
        while (k && (text[i] & 1) != pattern[k]) k = fail[k - 1];
        if ((text[i] & 1) == pattern[k]) k++;
        if (k == length) {
            if (first == ~0u) first = i;
            count++;
            k = fail[k - 1];
        }
    }
    out[lane] = first << 16 | count;
}

// Numbers in decimal and back, as text in a buffer on the stack.
KERNEL decimal(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    i64 value = (i64)((u64)in[lane] << 32 | in[lane + 1]) >> (in[lane + 2] & 63);
    char text[24];
    u32 length = 0;
    u64 rest = value < 0 ? 0 - (u64)value : (u64)value;
    do text[length++] = '0' + rest % 10; while (rest /= 10);
    if (value < 0) text[length++] = '-';
    for (u32 i = 0; i < length / 2; i++) { char t = text[i]; text[i] = text[length - 1 - i]; text[length - 1 - i] = t; }
    u64 back = 0;
    u32 sum = length;
    for (u32 i = 0; i < length; i++) {
        sum = sum * 31 + (u8)text[i];
        if (text[i] != '-') back = back * 10 + (text[i] - '0');
    }
    if (text[0] == '-') back = 0 - back;
    out[lane * 2] = sum;
    out[lane * 2 + 1] = back == (u64)value;
}
