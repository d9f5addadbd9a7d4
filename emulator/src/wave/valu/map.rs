//! The lane loops: a function of one lane's values becomes the semantics of an instruction.
//!
//! The loop proper is a [`kernel`](super::kernel): rows in, row out. What is left to do here is to find the rows. Where
//! operands are VGPRs as they stand and all lanes are live, that takes a few instructions; everything else goes
//! through [`general`](super::general).

use super::{
    general::{Operands, general, general_flags},
    kernel::{Each, Environment, Kernels, Lanes},
    lane::{Kind, Lane},
};
use crate::{
    isa::{Flow, Inst, Operand, inst::Form},
    wave::{Vector, Wave},
};

/// A function of one lane's sources.
#[inline(always)]
pub(super) fn map1<A: Lane, D: Lane>(wave: &mut Wave, inst: &Inst, f: impl Fn(A) -> D) -> Flow {
    run::<Each, A, A, A, D>(wave, inst, 1, 0, move |_, _, a, _, _| f(a))
}

/// See [`map1`].
#[inline(always)]
pub(super) fn map2<A: Lane, B: Lane, D: Lane>(wave: &mut Wave, inst: &Inst, f: impl Fn(A, B) -> D) -> Flow {
    run::<Each, A, B, A, D>(wave, inst, 2, 0, move |_, _, a, b, _| f(a, b))
}

/// See [`map1`].
#[inline(always)]
pub(super) fn map3<A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B, C) -> D,
) -> Flow {
    run::<Each, A, B, C, D>(wave, inst, 3, 0, move |_, _, a, b, c| f(a, b, c))
}

/// Two sources and the old destination.
#[inline(always)]
pub(super) fn accumulate<A: Lane, B: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B, D) -> D,
) -> Flow {
    run::<Each, A, B, D, D>(wave, inst, ACCUMULATE, 0, move |_, _, a, b, c| f(a, b, c))
}

/// The loops above compiled for the baseline only: rare and lengthy instructions are not worth three copies.
pub(super) mod rare {
    use super::{ACCUMULATE, run};
    use crate::{
        isa::{Flow, Inst},
        wave::{
            Wave,
            valu::{kernel::Baseline, lane::Lane},
        },
    };

    #[inline(always)]
    pub(in super::super) fn map1<A: Lane, D: Lane>(wave: &mut Wave, inst: &Inst, f: impl Fn(A) -> D) -> Flow {
        run::<Baseline, A, A, A, D>(wave, inst, 1, 0, move |_, _, a, _, _| f(a))
    }

    #[inline(always)]
    pub(in super::super) fn map2<A: Lane, B: Lane, D: Lane>(
        wave: &mut Wave,
        inst: &Inst,
        f: impl Fn(A, B) -> D,
    ) -> Flow {
        run::<Baseline, A, B, A, D>(wave, inst, 2, 0, move |_, _, a, b, _| f(a, b))
    }

    #[inline(always)]
    pub(in super::super) fn map3<A: Lane, B: Lane, C: Lane, D: Lane>(
        wave: &mut Wave,
        inst: &Inst,
        f: impl Fn(A, B, C) -> D,
    ) -> Flow {
        run::<Baseline, A, B, C, D>(wave, inst, 3, 0, move |_, _, a, b, c| f(a, b, c))
    }

    #[inline(always)]
    pub(in super::super) fn accumulate<A: Lane, B: Lane, D: Lane>(
        wave: &mut Wave,
        inst: &Inst,
        f: impl Fn(A, B, D) -> D,
    ) -> Flow {
        run::<Baseline, A, B, D, D>(wave, inst, ACCUMULATE, 0, move |_, _, a, b, c| f(a, b, c))
    }
}

/// Instead of a number of sources: two, and the destination as the third.
pub(super) const ACCUMULATE: u32 = u32::MAX;

