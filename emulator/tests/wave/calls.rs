//! Functions that are called, not inlined.

use fastrand::Rng;

use crate::harness::compare;

fn words() -> Vec<u32> {
    let mut random = Rng::with_seed(3);
    (0..300).map(|_| random.u32(..)).collect()
}

#[test]
fn calls_keep_the_callers_registers() {
    let source = "NOINLINE FN u32 mix(u32 a, u32 b, u32 c) { return (a ^ b) * 31 + c; }
    NOINLINE FN u32 twice(u32 a, u32 b) { return mix(a, b, 1) + mix(b, a, 2); }
    FN void body_calls(u32 x, u32 &y) {
        u32 a = x * 5, b = x ^ 99, c = a + b;
        y = twice(a, b) + c;
        if (x & 1) y += mix(c, y, a) * b;
    } MAP(calls, u32, u32)";
    compare(source, "calls", &words(), 0u32);
}

#[test]
fn lanes_call_different_functions_through_pointers() {
    let source = "NOINLINE FN u32 f0(u32 a) { return a + 1; }
    NOINLINE FN u32 f1(u32 a) { return a * 7; }
    NOINLINE FN u32 f2(u32 a) { u32 s = 0; for (u32 i = 0; i < a % 9; i++) s += i ^ a; return s; }
    typedef u32 (*Fn)(u32);
    FN void body_pointers(u32 x, u32 &y) {
        Fn table[3] = {f0, f1, f2};
        y = table[x % 3](x) ^ table[(x >> 8) % 3](x >> 1);
    } MAP(pointers, u32, u32)";
    compare(source, "pointers", &words(), 0u32);
}

#[test]
fn recursion_goes_as_deep_as_the_stack() {
    let source = "NOINLINE FN u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    FN void body_recurse(u32 x, u32 &y) { y = fib(x % 9) * 3; } MAP(recurse, u32, u32)";
    compare(source, "recurse", &words(), 0u32);
}

#[test]
fn virtual_functions_come_from_relocated_tables() {
    let source = "struct Shape { FN2 virtual u32 area() const { return 0; } };
    struct Square : Shape { u32 a; FN2 u32 area() const override { return a * a; } };
    struct Strip : Shape { u32 a, b; FN2 u32 area() const override { return a + b; } };
    FN void body_virt(u32 x, u32 &y) {
        Square square; square.a = x & 0xff;
        Strip strip; strip.a = x; strip.b = 3;
        const Shape *shape = x & 1 ? (const Shape *)&square : &strip;
        y = shape->area();
    } MAP(virt, u32, u32)";
    let source = format!("#ifdef __HIP__\n#define FN2 FN\n#else\n#define FN2\n#endif\n{source}");
    compare(&source, "virt", &words(), 0u32);
}
