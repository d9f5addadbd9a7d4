//! Products of matrices and attention: what Triton makes matrix instructions of.

use super::{
    Program,
    numbers::{BF8, BF8_OCP, BFLOAT, FP4, FP8, FP8_OCP, Format, HALF, Numbers, ULP, assert_near},
    on_every_device,
};

/// Rows of A, columns of B, columns of A: no multiples of the tiles of 32.
const SHAPE: [usize; 3] = [45, 70, 50];

/// Element (i, j) of A B and the sum of its terms' magnitudes, row by row.
fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<(f64, f64)> {
    let element = |i: usize, j: usize| {
        let terms = (0..k).map(|l| a[i * k + l] * b[l * n + j]);
        terms.fold((0.0, 0.0), |(sum, magnitude), term| (sum + term, magnitude + term.abs()))
    };
    (0..m * n).map(|at| element(at / n, at % n)).collect()
}

fn run(program: &Program, [m, n, k]: [usize; 3], tile: usize, buffers: [&dyn super::Argument; 3]) {
    let [a, b, c] = buffers;
    let size = |n: usize| n as i32;
    let (m32, n32, k32) = (size(m), size(n), size(k));
    let programs = [m.div_ceil(tile) as u32, n.div_ceil(tile) as u32, 1];
    program.run(programs, &[a, b, c, &m32, &n32, &k32, &k32, &n32, &n32]);
}

/// The product of matrices of a narrow format, whose products are exact in float32: only sums are rounded.
fn narrow(test: &str, object: &str, format: &Format, shape: [usize; 3], tile: usize) {
    on_every_device(&format!("matrix::{test}"), object, |program| {
        let [m, n, k] = shape;
        let mut numbers = Numbers::new(40);
        let (a, b) = (numbers.narrow(format, m * k), numbers.narrow(format, k * n));
        let c = program.output::<f32>(m * n);
        if format.bits == 8 {
            // CAST: eight bits.
            let bytes = |bits: &[u16]| bits.iter().map(|&bits| bits as u8).collect::<Vec<_>>();
            run(program, shape, tile, [&program.input(&bytes(&a)), &program.input(&bytes(&b)), &c]);
        } else {
            run(program, shape, tile, [&program.input(&a), &program.input(&b), &c]);
        }
        let exact = product(&format.values(&a), &format.values(&b), shape);
        let expected = exact.iter().map(|(sum, magnitude)| (*sum, k as f64 * ULP * magnitude));
        assert_near(&format!("{object} on {}", program.target), &program.read(&c), expected);
    });
}

#[test]
fn half_products_sum_in_single() {
    narrow("half_products_sum_in_single", "matmul_fp16", &HALF, SHAPE, 32);
}

#[test]
fn bfloat_products_sum_in_single() {
    narrow("bfloat_products_sum_in_single", "matmul_bf16", &BFLOAT, SHAPE, 32);
}

#[test]
fn fp8_products_sum_in_single() {
    narrow("fp8_products_sum_in_single", "matmul_fp8", &FP8, SHAPE, 32);
}

#[test]
fn bf8_products_sum_in_single() {
    narrow("bf8_products_sum_in_single", "matmul_bf8", &BF8, SHAPE, 32);
}

#[test]
fn ocp_fp8_products_sum_in_single() {
    narrow("ocp_fp8_products_sum_in_single", "matmul_fp8_ocp", &FP8_OCP, SHAPE, 32);
}

#[test]
fn ocp_bf8_products_sum_in_single() {
    narrow("ocp_bf8_products_sum_in_single", "matmul_bf8_ocp", &BF8_OCP, SHAPE, 32);
}

/// Rows of a matrix whose numbers have a power of two in common, 32 by 32.
struct Scaled {
    bytes: Vec<u8>,
    /// Exponents, 127 more than they are.
    scales: Vec<u8>,
    values: Vec<f64>,
}

