//! A workgroup's LDS. Reads beyond its end give 0, writes beyond it are dropped (MI200 ISA, 3.6).
//!
//! The waves of a workgroup run on one host thread, one after the other, so nothing here needs the host's atomics.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use super::{
    kind::{self, Kind, kind_of},
    shape, transfer,
};
use crate::wave::Wave;

/// Whether `bytes` bytes at `offset` are inside.
#[inline(always)]
pub fn fits(w: &Wave, offset: u32, bytes: u32) -> bool {
    offset.checked_add(bytes).is_some_and(|end| end <= w.lds_size)
}

/// Host address of an offset; the caller checks it.
#[inline(always)]
pub fn at(w: &Wave, offset: u32) -> *mut u8 {
    w.lds.wrapping_add(offset as usize)
}

/// The addresses of the first `N` lanes, if their data lie inside at all of `offsets` from there.
#[inline(always)]
fn inside<const K: u8, const N: usize>(w: &Wave, row: usize, offsets: &[u32]) -> Option<[u32; N]> {
    let addresses = *transfer::first::<N>(w, row);
    let farthest = offsets.iter().fold(0, |most, offset| most.max(*offset));
    let last = w.lds_size.checked_sub(farthest + const { kind_of(K).bytes() })?;
    let mut beyond = 0;
    for lane in 0..N {
        beyond |= u32::from(addresses[lane] > last);
    }
    (beyond == 0).then_some(addresses)
}

/// The address of the first of `N` lanes, if they lie one dword behind the other, inside at all of `offsets` from there.
#[inline(always)]
fn line<const N: usize>(w: &Wave, row: usize, offsets: &[u32]) -> Option<u32> {
    let first = shape::straight_offsets::<N>(w.row(row), 4)?;
    let farthest = offsets.iter().fold(0, |most, offset| most.max(*offset));
    fits(w, first.checked_add(farthest)?, 4 * N as u32).then_some(first)
}

/// Lanes whose addresses are looked at together: programs lay out tiles of LDS in rows of so many.
const TOGETHER: usize = 16;

/// How the addresses of lanes that are looked at together lie.
enum Layout {
    /// One dword behind the other.
    Line,
    /// All the same.
    Point,
    Scattered,
}

impl Layout {
    #[inline(always)]
    fn of(addresses: &[u32; TOGETHER]) -> Self {
        let first = addresses[0];
        let is_apart = |stride: u32| {
            let mut differs = 0;
            for n in 0..TOGETHER {
                differs |= addresses[n] ^ first.wrapping_add(stride * n as u32);
            }
            differs == 0
        };
        match addresses[1].wrapping_sub(first) {
            4 if is_apart(4) => Self::Line,
            0 if is_apart(0) => Self::Point,
            _ => Self::Scattered,
        }
    }
}

/// Loads the first `N` lanes, if they are live and inside, from each of `offsets` beyond their addresses, one result behind
/// the other; `false` if not all of them are inside.
#[inline(always)]
pub fn load_all<const K: u8, const N: usize>(w: &mut Wave, dst: usize, row: usize, offsets: &[u32]) -> bool {
    let kind = const { kind_of(K) };
    if kind == Kind::B32
        && let Some(first) = line::<N>(w, row, offsets)
    {
        for (n, offset) in offsets.iter().enumerate() {
            let from = at(w, first + offset).cast::<[u32; N]>();
            // SAFETY: the dwords of all lanes are inside, as `line` found.
            *transfer::first_mut::<N>(w, dst + n) = unsafe { from.read_unaligned() };
        }
        return true;
    }
    // A copy: results may overwrite the address register.
    let Some(addresses) = inside::<K, N>(w, row, offsets) else { return false };
    for (n, offset) in offsets.iter().enumerate() {
        let (from, dst) = (at(w, *offset), dst + n * kind.registers());
        if kind != Kind::B32 {
            for lane in 0..N {
                // SAFETY: `inside` has looked at all lanes.
                let words = unsafe { kind::read(kind, from.wrapping_add(addresses[lane] as usize)) };
                kind::put(w, kind, dst, lane, words);
            }
            continue;
        }
        let (lanes, _) = addresses.as_chunks::<TOGETHER>();
        let (to, _) = transfer::first_mut::<N>(w, dst).as_chunks_mut::<TOGETHER>();
        for (lanes, to) in lanes.iter().zip(to) {
            let word = |address: u32| from.wrapping_add(address as usize).cast::<u32>();
            // SAFETY: `inside` has looked at all lanes.
            unsafe {
                match Layout::of(lanes) {
                    Layout::Line => *to = word(lanes[0]).cast::<[u32; TOGETHER]>().read_unaligned(),
                    Layout::Point => *to = [word(lanes[0]).read_unaligned(); TOGETHER],
                    Layout::Scattered => *to = lanes.map(|address| word(address).read_unaligned()),
                }
            }
        }
    }
    true
}

