//! Names of formats of typed buffers.

use super::super::super::{format::parts, row::Target};

/// What goes without saying: bytes, unsigned and normalised.
pub const DEFAULT: u32 = 1;

/// By DATA_FORMAT, from 1 on.
const WIDTHS: [&str; 14] = [
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
];

/// By NUM_FORMAT.
const NUMBERS: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "", "FLOAT"];

/// The name of a format, or its number.
pub fn name(format: u32, target: Target) -> String {
    match parts(format, target) {
        Some((0, _)) => "[BUF_FMT_INVALID]".to_owned(),
        Some((data, number)) => {
            format!("[BUF_FMT_{}_{}]", WIDTHS[usize::from(data) - 1], NUMBERS[usize::from(number)])
        }
        None => format.to_string(),
    }
}
