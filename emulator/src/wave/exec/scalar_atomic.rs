//! SMEM atomics: on one dword or qword, by the scalar unit (CDNA3 ISA, 8.2.2).

use super::{
    atomic::{self, Edges, Op},
    smem,
};
use crate::{
    isa::{Flow, Inst, Memory, Operand},
    wave::{FaultKind, Wave},
};

/// An atomic at an address; beyond the end of a buffer nothing happens and 0 returns.
fn atomic<const OP: u8, const WIDE: bool, const BUFFER: bool>(w: &mut Wave, inst: &Inst) -> Flow {
    let op = const { atomic::op_of(OP) };
    let bytes = if WIDE { 8u32 } else { 4 };
    let address = if BUFFER {
        smem::Buffer::new(w, inst, false).address(0, bytes.into())
    } else {
        Some(smem::address::<1>(w, inst))
    };
    let mut old = 0;
    if let Some(address) = address {
        if !address.is_multiple_of(bytes.into()) {
            return w.fault(inst, FaultKind::Misaligned { address, lane: 0, bytes: bytes as u8 });
        }
        if let Err(kind) = w.check_atomic(address, bytes, 0) {
            return w.fault(inst, kind);
        }
        let register = |n: u16| Operand(inst.dst.0 + n);
        let edges = Edges::in_memory(w.target);
        // SAFETY: checked to be writable and aligned.
        old = w.at_device(address as *mut u8, bytes, |w, at| unsafe {
            if WIDE {
                let (data, comparand) = (w.scalar64(inst.dst, inst), w.scalar64(register(2), inst));
                atomic::memory64(at.cast(), op, data, comparand, edges)
            } else {
                let (data, comparand) = (w.scalar(inst.dst, inst), w.scalar(register(1), inst));
                atomic::memory32(at.cast(), op, data, comparand, edges).into()
            }
        });
    }
    if inst.memory.has(Memory::RETURNS) {
        if WIDE {
            w.set_scalar64(inst.dst, old);
        } else {
            // CAST: the operation was on 32 bits.
            w.set_scalar(inst.dst, old as u32);
        }
    }
    Flow::Next
}

macro_rules! atomics {
    ($($name:ident, $wide:ident, $buffer:ident, $buffer_wide:ident: $op:ident;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, false, false>(w, inst)
        }
        pub fn $wide(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, true, false>(w, inst)
        }
        pub fn $buffer(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, false, true>(w, inst)
        }
        pub fn $buffer_wide(w: &mut Wave, inst: &Inst) -> Flow {
            atomic::<{ Op::$op as u8 }, true, true>(w, inst)
        }
    )*};
}

atomics! {
    s_atomic_swap, s_atomic_swap_x2, s_buffer_atomic_swap, s_buffer_atomic_swap_x2: Swap;
    s_atomic_cmpswap, s_atomic_cmpswap_x2, s_buffer_atomic_cmpswap, s_buffer_atomic_cmpswap_x2: CmpSwap;
    s_atomic_add, s_atomic_add_x2, s_buffer_atomic_add, s_buffer_atomic_add_x2: Add;
    s_atomic_sub, s_atomic_sub_x2, s_buffer_atomic_sub, s_buffer_atomic_sub_x2: Sub;
    s_atomic_smin, s_atomic_smin_x2, s_buffer_atomic_smin, s_buffer_atomic_smin_x2: Smin;
    s_atomic_umin, s_atomic_umin_x2, s_buffer_atomic_umin, s_buffer_atomic_umin_x2: Umin;
    s_atomic_smax, s_atomic_smax_x2, s_buffer_atomic_smax, s_buffer_atomic_smax_x2: Smax;
    s_atomic_umax, s_atomic_umax_x2, s_buffer_atomic_umax, s_buffer_atomic_umax_x2: Umax;
    s_atomic_and, s_atomic_and_x2, s_buffer_atomic_and, s_buffer_atomic_and_x2: And;
    s_atomic_or, s_atomic_or_x2, s_buffer_atomic_or, s_buffer_atomic_or_x2: Or;
    s_atomic_xor, s_atomic_xor_x2, s_buffer_atomic_xor, s_buffer_atomic_xor_x2: Xor;
    s_atomic_inc, s_atomic_inc_x2, s_buffer_atomic_inc, s_buffer_atomic_inc_x2: Inc;
    s_atomic_dec, s_atomic_dec_x2, s_buffer_atomic_dec, s_buffer_atomic_dec_x2: Dec;
}
