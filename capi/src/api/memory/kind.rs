//! Kinds of memory by the numbers that the caller was compiled with: HIP 6 gave them others.

use crate::{soname, types::*};

/// The last major version with the old numbers.
const OLD: u32 = 5;

/// Whether the caller's header is older than the kind of memory that no device reaches, `hipMemoryTypeUnregistered`.
pub(crate) fn is_old() -> bool {
    soname::major() <= OLD
}

/// A kind as the caller knows it.
pub(crate) fn reported(kind: hipMemoryType) -> hipMemoryType {
    if is_old() { old_number(kind) } else { kind }
}

/// The kind that a caller means.
pub(crate) fn meant(number: hipMemoryType) -> hipMemoryType {
    if is_old() { of_old_number(number) } else { number }
}

// HIP: 5.2.3 says host of managed memory and of none (tests/conformance/pointer_attributes.cpp).
fn old_number(kind: hipMemoryType) -> hipMemoryType {
    match kind {
        hipMemoryTypeUnregistered | hipMemoryTypeHost | hipMemoryTypeManaged => hipMemoryType(0),
        hipMemoryTypeDevice => hipMemoryType(1),
        hipMemoryTypeArray => hipMemoryType(2),
        hipMemoryTypeUnified => hipMemoryType(3),
        other => other,
    }
}

fn of_old_number(number: hipMemoryType) -> hipMemoryType {
    match number.0 {
        0 => hipMemoryTypeHost,
        1 => hipMemoryTypeDevice,
        2 => hipMemoryTypeArray,
        3 => hipMemoryTypeUnified,
        // ABI: HIP 5.3 and later.
        4 => hipMemoryTypeManaged,
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_numbers_name_the_same_kinds() {
        for kind in [hipMemoryTypeHost, hipMemoryTypeDevice, hipMemoryTypeArray, hipMemoryTypeUnified] {
            assert_eq!(of_old_number(old_number(kind)), kind);
        }
        assert_eq!(old_number(hipMemoryTypeDevice), hipMemoryType(1));
        assert_eq!(old_number(hipMemoryTypeManaged), old_number(hipMemoryTypeHost));
    }
}
