//! One output for each input.

use super::{
    numbers::{BF8, BF8_OCP, BFLOAT, FP8, FP8_OCP, Format, Numbers, Specials, ULP, assert_near},
    on_every_device,
};

/// The last program is not full.
const N: usize = 3000;

#[test]
fn vector_add_is_exact() {
    on_every_device("elementwise::vector_add_is_exact", "vector_add", |program| {
        let mut numbers = Numbers::new(1);
        let (x, y) = (numbers.floats(N, 1e3), numbers.floats(N, 1.0));
        let out = program.output::<f32>(N);
        program.run([3, 1, 1], &[&program.input(&x), &program.input(&y), &out, &(N as i32)]);
        let sum: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(program.read(&out), sum);
    });
}

/// Philox4x32-10, from Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011).
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let product = |m: u32, c: u32| (u64::from(m) * u64::from(c)).to_le_bytes();
        let halves = |p: [u8; 8]| {
            let p = u64::from_le_bytes(p);
            // CAST: the low half, on purpose.
            ((p >> 32) as u32, p as u32)
        };
        let (high0, low0) = halves(product(0xd251_1f53, counter[0]));
        let (high1, low1) = halves(product(0xcd9e_8d57, counter[2]));
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

#[test]
fn philox_has_the_known_answers() {
    // Of the paper's library, Random123.
    assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(philox([!0; 4], [!0; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
}

#[test]
fn dropout_keeps_what_philox_says() {
    on_every_device("elementwise::dropout_keeps_what_philox_says", "dropout", |program| {
        let x = Numbers::new(2).floats(N, 1.0);
        let (p, seed) = (0.3f32, 20_261_121);
        let out = program.output::<f32>(N);
        program.run([3, 1, 1], &[&program.input(&x), &out, &(N as i32), &p, &seed]);
        let mut kept = 0;
        let expected = x.iter().enumerate().map(|(i, &x)| {
            // CAST: the same bits with a sign.
            let random = philox([i as u32, 0, 0, 0], [seed as u32, 0])[0] as i32;
            let uniform = (if random < 0 { !random } else { random }) as f32 * 4.656_613e-10;
            kept += usize::from(uniform > p);
            let y = if uniform > p { f64::from(x) / f64::from(1.0 - p) } else { 0.0 };
            (y, 4.0 * ULP * y.abs())
        });
        assert_near("dropout", &program.read(&out), expected);
        assert!((1950..2250).contains(&kept), "{kept} of 3000 kept: not 70 %");
    });
}

unsafe extern "C" {
    /// The C library's error function.
    safe fn erf(x: f64) -> f64;
}

#[test]
fn gelu_rounds_to_bfloat16() {
    on_every_device("elementwise::gelu_rounds_to_bfloat16", "gelu", |program| {
        let mut numbers = Numbers::new(3);
        // Magnitudes up to almost 8.
        let x: Vec<u16> =
            numbers.narrow(&BFLOAT, N).iter().map(|&x| if x == 0 { 0 } else { x + 0x100 }).collect();
        let out = program.output::<u16>(N);
        program.run([3, 1, 1], &[&program.input(&x), &out, &(N as i32)]);
        let expected = BFLOAT.values(&x).into_iter().map(|x| {
            let y = 0.5 * x * (1.0 + erf(x / 2f64.sqrt()));
            // One rounding to eight bits, after a sum in float32 that cancels for negative x.
            (y, y.abs() / 256.0 + 8.0 * ULP * x.abs())
        });
        assert_near("gelu", &BFLOAT.values(&program.read(&out)), expected);
    });
}

#[test]
fn quantised_rows_are_within_half_a_step() {
    on_every_device("elementwise::quantised_rows_are_within_half_a_step", "quantise", |program| {
        let (rows, columns) = (5, 300);
        let x = Numbers::new(4).floats(rows * columns, 3.0);
        let (out, scales) = (program.output::<i8>(rows * columns), program.output::<f32>(rows));
        program.run([rows as u32, 1, 1], &[&program.input(&x), &out, &scales, &(columns as i32)]);
        let (out, scales) = (program.read(&out), program.read(&scales));
        for (row, x) in x.chunks(columns).enumerate() {
            let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
            let scale = f64::from(largest) / 127.0;
            assert_near("scale", &scales[row..=row], [(scale, 4.0 * ULP * scale)]);
            let q = &out[row * columns..][..columns];
            // In steps: half of one, and what scale and quotient were rounded by.
            assert_near("quantised", q, x.iter().map(|&x| (f64::from(x) / scale, 0.5 + 127.0 * 8.0 * ULP)));
        }
    });
}

/// The nearest number of `format`; of two as near, the one whose last bit is zero.
fn nearest(format: &Format, x: f64) -> u8 {
    let mut best = 0;
    for bits in format.finite().skip(1) {
        let (value, old) = (format.value(bits), format.value(best));
        let (nearer, far) = ((value - x.abs()).abs(), (old - x.abs()).abs());
        if nearer < far || nearer == far && bits & 1 == 0 {
            best = bits;
        }
    }
    let has_sign = best != 0 || format.specials != Specials::Unsigned;
    // CAST: at most 0x7f.
    if x.is_sign_negative() && has_sign { best as u8 | 0x80 } else { best as u8 }
}

fn narrow_round_trip(test: &str, object: &str, format: &Format) {
    on_every_device(test, object, |program| {
        // Every number, the middles between neighbours, and others of all magnitudes that the format has.
        let mut x: Vec<f32> = format.finite().map(|bits| format.value(bits) as f32).collect();
        x.extend(x.clone().windows(2).map(|pair| (pair[0] + pair[1]) / 2.0));
        let mut numbers = Numbers::new(5);
        let smallest = 1 - format.bias - format.mantissa as i32 - 1;
        for exponent in smallest..format.bias - 2 {
            x.extend(numbers.floats(16, 2f64.powi(exponent)));
        }
        x.extend(x.clone().iter().map(|x| -x));
        let n = x.len();
        let (bits, back) = (program.output::<u8>(n), program.output::<f32>(n));
        program.run([n.div_ceil(512) as u32, 1, 1], &[&program.input(&x), &bits, &back, &(n as i32)]);
        let (bits, back) = (program.read(&bits), program.read(&back));
        for (i, &x) in x.iter().enumerate() {
            let expected = nearest(format, x.into());
            assert_eq!(bits[i], expected, "{object} on {}: {x:e} to {:#x}", program.target, bits[i]);
            assert_eq!(f64::from(back[i]), format.value(expected.into()), "{object} on {}", program.target);
        }
    });
}

#[test]
fn fp8_takes_the_nearest_number() {
    narrow_round_trip("elementwise::fp8_takes_the_nearest_number", "fp8_round_trip", &FP8);
}

#[test]
fn ocp_fp8_takes_the_nearest_number() {
    let test = "elementwise::ocp_fp8_takes_the_nearest_number";
    narrow_round_trip(test, "fp8_ocp_round_trip", &FP8_OCP);
}

#[test]
fn ocp_bf8_takes_the_nearest_number() {
    let test = "elementwise::ocp_bf8_takes_the_nearest_number";
    narrow_round_trip(test, "bf8_ocp_round_trip", &BF8_OCP);
}

#[test]
fn bf8_takes_the_nearest_number() {
    narrow_round_trip("elementwise::bf8_takes_the_nearest_number", "bf8_round_trip", &BF8);
}
