// Calls: structures by value, recursion, tables of functions, virtual functions.
#ifdef __HIP__
#define METHOD FN
#else
#define METHOD
#endif

struct Pair { u32 a; u64 b; };
struct Many { u8 bytes[5]; u16 half; u64 wide[3]; float real; u32 words[7]; };

NOINLINE FN Pair swap(Pair p, u32 k) { return {(u32)p.b + k, (u64)p.a << 7 | p.b >> 57}; }
NOINLINE FN Many grow(Many m, Pair p, u8 k) {
    for (u32 i = 0; i < 5; i++) m.bytes[i] += m.bytes[(i + k) % 5];
    m.half ^= p.a;
    m.wide[k % 3] += p.b;
    m.real = m.real * 0.5f + k;
    for (u32 i = 0; i < 7; i++) m.words[i] = m.words[i] * 33 + (u32)m.wide[i % 3] + m.bytes[i % 5];
    return m;
}
KERNEL by_value(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid;
    Pair p = {in[lane], (u64)in[lane + 1] << 17};
    Many m = {{1, 2, 3, (u8)lane, 5}, (u16)in[lane], {in[lane], 2, in[lane + 2]}, (float)(lane & 63), {1, 2, 3, 4, 5, 6, lane}};
    for (u32 i = 0; i < in[lane] % 6; i++) {
        p = swap(p, i);
        m = grow(m, p, (u8)(p.a + i));
        if (m.half & 1) m = grow(m, swap(p, lane), m.bytes[1]);
    }
    u32 sum = p.a ^ (u32)p.b ^ m.half ^ __builtin_bit_cast(u32, m.real);
    for (u32 i = 0; i < 7; i++) sum = sum * 31 + m.words[i] + m.bytes[i % 5] + (u32)(m.wide[i % 3] >> 9);
    out[lane] = sum;
}

NOINLINE FN u32 ackermann(u32 m, u32 n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
FN u32 odd(u32 n);
NOINLINE FN u32 even(u32 n) { return n == 0 ? 1 : odd(n - 1); }
NOINLINE FN u32 odd(u32 n) { return n == 0 ? 2 : even(n - 1); }
NOINLINE FN void hanoi(u32 n, u32 a, u32 b, u32 c, u32 *hash) {
    if (!n) return;
    hanoi(n - 1, a, c, b, hash);
    *hash = *hash * 31 + a * 3 + b;
    hanoi(n - 1, c, b, a, hash);
}
KERNEL recursion(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid, x = in[lane], hash = 7;
    hanoi(x >> 3 & 7, 1, 2, 3, &hash);
    out[lane] = ackermann(x & 1, x >> 1 & 3) + even(x % 17) * 1000 + hash * 5;
}

typedef u32 (*Step)(u32, u32 *);
NOINLINE FN u32 push(u32 x, u32 *stack) { stack[++stack[0] & 7] = x; return x + 1; }
NOINLINE FN u32 pop(u32 x, u32 *stack) { u32 top = stack[stack[0] & 7]; stack[0]--; return top ^ x; }
NOINLINE FN u32 add(u32 x, u32 *stack) { return x + stack[stack[0] & 7]; }
NOINLINE FN u32 twist(u32 x, u32 *stack) {
    for (u32 i = 1; i < 8; i++) if (stack[i] & 1) x = x * 5 + i;
    return x;
}
KERNEL machine(const u32 *in, u32 *out, u32 n) {
    Step const steps[4] = {push, pop, add, twist};
    u32 lane = block * block_size + tid, stack[8] = {3, 1, 2, 3, 4, 5, 6, 7}, x = lane;
    for (u32 code = in[lane], i = 0; i < 16; i++, code = code >> 2 | code << 30) {
        stack[0] &= 7;
        x = steps[code & 3](x, stack);
    }
    for (u32 i = 1; i < 8; i++) x = x * 3 + stack[i];
    out[lane] = x;
}

struct Shape {
    METHOD virtual u32 area(u32 scale) const { return scale; }
    METHOD virtual u32 corners() const { return 4; }
};
struct Box : Shape {
    u32 w, h;
    METHOD Box(u32 w, u32 h) : w(w), h(h) {}
    METHOD u32 area(u32 scale) const override { return w * h * scale; }
};
struct Triangle : Shape {
    u32 w, h;
    METHOD Triangle(u32 w, u32 h) : w(w), h(h) {}
    METHOD u32 area(u32 scale) const override { return w * h / 2 + scale; }
    METHOD u32 corners() const override { return 3; }
};
struct Stack : Box {
    const Shape *above;
    METHOD Stack(u32 w, u32 h, const Shape *above) : Box(w, h), above(above) {}
    METHOD u32 area(u32 scale) const override { return Box::area(scale) + above->area(scale ^ 3); }
    METHOD u32 corners() const override { return 4 + above->corners(); }
};
KERNEL shapes(const u32 *in, u32 *out, u32 n) {
    u32 lane = block * block_size + tid, x = in[lane];
    Box box(x & 255, x >> 8 & 255);
    Triangle triangle(x >> 16 & 255, x >> 24);
    const Shape *inner = x & 1 ? (const Shape *)&box : &triangle;
    Stack stack(x % 7, x % 5, inner), tower(x % 3, 9, &stack);
    const Shape *all[4] = {&box, &triangle, &stack, &tower};
    u32 sum = 0;
    for (u32 i = 0; i < 4; i++) {
        const Shape *s = all[(x >> (2 * i) ^ i) & 3];
        sum = sum * 17 + s->area(i + x % 11) + s->corners();
    }
    out[lane] = sum;
}
