//! Some lanes of a row at a time: as many as a kernel loads before it stores the first, so that a destination may be
//! a source.

use std::mem::MaybeUninit;

/// Lanes of a chunk.
pub(super) const CHUNK: usize = 16;

/// What a lane's operand is made of: a word of one row, or of a row and the next one.
pub(super) trait Word: Copy {
    /// Lanes `first..first + CHUNK`. `VERSION` is what the caller is compiled for, see [`crate::wave::simd::level`].
    ///
    /// # Safety
    /// `row` points to as many rows as the type is wide, `first` is at most `64 - CHUNK`, and the CPU has what
    /// `VERSION` says.
    unsafe fn load<const VERSION: usize>(row: *const u32, first: usize) -> [Self; CHUNK];

    /// Writes what [`Word::load`] reads.
    ///
    /// # Safety
    /// As for [`Word::load`].
    unsafe fn store<const VERSION: usize>(row: *mut u32, first: usize, words: &[Self; CHUNK]);
}

/// A lane's flag as [`collect`] wants it.
#[inline(always)]
pub(super) fn flag(set: bool) -> u32 {
    u32::from(set).wrapping_neg()
}

/// Collects a chunk's flags (0 or all ones) into a mask.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn collect(flags: &[u32; CHUNK]) -> u16 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
    // SAFETY: four words from `4 * n` on are inside the chunk; SSE2 is part of x86-64.
    let load = |n: usize| unsafe { _mm_loadu_si128(flags.as_ptr().add(4 * n).cast()) };
    // SAFETY: SSE2 is part of x86-64.
    let bits = unsafe {
        let (low, high) = (_mm_packs_epi32(load(0), load(1)), _mm_packs_epi32(load(2), load(3)));
        _mm_movemask_epi8(_mm_packs_epi16(low, high))
    };
    // CAST: a bit for each of 16 bytes.
    bits as u16
}

/// Collects a chunk's flags (0 or all ones) into a mask.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn collect(flags: &[u32; CHUNK]) -> u16 {
    let mut mask = 0;
    for (n, flag) in flags.iter().enumerate() {
        mask |= ((flag & 1) as u16) << n;
    }
    mask
}

impl Word for u32 {
    #[inline(always)]
    unsafe fn load<const VERSION: usize>(row: *const u32, first: usize) -> [Self; CHUNK] {
        // SAFETY: the lanes are inside of the row.
        unsafe { row.add(first).cast::<[Self; CHUNK]>().read() }
    }

    #[inline(always)]
    unsafe fn store<const VERSION: usize>(row: *mut u32, first: usize, words: &[Self; CHUNK]) {
        // SAFETY: the lanes are inside of the row.
        unsafe { row.add(first).cast::<[Self; CHUNK]>().write(*words) }
    }
}

impl Word for u64 {
    #[inline(always)]
    unsafe fn load<const VERSION: usize>(row: *const u32, first: usize) -> [Self; CHUNK] {
        // SAFETY: there are two rows, and the CPU has what the version needs.
        unsafe {
            let (low, high) = (u32::load::<VERSION>(row, first), u32::load::<VERSION>(row.add(64), first));
            interleave::<VERSION>(&low, &high)
        }
    }

    #[inline(always)]
    unsafe fn store<const VERSION: usize>(row: *mut u32, first: usize, words: &[Self; CHUNK]) {
        // SAFETY: there are two rows, and the CPU has what the version needs.
        unsafe {
            let (low, high) = separate::<VERSION>(words);
            u32::store::<VERSION>(row, first, &low);
            u32::store::<VERSION>(row.add(64), first, &high);
        }
    }
}

/// Quadwords of low and high words. With shuffles: what the compiler makes of shifts takes twice as long.
///
/// # Safety
/// The CPU has what `VERSION` says.
#[inline(always)]
unsafe fn interleave<const VERSION: usize>(low: &[u32; CHUNK], high: &[u32; CHUNK]) -> [u64; CHUNK] {
    #[cfg(target_arch = "x86_64")]
    if VERSION > 0 {
        use std::arch::x86_64::*;
        let mut words = MaybeUninit::<[u64; CHUNK]>::uninit();
        for n in 0..CHUNK / 8 {
            // SAFETY: eight words from `8 * n` on are inside of the arrays, and versions above 0 have AVX2.
            unsafe {
                // Unpacking works within halves of the register: quarters 0, 2, 1, 3 give lanes in order.
                let load = |words: &[u32; CHUNK]| {
                    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_loadu_si256(
                        words.as_ptr().add(8 * n).cast(),
                    ))
                };
                let (low, high) = (load(low), load(high));
                let to = words.as_mut_ptr().cast::<u64>().add(8 * n);
                _mm256_storeu_si256(to.cast(), _mm256_unpacklo_epi32(low, high));
                _mm256_storeu_si256(to.add(4).cast(), _mm256_unpackhi_epi32(low, high));
            }
        }
        // SAFETY: the loop wrote all of it.
        return unsafe { words.assume_init() };
    }
    let mut words = [0; CHUNK];
    for n in 0..CHUNK {
        words[n] = u64::from(low[n]) | u64::from(high[n]) << 32;
    }
    words
}

/// Low and high words of quadwords.
///
/// # Safety
/// The CPU has what `VERSION` says.
#[inline(always)]
unsafe fn separate<const VERSION: usize>(words: &[u64; CHUNK]) -> ([u32; CHUNK], [u32; CHUNK]) {
    #[cfg(target_arch = "x86_64")]
    if VERSION > 0 {
        use std::arch::x86_64::*;
        let (mut low, mut high) =
            (MaybeUninit::<[u32; CHUNK]>::uninit(), MaybeUninit::<[u32; CHUNK]>::uninit());
        for n in 0..CHUNK / 8 {
            // SAFETY: eight words from `8 * n` on are inside of the arrays, and versions above 0 have AVX2.
            unsafe {
                let load = |n: usize| _mm256_loadu_ps(words.as_ptr().add(n).cast());
                let (a, b) = (load(8 * n), load(8 * n + 4));
                // As above: quarters 0, 2, 1, 3.
                let store = |to: &mut MaybeUninit<[u32; CHUNK]>, halves: __m256| {
                    let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(halves));
                    _mm256_storeu_si256(to.as_mut_ptr().cast::<u32>().add(8 * n).cast(), ordered);
                };
                store(&mut low, _mm256_shuffle_ps::<0b10_00_10_00>(a, b));
                store(&mut high, _mm256_shuffle_ps::<0b11_01_11_01>(a, b));
            }
        }
        // SAFETY: the loop wrote all of both.
        return unsafe { (low.assume_init(), high.assume_init()) };
    }
    let (mut low, mut high) = ([0; CHUNK], [0; CHUNK]);
    for n in 0..CHUNK {
        low[n] = words[n] as u32;
        high[n] = (words[n] >> 32) as u32;
    }
    (low, high)
}
