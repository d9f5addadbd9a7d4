//! Comparisons: one bit per lane into a scalar pair, and into EXEC for the cmpx forms.

use std::cmp::Ordering;

use super::{
    half::F16,
    kernel::{Baseline, Each},
    lane::Lane,
    map,
    mode::{Operand, Precision},
    result::write_mask,
    soft::Float,
};
use crate::{
    isa::{Flow, Inst, Ty, inst::Form},
    wave::Wave,
};

/// Compares two sources lane by lane.
#[inline(always)]
fn compare<T: Lane>(wave: &mut Wave, inst: &Inst, f: impl Fn(T, T) -> bool) -> Flow {
    map::compare::<Each, T, T>(wave, inst, f)
}

macro_rules! integral {
    ($($name:ident: $ty:ty, |$a:ident, $b:ident| $f:expr;)*) => {
        $(pub(crate) fn $name(wave: &mut Wave, inst: &Inst) -> Flow {
            compare(wave, inst, |$a: $ty, $b: $ty| $f)
        })*
    };
}

macro_rules! floating {
    ($($name:ident: $ty:ty, |$a:ident, $b:ident| $f:expr;)*) => {$(
        // `!(a < b)` is true for NaNs, `a >= b` is not; `a != b` is, `a < b || a > b` is not.
        #[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
        pub(crate) fn $name(wave: &mut Wave, inst: &Inst) -> Flow {
            if <$ty>::env(wave.mode).flush_in {
                compare(wave, inst, |$a: $ty, $b: $ty| {
                    let ($a, $b) = (value(Operand::flush($a)), value(Operand::flush($b)));
                    $f
                })
            } else {
                compare(wave, inst, |$a: $ty, $b: $ty| {
                    let ($a, $b) = (value($a), value($b));
                    $f
                })
            }
        }
    )*};
}

/// A type that the host can compare.
trait Comparable {
    type Value: PartialOrd + Copy;
    fn value(self) -> Self::Value;
}

impl Comparable for f32 {
    type Value = Self;
    #[inline(always)]
    fn value(self) -> Self {
        self
    }
}

impl Comparable for f64 {
    type Value = Self;
    #[inline(always)]
    fn value(self) -> Self {
        self
    }
}

#[inline(always)]
fn value<T: Comparable>(x: T) -> T::Value {
    x.value()
}

#[inline(always)]
#[allow(clippy::eq_op)]
fn nan<T: PartialOrd + Copy>(x: T) -> bool {
    x != x
}

/// Whether `x` belongs to one of the classes in `mask` (MI200 ISA, V_CMP_CLASS_F32); denormals count as such
/// whatever MODE says.
#[inline(always)]
fn in_class<F: Float>(x: F, mask: u32) -> bool {
    let magnitude = x.to_raw() & !F::SIGN;
    let negative = x.to_raw() & F::SIGN != 0;
    let bit = if magnitude > F::INFINITY {
        u32::from(magnitude & F::QUIET != 0)
    } else {
        let distance = if magnitude == F::INFINITY {
            0
        } else if magnitude >> F::FRACTION != 0 {
            1
        } else if magnitude != 0 {
            2
        } else {
            3
        };
        if negative { 2 + distance } else { 9 - distance }
    };
    mask >> bit & 1 != 0
}

fn classify<T: Lane + Float>(wave: &mut Wave, inst: &Inst) -> Flow {
    map::compare::<Each, T, u32>(wave, inst, in_class)
}

/// From RDNA 3 on the mask, too, is half a register.
pub(crate) fn v_cmp_class_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    if inst.row.shape.src[1] == Ty::B32 {
        return classify::<F16>(wave, inst);
    }
    map::compare::<Baseline, F16, u16>(wave, inst, |x, mask| in_class(x, mask.into()))
}

pub(crate) fn v_cmp_class_f32(wave: &mut Wave, inst: &Inst) -> Flow {
    classify::<f32>(wave, inst)
}

pub(crate) fn v_cmp_class_f64(wave: &mut Wave, inst: &Inst) -> Flow {
    classify::<f64>(wave, inst)
}

floating! {
    v_cmp_lt_f32: f32, |a, b| a < b;
    v_cmp_eq_f32: f32, |a, b| a == b;
    v_cmp_le_f32: f32, |a, b| a <= b;
    v_cmp_gt_f32: f32, |a, b| a > b;
    v_cmp_lg_f32: f32, |a, b| a < b || a > b;
    v_cmp_ge_f32: f32, |a, b| a >= b;
    v_cmp_o_f32: f32, |a, b| !(nan(a) || nan(b));
    v_cmp_u_f32: f32, |a, b| nan(a) || nan(b);
    v_cmp_nge_f32: f32, |a, b| !(a >= b);
    v_cmp_nlg_f32: f32, |a, b| !(a < b || a > b);
    v_cmp_ngt_f32: f32, |a, b| !(a > b);
    v_cmp_nle_f32: f32, |a, b| !(a <= b);
    v_cmp_neq_f32: f32, |a, b| a != b;
    v_cmp_nlt_f32: f32, |a, b| !(a < b);
}

