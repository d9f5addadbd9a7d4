//! Reductions and scans along rows.

use super::{
    numbers::{HALF, Numbers, ULP, assert_near},
    on_every_device,
};

/// Each row is one program's.
const ROWS: usize = 7;
/// Less than the block that the kernels were compiled for, and no multiple of a wavefront.
const COLUMNS: usize = 389;

#[test]
fn softmax_agrees_with_the_host() {
    on_every_device("rows::softmax_agrees_with_the_host", "softmax", |program| {
        let x = Numbers::new(10).floats(ROWS * COLUMNS, 12.0);
        let out = program.output::<f32>(x.len());
        program.run([ROWS as u32, 1, 1], &[&program.input(&x), &out, &(COLUMNS as i32)]);
        let out = program.read(&out);
        for (x, out) in x.chunks(COLUMNS).zip(out.chunks(COLUMNS)) {
            let largest = x.iter().fold(f64::MIN, |m, &x| m.max(x.into()));
            let e: Vec<f64> = x.iter().map(|&x| (f64::from(x) - largest).exp()).collect();
            let sum: f64 = e.iter().sum();
            // The exponent is rounded twice on its way to base two, at magnitudes up to 24 log2(e) = 35.
            let relative = (2.0 * 35.0 + 16.0) * ULP;
            assert_near("softmax", out, e.iter().map(|e| (e / sum, relative * e / sum)));
        }
    });
}

#[test]
fn layer_norm_agrees_with_the_host() {
    on_every_device("rows::layer_norm_agrees_with_the_host", "layer_norm", |program| {
        let mut numbers = Numbers::new(11);
        let x: Vec<f32> = numbers.floats(ROWS * COLUMNS, 2.0).iter().map(|x| x + 0.75).collect();
        let (weight, bias) = (numbers.floats(COLUMNS, 1.0), numbers.floats(COLUMNS, 1.0));
        let eps = 1e-5f32;
        let out = program.output::<f32>(x.len());
        let (mean, rstd) = (program.output::<f32>(ROWS), program.output::<f32>(ROWS));
        let (xs, weights, biases) = (program.input(&x), program.input(&weight), program.input(&bias));
        let columns = COLUMNS as i32;
        program.run([ROWS as u32, 1, 1], &[&xs, &weights, &biases, &out, &mean, &rstd, &columns, &eps]);
        let (out, mean, rstd) = (program.read(&out), program.read(&mean), program.read(&rstd));
        for (row, x) in x.chunks(COLUMNS).enumerate() {
            let n = COLUMNS as f64;
            let expected_mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
            let variance = x.iter().map(|&x| (f64::from(x) - expected_mean).powi(2)).sum::<f64>() / n;
            let expected_rstd = 1.0 / (variance + f64::from(eps)).sqrt();
            assert_near("mean", &mean[row..=row], [(expected_mean, 32.0 * ULP)]);
            assert_near("rstd", &rstd[row..=row], [(expected_rstd, 32.0 * ULP)]);
            let expected = x.iter().zip(weight.iter().zip(&bias)).map(|(&x, (&weight, &bias))| {
                let y = (f64::from(x) - expected_mean) * expected_rstd * f64::from(weight) + f64::from(bias);
                (y, 128.0 * ULP)
            });
            assert_near("layer_norm", &out[row * COLUMNS..][..COLUMNS], expected);
        }
    });
}

#[test]
fn cumsum_agrees_with_the_host() {
    on_every_device("rows::cumsum_agrees_with_the_host", "cumsum", |program| {
        let x = Numbers::new(12).floats(ROWS * COLUMNS, 1.0);
        let out = program.output::<f32>(x.len());
        program.run([ROWS as u32, 1, 1], &[&program.input(&x), &out, &(COLUMNS as i32)]);
        let out = program.read(&out);
        for (x, out) in x.chunks(COLUMNS).zip(out.chunks(COLUMNS)) {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            let expected = x.iter().map(|&x| {
                sum += f64::from(x);
                magnitude += f64::from(x).abs();
                // A tree over 1024 numbers is ten sums deep, each half of it scanned once more.
                (sum, 20.0 * ULP * magnitude)
            });
            assert_near("cumsum", out, expected);
        }
    });
}

