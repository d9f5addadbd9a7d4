//! Instructions with 16-bit and 32-bit operands: op_sel can name a half of the 32-bit ones, which no manual defines.

use super::{bits, convert, integer};
use crate::{
    isa::{Flow, Inst},
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

selections! {
    v_alignbit_b32: bits, 0;
    v_alignbyte_b32: bits, 0;
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