/// What an instruction of these types reads and writes; `count` as for [`run`].
#[inline(always)]
fn operands<A: Lane, B: Lane, C: Lane>(count: u32, result: Option<Kind>) -> Operands {
    Operands {
        kinds: [A::KIND, B::KIND, C::KIND],
        // CAST: at most 3.
        count: if count == ACCUMULATE { 2 } else { count as u8 },
        accumulates: count == ACCUMULATE,
        result,
    }
}

/// Whether the first sources can be read as they stand, and all lanes count.
#[inline(always)]
fn direct(wave: &Wave, inst: &Inst, operands: Operands, others: u8) -> bool {
    !inst.form.has(others | Form::sources(operands.count.into())) && wave.all_live()
}

/// A function of the lane's number, its bit of `bits` (0 or 1), and `count` sources; those beyond repeat the first
/// one's row.
#[inline(always)]
pub(super) fn run<K: Kernels, A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    count: u32,
    bits: u64,
    f: impl Lanes<A, B, C, D>,
) -> Flow {
    let operands = operands::<A, B, C>(count, Some(D::KIND));
    let kernel = K::value(&f);
    let environment = Environment::new(f, wave.lanes);
    if direct(wave, inst, operands, Form::ALTERED | Form::DESTINATION) {
        let file = File::of(wave);
        let [a, b, c] = file.sources(inst, operands);
        // SAFETY: the rows are inside of the register file, and `environment` is that of `f` and of the wave's lanes.
        return unsafe { kernel(file.row(inst.dst).cast_mut(), a, b, c, bits, environment.address()) };
    }
    // SAFETY: the kernel was made for these operands, and `environment` is that of `f` and of the wave's lanes.
    unsafe { general(wave, inst, operands, kernel, bits, environment.address()) }
}

/// A function as for [`run`] whose result is a flag beside the value. The flags of live lanes go to the scalar
/// destination; the others are 0.
#[inline(always)]
pub(super) fn judge<K: Kernels, A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    count: u32,
    bits: u64,
    f: impl Lanes<A, B, C, (D, bool)>,
) -> Flow {
    let operands = operands::<A, B, C>(count, Some(D::KIND));
    let kernel = K::value_and_flag(&f);
    let environment = Environment::new(f, wave.lanes);
    let flags = if direct(wave, inst, operands, Form::ALTERED | Form::DESTINATION) {
        let file = File::of(wave);
        let [a, b, c] = file.sources(inst, operands);
        // SAFETY: as in `run`.
        unsafe { kernel(file.row(inst.dst).cast_mut(), a, b, c, bits, environment.address()) }
    } else {
        // SAFETY: as in `run`.
        unsafe { general_flags(wave, inst, operands, kernel, bits, environment.address()) }
    };
    wave.set_mask(inst.sdst, flags);
    Flow::Next
}

/// The lanes that are live and for which `f` holds, a function of `count` sources. Nothing is written.
#[inline(always)]
pub(super) fn flags<K: Kernels, A: Lane, B: Lane, C: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    count: u32,
    f: impl Lanes<A, B, C, bool>,
) -> u64 {
    let operands = operands::<A, B, C>(count, None);
    let kernel = K::flag(&f);
    let environment = Environment::new(f, wave.lanes);
    if direct(wave, inst, operands, Form::ALTERED) {
        let [a, b, c] = File::of(wave).sources(inst, operands);
        // SAFETY: as in `run`; the kernel stores nothing.
        return unsafe { kernel(std::ptr::dangling_mut(), a, b, c, 0, environment.address()) };
    }
    // SAFETY: as in `run`.
    unsafe { general_flags(wave, inst, operands, kernel, 0, environment.address()) }
}

/// A comparison of two sources. The flags of live lanes go to the scalar destination, and to EXEC if it is one that writes
/// that; the others are 0.
#[inline(always)]
pub(super) fn compare<K: Kernels, A: Lane, B: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B) -> bool,
) -> Flow {
    let mask = flags::<K, A, B, A>(wave, inst, 2, move |_, _, a, b, _| f(a, b));
    wave.set_mask(inst.sdst, mask);
    if inst.form.has(Form::EXEC) {
        wave.exec = mask;
    }
    Flow::Next
}

