//! Vector arithmetic as compilers emit it, against the same source on the host: every level, both targets.

use fastrand::Rng;

mod floating;
mod integer;
mod lanes;

/// Pairs of interesting and random 32-bit patterns.
fn words(count: usize, seed: u64) -> Vec<[u32; 4]> {
    let edges = [
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x10000,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_ffff,
        0xffff_fffe,
    ];
    let mut random = Rng::with_seed(seed);
    let mut next = || match random.u64(..4) {
        0 => edges[random.usize(..edges.len())],
        1 => (random.u64(..) >> 52) as u32,
        _ => random.u32(..),
    };
    (0..count).map(|_| std::array::from_fn(|_| next())).collect()
}

/// Singles: zeros, infinities, denormals, neighbours of one, random patterns; no NaNs, whose payloads are not
/// defined.
fn singles(count: usize, seed: u64) -> Vec<[f32; 4]> {
    let edges =
        [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-40, f32::MIN_POSITIVE, f32::MAX, f32::MIN, f32::INFINITY, 0.5, 3.0];
    let mut random = Rng::with_seed(seed);
    let mut next = || match random.u64(..4) {
        0 => edges[random.usize(..edges.len())],
        1 => f32::from_bits(0x3f7f_fff0 + random.u32(..64)),
        2 => random.i32(..) as f32 / 65536.0,
        _ => Some(f32::from_bits(random.u32(..))).filter(|x| !x.is_nan()).unwrap_or(7.0),
    };
    (0..count).map(|_| std::array::from_fn(|_| next())).collect()
}

/// Doubles of the same kinds.
fn doubles(count: usize, seed: u64) -> Vec<[f64; 4]> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        5e-324,
        -1e-310,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        0.5,
        3.0,
    ];
    let mut random = Rng::with_seed(seed);
    let mut next = || match random.u64(..4) {
        0 => edges[random.usize(..edges.len())],
        1 => f64::from_bits(0x3fef_ffff_ffff_fff0 + random.u64(..64)),
        2 => random.i64(..) as f64 / 65536.0,
        _ => Some(f64::from_bits(random.u64(..))).filter(|x| !x.is_nan()).unwrap_or(7.0),
    };
    (0..count).map(|_| std::array::from_fn(|_| next())).collect()
}
