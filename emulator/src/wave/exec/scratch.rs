//! A wave's scratch: a private stack for each lane, interleaved by dwords (LLVM AMDGPUUsage, "Private segment").
//!
//! Byte `o` of lane n lies at `(o / 4) * 4 * lanes + n * 4 + o % 4` of the wave's backing, so that a stack slot of all
//! lanes is one row, like a register.

use super::{
    kind::{self, Kind, Words, kind_of},
    shape,
    transfer::{first, first_mut},
};
use crate::{
    isa::{Inst, Operand},
    race::How,
    wave::{FaultKind, Wave},
};

/// A lane's offsets within its private stack.
#[derive(Clone, Copy)]
pub enum Offsets<'a> {
    /// All lanes use one offset.
    Uniform(u32),
    /// An offset per lane.
    PerLane(&'a [u32; 64]),
}

/// A SCRATCH instruction's offsets: SADDR + offset, plus VADDR where the encoding has it.
#[inline(always)]
pub fn offsets(w: &Wave, inst: &Inst) -> (u32, Option<usize>) {
    let scalar = if inst.src[2] == Operand::NONE { 0 } else { w.scalar(inst.src[2], inst) };
    let base = scalar.wrapping_add_signed(inst.imm);
    (base, inst.src[0].row())
}

/// Bytes of each lane's stack.
#[inline(always)]
fn size(w: &Wave) -> u32 {
    // CAST: 32 or 64.
    w.scratch_stride / w.lanes as u32
}

#[inline(always)]
fn fits(w: &Wave, offset: u32, bytes: u32) -> bool {
    offset.checked_add(bytes).is_some_and(|end| end <= size(w))
}

#[cold]
fn outside(w: &Wave, offset: u32, lane: usize, how: How) -> FaultKind {
    if let Some(racing) = &w.racing {
        racing.leave_scratch(how, w.access_pc(), offset);
    }
    aperture(w, offset, lane)
}

fn aperture(w: &Wave, offset: u32, lane: usize) -> FaultKind {
    FaultKind::Aperture { address: w.surroundings.apertures.private | u64::from(offset), lane: lane as u8 }
}

/// Host address of one byte of a lane's stack; `offset` has been checked.
#[inline(always)]
pub fn byte_at(w: &Wave, offset: u32, lane: usize) -> *mut u8 {
    let swizzled = (u64::from(offset >> 2) * w.lanes as u64 + lane as u64) * 4 + u64::from(offset & 3);
    w.scratch.wrapping_add(swizzled) as *mut u8
}

/// Host address of one dword of a lane's stack, for atomics.
pub fn dword_at(w: &Wave, offset: u32, lane: usize) -> Result<*mut u8, FaultKind> {
    if !fits(w, offset, 4) {
        Err(outside(w, offset, lane, How::Atomic))
    } else if !offset.is_multiple_of(4) {
        Err(aperture(w, offset, lane))
    } else {
        Ok(byte_at(w, offset, lane))
    }
}

/// Reads one lane's datum.
#[inline(always)]
pub fn read_lane<const K: u8>(w: &Wave, offset: u32, lane: usize) -> Result<Words, FaultKind> {
    let kind = const { kind_of(K) };
    if !fits(w, offset, kind.bytes()) {
        return Err(outside(w, offset, lane, How::Read));
    }
    let mut words: Words = [0; 4];
    if kind.bytes() >= 4 && offset.is_multiple_of(4) {
        for (i, word) in words.iter_mut().enumerate().take(kind.registers()) {
            // SAFETY: the dword lies in the wave's scratch, which no other thread touches.
            *word = unsafe { byte_at(w, offset + 4 * i as u32, lane).cast::<u32>().read() };
        }
    } else {
        for i in 0..kind.bytes() {
            // SAFETY: the byte lies in the wave's scratch, which no other thread touches.
            let byte = unsafe { byte_at(w, offset + i, lane).read() };
            words[i as usize / 4] |= u32::from(byte) << (i % 4 * 8);
        }
    }
    Ok(words)
}

/// Loads one lane.
#[inline(always)]
pub fn load_lane<const K: u8>(w: &mut Wave, dst: usize, offset: u32, lane: usize) -> Result<(), FaultKind> {
    let words = read_lane::<K>(w, offset, lane)?;
    kind::put(w, const { kind_of(K) }, dst, lane, words);
    Ok(())
}

