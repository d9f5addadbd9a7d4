//! SMEM: scalar memory (MI200 ISA, chapter 8).

use super::{
    atomic::{self, Denormals, Op},
    buffer::Resource,
    clock,
};
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Wave},
};

/// The address of a scalar memory access, a multiple of 4.
#[inline(always)]
fn address(w: &Wave, inst: &Inst) -> u64 {
    w.scalar64(inst.src[0], inst).wrapping_add(offset(w, inst)) & !3
}

#[inline(always)]
fn offset(w: &Wave, inst: &Inst) -> u64 {
    let register = if inst.src[1] == Operand::NONE { 0 } else { w.scalar(inst.src[1], inst) };
    u64::from(register).wrapping_add_signed(i64::from(inst.imm))
}

/// Copies `N` dwords of checked memory to consecutive scalar registers.
#[inline(always)]
fn load<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    let address = address(w, inst);
    if let Err(kind) = w.check(address, 4 * N as u32, 0, false) {
        return w.fault(inst, kind);
    }
    let from = address as *const [u32; N];
    // SAFETY: the allocation map says that the range is readable for as long as this wave holds its snapshot.
    // Device memory may be written meanwhile; volatile keeps the compiler from assuming otherwise.
    let words = unsafe { from.read_volatile() };
    let first = usize::from(inst.dst.0);
    if first + N <= 108 {
        w.sgpr[first..first + N].copy_from_slice(&words);
    } else {
        for (i, word) in words.into_iter().enumerate() {
            w.set_scalar(Operand(inst.dst.0 + i as u16), word);
        }
    }
    Flow::Next
}

/// Loads through a buffer resource: dwords past its end read 0.
#[inline(always)]
fn buffer_load<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    let resource = Resource::scalar(w, inst, inst.src[0]);
    let offset = offset(w, inst) & !3;
    for i in 0..N {
        let at = offset.wrapping_add(4 * i as u64);
        let mut word = 0;
        if at.checked_add(4).is_some_and(|end| end <= resource.bytes()) {
            let address = (resource.base & !3).wrapping_add(at);
            if let Err(kind) = w.check(address, 4, 0, false) {
                return w.fault(inst, kind);
            }
            // SAFETY: checked just now; see `load`.
            word = unsafe { (address as *const u32).read_volatile() };
        }
        w.set_scalar(Operand(inst.dst.0 + i as u16), word);
    }
    Flow::Next
}

/// Writes consecutive scalar registers to memory.
fn store<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    let address = address(w, inst);
    if let Err(kind) = w.check(address, 4 * N as u32, 0, true) {
        return w.fault(inst, kind);
    }
    for i in 0..N {
        let word = w.scalar(Operand(inst.dst.0 + i as u16), inst);
        // SAFETY: the allocation map says that the range is writable; see `load`.
        unsafe { (address as *mut u32).add(i).write_volatile(word) };
    }
    Flow::Next
}

/// [`store`] through a buffer resource: dwords past its end are dropped.
fn buffer_store<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    let resource = Resource::scalar(w, inst, inst.src[0]);
    let offset = offset(w, inst) & !3;
    for i in 0..N {
        let at = offset.wrapping_add(4 * i as u64);
        if at.checked_add(4).is_some_and(|end| end <= resource.bytes()) {
            let address = (resource.base & !3).wrapping_add(at);
            if let Err(kind) = w.check(address, 4, 0, true) {
                return w.fault(inst, kind);
            }
            let word = w.scalar(Operand(inst.dst.0 + i as u16), inst);
            // SAFETY: checked just now; see `load`.
            unsafe { (address as *mut u32).write_volatile(word) };
        }
    }
    Flow::Next
}

macro_rules! sized {
    ($($name:ident = $generic:ident::<$n:literal>;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<$n>(w, inst)
        }
    )*};
}

sized! {
    s_load_dword = load::<1>;
    s_load_dwordx2 = load::<2>;
    s_load_dwordx4 = load::<4>;
    s_load_dwordx8 = load::<8>;
    s_load_dwordx16 = load::<16>;
    s_buffer_load_dword = buffer_load::<1>;
    s_buffer_load_dwordx2 = buffer_load::<2>;
    s_buffer_load_dwordx4 = buffer_load::<4>;
    s_buffer_load_dwordx8 = buffer_load::<8>;
    s_buffer_load_dwordx16 = buffer_load::<16>;
    s_store_dword = store::<1>;
    s_store_dwordx2 = store::<2>;
    s_store_dwordx4 = store::<4>;
    s_buffer_store_dword = buffer_store::<1>;
    s_buffer_store_dwordx2 = buffer_store::<2>;
    s_buffer_store_dwordx4 = buffer_store::<4>;
}

/// D = the shader clock; here nanoseconds of the host's monotonic clock.
pub fn s_memtime(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar64(inst.dst, clock::nanoseconds());
    Flow::Next
}

/// D = the constant 100 MHz clock.
pub fn s_memrealtime(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar64(inst.dst, clock::nanoseconds() / 10);
    Flow::Next
}

/// An atomic on one dword or qword; GLC returns the old value.
fn atomic<const OP: u8, const WIDE: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let op = atomic::op_of(OP);
    let bytes = if WIDE { 8 } else { 4 };
    let address = address(w, inst);
    if !address.is_multiple_of(u64::from(bytes)) {
        return w.fault(inst, FaultKind::Misaligned { address, lane: 0, bytes: bytes as u8 });
    }
    if let Err(kind) = w.check(address, bytes, 0, true) {
        return w.fault(inst, kind);
    }
    let returns = inst.word0 & 1 << 16 != 0;
    let register = |n: u16| Operand(inst.dst.0 + n);
    if WIDE {
        let (data, comparand) = (w.scalar64(inst.dst, inst), w.scalar64(register(2), inst));
        // SAFETY: checked to be writable and aligned.
        let old = unsafe { atomic::memory64(address as *mut u64, op, data, comparand) };
        if returns {
            w.set_scalar64(inst.dst, old);
        }
    } else {
        let (data, comparand) = (w.scalar(inst.dst, inst), w.scalar(register(1), inst));
        let denormals = Denormals::in_memory(w.target);
        // SAFETY: checked to be writable and aligned.
        let old = unsafe { atomic::memory32(address as *mut u32, op, data, comparand, denormals) };
        if returns {
            w.set_scalar(inst.dst, old);
        }
    }
    Flow::Next
}

macro_rules! atomics {
    ($($name:ident, $wide:ident: $op:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, false>(w, inst)
        }
        pub fn $wide(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, true>(w, inst)
        }
    )*};
}

atomics! {
    s_atomic_swap, s_atomic_swap_x2: Swap;
    s_atomic_cmpswap, s_atomic_cmpswap_x2: CmpSwap;
    s_atomic_add, s_atomic_add_x2: Add;
    s_atomic_sub, s_atomic_sub_x2: Sub;
    s_atomic_smin, s_atomic_smin_x2: Smin;
    s_atomic_umin, s_atomic_umin_x2: Umin;
    s_atomic_smax, s_atomic_smax_x2: Smax;
    s_atomic_umax, s_atomic_umax_x2: Umax;
    s_atomic_and, s_atomic_and_x2: And;
    s_atomic_or, s_atomic_or_x2: Or;
    s_atomic_xor, s_atomic_xor_x2: Xor;
    s_atomic_inc, s_atomic_inc_x2: Inc;
    s_atomic_dec, s_atomic_dec_x2: Dec;
}