impl Scaled {
    fn random(numbers: &mut Numbers, format: &Format, n: usize) -> Self {
        let bits: Vec<u16> = (0..n)
            .map(|_| {
                loop {
                    let bits = numbers.below(1 << format.bits) as u16;
                    if format.value(bits).is_finite() {
                        break bits;
                    }
                }
            })
            .collect();
        let scales: Vec<u8> = (0..n / 32).map(|_| 120 + numbers.below(15) as u8).collect();
        let value =
            |(i, &bits): (usize, &u16)| format.value(bits) * 2f64.powi(i32::from(scales[i / 32]) - 127);
        let values = bits.iter().enumerate().map(value).collect();
        // CAST: at most eight bits.
        let bytes = match format.bits {
            4 => bits.chunks(2).map(|pair| (pair[0] | pair[1] << 4) as u8).collect(),
            _ => bits.iter().map(|&bits| bits as u8).collect(),
        };
        Self { bytes, scales, values }
    }
}

/// The product of matrices of the Open Compute Project's microscaling formats.
fn scaled(test: &str, object: &str, [a, b]: [&Format; 2]) {
    on_every_device(&format!("matrix::{test}"), object, |program| {
        let [m, n, k] = [64, 32, 256];
        let mut numbers = Numbers::new(47);
        let a = Scaled::random(&mut numbers, a, m * k);
        let b = Scaled::random(&mut numbers, b, n * k);
        let c = program.output::<f32>(m * n);
        let [a_bytes, a_scales, b_bytes, b_scales] =
            [&a.bytes, &a.scales, &b.bytes, &b.scales].map(|bytes| program.input(bytes));
        let [rows, columns, inner] = [m, n, k].map(|size| size as i32);
        let grid = [m as u32 / 32, n as u32 / 32, 1];
        program.run(grid, &[&a_bytes, &a_scales, &b_bytes, &b_scales, &c, &rows, &columns, &inner]);
        // B is stored column by column.
        let transposed: Vec<f64> = (0..k * n).map(|at| b.values[at % n * k + at / n]).collect();
        let exact = product(&a.values, &transposed, [m, n, k]);
        let expected = exact.iter().map(|(sum, magnitude)| (*sum, k as f64 * ULP * magnitude));
        assert_near(&format!("{object} on {}", program.target), &program.read(&c), expected);
    });
}

#[test]
fn scaled_eight_bit_products_sum_in_single() {
    scaled("scaled_eight_bit_products_sum_in_single", "matmul_scaled_fp8_bf8", [&FP8_OCP, &BF8_OCP]);
}

#[test]
fn scaled_four_bit_products_sum_in_single() {
    scaled("scaled_four_bit_products_sum_in_single", "matmul_scaled_fp4", [&FP4, &FP4]);
}

#[test]
fn scaled_products_may_be_of_two_widths() {
    scaled("scaled_products_may_be_of_two_widths", "matmul_scaled_fp8_fp4", [&FP8_OCP, &FP4]);
}

#[test]
fn large_tiles_agree_with_the_host() {
    narrow("large_tiles_agree_with_the_host", "matmul_fp16_large", &HALF, [130, 128, 96], 128);
}

#[test]
fn single_products_agree_with_the_host() {
    on_every_device("matrix::single_products_agree_with_the_host", "matmul_fp32", |program| {
        let [m, n, k] = SHAPE;
        let mut numbers = Numbers::new(41);
        let (a, b) = (numbers.floats(m * k, 1.0), numbers.floats(k * n, 1.0));
        let c = program.output::<f32>(m * n);
        run(program, SHAPE, 32, [&program.input(&a), &program.input(&b), &c]);
        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let exact = product(&wide(&a), &wide(&b), SHAPE);
        let expected = exact.iter().map(|(sum, magnitude)| (*sum, (k + 1) as f64 * ULP * magnitude));
        assert_near(&format!("matmul_fp32 on {}", program.target), &program.read(&c), expected);
    });
}

