//! MUBUF: untyped buffer accesses (MI200 ISA, 9.1 and 12.13).

use std::sync::atomic::{Ordering, fence};

use super::{
    atomic::{self, Denormals, Op},
    buffer::Resource,
    flat,
    kind::{self, Kind, kind_of},
    lds,
    scratch::{self, Offsets},
    shape,
    transfer::{self, Linear},
};
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Wave, simd::multiversion},
};

const OFFEN: u32 = 1 << 12;
const IDXEN: u32 = 1 << 13;
/// GLC, on gfx942 SC0.
const GLC: u32 = 1 << 14;
/// The data go to LDS instead of a register.
const LDS: u32 = 1 << 16;

#[inline(always)]
fn row(op: Operand) -> usize {
    op.row().unwrap_or(0)
}

/// The parts of an access that all lanes share.
struct Access {
    resource: Resource,
    scalar: u32,
    /// Register with the lanes' offsets, and with their indices.
    offsets: Option<usize>,
    indices: Option<usize>,
    offset: u32,
}

impl Access {
    #[inline(always)]
    fn new(w: &Wave, inst: &Inst) -> Self {
        let first = row(inst.src[0]);
        let (offen, idxen) = (inst.word0 & OFFEN != 0, inst.word0 & IDXEN != 0);
        Self {
            resource: Resource::scalar(w, inst, inst.src[1]),
            scalar: w.scalar(inst.src[2], inst),
            // With both, the index stands first.
            offsets: offen.then_some(first + usize::from(idxen)),
            indices: idxen.then_some(first),
            offset: inst.imm as u32,
        }
    }

    #[inline(always)]
    fn lane(&self, w: &Wave, lane: usize) -> (u32, u32) {
        let offset = self.offset.wrapping_add(self.offsets.map_or(0, |r| w.row(r)[lane]));
        let index = self.indices.map_or(0, |r| w.row(r)[lane]);
        (index.wrapping_add(if self.resource.add_thread { lane as u32 } else { 0 }), offset)
    }

    /// If this is an access to the wave's own scratch: where its lanes' offsets start.
    #[inline(always)]
    fn scratch(&self, w: &Wave) -> Option<u32> {
        if !self.resource.is_scratch() || self.indices.is_some() {
            return None;
        }
        // The stack pointer counts bytes of all 64 lanes together.
        let start = self.resource.base.wrapping_add(u64::from(self.scalar)).wrapping_sub(w.scratch);
        (start < u64::from(w.scratch_stride) && start.is_multiple_of(256))
            .then_some(start as u32 / 64 + self.offset)
    }

    /// If all live lanes are in range of a plain linear buffer: base and register.
    #[inline(always)]
    fn linear(&self, w: &Wave, bytes: u32) -> Option<Linear> {
        let r = &self.resource;
        let row = self.offsets?;
        if r.swizzle || r.add_thread || self.indices.is_some() || w.exec == 0 {
            return None;
        }
        let (_, high) = shape::range(w.row(row), w.exec);
        let highest = high.checked_add(self.offset)?;
        (!r.excludes(0, highest, self.scalar, bytes)).then(|| Linear {
            base: r.base.wrapping_add(u64::from(self.scalar)).wrapping_add(u64::from(self.offset)),
            row,
        })
    }
}

#[inline(always)]
fn fence_for(inst: &Inst) {
    if inst.word0 & GLC != 0 {
        // ORDER: an atomic load must not overtake this wave's earlier stores.
        fence(Ordering::SeqCst);
    }
}

#[inline(always)]
fn load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let kind = const { kind_of(K) };
    let access = Access::new(w, inst);
    if inst.word0 & LDS != 0 {
        return load_to_lds(w, inst, kind, &access);
    }
    let dst = row(inst.dst);
    if let Some(start) = access.scratch(w) {
        let result = match access.offsets {
            None => scratch::load::<K>(w, dst, Offsets::Uniform(start)),
            Some(row) => flat::scratch_load_from::<K>(w, dst, row, start),
        };
        return w.finish(inst, result);
    }
    fence_for(inst);
    if let Some(from) = access.linear(w, kind.bytes()) {
        let result = transfer::load::<K>(w, dst, from);
        return w.finish(inst, result);
    }
    let result = load_lanes::<K>(w, dst, &access);
    w.finish(inst, result)
}

#[inline(never)]
fn load_lanes<const K: u8>(w: &mut Wave, dst: usize, access: &Access) -> Result<(), FaultKind> {
    let lanes: [(u32, u32); 64] = std::array::from_fn(|lane| access.lane(w, lane));
    shape::lanes(w.exec).try_for_each(|lane| load_lane::<K>(w, dst, access, lanes[lane], lane))
}

