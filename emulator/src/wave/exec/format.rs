//! Data formats of buffers: how components lie in memory and what numbers they are (CDNA3 ISA, 9.1.2 and
//! 9.1.4).

use super::float16::{from_f16, narrow, to_f16};
use crate::wave::FaultKind;

/// NUM_FORMAT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// Unsigned integers that registers hold as floats.
    Uscaled,
    /// Signed integers that registers hold as floats.
    Sscaled,
    Uint,
    Sint,
    Float,
}

/// A format that the hardware defines.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the components, that in the lowest bits first.
    widths: &'static [u32],
    number: Number,
}

/// What a register holds of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 32 bits.
    Full,
    /// 16 bits: the d16 instructions.
    Half,
}

/// Bits of the components by DATA_FORMAT, from 1 on.
const LAYOUTS: [&[u32]; 14] = [
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8, 8, 8, 8],
    &[32, 32],
    &[16, 16, 16, 16],
    &[32, 32, 32],
    &[32, 32, 32, 32],
];

impl Format {
    /// The format of DATA_FORMAT and NUM_FORMAT; `None` for the invalid data format, with which a buffer is
    /// unbound.
    ///
    /// # Errors Combinations that are reserved: components of 32 bits are integers or floats only, floats
    /// exist with 32, 16 and, without sign, 11 and 10 bits.
    pub fn new(data: u8, number: u8) -> Result<Option<Self>, FaultKind> {
        let reserved = FaultKind::BufferFormat { data, number };
        let Some(layout) = data.checked_sub(1) else { return Ok(None) };
        let widths = *LAYOUTS.get(usize::from(layout)).ok_or(reserved)?;
        let number = match number {
            0 => Number::Unorm,
            1 => Number::Snorm,
            2 => Number::Uscaled,
            3 => Number::Sscaled,
            4 => Number::Uint,
            5 => Number::Sint,
            7 => Number::Float,
            _ => return Err(reserved),
        };
        let defined = match number {
            Number::Uint | Number::Sint => true,
            Number::Float => matches!(widths[0], 32 | 16) || widths.contains(&11),
            _ => widths[0] != 32,
        };
        if defined { Ok(Some(Self { widths, number })) } else { Err(reserved) }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        self.widths.iter().sum::<u32>() / 8
    }

    fn is_integer(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// The number 1 in a register.
    pub fn one(self, width: Width) -> u32 {
        match width {
            _ if self.is_integer() => 1,
            Width::Full => 1f32.to_bits(),
            Width::Half => to_f16(1.0).into(),
        }
    }

    /// The components of an element for registers; those that the format does not have are 0.
    pub fn decode(self, element: u128, width: Width) -> [u32; 4] {
        let mut components = [0; 4];
        let mut shift = 0;
        for (component, bits) in components.iter_mut().zip(self.widths) {
            // CAST: the low 32 bits; a component has no more.
            let field = (element >> shift) as u32 & u32::MAX >> (32 - bits);
            let value = self.load(field, *bits);
            *component = match width {
                Width::Full => value,
                Width::Half if self.is_integer() => value & 0xffff,
                Width::Half => to_f16(f32::from_bits(value)).into(),
            };
            shift += bits;
        }
        components
    }

    /// The element of components from registers.
    pub fn encode(self, components: [u32; 4], width: Width) -> u128 {
        let mut element = 0;
        let mut shift = 0;
        for (component, bits) in components.into_iter().zip(self.widths) {
            let value = match width {
                Width::Full => component,
                // CAST: the low half.
                Width::Half if self.number == Number::Uint => u32::from(component as u16),
                Width::Half if self.is_integer() => i32::from(component as i16) as u32,
                Width::Half => from_f16(component as u16).to_bits(),
            };
            element |= u128::from(self.store(value, *bits)) << shift;
            shift += bits;
        }
        element
    }

    /// A component of `bits` bits as a register of 32 bits holds it.
    fn load(self, field: u32, bits: u32) -> u32 {
        let signed = (field << (32 - bits)) as i32 >> (32 - bits);
        let largest = 2f32.powi(bits as i32 - 1);
        match self.number {
            Number::Uint => field,
            Number::Sint => signed as u32,
            // Quotients of integers that singles hold exactly, correctly rounded.
            Number::Unorm => (field as f32 / (2f32 * largest - 1.0)).to_bits(),
            Number::Snorm => (signed as f32 / (largest - 1.0)).max(-1.0).to_bits(),
            Number::Uscaled => (field as f32).to_bits(),
            Number::Sscaled => (signed as f32).to_bits(),
            Number::Float => match bits {
                32 => field,
                16 => from_f16(field as u16).to_bits(),
                // The small floats are halves without a sign and with fewer bits of fraction.
                _ => from_f16((field << (15 - bits)) as u16).to_bits(),
            },
        }
    }

    /// A register's value as a component of `bits` bits: out of range values are clamped, a NaN becomes 0
    /// where the component is no float. Normalised numbers round to the nearest, scaled ones towards 0.
    fn store(self, value: u32, bits: u32) -> u32 {
        let all = u32::MAX >> (32 - bits);
        let (low, high) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
        let number = f64::from(f32::from_bits(value));
        // CAST: what is cast has been clamped to the component; a NaN casts to 0.
        match self.number {
            Number::Uint => value.min(all),
            Number::Sint => i64::from(value as i32).clamp(low, high) as u32 & all,
            Number::Unorm => (number.clamp(0.0, 1.0) * f64::from(all)).round_ties_even() as u32,
            Number::Snorm => (number.clamp(-1.0, 1.0) * high as f64).round_ties_even() as i64 as u32 & all,
            Number::Uscaled => number.clamp(0.0, f64::from(all)) as u32,
            Number::Sscaled => number.clamp(low as f64, high as f64) as i64 as u32 & all,
            Number::Float => match bits {
                32 => value,
                16 => to_f16(f32::from_bits(value)).into(),
                _ => small_float(f32::from_bits(value), bits - 5),
            },
        }
    }
}

/// The unsigned float with 5 bits of exponent and `fraction` of fraction: negative numbers become 0.
fn small_float(value: f32, fraction: u32) -> u32 {
    if value.is_nan() {
        return (31 << fraction) | 1 << (fraction - 1);
    }
    if value.is_sign_negative() { 0 } else { narrow(value, fraction) }
}
