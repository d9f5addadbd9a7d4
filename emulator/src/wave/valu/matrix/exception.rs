//! Results that are no finite number.

/// The default NaN.
pub(super) const NAN: u32 = 0x7fc0_0000;

/// The result of a fused sum if it is not finite, or not only for being rounded: NaNs, infinities, and products from
/// 2^128 on, which count as infinite.
pub(super) fn exceptional(products: impl Iterator<Item = f64>, addend: f32) -> Option<f32> {
    let (mut sum, mut positive, mut negative) = (f64::from(addend), false, false);
    let limit = 128f64.exp2();
    for product in products {
        sum += product;
        positive |= product >= limit;
        negative |= product <= -limit;
    }
    match (positive, negative) {
        _ if sum.is_nan() => Some(f32::from_bits(NAN)),
        _ if sum.is_infinite() => Some(sum as f32),
        (true, true) => Some(f32::from_bits(NAN)),
        (true, false) => Some(f32::INFINITY),
        (false, true) => Some(f32::NEG_INFINITY),
        (false, false) => None,
    }
}
