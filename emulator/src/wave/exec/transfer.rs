//! Moving data between vector registers and memory that the allocation map knows.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use super::{
    kind::{self, Kind, Words, kind_of},
    shape::{self, LOWER},
};
use crate::{
    os::hidden,
    wave::{FaultKind, Wave},
};

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
        if w.allows_lanes(from, kind.bytes(), (low, high), false) && (exec == u64::MAX || few_runs(exec)) {
            // SAFETY: the map allows reads of the live lanes' data, which lie from `low` to `high`.
            unsafe { load_runs::<K>(w, dst, hidden::at(start), exec) };
            return Ok(());
        }
    }
    let offsets = *w.row(from.row);
    let (low, high) = shape::range(&offsets, exec);
    let low = from.base.wrapping_add(u64::from(low));
    let high = from.base.wrapping_add(u64::from(high) + u64::from(kind.bytes() - 1));
    if w.allows_lanes(from, kind.bytes(), (low, high), false) {
        // SAFETY: the map allows reads from the lowest to the highest live lane.
        unsafe { gather::<K>(w, dst, hidden::of_device(from.base), &offsets, exec) };
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

/// Reads one lane's datum after checking its address.
#[inline(always)]
pub fn read_lane<const K: u8>(w: &mut Wave, address: u64, lane: usize) -> Result<Words, FaultKind> {
    let kind = const { kind_of(K) };
    w.check(address, kind.bytes(), lane, false)?;
    // SAFETY: checked to be readable just now.
    Ok(unsafe { w.load_datum(kind, address as *const u8) })
}

/// Loads one lane after checking its address.
#[inline(always)]
pub fn load_lane<const K: u8>(w: &mut Wave, dst: usize, address: u64, lane: usize) -> Result<(), FaultKind> {
    let words = read_lane::<K>(w, address, lane)?;
    kind::put(w, const { kind_of(K) }, dst, lane, words);
    Ok(())
}

/// Loads live lanes from `start + lane * bytes`.
///
/// # Safety
/// The live lanes' data are valid for reads.
#[inline(always)]
unsafe fn load_runs<const K: u8>(w: &mut Wave, dst: usize, start: *const u8, exec: u64) {
    let kind = const { kind_of(K) };
    // SAFETY: all of these lanes are live, so the whole block is valid; the registers are no device memory.
    unsafe {
        match exec {
            u64::MAX => return load_block::<K, 64>(w, dst, start),
            LOWER => return load_block::<K, 32>(w, dst, start),
            _ => {}
        }
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

/// The first lanes of a register.
#[inline(always)]
pub fn first<const N: usize>(w: &Wave, row: usize) -> &[u32; N] {
    // PANIC: N is 32 or 64.
    w.row(row).first_chunk().expect("no more lanes than a row has")
}

/// See [`first`].
#[inline(always)]
pub fn first_mut<const N: usize>(w: &mut Wave, row: usize) -> &mut [u32; N] {
    // PANIC: N is 32 or 64.
    w.row_mut(row).first_chunk_mut().expect("no more lanes than a row has")
}

/// Loads the first `N` lanes from `start + lane * bytes`.
///
/// # Safety
/// As many data from `start` on are valid for reads, and are no registers.
#[inline(always)]
pub unsafe fn load_block<const K: u8, const N: usize>(w: &mut Wave, dst: usize, start: *const u8) {
    let registers = const { kind_of(K).registers() };
    match registers {
        // SAFETY: the caller vouches for all lanes.
        1 => *first_mut::<N>(w, dst) = unsafe { start.cast::<[u32; N]>().read_unaligned() },
        2 => {
            // SAFETY: the caller vouches for all lanes.
            let rows = split(|lane| unsafe { start.cast::<u64>().wrapping_add(lane).read_unaligned() });
            (*first_mut::<N>(w, dst), *first_mut::<N>(w, dst + 1)) = rows;
        }
        3 => {
            // SAFETY: the caller vouches for all lanes.
            unsafe { load_triples::<N>(w, dst, start) }
        }
        _ => {
            // SAFETY: the caller vouches for all lanes.
            unsafe { load_quads::<N>(w, dst, start) }
        }
    }
}

/// Loads lanes of three dwords.
///
/// # Safety
/// As for [`load_block`].
unsafe fn load_triples<const N: usize>(w: &mut Wave, dst: usize, start: *const u8) {
    for lane in 0..N {
        // SAFETY: the caller vouches for all lanes.
        let words = unsafe { start.cast::<[u32; 3]>().wrapping_add(lane).read_unaligned() };
        for (n, word) in words.into_iter().enumerate() {
            w.row_mut(dst + n)[lane] = word;
        }
    }
}

/// Stores lanes of three dwords.
///
/// # Safety
/// As for [`store_block`].
unsafe fn store_triples<const N: usize>(w: &Wave, src: usize, start: *mut u8) {
    for lane in 0..N {
        let words: [u32; 3] = std::array::from_fn(|n| w.row(src + n)[lane]);
        // SAFETY: the caller vouches for all lanes.
        unsafe { start.cast::<[u32; 3]>().wrapping_add(lane).write_unaligned(words) };
    }
}

/// Columns of four rows of four words.
#[inline(always)]
fn transpose(rows: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        // SAFETY: SSE is part of x86-64, and four words are as wide as a register.
        unsafe {
            let [mut a, mut b, mut c, mut d] = std::mem::transmute::<[[u32; 4]; 4], [__m128; 4]>(rows);
            _MM_TRANSPOSE4_PS(&mut a, &mut b, &mut c, &mut d);
            std::mem::transmute::<[__m128; 4], [[u32; 4]; 4]>([a, b, c, d])
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::array::from_fn(|n| rows.map(|row| row[n]))
}

/// Loads lanes of four dwords.
///
/// # Safety
/// As for [`load_block`].
#[inline(always)]
unsafe fn load_quads<const N: usize>(w: &mut Wave, dst: usize, start: *const u8) {
    let rows: [*mut u32; 4] = std::array::from_fn(|n| w.row_mut(dst + n).as_mut_ptr());
    for lane in (0..N).step_by(4) {
        // SAFETY: the caller vouches for all lanes; four of each row begin at `lane`.
        unsafe {
            let lanes = start.wrapping_add(16 * lane).cast::<[[u32; 4]; 4]>().read_unaligned();
            for (row, words) in rows.into_iter().zip(transpose(lanes)) {
                row.add(lane).cast::<[u32; 4]>().write(words);
            }
        }
    }
}

/// Stores lanes of four dwords.
///
/// # Safety
/// As for [`store_block`].
#[inline(always)]
unsafe fn store_quads<const N: usize>(w: &Wave, src: usize, start: *mut u8) {
    let rows: [*const u32; 4] = std::array::from_fn(|n| w.row(src + n).as_ptr());
    for lane in (0..N).step_by(4) {
        // SAFETY: the caller vouches for all lanes; four of each row begin at `lane`.
        unsafe {
            let words = rows.map(|row| row.add(lane).cast::<[u32; 4]>().read());
            start.wrapping_add(16 * lane).cast::<[[u32; 4]; 4]>().write_unaligned(transpose(words));
        }
    }
}

/// Stores the first `N` lanes to `start + lane * bytes`.
///
/// # Safety
/// As many data from `start` on are valid for writes, and are no registers.
#[inline(always)]
pub unsafe fn store_block<const K: u8, const N: usize>(w: &Wave, src: usize, start: *mut u8) {
    let registers = const { kind_of(K).registers() };
    match registers {
        // SAFETY: the caller vouches for all lanes.
        1 => unsafe { start.cast::<[u32; N]>().write_unaligned(*first(w, src)) },
        2 => {
            let (low, high) = (*first::<N>(w, src), *first::<N>(w, src + 1));
            for lane in 0..N {
                let value = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                // SAFETY: as above. One store: an atomic store of 64 bits must not tear.
                unsafe { start.cast::<u64>().wrapping_add(lane).write_unaligned(value) };
            }
        }
        3 => {
            // SAFETY: the caller vouches for all lanes.
            unsafe { store_triples::<N>(w, src, start) }
        }
        _ => {
            // SAFETY: the caller vouches for all lanes.
            unsafe { store_quads::<N>(w, src, start) }
        }
    }
}

/// The halves of quadwords, each of which is loaded at once: an atomic load of 64 bits must not tear.
#[inline(always)]
fn split<const N: usize>(load: impl Fn(usize) -> u64) -> ([u32; N], [u32; N]) {
    let (mut low, mut high) = ([0; N], [0; N]);
    for lane in 0..N {
        let value = load(lane);
        low[lane] = value as u32;
        high[lane] = (value >> 32) as u32;
    }
    (low, high)
}

/// Copies dwords, each of them once: were a store repeated, as a library's copy of a few bytes may do, it could undo
/// what another wave did to the dword in between.
///
/// # Safety
/// `length` dwords are valid at both places, which do not overlap; neither needs alignment.
#[inline(always)]
unsafe fn copy_words(from: *const u32, to: *mut u32, length: usize) {
    let mut done = 0;
    // SAFETY: as the caller says, for four dwords at a time and then for one.
    unsafe {
        while done + 4 <= length {
            let words = from.add(done).cast::<[u32; 4]>().read_unaligned();
            to.add(done).cast::<[u32; 4]>().write_unaligned(words);
            done += 4;
        }
        while done < length {
            to.add(done).write_unaligned(from.add(done).read_unaligned());
            done += 1;
        }
    }
}

/// Loads live lanes from `base + offset`.
///
/// # Safety
/// The live lanes' data are valid for reads.
#[inline(always)]
unsafe fn gather<const K: u8>(w: &mut Wave, dst: usize, base: u64, offsets: &[u32; 64], exec: u64) {
    let kind = const { kind_of(K) };
    if kind.bytes() >= 4 {
        // SAFETY: all of these lanes are live.
        unsafe {
            match exec {
                u64::MAX => return gather_all::<K, 64>(w, dst, base, offsets),
                LOWER => return gather_all::<K, 32>(w, dst, base, offsets),
                _ => {}
            }
        }
    }
    for lane in shape::lanes(exec) {
        let at = base.wrapping_add(u64::from(offsets[lane])) as *const u8;
        // SAFETY: the lane is live.
        let words = unsafe { kind::read(kind, at) };
        kind::put(w, kind, dst, lane, words);
    }
}

/// Loads the first `N` lanes, of dwords.
///
/// # Safety
/// As for [`gather`], of which these lanes are live.
#[inline(always)]
unsafe fn gather_all<const K: u8, const N: usize>(w: &mut Wave, dst: usize, base: u64, offsets: &[u32; 64]) {
    let kind = const { kind_of(K) };
    if kind == Kind::B64 {
        let at = |lane: usize| base.wrapping_add(u64::from(offsets[lane])) as *const u64;
        // SAFETY: all lanes are live.
        let rows = split(|lane| unsafe { at(lane).read_unaligned() });
        (*first_mut::<N>(w, dst), *first_mut::<N>(w, dst + 1)) = rows;
        return;
    }
    for register in 0..kind.registers() {
        let base = base.wrapping_add(4 * register as u64);
        let row = w.row_mut(dst + register).as_mut_ptr();
        for lane in 0..N {
            let at = base.wrapping_add(u64::from(offsets[lane])) as *const u32;
            // SAFETY: all lanes are live, and the row has 64 words.
            unsafe { row.add(lane).write(at.read_unaligned()) };
        }
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
        if w.allows_lanes(to, kind.bytes(), (low, high), true) && (exec == u64::MAX || few_runs(exec)) {
            // SAFETY: the map allows writes to the live lanes' data, which lie from `low` to `high`.
            unsafe { store_runs::<K>(w, src, hidden::at(start), exec) };
            return Ok(());
        }
    }
    let (low, high) = shape::range(w.row(to.row), exec);
    let low = to.base.wrapping_add(u64::from(low));
    let high = to.base.wrapping_add(u64::from(high) + u64::from(kind.bytes() - 1));
    if w.allows_lanes(to, kind.bytes(), (low, high), true) {
        let base = hidden::of_device(to.base);
        for lane in shape::lanes(exec) {
            let at = base.wrapping_add(u64::from(w.row(to.row)[lane])) as *mut u8;
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
    unsafe { w.store_datum(kind, address as *mut u8, kind::take(w, kind, src, lane)) };
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
    // SAFETY: all of these lanes are live, so the whole block is valid; the registers are no device memory.
    unsafe {
        match exec {
            u64::MAX => return store_block::<K, 64>(w, src, start),
            LOWER => return store_block::<K, 32>(w, src, start),
            _ => {}
        }
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