/// As [`load_all`], of a store of registers from `src` on to one place.
#[inline(always)]
pub fn store_all<const K: u8, const N: usize>(w: &Wave, src: usize, row: usize, offset: u32) -> bool {
    let kind = const { kind_of(K) };
    if kind == Kind::B32
        && let Some(first) = line::<N>(w, row, &[offset])
    {
        let to = at(w, first + offset).cast::<[u32; N]>();
        // SAFETY: the dwords of all lanes are inside, as `line` found.
        unsafe { to.write_unaligned(*transfer::first::<N>(w, src)) };
        return true;
    }
    let Some(addresses) = inside::<K, N>(w, row, &[offset]) else { return false };
    let to = at(w, offset);
    if kind != Kind::B32 {
        for lane in 0..N {
            // SAFETY: `inside` has looked at all lanes.
            unsafe {
                kind::write(kind, to.wrapping_add(addresses[lane] as usize), kind::take(w, kind, src, lane));
            }
        }
        return true;
    }
    let (lanes, _) = addresses.as_chunks::<TOGETHER>();
    let (from, _) = transfer::first::<N>(w, src).as_chunks::<TOGETHER>();
    for (lanes, from) in lanes.iter().zip(from) {
        let word = |address: u32| to.wrapping_add(address as usize).cast::<u32>();
        // SAFETY: `inside` has looked at all lanes.
        unsafe {
            match Layout::of(lanes) {
                Layout::Line => word(lanes[0]).cast::<[u32; TOGETHER]>().write_unaligned(*from),
                _ => lanes.iter().zip(from).for_each(|(address, from)| word(*address).write_unaligned(*from)),
            }
        }
    }
    true
}

/// Loads live lanes from `offsets`.
pub fn load<const K: u8>(w: &mut Wave, dst: usize, offsets: &[u32; 64]) {
    for lane in shape::lanes(w.exec) {
        load_lane::<K>(w, dst, offsets[lane], lane);
    }
}

/// Stores live lanes to `offsets`, in order.
pub fn store<const K: u8>(w: &mut Wave, src: usize, offsets: &[u32; 64]) {
    for lane in shape::lanes(w.exec) {
        store_lane::<K>(w, src, offsets[lane], lane);
    }
}

/// Loads one lane; outside of LDS it reads 0.
#[inline(always)]
pub fn load_lane<const K: u8>(w: &mut Wave, dst: usize, offset: u32, lane: usize) {
    let kind = const { kind_of(K) };
    let mut words = [0; 4];
    if fits(w, offset, kind.bytes()) {
        // SAFETY: checked just now.
        words = unsafe { kind::read(kind, at(w, offset)) };
    }
    kind::put(w, kind, dst, lane, words);
}

/// Stores one lane, unless it is outside of LDS.
#[inline(always)]
pub fn store_lane<const K: u8>(w: &mut Wave, src: usize, offset: u32, lane: usize) {
    let kind = const { kind_of(K) };
    if fits(w, offset, kind.bytes()) {
        let words = kind::take(w, kind, src, lane);
        // SAFETY: checked just now.
        unsafe { kind::write(kind, at(w, offset), words) };
    }
}
