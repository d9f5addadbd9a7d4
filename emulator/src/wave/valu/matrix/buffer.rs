//! Matrices on the stack.

use std::mem::MaybeUninit;

/// Elements of the largest matrix: B of the sparse 8-bit instructions, 16 in each lane.
const CAPACITY: usize = 1024;

/// A matrix in memory that is not cleared first, which would take as long as filling it.
pub(super) struct Buffer<T> {
    elements: MaybeUninit<[T; CAPACITY]>,
    len: usize,
}

impl<T: Copy> Buffer<T> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { elements: MaybeUninit::uninit(), len: 0 }
    }

    /// Appends elements.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline(always)]
    pub(super) fn push<const N: usize>(&mut self, elements: [T; N]) {
        assert!(self.len + N <= CAPACITY);
        // SAFETY: the assertion says that they fit behind the first `len`.
        unsafe { self.elements.as_mut_ptr().cast::<T>().add(self.len).cast::<[T; N]>().write(elements) };
        self.len += N;
    }
}

impl<T> std::ops::Deref for Buffer<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `push` wrote the first `len` elements.
        unsafe { std::slice::from_raw_parts(self.elements.as_ptr().cast(), self.len) }
    }
}
