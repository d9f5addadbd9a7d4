//! Formats of typed buffers.

use super::super::super::row::{Generation, Target};

/// What goes without saying: bytes, unsigned and normalised.
pub const DEFAULT: u32 = 1;

/// Widths of the components, and the kinds of numbers that there are of them; in the order of the formats from 1 on.
const GFX10: &[(&str, &[&str])] = &[
    ("8", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("16", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("8_8", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("32", &["UINT", "SINT", "FLOAT"]),
    ("16_16", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("10_11_11", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("11_11_10", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("10_10_10_2", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("2_10_10_10", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("8_8_8_8", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("32_32", &["UINT", "SINT", "FLOAT"]),
    ("16_16_16_16", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("32_32_32", &["UINT", "SINT", "FLOAT"]),
    ("32_32_32_32", &["UINT", "SINT", "FLOAT"]),
];

/// As [`GFX10`], from RDNA 3 on.
const GFX11: &[(&str, &[&str])] = &[
    ("8", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("16", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("8_8", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("32", &["UINT", "SINT", "FLOAT"]),
    ("16_16", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("10_11_11", &["FLOAT"]),
    ("11_11_10", &["FLOAT"]),
    ("10_10_10_2", &["UNORM", "SNORM", "UINT", "SINT"]),
    ("2_10_10_10", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("8_8_8_8", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"]),
    ("32_32", &["UINT", "SINT", "FLOAT"]),
    ("16_16_16_16", &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]),
    ("32_32_32", &["UINT", "SINT", "FLOAT"]),
    ("32_32_32_32", &["UINT", "SINT", "FLOAT"]),
];

/// The name of a format, or its number.
pub fn name(format: u32, target: Target) -> String {
    let formats = if target.generation() == Generation::Gfx10 { GFX10 } else { GFX11 };
    if format == 0 {
        return "[BUF_FMT_INVALID]".to_owned();
    }
    let mut named = formats.iter().flat_map(|(widths, kinds)| kinds.iter().map(move |kind| (widths, kind)));
    match named.nth(format as usize - 1) {
        Some((widths, kind)) => format!("[BUF_FMT_{widths}_{kind}]"),
        None => format.to_string(),
    }
}