/// Stores one lane.
#[inline(always)]
pub fn store_lane<const K: u8>(w: &mut Wave, src: usize, offset: u32, lane: usize) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    if !fits(w, offset, kind.bytes()) {
        return Err(outside(w, offset, lane, How::Write));
    }
    let words = kind::take(w, kind, src, lane);
    if kind.bytes() >= 4 && offset.is_multiple_of(4) {
        for (i, word) in words.into_iter().enumerate().take(kind.registers()) {
            // SAFETY: the dword lies in the wave's scratch, which no other thread touches.
            unsafe { byte_at(w, offset + 4 * i as u32, lane).cast::<u32>().write(word) };
        }
    } else {
        for i in 0..kind.bytes() {
            let byte = (words[i as usize / 4] >> (i % 4 * 8)) as u8;
            // SAFETY: the byte lies in the wave's scratch, which no other thread touches.
            unsafe { byte_at(w, offset + i, lane).write(byte) };
        }
    }
    Ok(())
}

/// A row of the wave's scratch: the dword at `offset` of all `N` lanes.
///
/// # Safety
/// The wave has `N` lanes. `offset` is a multiple of 4 and has been checked with [`fits`]; the reference ends before the
/// next access.
#[inline(always)]
unsafe fn row<'a, const N: usize>(w: &Wave, offset: u32) -> &'a mut [u32; N] {
    let at = w.scratch.wrapping_add(u64::from(offset) * N as u64) as *mut [u32; N];
    // SAFETY: the backing is `scratch_stride` bytes, 256-aligned, initialised, and the wave's own.
    unsafe { &mut *at }
}

/// Loads live lanes at one offset.
///
/// # Safety
/// As for [`row`], of each register.
#[inline(always)]
unsafe fn load_rows<const K: u8, const N: usize>(w: &mut Wave, dst: usize, offset: u32) {
    let exec = w.exec;
    for i in 0..const { kind_of(K).registers() } {
        // SAFETY: as the caller says.
        let from = unsafe { row::<N>(w, offset + 4 * i as u32) };
        blend(first_mut(w, dst + i), from, exec);
    }
}

/// Stores live lanes at one offset.
///
/// # Safety
/// As for [`row`], of each register.
#[inline(always)]
unsafe fn store_rows<const K: u8, const N: usize>(w: &Wave, src: usize, offset: u32) {
    for i in 0..const { kind_of(K).registers() } {
        // SAFETY: as the caller says.
        let to = unsafe { row::<N>(w, offset + 4 * i as u32) };
        blend(to, first(w, src + i), w.exec);
    }
}

/// Loads live lanes.
#[inline(always)]
pub fn load<const K: u8>(w: &mut Wave, dst: usize, offsets: Offsets<'_>) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    if let Some(offset) = rows(w, kind, offsets) {
        // SAFETY: `rows` checked alignment and bounds.
        unsafe {
            match w.lanes {
                32 => load_rows::<K, 32>(w, dst, offset),
                _ => load_rows::<K, 64>(w, dst, offset),
            }
        }
        return Ok(());
    }
    for lane in shape::lanes(w.exec) {
        let offset = match offsets {
            Offsets::Uniform(o) => o,
            Offsets::PerLane(row) => row[lane],
        };
        load_lane::<K>(w, dst, offset, lane)?;
    }
    Ok(())
}

/// Stores live lanes.
#[inline(always)]
pub fn store<const K: u8>(w: &mut Wave, src: usize, offsets: Offsets<'_>) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    if let Some(offset) = rows(w, kind, offsets) {
        // SAFETY: `rows` checked alignment and bounds.
        unsafe {
            match w.lanes {
                32 => store_rows::<K, 32>(w, src, offset),
                _ => store_rows::<K, 64>(w, src, offset),
            }
        }
        return Ok(());
    }
    for lane in shape::lanes(w.exec) {
        let offset = match offsets {
            Offsets::Uniform(o) => o,
            Offsets::PerLane(row) => row[lane],
        };
        store_lane::<K>(w, src, offset, lane)?;
    }
    Ok(())
}

/// The common offset, if the access is one of whole rows.
#[inline(always)]
fn rows(w: &Wave, kind: Kind, offsets: Offsets<'_>) -> Option<u32> {
    if kind.bytes() < 4 || w.exec == 0 {
        return None;
    }
    let offset = match offsets {
        Offsets::Uniform(o) => o,
        Offsets::PerLane(row) if shape::uniform(row, w.exec) => row[w.exec.trailing_zeros() as usize & 63],
        Offsets::PerLane(_) => return None,
    };
    (offset.is_multiple_of(4) && fits(w, offset, kind.bytes())).then_some(offset)
}

/// Copies live lanes.
#[inline(always)]
fn blend<const N: usize>(to: &mut [u32; N], from: &[u32; N], exec: u64) {
    if exec == u64::MAX >> (64 - N) {
        *to = *from;
    } else {
        let masks = shape::masks(exec);
        for lane in 0..N {
            to[lane] = to[lane] & !masks[lane] | from[lane] & masks[lane];
        }
    }
}
