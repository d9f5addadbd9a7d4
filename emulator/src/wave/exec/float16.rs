//! Packed half and bfloat16 addition for atomics, rounded to nearest even.

/// Adds two pairs of IEEE halves.
pub fn pk_add_f16(a: u32, b: u32) -> u32 {
    let add = |a: u32, b: u32| u32::from(to_f16(from_f16(a as u16) + from_f16(b as u16)));
    add(a, b) | add(a >> 16, b >> 16) << 16
}

/// Adds two pairs of bfloat16.
pub fn pk_add_bf16(a: u32, b: u32) -> u32 {
    let add = |a: u32, b: u32| u32::from(to_bf16(f32::from_bits(a << 16) + f32::from_bits(b << 16)));
    add(a & 0xffff, b & 0xffff) | add(a >> 16, b >> 16) << 16
}

/// Exact.
fn from_f16(h: u16) -> f32 {
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
fn to_f16(f: f32) -> u16 {
    let bits = f.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        // A NaN stays one, quiet.
        return sign | 0x7e00 | (magnitude >> 13) as u16 & 0x3ff;
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Below the smallest normal: adding 0.5 lines the unit of a denormal half up with the unit of the sum.
        let aligned = f32::from_bits(magnitude) + 0.5;
        return sign | (aligned.to_bits() - 0.5f32.to_bits()) as u16;
    }
    let odd = magnitude >> 13 & 1;
    let rounded = magnitude - ((127 - 15) << 23) + 0xfff + odd;
    // A carry out of the mantissa moves into the exponent, up to infinity.
    sign | (rounded >> 13) as u16
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
        assert_eq!(pk_add_f16(one, half_ulp), one, "tie to even");
        assert_eq!(pk_add_f16(one | 1, half_ulp), one | 2, "tie to even");
        assert_eq!(pk_add_f16(0x7bff_0000, 0x7bff_0001), 0x7c00_0001, "overflow; smallest denormal");
    }

    #[test]
    fn bfloat_sums_round_to_nearest_even() {
        assert_eq!(pk_add_bf16(0x3f80_3f80, 0x3b80_3b81), 0x3f80_3f81);
    }
}
