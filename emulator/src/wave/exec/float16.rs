//! Packed half and bfloat16 addition for atomics, rounded to nearest even.

/// Adds two pairs of IEEE halves; `denormals` is MODE's field for halves.
pub fn pk_add_f16(a: u32, b: u32, denormals: u32) -> u32 {
    let add = |a, b| sum(a, b, denormals, &HALF, |a, b| to_f16(from_f16(a) + from_f16(b)));
    pairwise(a, b, add)
}

/// Adds two pairs of bfloat16; `denormals` is MODE's field for halves.
pub fn pk_add_bf16(a: u32, b: u32, denormals: u32) -> u32 {
    let single = |h: u16| f32::from_bits(u32::from(h) << 16);
    let add = |a, b| sum(a, b, denormals, &BFLOAT, |a, b| to_bf16(single(a) + single(b)));
    pairwise(a, b, add)
}

fn pairwise(a: u32, b: u32, add: impl Fn(u16, u16) -> u16) -> u32 {
    // CAST: the halves of a register.
    u32::from(add(a as u16, b as u16)) | u32::from(add((a >> 16) as u16, (b >> 16) as u16)) << 16
}

struct Format {
    infinity: u16,
    /// The fraction's highest bit, which makes a NaN quiet.
    quiet: u16,
}

const HALF: Format = Format { infinity: 0x7c00, quiet: 0x200 };
const BFLOAT: Format = Format { infinity: 0x7f80, quiet: 0x40 };

/// A sum as `add` has it for numbers. Bit 0 of `denormals` keeps those of the inputs, bit 1 those of the
/// result; the first NaN is propagated (CDNA3 ISA, 9.2).
fn sum(a: u16, b: u16, denormals: u32, format: &Format, add: impl Fn(u16, u16) -> u16) -> u16 {
    let is_nan = |h: u16| h & 0x7fff > format.infinity;
    let flush = |h: u16, keep: bool| if !keep && h & format.infinity == 0 { h & 0x8000 } else { h };
    if let Some(nan) = [a, b].into_iter().find(|h| is_nan(*h)) {
        return nan | format.quiet;
    }
    let [a, b] = [a, b].map(|h| flush(h, denormals & 1 != 0));
    let sum = add(a, b);
    // Infinities of both signs.
    if is_nan(sum) { format.infinity | format.quiet } else { flush(sum, denormals & 2 != 0) }
}

/// Exact.
pub fn from_f16(h: u16) -> f32 {
    let sign = u32::from(h >> 15) << 31;
    let exponent = u32::from(h >> 10 & 31);
    let mantissa = u32::from(h & 0x3ff);
    let magnitude = match exponent {
        0 => (mantissa as f32 * f32::from_bits((127 - 24) << 23)).to_bits(),
        31 => 0xff << 23 | mantissa << 13,
        _ => (exponent + 127 - 15) << 23 | mantissa << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// Rounds to nearest even. The sum of two halves in single precision is either exact or has more than twice the
/// half's precision, so rounding twice gives the correctly rounded sum.
pub fn to_f16(f: f32) -> u16 {
    let bits = f.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    if f.is_nan() {
        // A NaN stays one, quiet.
        return sign | 0x7e00 | (bits >> 13) as u16 & 0x3ff;
    }
    // CAST: 15 bits.
    sign | narrow(f.abs(), 10) as u16
}

/// Rounds a number that is not negative to the nearest even with an exponent of 5 bits and a fraction of
/// `fraction` bits: a half without its sign, or one of the unsigned small floats of buffer formats.
pub fn narrow(f: f32, fraction: u32) -> u32 {
    let magnitude = f.to_bits();
    if magnitude >= 0x4780_0000 {
        return 31 << fraction;
    }
    if magnitude < 0x3880_0000 {
        // Below the smallest normal: adding a power of two lines the unit of a small denormal up with that of
        // the sum, 2^-14 of which the fraction's bits are parts.
        let aligner = f32::from_bits((127 + 9 - fraction) << 23);
        return (f + aligner).to_bits() - aligner.to_bits();
    }
    let dropped = 23 - fraction;
    let odd = magnitude >> dropped & 1;
    let rounded = magnitude - ((127 - 15) << 23) + (1 << (dropped - 1)) - 1 + odd;
    // A carry out of the fraction moves into the exponent, up to infinity.
    rounded >> dropped
}

/// Rounds to nearest even.
fn to_bf16(f: f32) -> u16 {
    let bits = f.to_bits();
    if f.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_through_single_precision() {
        for h in 0..=u16::MAX {
            let back = to_f16(from_f16(h));
            let nan = h & 0x7fff > 0x7c00;
            assert_eq!(back, if nan { h | 0x200 } else { h }, "{h:#x}");
        }
    }

    #[test]
    fn half_sums_round_to_nearest_even() {
        let one = 0x3c00;
        let half_ulp = 0x1000; // 2^-11
        assert_eq!(pk_add_f16(one, half_ulp, 3), one, "tie to even");
        assert_eq!(pk_add_f16(one | 1, half_ulp, 3), one | 2, "tie to even");
        assert_eq!(pk_add_f16(0x7bff_0000, 0x7bff_0001, 3), 0x7c00_0001, "overflow; smallest denormal");
    }

    #[test]
    fn bfloat_sums_round_to_nearest_even() {
        assert_eq!(pk_add_bf16(0x3f80_3f80, 0x3b80_3b81, 3), 0x3f80_3f81);
    }
}
