//! How a wave's lane addresses lie: contiguous, in one range, or anywhere.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use crate::wave::Wave;

/// A lane's 64-bit address.
#[inline(always)]
pub fn lane_address(w: &Wave, row: usize, offset: i64, lane: usize) -> u64 {
    (u64::from(w.row(row)[lane]) | u64::from(w.row(row + 1)[lane]) << 32).wrapping_add_signed(offset)
}

/// All-ones words for live lanes.
#[inline(always)]
pub fn masks(exec: u64) -> [u32; 64] {
    let (low, high) = (exec as u32, (exec >> 32) as u32);
    let mut masks = [0; 64];
    for lane in 0..32 {
        masks[lane] = (low >> lane & 1).wrapping_neg();
    }
    for lane in 0..32 {
        masks[lane + 32] = (high >> lane & 1).wrapping_neg();
    }
    masks
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub fn lanes(mut exec: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if exec == 0 {
            return None;
        }
        let lane = exec.trailing_zeros() as usize;
        exec &= exec - 1;
        Some(lane)
    })
}

/// The runs of adjoining live lanes: first lane and length.
#[inline(always)]
pub fn runs(mut exec: u64) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        if exec == 0 {
            return None;
        }
        let first = exec.trailing_zeros();
        let length = (!(exec >> first)).trailing_zeros();
        exec = if first + length >= 64 { 0 } else { exec & (u64::MAX << (first + length)) };
        Some((first as usize, length as usize))
    })
}

/// First and last live lane; `exec` is not 0.
#[inline(always)]
pub fn ends(exec: u64) -> (u32, u32) {
    (exec.trailing_zeros(), 63 - exec.leading_zeros())
}

/// All lanes of a wave of 32, or the lower half of one of 64.
pub const LOWER: u64 = u64::MAX >> 32;

/// Whether `f` is 0 for all live lanes.
#[inline(always)]
fn all_zero(exec: u64, f: impl Fn(usize) -> u32) -> bool {
    let mut bits = 0;
    if exec == u64::MAX {
        for lane in 0..64 {
            bits |= f(lane);
        }
    } else if exec == LOWER {
        for lane in 0..32 {
            bits |= f(lane);
        }
    } else {
        let masks = masks(exec);
        for lane in 0..64 {
            bits |= f(lane) & masks[lane];
        }
    }
    bits == 0
}

/// Whether every live lane has the value of the first.
#[inline(always)]
pub fn uniform(row: &[u32; 64], exec: u64) -> bool {
    let value = row[exec.trailing_zeros() as usize & 63];
    all_zero(exec, |lane| row[lane] ^ value)
}

/// If the live lanes lie as far apart as `stride` and their numbers say: the first live lane's value.
#[inline(always)]
pub fn contiguous(row: &[u32; 64], exec: u64, stride: u32) -> Option<u32> {
    let (first, last) = ends(exec);
    let start = row[first as usize & 63].wrapping_sub(first * stride);
    let straight = all_zero(exec, |lane| row[lane] ^ start.wrapping_add(lane as u32 * stride));
    // Offsets that wrap around 2^32 are not contiguous as addresses.
    let value = row[first as usize & 63];
    (straight && value <= row[last as usize & 63]).then_some(value)
}

/// If the addresses of the first `N` lanes, whose halves lie in two rows, are as far apart as `stride`: the first one.
#[inline(always)]
pub fn straight<const N: usize>(low: &[u32; 64], high: &[u32; 64], stride: u32) -> Option<u64> {
    // Most that are not straight show it here.
    if low[1].wrapping_sub(low[0]) != stride {
        return None;
    }
    let mut differs = 0;
    for lane in 0..N {
        let expected = low[0].wrapping_add(lane as u32 * stride);
        differs |= (low[lane] ^ expected) | (high[lane] ^ high[0]);
    }
    // Low halves that wrap around 2^32 below one high half are no line.
    (differs == 0 && low[0] <= low[N - 1]).then_some(u64::from(low[0]) | u64::from(high[0]) << 32)
}

/// As [`straight`], of offsets.
#[inline(always)]
pub fn straight_offsets<const N: usize>(row: &[u32; 64], stride: u32) -> Option<u32> {
    if row[1].wrapping_sub(row[0]) != stride {
        return None;
    }
    contiguous(row, u64::MAX >> (64 - N), stride)
}

