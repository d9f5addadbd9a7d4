//! Instructions with 16-bit and 32-bit operands: op_sel can name a half of the 32-bit ones, which no manual defines.

use super::{bits, convert, integer, rdna};
use crate::{
    isa::{Flow, Inst, Ty},
    wave::{FaultKind, Wave},
};

/// Runs `f` unless op_sel has bits beyond `defined`.
fn selecting(wave: &mut Wave, inst: &Inst, defined: u8, f: fn(&mut Wave, &Inst) -> Flow) -> Flow {
    if inst.mods.op_sel & !defined != 0 {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    f(wave, inst)
}

macro_rules! selections {
    ($($name:ident: $module:ident, $defined:literal;)*) => {$(
        pub(crate) fn $name(wave: &mut Wave, inst: &Inst) -> Flow {
            selecting(wave, inst, $defined, $module::$name)
        }
    )*};
}

/// RDNA's shift is half a register, which op_sel names.
pub(crate) fn v_alignbit_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    match inst.row.shape.src[2] {
        Ty::I16 => selecting(wave, inst, 4, rdna::align_bits),
        _ => selecting(wave, inst, 0, bits::v_alignbit_b32),
    }
}

/// See [`v_alignbit_b32`].
pub(crate) fn v_alignbyte_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    match inst.row.shape.src[2] {
        Ty::I16 => selecting(wave, inst, 4, rdna::align_bytes),
        _ => selecting(wave, inst, 0, bits::v_alignbyte_b32),
    }
}

selections! {
    v_pack_b32_f16: bits, 3;
    v_cvt_pknorm_i16_f16: convert, 3;
    v_cvt_pknorm_u16_f16: convert, 3;
    v_ashr_pk_i8_i32: convert, 8;
    v_ashr_pk_u8_i32: convert, 8;
    v_cvt_sr_f16_f32: convert, 8;
    v_cvt_sr_bf16_f32: convert, 8;
    v_mad_u32_u16: integer, 3;
    v_mad_i32_i16: integer, 3;
}
