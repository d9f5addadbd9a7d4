//! Loads and stores.

use crate::harness::{everywhere, input, kernel, output, value};

#[test]
fn a_linear_kernel_touches_its_elements_and_no_others() {
    let source = "KERNEL scale(const int *a, int *b, u32 n) {
        u32 i = block * block_size + tid;
        if (i < n) b[i] = a[i] * 3 + 7;
    }";
    let a: Vec<i32> = (0..1000).map(|i| i * 7919 - 500_000).collect();
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "scale", target, level) else { return };
        let mut b = vec![-1; 1024];
        kernel.run([4, 1, 1], [256, 1, 1], &mut [input(&a), output(&mut b), value(1000u32)], 0).unwrap();
        for i in 0..1000 {
            assert_eq!(b[i], a[i].wrapping_mul(3).wrapping_add(7), "{target:?} {level:?} {i}");
        }
        assert!(b[1000..].iter().all(|v| *v == -1));
    }
}