/// Loads one lane, dword by dword: those out of range read 0.
fn load_lane<const K: u8>(
    w: &mut Wave,
    dst: usize,
    access: &Access,
    (index, offset): (u32, u32),
    lane: usize,
) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    let mut words = [0; 4];
    let part = if kind.bytes() < 4 { kind } else { Kind::B32 };
    for (i, word) in words.iter_mut().enumerate().take(kind.registers()) {
        let offset = offset.wrapping_add(4 * i as u32);
        if !access.resource.excludes(index, offset, access.scalar, part.bytes()) {
            let at = host_address(w, access, (index, offset), part.bytes(), lane, false)?;
            // SAFETY: `host_address` checked the access.
            *word = unsafe { kind::read(part, at) }[0];
        }
    }
    kind::put(w, kind, dst, lane, words);
    Ok(())
}

/// Host address of a lane's element after a check against the map or, in scratch, the wave's backing.
fn host_address(
    w: &mut Wave,
    access: &Access,
    (index, offset): (u32, u32),
    bytes: u32,
    lane: usize,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    let address = access.resource.address(index, offset, access.scalar);
    let within = address.wrapping_sub(w.scratch);
    let own = within.checked_add(u64::from(bytes)).is_some_and(|end| end <= u64::from(w.scratch_stride));
    if !own {
        w.check(address, bytes, lane, write)?;
    }
    Ok(address as *mut u8)
}

#[inline(always)]
fn store<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let kind = const { kind_of(K) };
    let access = Access::new(w, inst);
    let src = row(inst.dst);
    if let Some(start) = access.scratch(w) {
        let result = match access.offsets {
            None => scratch::store::<K>(w, src, Offsets::Uniform(start)),
            Some(row) => flat::scratch_store_to::<K>(w, src, row, start),
        };
        return w.finish(inst, result);
    }
    if let Some(to) = access.linear(w, kind.bytes()) {
        let result = transfer::store::<K>(w, src, to);
        return w.finish(inst, result);
    }
    let result = store_lanes::<K>(w, src, &access);
    w.finish(inst, result)
}

#[inline(never)]
fn store_lanes<const K: u8>(w: &mut Wave, src: usize, access: &Access) -> Result<(), FaultKind> {
    shape::lanes(w.exec).try_for_each(|lane| store_lane::<K>(w, src, access, lane))
}

/// Stores one lane, dword by dword: those out of range are dropped.
fn store_lane<const K: u8>(w: &mut Wave, src: usize, access: &Access, lane: usize) -> Result<(), FaultKind> {
    let kind = const { kind_of(K) };
    let words = kind::take(w, kind, src, lane);
    let (index, offset) = access.lane(w, lane);
    let part = if kind.bytes() < 4 { kind } else { Kind::B32 };
    for (i, word) in words.into_iter().enumerate().take(kind.registers()) {
        let offset = offset.wrapping_add(4 * i as u32);
        if !access.resource.excludes(index, offset, access.scalar, part.bytes()) {
            let at = host_address(w, access, (index, offset), part.bytes(), lane, true)?;
            // SAFETY: `host_address` checked the access.
            unsafe { kind::write(part, at, [word, 0, 0, 0]) };
        }
    }
    Ok(())
}

/// Loads straight to LDS: lane n's dword goes to M0 + offset + 4n. Out of range reads store 0.
fn load_to_lds(w: &mut Wave, inst: &Inst, kind: Kind, access: &Access) -> Flow {
    if kind != Kind::B32 {
        return w.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    fence_for(inst);
    let target = (w.m0() & 0xffff).wrapping_add(access.offset);
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let (index, offset) = access.lane(w, lane);
        let mut word = 0;
        if !access.resource.excludes(index, offset, access.scalar, 4) {
            let at = host_address(w, access, (index, offset), 4, lane, false)?;
            // SAFETY: `host_address` checked the access.
            word = unsafe { kind::read(Kind::B32, at) }[0];
        }
        let to = target.wrapping_add(4 * lane as u32);
        if lds::fits(w, to, 4) {
            // SAFETY: inside of LDS.
            unsafe { lds::at(w, to).cast::<u32>().write_unaligned(word) };
        }
        Ok(())
    });
    w.finish(inst, result)
}

macro_rules! moves {
    ($($name:ident: $generic:ident, $kind:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<{ Kind::$kind as u8 }>(w, inst)
        }
    )*};
}

