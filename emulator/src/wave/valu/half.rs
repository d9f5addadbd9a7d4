//! Half precision, computed exactly in single precision, and the upper halves of singles.

/// An IEEE binary16 value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F16(pub u16);

impl F16 {
    pub(super) const QUIET: u16 = 0x200;

    #[inline(always)]
    pub(super) fn is_nan(self) -> bool {
        self.0 & 0x7fff > 0x7c00
    }

    /// The value itself, a NaN without its signal.
    #[inline(always)]
    pub(super) fn quiet(self) -> Self {
        if self.is_nan() { Self(self.0 | Self::QUIET) } else { self }
    }

    #[inline(always)]
    pub(super) fn is_infinite(self) -> bool {
        self.0 & 0x7fff == 0x7c00
    }

    /// Widens; a NaN keeps its payload and whether it signals.
    #[inline(always)]
    pub(crate) fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        // The exponent moves from bias 15 to bias 127; the product is exact, also for denormals.
        let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
        let bits = if magnitude >= 0x0f80_0000 { magnitude | 0x7f80_0000 } else { scaled.to_bits() };
        f32::from_bits(bits | sign)
    }

    /// Rounds to nearest even; a NaN is quieted and keeps the top of its payload.
    #[inline(always)]
    pub(crate) fn from_f32(x: f32) -> Self {
        let bits = x.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
        let special = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
        // Adding 1/2 aligns the last place of a denormal half with the last place of the sum.
        let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let rounded = magnitude.wrapping_add(0xfff).wrapping_add(magnitude >> 13 & 1);
        let normal = rounded.wrapping_sub(112 << 23) >> 13;
        let finite = if magnitude < 0x3880_0000 { denormal } else { normal };
        Self(if magnitude >= 0x4780_0000 { special } else { finite } as u16 | sign)
    }

    /// a + b with one rounding: the sum of two halves is exact in single precision or far from a tie.
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() + other.to_f32())
    }

    #[inline(always)]
    pub(super) fn sub(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() - other.to_f32())
    }

    /// a * b with one rounding: the product of two halves is exact in single precision.
    #[inline(always)]
    pub(super) fn mul(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() * other.to_f32())
    }

    /// a * b + c with one rounding.
    #[inline(always)]
    pub(super) fn fma(self, b: Self, c: Self) -> Self {
        Self::from_f32(add_to_odd(self.to_f32() * b.to_f32(), c.to_f32()))
    }

    /// Zero of the same sign for a denormal.
    #[inline(always)]
    pub(super) fn flush(self) -> Self {
        if self.0 & 0x7c00 == 0 { Self(self.0 & 0x8000) } else { self }
    }
}

/// The upper half of a single.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bf16(pub u16);

impl Bf16 {
    #[inline(always)]
    pub(super) fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounds to nearest even; a NaN is quieted and keeps the top of its payload.
    #[inline(always)]
    pub(super) fn from_f32(x: f32) -> Self {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff).wrapping_add(bits >> 16 & 1);
        Self((if x.is_nan() { bits | 1 << 22 } else { rounded } >> 16) as u16)
    }
}

/// a + b rounded to odd: a second rounding, to 22 bits or fewer, then gives what one rounding of the exact sum
/// would.
#[inline(always)]
pub(super) fn add_to_odd(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let away = (error.to_bits() ^ bits) >> 31 == 0;
    let odd = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let inexact = error.abs() > 0.0 && sum.is_finite() && bits & 1 == 0;
    if inexact { f32::from_bits(odd) } else { sum }
}

/// As numbers: zeros are equal, NaNs are not.
impl PartialEq for F16 {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.to_f32() == other.to_f32()
    }
}

impl PartialOrd for F16 {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.to_f32().partial_cmp(&other.to_f32())
    }
    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.to_f32() < other.to_f32()
    }
    #[inline(always)]
    fn gt(&self, other: &Self) -> bool {
        self.to_f32() > other.to_f32()
    }
}