/// Smallest and largest value of the live lanes.
#[inline(always)]
pub fn range(row: &[u32; 64], exec: u64) -> (u32, u32) {
    let (mut low, mut high) = (u32::MAX, 0);
    if exec == u64::MAX {
        for lane in 0..64 {
            low = low.min(row[lane]);
            high = high.max(row[lane]);
        }
    } else if exec == LOWER {
        for lane in 0..32 {
            low = low.min(row[lane]);
            high = high.max(row[lane]);
        }
    } else {
        let masks = masks(exec);
        for lane in 0..64 {
            low = low.min(row[lane] | !masks[lane]);
            high = high.max(row[lane] & masks[lane]);
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_the_mask_and_nothing_else() {
        for exec in [0, 1, u64::MAX, 1 << 63, 0xf0f0_0000_0000_0001, u64::MAX << 5, u64::MAX >> 1] {
            let covered = runs(exec)
                .fold(0u64, |m, (first, length)| (first..first + length).fold(m, |m, lane| m | 1 << lane));
            assert_eq!(covered, exec);
            assert_eq!(lanes(exec).fold(0u64, |m, lane| m | 1 << lane), exec);
        }
    }

    #[test]
    fn dead_lanes_have_no_say() {
        let mut row = [0; 64];
        for (lane, value) in row.iter_mut().enumerate() {
            *value = 1000 + 4 * lane as u32;
        }
        row[3] = 7;
        row[60] = u32::MAX;
        assert_eq!(contiguous(&row, u64::MAX, 4), None);
        let exec = !(1 << 3 | 1 << 60);
        assert_eq!(contiguous(&row, exec, 4), Some(1000));
        assert_eq!(contiguous(&row, exec & !7, 4), Some(1016));
        assert_eq!(range(&row, exec), (1000, 1252));
        assert!(uniform(&row, 1 << 60) && !uniform(&row, exec));
        row[3] = 1012;
        assert_eq!(contiguous(&row, LOWER, 4), Some(1000));
        assert_eq!(range(&row, LOWER), (1000, 1124));
        row[..32].fill(5);
        assert!(uniform(&row, LOWER) && !uniform(&row, LOWER | 1 << 32));
    }

    #[test]
    fn a_line_of_addresses_has_one_stride_and_one_high_half() {
        let mut low = std::array::from_fn(|lane| 0x1000 + 8 * lane as u32);
        let mut high = [7; 64];
        assert_eq!(straight::<64>(&low, &high, 8), Some(0x7_0000_1000));
        assert_eq!(straight::<64>(&low, &high, 4), None);
        for lane in [0, 1, 2, 37, 63] {
            low[lane] += 1;
            assert_eq!(straight::<64>(&low, &high, 8), None, "lane {lane}");
            assert_eq!(straight_offsets::<64>(&low, 8), None, "lane {lane}");
            low[lane] -= 1;
            high[lane] += 1;
            assert_eq!(straight::<64>(&low, &high, 8), None, "lane {lane}");
            high[lane] -= 1;
        }
        assert_eq!(straight_offsets::<64>(&low, 8), Some(0x1000));
        // What lies beyond a wave of 32 lanes does not count, the last of its own does.
        (low[32], high[33]) = (0, 0);
        assert_eq!(straight::<64>(&low, &high, 8), None);
        assert_eq!(straight::<32>(&low, &high, 8), Some(0x7_0000_1000));
        assert_eq!(straight_offsets::<32>(&low, 8), Some(0x1000));
        low[31] += 1;
        assert_eq!(straight::<32>(&low, &high, 8), None);
        assert_eq!(straight_offsets::<32>(&low, 8), None);
        // The 64th lane's low half wraps.
        let wrapping = std::array::from_fn(|lane| (4 * lane as u32).wrapping_sub(252));
        assert_eq!(straight::<64>(&wrapping, &high, 4), None);
        assert_eq!(straight_offsets::<64>(&wrapping, 4), None);
    }

    #[test]
    fn offsets_that_wrap_are_not_contiguous() {
        let mut row = [0; 64];
        for (lane, value) in row.iter_mut().enumerate() {
            *value = (4 * lane as u32).wrapping_sub(8);
        }
        assert_eq!(contiguous(&row, u64::MAX, 4), None);
        assert_eq!(contiguous(&row, !3, 4), Some(0));
    }
}