floating! {
    v_cmp_lt_f64: f64, |a, b| a < b;
    v_cmp_eq_f64: f64, |a, b| a == b;
    v_cmp_le_f64: f64, |a, b| a <= b;
    v_cmp_gt_f64: f64, |a, b| a > b;
    v_cmp_lg_f64: f64, |a, b| a < b || a > b;
    v_cmp_ge_f64: f64, |a, b| a >= b;
    v_cmp_o_f64: f64, |a, b| !(nan(a) || nan(b));
    v_cmp_u_f64: f64, |a, b| nan(a) || nan(b);
    v_cmp_nge_f64: f64, |a, b| !(a >= b);
    v_cmp_nlg_f64: f64, |a, b| !(a < b || a > b);
    v_cmp_ngt_f64: f64, |a, b| !(a > b);
    v_cmp_nle_f64: f64, |a, b| !(a <= b);
    v_cmp_neq_f64: f64, |a, b| a != b;
    v_cmp_nlt_f64: f64, |a, b| !(a < b);
}

integral! {
    v_cmp_lt_i32: i32, |a, b| a < b;
    v_cmp_eq_i32: i32, |a, b| a == b;
    v_cmp_le_i32: i32, |a, b| a <= b;
    v_cmp_gt_i32: i32, |a, b| a > b;
    v_cmp_ne_i32: i32, |a, b| a != b;
    v_cmp_ge_i32: i32, |a, b| a >= b;
}

integral! {
    v_cmp_lt_u32: u32, |a, b| a < b;
    v_cmp_eq_u32: u32, |a, b| a == b;
    v_cmp_le_u32: u32, |a, b| a <= b;
    v_cmp_gt_u32: u32, |a, b| a > b;
    v_cmp_ne_u32: u32, |a, b| a != b;
    v_cmp_ge_u32: u32, |a, b| a >= b;
}

integral! {
    v_cmp_lt_i64: i64, |a, b| a < b;
    v_cmp_eq_i64: i64, |a, b| a == b;
    v_cmp_le_i64: i64, |a, b| a <= b;
    v_cmp_gt_i64: i64, |a, b| a > b;
    v_cmp_ne_i64: i64, |a, b| a != b;
    v_cmp_ge_i64: i64, |a, b| a >= b;
}

integral! {
    v_cmp_lt_u64: u64, |a, b| a < b;
    v_cmp_eq_u64: u64, |a, b| a == b;
    v_cmp_le_u64: u64, |a, b| a <= b;
    v_cmp_gt_u64: u64, |a, b| a > b;
    v_cmp_ne_u64: u64, |a, b| a != b;
    v_cmp_ge_u64: u64, |a, b| a >= b;
}

/// A rare comparison: the low bits of the opcode are its truth table over less, equal, greater and unordered.
fn tabulated<T: Lane>(wave: &mut Wave, inst: &Inst, order: impl Fn(T, T) -> Option<Ordering>) -> Flow {
    let opcode = inst.row.opcode;
    map::compare::<Baseline, T, T>(wave, inst, move |a: T, b: T| {
        let column = match order(a, b) {
            Some(Ordering::Less) => 0,
            Some(Ordering::Equal) => 1,
            Some(Ordering::Greater) => 2,
            None => 3,
        };
        opcode >> column & 1 != 0
    })
}

/// Any comparison of halves.
pub(crate) fn v_cmp_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    let flush = F16::env(wave.mode).flush_in;
    tabulated(wave, inst, |a: F16, b: F16| {
        a.flush_if(flush).to_f32().partial_cmp(&b.flush_if(flush).to_f32())
    })
}

/// Any comparison of signed 16-bit integers.
pub(crate) fn v_cmp_i16(wave: &mut Wave, inst: &Inst) -> Flow {
    tabulated(wave, inst, |a: i16, b: i16| Some(a.cmp(&b)))
}

/// Any comparison of unsigned 16-bit integers.
pub(crate) fn v_cmp_u16(wave: &mut Wave, inst: &Inst) -> Flow {
    tabulated(wave, inst, |a: u16, b: u16| Some(a.cmp(&b)))
}

/// v_cmp_f and v_cmp_tru: the same answer for every live lane, whatever the sources are.
pub(crate) fn v_cmp_constant(wave: &mut Wave, inst: &Inst) -> Flow {
    let answer = inst.row.opcode & 7 == 7;
    let mask = if answer { write_mask(wave, inst) } else { 0 };
    wave.set_mask(inst.sdst, mask);
    if inst.form.has(Form::EXEC) {
        wave.exec = mask;
    }
    Flow::Next
}
