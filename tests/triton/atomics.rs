//! Results of the whole grid, gathered by atomics.

use super::{
    numbers::{Numbers, ULP, assert_near},
    on_every_device,
};

const N: usize = 5000;

#[test]
fn sum_of_all_agrees_with_the_host() {
    on_every_device("atomics::sum_of_all_agrees_with_the_host", "sum_all", |program| {
        let x = Numbers::new(30).floats(N, 1.0);
        let out = program.input(&[1.5f32]);
        program.run([5, 1, 1], &[&program.input(&x), &out, &(N as i32)]);
        let sum: f64 = 1.5 + x.iter().map(|&x| f64::from(x)).sum::<f64>();
        let magnitude: f64 = 1.5 + x.iter().map(|&x| f64::from(x).abs()).sum::<f64>();
        let out = out.read(&program.stream).expect("a copy");
        assert_near("sum", &out, [(sum, 16.0 * ULP * magnitude)]);
    });
}

#[test]
fn dot_product_in_double_precision_agrees_with_the_host() {
    on_every_device("atomics::dot_product_in_double_precision_agrees_with_the_host", "dot_f64", |program| {
        let mut numbers = Numbers::new(31);
        // 20 bits each: the host's sum of products of 40 bits is exact.
        let mut whole = || (0..N).map(|_| numbers.below(1 << 20) as f64 - 500_000.0).collect::<Vec<_>>();
        let (x, y) = (whole(), whole());
        let out = program.input(&[0.0f64]);
        program.run([5, 1, 1], &[&program.input(&x), &program.input(&y), &out, &(N as i32)]);
        let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        assert_eq!(out.read(&program.stream).expect("a copy"), [expected], "{}", program.target);
    });
}

#[test]
fn histogram_counts_every_value() {
    on_every_device("atomics::histogram_counts_every_value", "histogram", |program| {
        let mut numbers = Numbers::new(32);
        // The product of two is uneven, and some values are outside of the bins.
        let x: Vec<i32> = (0..N).map(|_| (numbers.below(13) * numbers.below(12)) as i32 - 2).collect();
        let counts = program.input(&[0i32; 128]);
        program.run([5, 1, 1], &[&program.input(&x), &counts, &(N as i32)]);
        let mut expected = [0; 128];
        for x in x {
            if let Some(count) = usize::try_from(x).ok().and_then(|x| expected.get_mut(x)) {
                *count += 1;
            }
        }
        assert_eq!(counts.read(&program.stream).expect("a copy"), expected, "{}", program.target);
    });
}

#[test]
fn a_spin_lock_lets_one_program_in_at_a_time() {
    on_every_device("atomics::a_spin_lock_lets_one_program_in_at_a_time", "locked_update", |program| {
        let (lock, state) = (program.input(&[0i32]), program.input(&[7i32]));
        let (programs, multiplier) = (200, 1_664_525);
        program.run([programs, 1, 1], &[&lock, &state, &multiplier]);
        let step = |value: i32, _| value.wrapping_mul(multiplier).wrapping_add(1);
        let expected = (0..programs).fold(7, step);
        assert_eq!(state.read(&program.stream).expect("a copy"), [expected], "{}", program.target);
        assert_eq!(lock.read(&program.stream).expect("a copy"), [0], "{}", program.target);
    });
}
