//! A workgroup's LDS. Reads beyond its end give 0, writes beyond it are dropped (MI200 ISA, 3.6).
//!
//! The waves of a workgroup run on one host thread, one after the other, so nothing here needs the host's atomics.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use super::{
    kind::{self, kind_of},
    shape::{self, LOWER},
    transfer,
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

/// Where lane 0's dword is if the first `N` lanes have all addresses in `row` plus `offset` one behind the other, and inside.
#[inline(always)]
fn block<const N: usize>(w: &Wave, row: &[u32; 64], offset: u32) -> Option<*mut u8> {
    let start = u64::from(shape::straight_offsets::<N>(row, 4)?) + u64::from(offset);
    // CAST: less than the size, which is a u32.
    (start + 4 * N as u64 <= u64::from(w.lds_size)).then(|| at(w, start as u32))
}

/// Loads the first `N` lanes' dwords, if they are live and lie one behind the other; `false` if they do not.
#[inline(always)]
pub fn load_line<const K: u8, const N: usize>(w: &mut Wave, dst: usize, row: usize, offset: u32) -> bool {
    let Some(from) = block::<N>(w, w.row(row), offset) else { return false };
    // SAFETY: `block` found the lanes' dwords inside of LDS.
    unsafe { transfer::load_block::<K, N>(w, dst, from) };
    true
}

/// As [`load_line`], of a store.
#[inline(always)]
pub fn store_line<const K: u8, const N: usize>(w: &Wave, src: usize, row: usize, offset: u32) -> bool {
    let Some(to) = block::<N>(w, w.row(row), offset) else { return false };
    // SAFETY: `block` found the lanes' dwords inside of LDS.
    unsafe { transfer::store_block::<K, N>(w, src, to) };
    true
}

/// Loads live lanes from `offsets`.
#[inline(always)]
pub fn load<const K: u8>(w: &mut Wave, dst: usize, offsets: &[u32; 64]) {
    let kind = const { kind_of(K) };
    let exec = w.exec;
    if exec == 0 {
        return;
    }
    let (_, high) = shape::range(offsets, exec);
    if !fits(w, high, kind.bytes()) {
        for lane in shape::lanes(exec) {
            load_lane::<K>(w, dst, offsets[lane], lane);
        }
        return;
    }
    match exec {
        u64::MAX => return load_all::<K, 64>(w, dst, offsets),
        LOWER => return load_all::<K, 32>(w, dst, offsets),
        _ => {}
    }
    for lane in shape::lanes(exec) {
        // SAFETY: the highest live lane is inside, so all are.
        let words = unsafe { kind::read(kind, at(w, offsets[lane])) };
        kind::put(w, kind, dst, lane, words);
    }
}

/// Loads the first `N` lanes, which are live and inside.
#[inline(always)]
fn load_all<const K: u8, const N: usize>(w: &mut Wave, dst: usize, offsets: &[u32; 64]) {
    let kind = const { kind_of(K) };
    if kind == kind::Kind::B32 {
        if let Some(start) = shape::straight_offsets::<N>(offsets, 4) {
            // SAFETY: the highest lane is inside, so all are.
            unsafe { transfer::load_block::<K, N>(w, dst, at(w, start)) };
            return;
        }
        let (from, row) = (w.lds, w.row_mut(dst).as_mut_ptr());
        for lane in 0..N {
            let at = from.wrapping_add(offsets[lane] as usize).cast::<u32>();
            // SAFETY: the highest lane is inside, so all are; the row has 64 words.
            unsafe { row.add(lane).write(at.read_unaligned()) };
        }
        return;
    }
    for lane in 0..N {
        // SAFETY: the highest lane is inside, so all are.
        let words = unsafe { kind::read(kind, at(w, offsets[lane])) };
        kind::put(w, kind, dst, lane, words);
    }
}

/// Stores the first `N` lanes, which are live and inside.
#[inline(always)]
fn store_all<const K: u8, const N: usize>(w: &Wave, src: usize, offsets: &[u32; 64]) {
    let kind = const { kind_of(K) };
    if kind == kind::Kind::B32
        && let Some(start) = shape::straight_offsets::<N>(offsets, 4)
    {
        // SAFETY: the highest lane is inside, so all are.
        unsafe { transfer::store_block::<K, N>(w, src, at(w, start)) };
        return;
    }
    for lane in 0..N {
        // SAFETY: the highest lane is inside, so all are.
        unsafe { kind::write(kind, at(w, offsets[lane]), kind::take(w, kind, src, lane)) };
    }
}

/// Stores live lanes to `offsets`, in order.
#[inline(always)]
pub fn store<const K: u8>(w: &mut Wave, src: usize, offsets: &[u32; 64]) {
    let kind = const { kind_of(K) };
    let exec = w.exec;
    if exec == 0 {
        return;
    }
    let (_, high) = shape::range(offsets, exec);
    if !fits(w, high, kind.bytes()) {
        for lane in shape::lanes(exec) {
            store_lane::<K>(w, src, offsets[lane], lane);
        }
        return;
    }
    match exec {
        u64::MAX => return store_all::<K, 64>(w, src, offsets),
        LOWER => return store_all::<K, 32>(w, src, offsets),
        _ => {}
    }
    for lane in shape::lanes(exec) {
        // SAFETY: the highest live lane is inside, so all are.
        unsafe { kind::write(kind, at(w, offsets[lane]), kind::take(w, kind, src, lane)) };
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
