//! Results that are no finite number.

/// 2^128.
const TOO_LARGE: f64 = 2.0 * (1u128 << 127) as f64;

/// The default NaN.
pub(super) const NAN: u32 = 0x7fc0_0000;

/// The result of a fused sum if it is not finite, or not only for being rounded: NaNs, infinities, and products from
/// 2^128 on, which count as infinite.
pub(super) fn exceptional(products: impl Iterator<Item = f64>, addend: f32) -> Option<f32> {
    let sum = products.fold(f64::from(addend), |sum, product| {
        let infinite = product.abs() >= TOO_LARGE;
        sum + if infinite { f64::INFINITY.copysign(product) } else { product }
    });
    (!sum.is_finite()).then_some(if sum.is_nan() { f32::from_bits(NAN) } else { sum as f32 })
}
