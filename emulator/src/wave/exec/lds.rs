//! A workgroup's LDS. Reads beyond its end give 0, writes beyond it are dropped (MI200 ISA, 3.6).
//!
//! The waves of a workgroup run on one host thread, one after the other, so nothing here needs the host's atomics.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use super::{
    kind::{self, kind_of},
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

/// Where lane 0's dword is if all lanes are live, all addresses in `row` plus `offset` one behind the other, and
/// inside.
#[inline(always)]
pub fn block(w: &Wave, row: &[u32; 64], offset: u32) -> Option<*mut u8> {
    if !w.all_live() {
        return None;
    }
    let start = u64::from(shape::straight_offsets(row, w.lanes, 4)?) + u64::from(offset);
    // CAST: less than the size, which is a u32.
    (start + 4 * w.lanes as u64 <= u64::from(w.lds_size)).then(|| at(w, start as u32))
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
    if let Some(lanes) = shape::whole(exec) {
        if kind == kind::Kind::B32
            && let Some(start) = shape::straight_offsets(offsets, lanes, 4)
        {
            // SAFETY: the highest lane is inside, so all are.
            unsafe { transfer::load_block::<K>(w, dst, at(w, start), lanes) };
            return;
        }
        if kind == kind::Kind::B32 {
            let (from, row) = (w.lds, w.row_mut(dst).as_mut_ptr());
            for lane in 0..lanes {
                let at = from.wrapping_add(offsets[lane] as usize).cast::<u32>();
                // SAFETY: the highest lane is inside, so all are; the row has 64 words.
                unsafe { row.add(lane).write(at.read_unaligned()) };
            }
            return;
        }
        for lane in 0..lanes {
            // SAFETY: the highest lane is inside, so all are.
            let words = unsafe { kind::read(kind, at(w, offsets[lane])) };
            kind::put(w, kind, dst, lane, words);
        }
        return;
    }
    for lane in shape::lanes(exec) {
        // SAFETY: the highest live lane is inside, so all are.
        let words = unsafe { kind::read(kind, at(w, offsets[lane])) };
        kind::put(w, kind, dst, lane, words);
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
    if let Some(lanes) = shape::whole(exec) {
        if kind == kind::Kind::B32
            && let Some(start) = shape::straight_offsets(offsets, lanes, 4)
        {
            // SAFETY: the highest lane is inside, so all are.
            unsafe { transfer::store_block::<K>(w, src, at(w, start), lanes) };
            return;
        }
        for lane in 0..lanes {
            // SAFETY: the highest lane is inside, so all are.
            unsafe { kind::write(kind, at(w, offsets[lane]), kind::take(w, kind, src, lane)) };
        }
        return;
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
