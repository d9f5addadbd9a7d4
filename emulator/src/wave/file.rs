//! The vector registers of a wave, which two waves of 32 lanes may share.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error},
    ops::{Deref, DerefMut},
    ptr::NonNull,
    sync::Arc,
};

/// One vector register: a row of 64 lanes, so that a loop over lanes vectorises.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Vector(pub [u32; 64]);

/// Rows 0..255 are v0..v255, rows 256..511 a0..a255.
type Rows = [Vector; 512];

/// Lanes of a wave that has half of the rows.
const HALF: usize = 32;

/// The memory of a file: its rows, and half a row behind them.
struct Backing {
    rows: NonNull<Vector>,
}

impl Backing {
    const LAYOUT: Layout = Layout::new::<[Vector; 513]>();

    fn new() -> Self {
        // SAFETY: the layout has bytes, and zero is a value of each.
        let rows = NonNull::new(unsafe { alloc_zeroed(Self::LAYOUT) });
        Self { rows: rows.unwrap_or_else(|| handle_alloc_error(Self::LAYOUT)).cast() }
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: allocated so by `new`.
        unsafe { dealloc(self.rows.as_ptr().cast(), Self::LAYOUT) };
    }
}

/// Vector registers. No instruction of a wave of 32 lanes writes behind lane 31 of a row, so that another one has its lanes
/// there: its file begins 32 lanes later, and its rows end in the first lanes of the next ones.
pub struct VectorFile {
    rows: NonNull<Rows>,
    /// Shared with the file that has the other half, if there is one.
    backing: Arc<Backing>,
}

impl VectorFile {
    /// Rows of zeros.
    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "waves that share it move between threads only together"
    )]
    pub fn new() -> Self {
        let backing = Arc::new(Backing::new());
        Self { rows: backing.rows.cast(), backing }
    }

    /// The second halves of this file's rows, for a wave of 32 lanes.
    ///
    /// # Safety
    /// Of two files with the same rows no references exist at the same time, and they move between threads together.
    pub(crate) unsafe fn second_half(&self) -> Self {
        // SAFETY: the first row has more lanes, and behind the last one there is room for half of one.
        let rows = unsafe { self.backing.rows.cast::<u32>().add(HALF) };
        Self { rows: rows.cast(), backing: Arc::clone(&self.backing) }
    }

    /// Whether it is the second half of another file's rows.
    pub(crate) fn is_second_half(&self) -> bool {
        self.rows.cast() != self.backing.rows
    }
}

impl Clone for VectorFile {
    /// A file of its own that holds the same.
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.copy_from_slice(&**self);
        copy
    }
}

impl Default for VectorFile {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for VectorFile {
    type Target = Rows;

    #[inline(always)]
    fn deref(&self) -> &Rows {
        // SAFETY: the memory lives as long as this value, and is aligned to half a row; there are no other references to
        // it, as the maker of a second half vouches for.
        unsafe { self.rows.as_ref() }
    }
}

impl DerefMut for VectorFile {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Rows {
        // SAFETY: as for `deref`.
        unsafe { self.rows.as_mut() }
    }
}
