//! Names of registers, inline constants and literals.

use super::super::{inst::Operand, row::Ty};

/// A register group, inline constant or literal as an operand of type `ty`.
pub fn name(op: Operand, ty: Ty, literal: u32) -> String {
    match op.0 {
        0..=127 => scalar(op.0, ty.scalar_dwords(op.0.into())),
        128..=208 => integer(op).to_string(),
        230 | 231 | 235..=239 | 251..=254 => special(op.0).to_owned(),
        240..=248 => float(op.0, ty).to_owned(),
        255 => literal_text(ty, literal),
        256..=511 => group('v', op.0 - 256, ty.dwords()),
        512..=767 => group('a', op.0 - 512, ty.dwords()),
        _ => String::new(),
    }
}

/// `s5`, `s[4:5]`, and the named registers.
pub fn scalar(code: u16, dwords: u16) -> String {
    let single = dwords == 1;
    let named = match code {
        102 | 103 => "flat_scratch",
        104 | 105 => "xnack_mask",
        106 | 107 => "vcc",
        124 => return "m0".to_owned(),
        125 => return "null".to_owned(),
        126 | 127 => "exec",
        108..=123 => return group_of("ttmp", code - 108, dwords),
        _ => return group('s', code, dwords),
    };
    if !single {
        return named.to_owned();
    }
    format!("{named}_{}", if code.is_multiple_of(2) { "lo" } else { "hi" })
}

fn group(class: char, n: u16, dwords: u16) -> String {
    group_of(class.encode_utf8(&mut [0; 4]), n, dwords)
}

fn group_of(class: &str, n: u16, dwords: u16) -> String {
    if dwords <= 1 { format!("{class}{n}") } else { format!("{class}[{n}:{}]", n + dwords - 1) }
}

/// The value of an integer inline constant: 0 to 64, then -1 to -16.
fn integer(op: Operand) -> i32 {
    let code = i32::from(op.0);
    if code <= 192 { code - 128 } else { 192 - code }
}

fn special(code: u16) -> &'static str {
    match code {
        230 => "src_flat_scratch_base_lo",
        231 => "src_flat_scratch_base_hi",
        235 => "src_shared_base",
        236 => "src_shared_limit",
        237 => "src_private_base",
        238 => "src_private_limit",
        239 => "src_pops_exiting_wave_id",
        251 => "src_vccz",
        252 => "src_execz",
        253 => "src_scc",
        _ => "src_lds_direct",
    }
}

const FLOATS: [&str; 9] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"];
const HALVES: [&str; 9] =
    ["0x3800", "0xb800", "0x3c00", "0xbc00", "0x4000", "0xc000", "0x4400", "0xc400", "0x3118"];

/// Float inline constants; 16-bit integers show the bits, 64-bit operands all digits of 1/(2 pi).
fn float(code: u16, ty: Ty) -> &'static str {
    let i = usize::from(code - 240);
    match ty {
        Ty::I16 => HALVES[i],
        Ty::B64 | Ty::F64 | Ty::F64x4 if i == 8 => "0.15915494309189532",
        _ => FLOATS[i],
    }
}

const SINGLE_BITS: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];
const HALF_BITS: [u32; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];

/// The value of the inline constant `code`: an integer, or the bits of a single float.
pub fn inline_bits(code: u16) -> Option<u32> {
    match code {
        // CAST: negative integers in two's complement.
        128..=208 => Some(integer(Operand(code)) as u32),
        240..=248 => Some(SINGLE_BITS[usize::from(code - 240)]),
        _ => None,
    }
}

/// The upper halves of [`SINGLE_BITS`].
fn is_bf16_bits(value: u32) -> bool {
    value < 1 << 16 && SINGLE_BITS.iter().any(|bits| bits >> 16 == value)
}

fn is_inline_integer(value: i32) -> bool {
    (-16..=64).contains(&value)
}

/// Whether a 32-bit value has an inline constant.
fn is_inline32(value: u32) -> bool {
    is_inline_integer(value as i32) || SINGLE_BITS.contains(&value)
}

/// A literal; `lit()` marks one that an assembler would turn into an inline constant.
fn literal_text(ty: Ty, value: u32) -> String {
    let low = value & 0xffff;
    let (inline, digits) = match ty {
        Ty::F16 => (is_inline_integer(i32::from(low as u16 as i16)) || HALF_BITS.contains(&low), low),
        Ty::Bf16 => (is_inline_integer(i32::from(low as u16 as i16)) || is_bf16_bits(low), value),
        Ty::I16 => (is_inline32(value), low),
        Ty::V2F16 => (is_inline_integer(value as i32) || HALF_BITS.contains(&value), value),
        Ty::V2Bf16 => (is_inline_integer(value as i32) || is_bf16_bits(value), value),
        Ty::B64 => (value <= 64, value),
        Ty::F64 => return double(value),
        Ty::S32 | Ty::S64 | Ty::V32 | Ty::A32 | Ty::B128 => return immediate32(value),
        _ => (is_inline32(value), value),
    };
    if inline { format!("lit({value:#x})") } else { format!("{digits:#x}") }
}

/// A literal of a double is its high half.
fn double(high: u32) -> String {
    // The high halves of the double constants; 1/(2 pi) has a low half, so no literal equals it.
    const HIGH: [u32; 8] = [
        0x3fe0_0000,
        0xbfe0_0000,
        0x3ff0_0000,
        0xbff0_0000,
        0x4000_0000,
        0xc000_0000,
        0x4010_0000,
        0xc010_0000,
    ];
    match HIGH.iter().position(|bits| *bits == high) {
        Some(i) => FLOATS[i].to_owned(),
        None if high == 0 => "0".to_owned(),
        None => format!("{high:#x}"),
    }
}

/// A 32-bit immediate where an assembler takes no literal (`s_setreg_imm32_b32`, operands that must be registers):
/// inline constants by value.
pub fn immediate32(value: u32) -> String {
    if is_inline_integer(value as i32) {
        return (value as i32).to_string();
    }
    match SINGLE_BITS.iter().position(|bits| *bits == value) {
        Some(i) => FLOATS[i].to_owned(),
        None => format!("{value:#x}"),
    }
}
