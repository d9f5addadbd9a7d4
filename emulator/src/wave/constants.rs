//! Values of operands that are no registers.

use super::surroundings::Apertures;

/// Inline floating-point constants, codes 240 to 248 (MI200 ISA, table 14).
pub(super) const FLOATS: [f64; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
pub(super) const INV_2PI_F32: u32 = 0x3e22_f983;
pub(super) const INV_2PI_F64: u64 = 0x3fc4_5f30_6dc9_c882;

/// A scalar register file with the inline constants in place.
pub(super) fn registers(apertures: &Apertures) -> [u32; 256] {
    let mut file = [0; 256];
    for n in 0..=64 {
        file[128 + n as usize] = n;
    }
    for n in 1..=16u32 {
        file[192 + n as usize] = n.wrapping_neg();
    }
    for (i, f) in FLOATS.iter().enumerate() {
        file[240 + i] = (*f as f32).to_bits();
    }
    file[248] = INV_2PI_F32;
    // The aperture registers are 64 bits wide; a 32-bit read sees the low half.
    file[235] = apertures.shared as u32;
    file[236] = (apertures.shared + u64::from(u32::MAX)) as u32;
    file[237] = apertures.private as u32;
    file[238] = (apertures.private + u64::from(u32::MAX)) as u32;
    file
}
