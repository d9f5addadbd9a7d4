//! Names of formats of typed buffers.

use super::super::{
    super::{format::parts, row::Target},
    memory::{DATA, NUMBER},
};

/// What goes without saying: bytes, unsigned and normalised.
pub const DEFAULT: u32 = 1;

/// The name of a format, or its number.
pub fn name(format: u32, target: Target) -> String {
    match parts(format, target) {
        Some((0, _)) => "[BUF_FMT_INVALID]".to_owned(),
        Some((data, number)) => {
            format!("[BUF_FMT_{}_{}]", DATA[usize::from(data)], NUMBER[usize::from(number)])
        }
        None => format.to_string(),
    }
}
