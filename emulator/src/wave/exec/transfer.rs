//! Moving data between vector registers and memory that the allocation map knows.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use super::{
    kind::{self, Kind, kind_of},
    shape,
};
use crate::wave::{FaultKind, Wave};

/// Lane n's datum is at `base + row[n]`, where `row` is a vector register and `base` wraps.
#[derive(Clone, Copy)]
pub struct Linear {
    pub base: u64,
    pub row: usize,
}

/// Runs of live lanes up to which a copy per run beats a loop over lanes.
const FEW_RUNS: u32 = 4;

#[inline(always)]
fn few_runs(exec: u64) -> bool {
    (exec & !(exec << 1)).count_ones() <= FEW_RUNS
}

/// Loads from one address range.
#[inline(always)]
pub fn load<const K: u8>(w: &mut Wave, dst: usize, from: Linear) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    let exec = w.exec;
    if exec == 0 {
        return Ok(());
    }
    if kind.bytes() >= 4
        && let Some(offset) = shape::contiguous(w.row(from.row), exec, kind.bytes())
    {
        let (first, last) = shape::ends(exec);
        let low = from.base.wrapping_add(u64::from(offset));
        let high = low.wrapping_add(u64::from((last - first + 1) * kind.bytes() - 1));
        // Where lane 0 would be.
        let start = low.wrapping_sub(u64::from(first * kind.bytes()));
        if w.allows(low, high, false) && (exec == u64::MAX || few_runs(exec)) {
            // SAFETY: the map allows reads of the live lanes' data, which lie from `low` to `high`.
            unsafe { load_runs::<K>(w, dst, start as *const u8, exec) };
            return Ok(());
        }
    }
    let offsets = *w.row(from.row);
    let (low, high) = shape::range(&offsets, exec);
    let low = from.base.wrapping_add(u64::from(low));
    let high = from.base.wrapping_add(u64::from(high) + u64::from(kind.bytes() - 1));
    if w.allows(low, high, false) {
        // SAFETY: the map allows reads from the lowest to the highest live lane.
        unsafe { gather::<K>(w, dst, from.base, &offsets, exec) };
        return Ok(());
    }
    load_lanes::<K>(w, dst, from.base, &offsets)
}

/// Loads lane by lane.
#[inline(never)]
fn load_lanes<const K: u8>(
    w: &mut Wave,
    dst: usize,
    base: u64,
    offsets: &[u32; 64],
) -> Result<(), FaultKind> {
    shape::lanes(w.exec)
        .try_for_each(|lane| load_lane::<K>(w, dst, base.wrapping_add(u64::from(offsets[lane])), lane))
}

/// Loads one lane after checking its address.
#[inline(always)]
pub fn load_lane<const K: u8>(w: &mut Wave, dst: usize, address: u64, lane: usize) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    w.check(address, kind.bytes(), lane, false)?;
    // SAFETY: checked to be readable just now.
    let words = unsafe { kind::read(kind, address as *const u8) };
    kind::put(w, kind, dst, lane, words);
    Ok(())
}

/// Loads live lanes from `start + lane * bytes`.
///
/// # Safety
/// The live lanes' data are valid for reads.
#[inline(always)]
unsafe fn load_runs<const K: u8>(w: &mut Wave, dst: usize, start: *const u8, exec: u64) {
    let kind = const { kind_of(K) };
    if exec == u64::MAX {
        // SAFETY: all 64 lanes are live, so the whole block is valid; the registers are no device memory.
        unsafe { load_block::<K>(w, dst, start) };
        return;
    }
    for (first, length) in shape::runs(exec) {
        // SAFETY: the run's lanes are live; the registers are no device memory.
        unsafe {
            if kind == Kind::B32 {
                let from = start.wrapping_add(first * 4).cast::<u32>();
                let to = w.row_mut(dst).as_mut_ptr().add(first);
                copy_words(from, to, length);
            } else {
                for lane in first..first + length {
                    let words = kind::read(kind, start.wrapping_add(lane * kind.bytes() as usize));
                    kind::put(w, kind, dst, lane, words);
                }
            }
        }
    }
}

/// Loads all 64 lanes from `start + lane * bytes`.
///
/// # Safety
/// 64 data from `start` on are valid for reads.
#[inline(always)]
unsafe fn load_block<const K: u8>(w: &mut Wave, dst: usize, start: *const u8) {
    let registers = const { kind_of(K).registers() };
    if registers == 2 {
        // SAFETY: the caller vouches for all 64 lanes.
        let rows = split(|lane| unsafe { start.cast::<u64>().wrapping_add(lane).read_unaligned() });
        (*w.row_mut(dst), *w.row_mut(dst + 1)) = rows;
        return;
    }
    for register in 0..registers {
        let row = w.row_mut(dst + register);
        for lane in 0..64 {
            let at = start.wrapping_add((lane * registers + register) * 4).cast::<u32>();
            // SAFETY: the caller vouches for all 64 lanes.
            row[lane] = unsafe { at.read_unaligned() };
        }
    }
}

/// The halves of 64 quadwords, each of which is loaded at once: an atomic load of 64 bits must not tear.
#[inline(always)]
fn split(load: impl Fn(usize) -> u64) -> ([u32; 64], [u32; 64]) {
    let (mut low, mut high) = ([0; 64], [0; 64]);
    for lane in 0..64 {
        let value = load(lane);
        low[lane] = value as u32;
        high[lane] = (value >> 32) as u32;
    }
    (low, high)
}

/// Copies dwords; short runs are no job for a library call.
///
/// # Safety
/// `length` dwords are valid at both places, which do not overlap; neither needs alignment.
#[inline(always)]
unsafe fn copy_words(from: *const u32, to: *mut u32, length: usize) {
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), length * 4) };
}