moves! {
    buffer_load_ubyte: load, U8;
    buffer_load_sbyte: load, I8;
    buffer_load_ushort: load, U16;
    buffer_load_sshort: load, I16;
    buffer_load_dwordx2: load, B64;
    buffer_load_dwordx3: load, B96;
    buffer_load_ubyte_d16: load, U8Lo;
    buffer_load_ubyte_d16_hi: load, U8Hi;
    buffer_load_sbyte_d16: load, I8Lo;
    buffer_load_sbyte_d16_hi: load, I8Hi;
    buffer_load_short_d16: load, B16Lo;
    buffer_load_short_d16_hi: load, B16Hi;
    buffer_store_byte: store, U8;
    buffer_store_byte_d16_hi: store, U8Hi;
    buffer_store_short: store, U16;
    buffer_store_short_d16_hi: store, B16Hi;
    buffer_store_dwordx2: store, B64;
    buffer_store_dwordx3: store, B96;
}

multiversion! {
    pub fn buffer_load_dword(w, inst) { load::<{ Kind::B32 as u8 }>(w, inst) }
    pub fn buffer_load_dwordx4(w, inst) { load::<{ Kind::B128 as u8 }>(w, inst) }
    pub fn buffer_store_dword(w, inst) { store::<{ Kind::B32 as u8 }>(w, inst) }
    pub fn buffer_store_dwordx4(w, inst) { store::<{ Kind::B128 as u8 }>(w, inst) }
}

/// An atomic per lane; lanes out of range do nothing and return 0.
fn atomic<const OP: u8, const WIDE: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let access = Access::new(w, inst);
    let op = const { atomic::op_of(OP) };
    let bytes = if WIDE { 8u32 } else { 4 };
    let data = row(inst.dst);
    let returns = inst.word0 & GLC != 0;
    let denormals = Denormals::in_memory(w.target);
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let (index, offset) = access.lane(w, lane);
        let mut old = 0;
        if !access.resource.excludes(index, offset, access.scalar, bytes) {
            let address = access.resource.address(index, offset, access.scalar);
            if !address.is_multiple_of(u64::from(bytes)) {
                return Err(FaultKind::Misaligned { address, lane: lane as u8, bytes: bytes as u8 });
            }
            let at = host_address(w, &access, (index, offset), bytes, lane, true)?;
            let word = |r: usize| w.row(r)[lane];
            let pair = |r: usize| u64::from(word(r)) | u64::from(word(r + 1)) << 32;
            // SAFETY: checked to be writable and aligned.
            old = unsafe {
                if WIDE {
                    atomic::memory64(at.cast(), op, pair(data), pair(data + 2))
                } else {
                    u64::from(atomic::memory32(at.cast(), op, word(data), word(data + 1), denormals))
                }
            };
        }
        if returns {
            w.row_mut(data)[lane] = old as u32;
            if WIDE {
                w.row_mut(data + 1)[lane] = (old >> 32) as u32;
            }
        }
        Ok(())
    });
    w.finish(inst, result)
}

macro_rules! atomics {
    ($($name:ident: $op:ident, $wide:literal;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, $wide>(w, inst)
        }
    )*};
}

atomics! {
    buffer_atomic_swap: Swap, false;
    buffer_atomic_cmpswap: CmpSwap, false;
    buffer_atomic_add: Add, false;
    buffer_atomic_sub: Sub, false;
    buffer_atomic_smin: Smin, false;
    buffer_atomic_umin: Umin, false;
    buffer_atomic_smax: Smax, false;
    buffer_atomic_umax: Umax, false;
    buffer_atomic_and: And, false;
    buffer_atomic_or: Or, false;
    buffer_atomic_xor: Xor, false;
    buffer_atomic_inc: Inc, false;
    buffer_atomic_dec: Dec, false;
    buffer_atomic_add_f32: AddF, false;
    buffer_atomic_pk_add_f16: PkAddF16, false;
    buffer_atomic_add_f64: AddF, true;
    buffer_atomic_min_f64: MinF, true;
    buffer_atomic_max_f64: MaxF, true;
    buffer_atomic_swap_x2: Swap, true;
    buffer_atomic_cmpswap_x2: CmpSwap, true;
    buffer_atomic_add_x2: Add, true;
    buffer_atomic_sub_x2: Sub, true;
    buffer_atomic_smin_x2: Smin, true;
    buffer_atomic_umin_x2: Umin, true;
    buffer_atomic_smax_x2: Smax, true;
    buffer_atomic_umax_x2: Umax, true;
    buffer_atomic_and_x2: And, true;
    buffer_atomic_or_x2: Or, true;
    buffer_atomic_xor_x2: Xor, true;
    buffer_atomic_inc_x2: Inc, true;
    buffer_atomic_dec_x2: Dec, true;
}

/// Cache write-back or invalidation: memory is coherent here, but what comes after must not overtake what was
/// before.
pub fn cache_control(_: &mut Wave, _: &Inst) -> Flow {
    // ORDER: acquire and release sequences of device programs end in these instructions.
    fence(Ordering::SeqCst);
    Flow::Next
}
