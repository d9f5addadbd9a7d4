//! Preparing and writing whole rows, with loops that are compiled as those of instructions are.

use super::kernel::{Each, Environment, Kernels};
use crate::wave::{Vector, simd};

/// Lanes of a row, all of them.
const ALL: usize = 64;

/// Words of the first `lanes` lanes that are functions of two rows' words and of a bit (0 or 1) of `bits` for each lane.
///
/// # Safety
/// `to` is valid for writes and the others for reads; they may be the same.
#[inline(always)]
unsafe fn combine(
    to: *mut Vector,
    a: *const Vector,
    b: *const Vector,
    bits: u64,
    lanes: usize,
    f: impl Fn(u32, u32, u32) -> u32,
) {
    let f = move |_: usize, bit: u32, a: u32, b: u32, _: u32| f(bit, a, b);
    let kernel = Each::value::<u32, u32, u32, u32, _>(&f);
    // SAFETY: the rows are as wide as the types, and the environment is the function's.
    unsafe { kernel(to.cast(), a.cast(), b.cast(), a.cast(), bits, Environment::new(f, lanes).address()) };
}

/// Words that are functions of three rows' words.
#[inline(always)]
pub(super) fn zip(to: &mut Vector, [a, b, c]: [&Vector; 3], f: impl Fn(u32, u32, u32) -> u32) {
    let f = move |_: usize, _: u32, a: u32, b: u32, c: u32| f(a, b, c);
    let kernel = Each::value::<u32, u32, u32, u32, _>(&f);
    let [a, b, c] = [a, b, c].map(|row| row.0.as_ptr());
    // SAFETY: references to rows that are as wide as the types, and the environment is the function's.
    unsafe { kernel(to.0.as_mut_ptr(), a, b, c, 0, Environment::new(f, ALL).address()) };
}

/// Writes one word to the first `lanes` lanes, 32 or 64, and returns the row.
pub(super) fn splat(to: &mut Vector, word: u32, lanes: usize) -> &Vector {
    simd::versions!(
        [to: &mut Vector, word: u32, lanes: usize] -> &Vector,
        {
            to.0[..32].fill(word);
            if lanes != 32 {
                to.0[32..].fill(word);
            }
            to
        },
        (to, word, lanes)
    )
}

/// Writes the lanes of `mask`.
pub(super) fn merge(to: &mut Vector, value: &Vector, mask: u64) {
    let to = std::ptr::from_mut(to);
    let lanes = if mask >> 32 == 0 { 32 } else { ALL };
    // SAFETY: they are references, of which the first is read through the same pointer that it is written through.
    unsafe { combine(to, value, to, mask, lanes, |bit, value, old| if bit != 0 { value } else { old }) }
}

/// Clears the lanes that are not in `mask`.
pub(super) fn keep(row: &mut Vector, mask: u64) {
    let row = std::ptr::from_mut(row);
    // SAFETY: a reference, read and written through the same pointer.
    unsafe { combine(row, row, row, mask, ALL, |bit, word, _| if bit != 0 { word } else { 0 }) }
}

/// Copies the first `lanes` lanes of a row, with bits cleared and then flipped.
///
/// # Safety
/// `to` is valid for writes, `from` for reads; they may be the same.
pub(super) unsafe fn copy(to: *mut Vector, from: *const Vector, lanes: usize, and: u32, xor: u32) {
    // SAFETY: as the caller says.
    unsafe { combine(to, from, from, 0, lanes, move |_, word, _| word & and ^ xor) }
}

/// Copies a row, shifted left and then right, with the sign if `signed`.
///
/// # Safety
/// As for [`copy`].
pub(super) unsafe fn extract(to: *mut Vector, from: *const Vector, left: u32, right: u32, signed: bool) {
    // SAFETY: as the caller says.
    unsafe {
        if signed {
            combine(to, from, from, 0, ALL, move |_, word, _| {
                (((word << (left & 31)) as i32) >> (right & 31)) as u32
            });
        } else {
            combine(to, from, from, 0, ALL, move |_, word, _| word << (left & 31) >> (right & 31));
        }
    }
}

/// Puts the words, shifted left, into the bits of `mask`, the others of which `old` gives.
pub(super) fn insert(row: &mut Vector, old: &Vector, left: u32, mask: u32) {
    let row = std::ptr::from_mut(row);
    // SAFETY: references, of which the first is read and written through the same pointer.
    unsafe { combine(row, row, old, 0, ALL, move |_, word, old| old & !mask | word << (left & 31) & mask) }
}