/// Of whole numbers, so that no sum is rounded.
#[test]
fn double_products_are_exact() {
    on_every_device("matrix::double_products_are_exact", "matmul_fp64", |program| {
        let [m, n, k] = SHAPE;
        let mut numbers = Numbers::new(42);
        let mut whole = |n| (0..n).map(|_| numbers.below(1 << 22) as f64 - 2e6).collect::<Vec<_>>();
        let (a, b) = (whole(m * k), whole(k * n));
        let c = program.output::<f64>(m * n);
        run(program, SHAPE, 32, [&program.input(&a), &program.input(&b), &c]);
        let exact: Vec<f64> = product(&a, &b, SHAPE).iter().map(|(sum, _)| *sum).collect();
        assert_eq!(program.read(&c), exact, "{}", program.target);
    });
}

#[test]
fn byte_products_are_exact() {
    on_every_device("matrix::byte_products_are_exact", "matmul_i8", |program| {
        let [m, n, k] = SHAPE;
        let mut numbers = Numbers::new(43);
        let mut bytes = |n| (0..n).map(|_| numbers.bits() as i8).collect::<Vec<_>>();
        let (a, b) = (bytes(m * k), bytes(k * n));
        let c = program.output::<i32>(m * n);
        run(program, SHAPE, 32, [&program.input(&a), &program.input(&b), &c]);
        let element = |i: usize, j: usize| -> i32 {
            (0..k).map(|l| i32::from(a[i * k + l]) * i32::from(b[l * n + j])).sum()
        };
        let exact: Vec<i32> = (0..m * n).map(|at| element(at / n, at % n)).collect();
        assert_eq!(program.read(&c), exact, "{}", program.target);
    });
}

/// Scaled dot-product attention of one head, row by row, with the sum of magnitudes that bounds the error.
fn attention(q: &[f64], k: &[f64], v: &[f64], width: usize, scale: f64, causal: bool) -> Vec<(f64, f64)> {
    let length = q.len() / width;
    let mut out = Vec::with_capacity(q.len());
    for row in 0..length {
        let keys = if causal { row + 1 } else { length };
        let score = |key: usize| -> f64 { (0..width).map(|i| q[row * width + i] * k[key * width + i]).sum() };
        let scores: Vec<f64> = (0..keys).map(|key| score(key) * scale).collect();
        let largest = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        out.extend((0..width).map(|i| {
            let terms = weights.iter().enumerate().map(|(key, weight)| weight / total * v[key * width + i]);
            terms.fold((0.0, 0.0), |(sum, magnitude), term| (sum + term, magnitude + term.abs()))
        }));
    }
    out
}

fn attends(
    test: &str,
    object: &str,
    format: &Format,
    [heads, length, width, tile]: [usize; 4],
    causal: bool,
) {
    on_every_device(&format!("matrix::{test}"), object, |program| {
        let mut numbers = Numbers::new(44);
        let mut tensor = || numbers.narrow(format, heads * length * width);
        let (q, k, v) = (tensor(), tensor(), tensor());
        let out = program.output::<u16>(q.len());
        let scale = 1.0 / (width as f32).sqrt();
        let programs = [length.div_ceil(tile) as u32, heads as u32, 1];
        let (qs, ks, vs) = (program.input(&q), program.input(&k), program.input(&v));
        program.run(programs, &[&qs, &ks, &vs, &out, &scale, &(length as i32)]);
        let out = format.values(&program.read(&out));
        let head = length * width;
        // Weights and result are rounded to the format, each by half of a unit in the last place.
        let rounding = 2f64.powi(-1 - format.mantissa as i32);
        for at in (0..heads).map(|i| i * head..(i + 1) * head) {
            let values = |bits: &[u16]| format.values(&bits[at.clone()]);
            let exact = attention(&values(&q), &values(&k), &values(&v), width, scale.into(), causal);
            let expected = exact.iter().map(|(x, magnitude)| {
                (*x, rounding * (x.abs() + 1.01 * magnitude) + 256.0 * ULP * magnitude)
            });
            assert_near(&format!("{object} on {}", program.target), &out[at.clone()], expected);
        }
    });
}

#[test]
fn attention_agrees_with_the_host() {
    attends("attention_agrees_with_the_host", "attention", &HALF, [2, 80, 64, 64], false);
}

#[test]
fn causal_attention_agrees_with_the_host() {
    attends("causal_attention_agrees_with_the_host", "attention_causal", &BFLOAT, [2, 80, 32, 32], true);
}
