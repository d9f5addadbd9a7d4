//! Conversion between half and single precision for host code of compilers without `_Float16`.

entry! {
    /// Converts a half, given by its bits, to single precision; exact.
    plain fn __gnu_h2f_ieee(half: u16) -> f32, or 0.0; {
        widen(half)
    }
}

entry! {
    /// Converts single precision to the bits of the nearest half, ties to even.
    plain fn __gnu_f2h_ieee(single: f32) -> u16, or 0; {
        narrow(single)
    }
}

fn widen(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    if magnitude >= 0x7c00 {
        // Infinities and NaNs keep their payload; a signalling NaN turns quiet, as in hardware.
        let quiet = if magnitude > 0x7c00 { 0x0040_0000 } else { 0 };
        return f32::from_bits(sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13 | quiet);
    }
    if magnitude < 0x0400 {
        // Subnormal: a multiple of 2^-24.
        let value = magnitude as f32 * f32::from_bits(0x3380_0000);
        return f32::from_bits(value.to_bits() | sign);
    }
    // The exponent's bias grows from 15 to 127.
    f32::from_bits(sign | ((magnitude << 13) + (112 << 23)))
}

fn narrow(single: f32) -> u16 {
    let bits = single.to_bits();
    // CAST: one bit in bit 15, which fits.
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        // CAST: ten bits of payload; the quiet bit keeps it a NaN when they are 0.
        return sign | 0x7e00 | (magnitude >> 13 & 0x3ff) as u16;
    }
    // The least single that rounds to infinity: 65520.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    // Below 2^-14 the result is a multiple of 2^-24: the fraction moves right by what the exponent lacks.
    let exponent = magnitude >> 23;
    let (scaled, shift) = if exponent > 112 {
        (magnitude - (112 << 23), 13)
    } else if exponent >= 102 {
        (magnitude & 0x007f_ffff | 0x0080_0000, 126 - exponent)
    } else {
        return sign;
    };
    let (kept, rest, tie) = (scaled >> shift, scaled & ((1 << shift) - 1), 1 << (shift - 1));
    let up = u32::from(rest > tie || (rest == tie && kept & 1 == 1));
    // CAST: below infinity's bits by the bound above. A carry out of the fraction raises the exponent, as it should.
    sign | (kept + up) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: __gnu_h2f_ieee, __gnu_f2h_ieee
    #[test]
    fn every_half_survives_the_way_to_single_and_back() {
        for bits in 0..=u16::MAX {
            // SAFETY: neither takes a pointer.
            let single = unsafe { __gnu_h2f_ieee(bits) };
            // SAFETY: as above.
            let back = unsafe { __gnu_f2h_ieee(single) };
            if single.is_nan() {
                assert_eq!(back, bits | 0x0200, "a NaN keeps its payload and turns quiet");
            } else {
                assert_eq!(back, bits);
            }
        }
    }

    #[test]
    fn singles_round_to_the_nearest_half_and_ties_to_even() {
        // Between each pair of neighbours: the middle goes to the even one, either side of it to its neighbour.
        for low in 0..0x7bffu16 {
            let (a, b) = (f64::from(widen(low)), f64::from(widen(low + 1)));
            // CAST: the middle of two halves needs 12 bits of fraction, which a single has.
            let middle = ((a + b) / 2.0) as f32;
            let even = if low & 1 == 0 { low } else { low + 1 };
            assert_eq!(narrow(middle), even);
            assert_eq!(narrow(middle.next_down()), low);
            assert_eq!(narrow(middle.next_up()), low + 1);
            assert_eq!(narrow(-middle), even | 0x8000);
        }
    }

    #[test]
    fn what_is_too_large_becomes_infinity() {
        assert_eq!(narrow(65520.0), 0x7c00);
        assert_eq!(narrow(65520f32.next_down()), 0x7bff);
        assert_eq!(narrow(f32::NEG_INFINITY), 0xfc00);
        assert_eq!(narrow(f32::MIN_POSITIVE), 0);
    }
}