/// The VGPRs.
#[derive(Clone, Copy)]
struct File(*mut Vector);

impl File {
    #[inline(always)]
    fn of(wave: &mut Wave) -> Self {
        Self(wave.vgpr.as_mut_ptr())
    }

    /// The row of a VGPR. Behind v255's lies a0's, so that two rows are in bounds for all of them.
    #[inline(always)]
    fn row(self, op: Operand) -> *const u32 {
        // CAST: the low byte is the register's number.
        let number = usize::from(op.0 as u8);
        // SAFETY: of 512 rows, the number is less than 256.
        unsafe { self.0.add(number) }.cast()
    }

    #[inline(always)]
    fn sources(self, inst: &Inst, operands: Operands) -> [*const u32; 3] {
        let first = self.row(inst.src[0]);
        let second = if operands.count > 1 { self.row(inst.src[1]) } else { first };
        let third = if operands.accumulates {
            self.row(inst.dst)
        } else if operands.count > 2 {
            self.row(inst.src[2])
        } else {
            first
        };
        [first, second, third]
    }
}

/// The instructions of a family that are plain functions of their sources, whatever MODE says.
///
/// `clamp` gives the function that the clamp bit selects; without it the bit only acts on floating-point results.
///
/// `once;` in front compiles the loops for the baseline only, see [`rare`].
macro_rules! lanes {
    (once; $($entries:tt)*) => {
        $crate::wave::valu::map::lanes!(@family [$crate::wave::valu::map::rare] $($entries)*);
    };
    (@family $map:tt $($name:ident $args:tt -> $ret:ty { $body:expr } $(, clamp { $clamp:expr })?;)*) => {
        $crate::wave::valu::map::instructions! {$(
            pub(crate) fn $name(wave, inst) {
                use $crate::wave::valu::map::lanes;
                $(if $crate::wave::valu::result::clamps(inst) {
                    return lanes!(@args $map wave, inst, $args -> $ret { $clamp });
                })?
                lanes!(@args $map wave, inst, $args -> $ret { $body })
            }
        )*}
    };
    (@args $map:tt $wave:expr, $inst:expr, ($($arg:ident: $ty:ty),+) -> $ret:ty { $body:expr }) => {
        lanes!(@map $map $wave, $inst, |$($arg: $ty),+| -> $ret { $body })
    };
    (@map [$($map:tt)+] $wave:expr, $inst:expr, |$a:ident: $ta:ty| -> $ret:ty { $body:expr }) => {
        $($map)+::map1($wave, $inst, |$a: $ta| -> $ret { $body })
    };
    (@map [$($map:tt)+] $wave:expr, $inst:expr, |$a:ident: $ta:ty, $b:ident: $tb:ty| -> $ret:ty { $body:expr }) => {
        $($map)+::map2($wave, $inst, |$a: $ta, $b: $tb| -> $ret { $body })
    };
    (@map [$($map:tt)+] $wave:expr, $inst:expr, |$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| -> $ret:ty
        { $body:expr }) => {
        $($map)+::map3($wave, $inst, |$a: $ta, $b: $tb, $c: $tc| -> $ret { $body })
    };
    ($($entries:tt)*) => {
        $crate::wave::valu::map::lanes!(@family [$crate::wave::valu::map] $($entries)*);
    };
}

/// Instructions that call one of these loops, or several.
macro_rules! instructions {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($wave:ident, $inst:ident) $body:block)*) => {$(
        $(#[$meta])*
        $vis fn $name($wave: &mut $crate::wave::Wave, $inst: &$crate::isa::Inst) -> $crate::isa::Flow $body
    )*};
}

pub(super) use instructions;
pub(super) use lanes;
