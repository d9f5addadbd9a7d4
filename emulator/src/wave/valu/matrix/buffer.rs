//! Matrices on the stack.

use std::mem::MaybeUninit;

/// Elements of the largest matrix: 32 in each lane, as B of the sparse 8-bit instructions of gfx950 has them.
const CAPACITY: usize = 2048;

/// Memory for a matrix. It is not cleared first, which would take as long as filling it.
pub(super) type Room<T> = MaybeUninit<[T; CAPACITY]>;

/// A matrix that is filled from its begin.
pub(super) struct Buffer<'a, T> {
    room: &'a mut Room<T>,
    len: usize,
}

impl<'a, T: Copy> Buffer<'a, T> {
    #[inline(always)]
    pub(super) fn new(room: &'a mut Room<T>) -> Self {
        Self { room, len: 0 }
    }

    /// Forgets all elements.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends elements.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline(always)]
    pub(super) fn push<const N: usize>(&mut self, elements: [T; N]) {
        assert!(self.len + N <= CAPACITY);
        // SAFETY: the assertion says that they fit behind the first `len`.
        unsafe { self.room.as_mut_ptr().cast::<T>().add(self.len).cast::<[T; N]>().write(elements) };
        self.len += N;
    }
}

impl<T> std::ops::Deref for Buffer<'_, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `push` wrote the first `len` elements.
        unsafe { std::slice::from_raw_parts(self.room.as_ptr().cast(), self.len) }
    }
}

impl<T> std::ops::DerefMut for Buffer<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `push` wrote the first `len` elements.
        unsafe { std::slice::from_raw_parts_mut(self.room.as_mut_ptr().cast(), self.len) }
    }
}