/// Loads live lanes from `base + offset`.
///
/// # Safety
/// The live lanes' data are valid for reads.
#[inline(always)]
unsafe fn gather<const K: u8>(w: &mut Wave, dst: usize, base: u64, offsets: &[u32; 64], exec: u64) {
    let kind = const { kind_of(K) };
    if exec == u64::MAX && kind == Kind::B64 {
        let at = |lane: usize| base.wrapping_add(u64::from(offsets[lane])) as *const u64;
        // SAFETY: all lanes are live.
        let rows = split(|lane| unsafe { at(lane).read_unaligned() });
        (*w.row_mut(dst), *w.row_mut(dst + 1)) = rows;
        return;
    }
    if exec == u64::MAX && kind.bytes() >= 4 {
        for register in 0..kind.registers() {
            let base = base.wrapping_add(4 * register as u64);
            let row = w.row_mut(dst + register);
            for lane in 0..64 {
                let at = base.wrapping_add(u64::from(offsets[lane])) as *const u32;
                // SAFETY: all lanes are live.
                row[lane] = unsafe { at.read_unaligned() };
            }
        }
        return;
    }
    for lane in shape::lanes(exec) {
        let at = base.wrapping_add(u64::from(offsets[lane])) as *const u8;
        // SAFETY: the lane is live.
        let words = unsafe { kind::read(kind, at) };
        kind::put(w, kind, dst, lane, words);
    }
}

/// Stores to one address range. Lanes store in order: of two lanes with one address the higher wins.
#[inline(always)]
pub fn store<const K: u8>(w: &mut Wave, src: usize, to: Linear) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    let exec = w.exec;
    if exec == 0 {
        return Ok(());
    }
    if kind.bytes() >= 4
        && let Some(offset) = shape::contiguous(w.row(to.row), exec, kind.bytes())
    {
        let (first, last) = shape::ends(exec);
        let low = to.base.wrapping_add(u64::from(offset));
        let high = low.wrapping_add(u64::from((last - first + 1) * kind.bytes() - 1));
        // Where lane 0 would be.
        let start = low.wrapping_sub(u64::from(first * kind.bytes()));
        if w.allows(low, high, true) && (exec == u64::MAX || few_runs(exec)) {
            // SAFETY: the map allows writes to the live lanes' data, which lie from `low` to `high`.
            unsafe { store_runs::<K>(w, src, start as *mut u8, exec) };
            return Ok(());
        }
    }
    let (low, high) = shape::range(w.row(to.row), exec);
    let low = to.base.wrapping_add(u64::from(low));
    let high = to.base.wrapping_add(u64::from(high) + u64::from(kind.bytes() - 1));
    if w.allows(low, high, true) {
        for lane in shape::lanes(exec) {
            let at = to.base.wrapping_add(u64::from(w.row(to.row)[lane])) as *mut u8;
            // SAFETY: the map allows writes from the lowest to the highest live lane.
            unsafe { kind::write(kind, at, kind::take(w, kind, src, lane)) };
        }
        return Ok(());
    }
    store_lanes::<K>(w, src, to)
}

/// Stores lane by lane.
#[inline(never)]
fn store_lanes<const K: u8>(w: &mut Wave, src: usize, to: Linear) -> Result<(), FaultKind> {
    shape::lanes(w.exec).try_for_each(|lane| {
        let offset = w.row(to.row)[lane];
        store_lane::<K>(w, src, to.base.wrapping_add(u64::from(offset)), lane)
    })
}

/// Stores one lane after checking its address.
#[inline(always)]
pub fn store_lane<const K: u8>(w: &mut Wave, src: usize, address: u64, lane: usize) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    w.check(address, kind.bytes(), lane, true)?;
    // SAFETY: checked to be writable just now.
    unsafe { kind::write(kind, address as *mut u8, kind::take(w, kind, src, lane)) };
    Ok(())
}

/// Stores live lanes to `start + lane * bytes`.
///
/// # Safety
/// The live lanes' data are valid for writes.
#[inline(always)]
unsafe fn store_runs<const K: u8>(w: &mut Wave, src: usize, start: *mut u8, exec: u64) {
    let kind = const { kind_of(K) };
    let registers = kind.registers();
    if exec == u64::MAX {
        if registers == 1 {
            // SAFETY: all 64 lanes are live; the registers are no device memory.
            unsafe { copy_words(w.row(src).as_ptr(), start.cast::<u32>(), 64) };
            return;
        }
        if registers == 2 {
            let (low, high) = (*w.row(src), *w.row(src + 1));
            for lane in 0..64 {
                let value = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                // SAFETY: all 64 lanes are live. One store: an atomic store of 64 bits must not tear.
                unsafe { start.cast::<u64>().wrapping_add(lane).write_unaligned(value) };
            }
            return;
        }
        for lane in 0..64 {
            for register in 0..registers {
                let at = start.wrapping_add((lane * registers + register) * 4).cast::<u32>();
                // SAFETY: all 64 lanes are live.
                unsafe { at.write_unaligned(w.row(src + register)[lane]) };
            }
        }
        return;
    }
    for (first, length) in shape::runs(exec) {
        // SAFETY: the run's lanes are live; the registers are no device memory.
        unsafe {
            if registers == 1 {
                let to = start.wrapping_add(first * 4).cast::<u32>();
                copy_words(w.row(src).as_ptr().add(first), to, length);
            } else {
                for lane in first..first + length {
                    let at = start.wrapping_add(lane * kind.bytes() as usize);
                    kind::write(kind, at, kind::take(w, kind, src, lane));
                }
            }
        }
    }
}