#[test]
fn linear_recurrence_agrees_with_the_host() {
    on_every_device("rows::linear_recurrence_agrees_with_the_host", "linear_recurrence", |program| {
        let mut numbers = Numbers::new(13);
        let (a, b) = (numbers.floats(ROWS * COLUMNS, 1.0), numbers.floats(ROWS * COLUMNS, 1.0));
        let out = program.output::<f32>(a.len());
        program.run([ROWS as u32, 1, 1], &[&program.input(&a), &program.input(&b), &out, &(COLUMNS as i32)]);
        let out = program.read(&out);
        for (row, out) in out.chunks(COLUMNS).enumerate() {
            let at = row * COLUMNS..(row + 1) * COLUMNS;
            let (mut y, mut magnitude) = (0.0, 0.0);
            let expected = a[at.clone()].iter().zip(&b[at]).map(|(&a, &b)| {
                y = f64::from(a) * y + f64::from(b);
                magnitude = f64::from(a).abs() * magnitude + f64::from(b).abs();
                (y, 64.0 * ULP * magnitude)
            });
            assert_near("linear_recurrence", out, expected);
        }
    });
}

#[test]
fn argmax_finds_the_first_of_the_largest() {
    on_every_device("rows::argmax_finds_the_first_of_the_largest", "argmax", |program| {
        // Few different numbers, so that the largest occurs more than once.
        let mut numbers = Numbers::new(14);
        let x: Vec<f32> = (0..ROWS * COLUMNS).map(|_| numbers.below(40) as f32 - 50.0).collect();
        let (value, index) = (program.output::<f32>(ROWS), program.output::<i32>(ROWS));
        program.run([ROWS as u32, 1, 1], &[&program.input(&x), &value, &index, &(COLUMNS as i32)]);
        let (value, index) = (program.read(&value), program.read(&index));
        for (row, x) in x.chunks(COLUMNS).enumerate() {
            let largest = x.iter().copied().fold(f32::MIN, f32::max);
            let first = x.iter().position(|&x| x == largest).expect("it is one of them");
            assert_eq!((value[row], index[row]), (largest, first as i32), "row {row} on {}", program.target);
        }
    });
}

#[test]
fn sorted_rows_are_sorted() {
    on_every_device("rows::sorted_rows_are_sorted", "sort_rows", |program| {
        let mut numbers = Numbers::new(15);
        // Many numbers occur more than once; some are at the ends of the range.
        let mut x: Vec<i32> = (0..ROWS * 256).map(|_| numbers.below(400) as i32 - 200).collect();
        (x[3], x[300], x[301]) = (i32::MIN, i32::MAX, i32::MIN);
        let out = program.output::<i32>(x.len());
        program.run([ROWS as u32, 1, 1], &[&program.input(&x), &out]);
        x.chunks_mut(256).for_each(<[i32]>::sort);
        assert_eq!(program.read(&out), x, "{}", program.target);
    });
}

#[test]
fn cross_entropy_agrees_with_the_host() {
    on_every_device("rows::cross_entropy_agrees_with_the_host", "cross_entropy", |program| {
        let mut numbers = Numbers::new(16);
        let bits = numbers.narrow(&HALF, ROWS * COLUMNS);
        let labels: Vec<i32> = (0..ROWS).map(|_| numbers.below(COLUMNS as u64) as i32).collect();
        let loss = program.output::<f32>(ROWS);
        let (logits, chosen) = (program.input(&bits), program.input(&labels));
        program.run([ROWS as u32, 1, 1], &[&logits, &chosen, &loss, &(COLUMNS as i32)]);
        let expected = bits.chunks(COLUMNS).zip(&labels).map(|(bits, &label)| {
            let x = HALF.values(bits);
            let sum: f64 = x.iter().map(|x| x.exp()).sum();
            (sum.ln() - x[label as usize], 32.0 * ULP * sum.ln())
        });
        assert_near("loss", &program.read(&loss), expected);
    });
}
