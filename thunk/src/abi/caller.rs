//! Pointers that the caller passes.
//!
//! Only C makes these: an entry's argument list is the one place where they appear, and the entry's contract is what
//! makes following them right.

use std::{
    ffi::{CStr, OsStr, c_char},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
};

use super::{HSAKMT_STATUS, HSAKMT_STATUS_INVALID_PARAMETER};

/// A place for a result; null is an invalid parameter.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Whether the caller passed no place.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Checks the place before there is a result to lose.
    pub fn check(self) -> Result<Self, HSAKMT_STATUS> {
        if self.0.is_null() { Err(HSAKMT_STATUS_INVALID_PARAMETER) } else { Ok(self) }
    }

    /// Stores the result.
    pub fn write(self, value: T) -> Result<(), HSAKMT_STATUS> {
        let place = self.check()?.0;
        // SAFETY: the caller's pointer is not null, and its contract says that it has room for a `T`; structures of
        // the interface are packed to 4 bytes, so members that callers point to may be unaligned.
        unsafe { place.write_unaligned(value) };
        Ok(())
    }

    /// Stores the result where the caller wants it.
    pub fn write_if_wanted(self, value: T) {
        // A null place is no error here.
        let _ = self.write(value);
    }

    /// Stores as many results as the caller has room for.
    pub fn write_all(self, room: u32, values: &[T]) -> Result<(), HSAKMT_STATUS> {
        if room == 0 {
            return Ok(());
        }
        let place = self.check()?.0;
        for (index, value) in values.iter().take(room as usize).enumerate() {
            // SAFETY: the caller's array has `room` elements, and `index` is below that.
            unsafe { place.add(index).write_unaligned(*value) };
        }
        Ok(())
    }

    /// Reads what the caller put there.
    pub fn read(self) -> Result<T, HSAKMT_STATUS> {
        let place = self.check()?.0;
        // SAFETY: as in `write`; parameters that are read are documented as IN and OUT, so the caller has filled them.
        Ok(unsafe { place.read_unaligned() })
    }

    /// The same place, for another type that the caller means.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Reads `count` elements that the caller put there.
    pub fn read_all(self, count: usize) -> Result<Vec<T>, HSAKMT_STATUS> {
        In(self.0.cast_const()).read_all(count)
    }

    /// The bare address, to be compared or kept, not followed.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// An array or structure that the caller filled; null is an invalid parameter.
#[repr(transparent)]
pub struct In<T>(*const T);

// Derived, these would ask as much of `T`.
impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> In<T> {
    /// The bare address, to be compared or kept, not followed.
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// Whether the caller passed nothing.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl In<c_char> {
    /// Reads the path that the caller passed.
    pub fn read_path(self) -> Result<PathBuf, HSAKMT_STATUS> {
        if self.0.is_null() {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        // SAFETY: the caller's pointer is not null and its contract says that a string with its end is there.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(OsStr::from_bytes(text.to_bytes()).into())
    }
}

impl<T: Copy> In<T> {
    /// Reads the only element.
    pub fn read(self) -> Result<T, HSAKMT_STATUS> {
        if self.0.is_null() {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        // SAFETY: the caller's pointer is not null and its contract says that a `T` is there, possibly unaligned.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads `count` elements; none may be asked of a null pointer.
    pub fn read_all(self, count: usize) -> Result<Vec<T>, HSAKMT_STATUS> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        // SAFETY: the caller's array has `count` elements, possibly unaligned.
        Ok((0..count).map(|index| unsafe { self.0.add(index).read_unaligned() }).collect())
    }
}
