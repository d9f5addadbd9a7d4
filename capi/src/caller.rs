//! Where caller pointers stop: they are checked for null, read and written here, and nowhere else.
//!
//! Reads copy. A caller's structure may be misaligned or change under our hands, and a copy is neither.

use std::{
    ffi::{CStr, c_char},
    ops::Range,
};

use crate::error::{hipError_t, hipErrorInvalidValue, hipErrorOutOfMemory};

/// Copies the value at `pointer`.
///
/// # Errors
/// `hipErrorInvalidValue` if it is null.
///
/// # Safety
/// `pointer` is null or readable for a `T`.
pub unsafe fn read<T: Copy>(pointer: *const T) -> Result<T, hipError_t> {
    if pointer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: not null, so readable by the caller's contract; no alignment is assumed.
    Ok(unsafe { pointer.read_unaligned() })
}

/// Stores `value` at `pointer`.
///
/// # Errors
/// `hipErrorInvalidValue` if it is null.
///
/// # Safety
/// `pointer` is null or writable for a `T`.
pub unsafe fn write<T: Copy>(pointer: *mut T, value: T) -> Result<(), hipError_t> {
    if pointer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: not null, so writable by the caller's contract; no alignment is assumed.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// As [`write()`], with zeros for the bytes of `padding`, in which a copy of a structure may have anything: callers compare
/// structures byte by byte.
///
/// # Errors
/// As there.
///
/// # Safety
/// As there; no field has any of the bytes.
pub unsafe fn write_padded<T: Copy>(
    pointer: *mut T,
    value: T,
    padding: &[Range<usize>],
) -> Result<(), hipError_t> {
    // SAFETY: the caller's promise.
    unsafe { write(pointer, value) }?;
    for bytes in padding {
        assert!(bytes.end <= size_of::<T>(), "padding outside of the structure");
        // SAFETY: inside of what was just written.
        unsafe { pointer.byte_add(bytes.start).cast::<u8>().write_bytes(0, bytes.len()) };
    }
    Ok(())
}

/// Stores `value` at `pointer` unless the caller does not want it (null).
///
/// # Safety
/// `pointer` is null or writable for a `T`.
pub unsafe fn write_if_wanted<T: Copy>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: not null, so writable by the caller's contract; no alignment is assumed.
        unsafe { pointer.write_unaligned(value) };
    }
}

/// Copies `count` values at `pointer`; none of them may be null with a count of 0.
///
/// # Errors
/// `hipErrorInvalidValue` if the pointer is null and the count is not 0, or if the count cannot be one;
/// `hipErrorOutOfMemory` if there is no memory for the copy.
///
/// # Safety
/// `pointer` is null or readable for `count` values.
pub unsafe fn read_slice<T: Copy>(pointer: *const T, count: usize) -> Result<Vec<T>, hipError_t> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    if pointer.is_null() || bytes.is_none() {
        return Err(hipErrorInvalidValue);
    }
    let mut values = Vec::<T>::new();
    values.try_reserve_exact(count).map_err(|_| hipErrorOutOfMemory)?;
    // SAFETY: not null, so readable for `count` values, whose bytes fit an isize; bytes have no alignment, and
    // room for as many was just reserved.
    unsafe {
        values.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(pointer.cast(), count * size_of::<T>())
    };
    // SAFETY: the first `count` values were just written.
    unsafe { values.set_len(count) };
    Ok(values)
}

/// Borrows the text at `pointer`.
///
/// # Errors
/// `hipErrorInvalidValue` if it is null.
///
/// # Safety
/// `pointer` is null or a string that ends in NUL and stays as it is for `'a`.
pub unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a CStr, hipError_t> {
    if pointer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: not null, so a terminated string by the caller's contract.
    Ok(unsafe { CStr::from_ptr(pointer) })
}

/// Copies as much of `text` as fits, with a NUL at the end.
///
/// # Errors
/// `hipErrorInvalidValue` for null and for no room at all.
///
/// # Safety
/// `out` is null or has room for `room` bytes.
pub unsafe fn write_text(text: &str, out: *mut c_char, room: usize) -> Result<(), hipError_t> {
    if out.is_null() || room == 0 {
        return Err(hipErrorInvalidValue);
    }
    let length = text.len().min(room - 1);
    for (n, byte) in text.bytes().take(length).chain([0]).enumerate() {
        // SAFETY: the caller's buffer has `room` bytes. CAST: bytes of text.
        unsafe { write(out.add(n), byte as c_char) }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn null_is_an_invalid_value() {
        // SAFETY: null is what these functions check for.
        unsafe {
            assert_eq!(read::<u32>(ptr::null()), Err(hipErrorInvalidValue));
            assert_eq!(write(ptr::null_mut(), 1), Err(hipErrorInvalidValue));
            assert_eq!(read_slice::<u32>(ptr::null(), 1), Err(hipErrorInvalidValue));
            assert_eq!(read_slice::<u32>(ptr::null(), 0), Ok(Vec::new()));
            assert_eq!(text(ptr::null()), Err(hipErrorInvalidValue));
            write_if_wanted(ptr::null_mut(), 1);
        }
    }

    #[test]
    fn misaligned_values_are_read_and_written() {
        let mut bytes = [0u8; 17];
        let odd = bytes[1..].as_mut_ptr().cast::<u64>();
        // SAFETY: 16 bytes follow the odd address.
        unsafe {
            write(odd, 0x0102_0304_0506_0708).unwrap();
            write_if_wanted(odd.add(1), 9);
            assert_eq!(read(odd), Ok(0x0102_0304_0506_0708));
            assert_eq!(read_slice(odd, 2), Ok(vec![0x0102_0304_0506_0708, 9]));
        }
    }

    #[test]
    fn a_count_that_overflows_is_an_invalid_value() {
        let value = 0u64;
        // SAFETY: the count is refused before anything is read.
        assert_eq!(unsafe { read_slice(&value, usize::MAX / 8) }, Err(hipErrorInvalidValue));
    }
}
