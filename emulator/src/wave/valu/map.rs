//! The lane loops: a function of one lane's values becomes the semantics of an instruction.

use std::mem::MaybeUninit;

use super::{
    lane::Lane,
    result::store,
    source::{accumulator, plain, source},
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

/// A function of one lane's sources. The loops below compile to vector code when it inlines.
///
/// The result goes to rows of its own before it goes to the destination: the destination may be a source, and a
/// loop that may overlap its input does not vectorise.
#[inline(always)]
pub(super) fn map1<A: Lane, D: Lane>(wave: &mut Wave, inst: &Inst, f: impl Fn(A) -> D) -> Flow {
    let plain = plain(inst);
    let mut room = MaybeUninit::uninit();
    let a = source::<A>(wave, inst, 0, plain, &mut room);
    let mut value = MaybeUninit::<D::Rows>::uninit();
    for lane in 0..64 {
        D::put(&mut value, lane, f(A::get(a, lane)));
    }
    // SAFETY: the loop wrote all 64 lanes of every row.
    store::<D>(wave, inst, plain, unsafe { value.assume_init_ref() });
    Flow::Next
}

/// See [`map1`].
#[inline(always)]
pub(super) fn map2<A: Lane, B: Lane, D: Lane>(wave: &mut Wave, inst: &Inst, f: impl Fn(A, B) -> D) -> Flow {
    let plain = plain(inst);
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let a = source::<A>(wave, inst, 0, plain, room0);
    let b = source::<B>(wave, inst, 1, plain, room1);
    let mut value = MaybeUninit::<D::Rows>::uninit();
    for lane in 0..64 {
        D::put(&mut value, lane, f(A::get(a, lane), B::get(b, lane)));
    }
    // SAFETY: the loop wrote all 64 lanes of every row.
    store::<D>(wave, inst, plain, unsafe { value.assume_init_ref() });
    Flow::Next
}

/// See [`map1`].
#[inline(always)]
pub(super) fn map3<A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B, C) -> D,
) -> Flow {
    map3_at(wave, inst, |_, a, b, c| f(a, b, c))
}

/// [`map3`] for a function that depends on the lane.
#[inline(always)]
pub(super) fn map3_at<A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(usize, A, B, C) -> D,
) -> Flow {
    let plain = plain(inst);
    let mut rooms = [const { MaybeUninit::uninit() }; 3];
    let [room0, room1, room2] = &mut rooms;
    let a = source::<A>(wave, inst, 0, plain, room0);
    let b = source::<B>(wave, inst, 1, plain, room1);
    let c = source::<C>(wave, inst, 2, plain, room2);
    let mut value = MaybeUninit::<D::Rows>::uninit();
    for lane in 0..64 {
        D::put(&mut value, lane, f(lane, A::get(a, lane), B::get(b, lane), C::get(c, lane)));
    }
    // SAFETY: the loop wrote all 64 lanes of every row.
    store::<D>(wave, inst, plain, unsafe { value.assume_init_ref() });
    Flow::Next
}

/// Two sources and the old destination.
#[inline(always)]
pub(super) fn accumulate<A: Lane, B: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B, D) -> D,
) -> Flow {
    let plain = plain(inst);
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let a = source::<A>(wave, inst, 0, plain, room0);
    let b = source::<B>(wave, inst, 1, plain, room1);
    let c = accumulator::<D>(wave, inst);
    let mut value = MaybeUninit::<D::Rows>::uninit();
    for lane in 0..64 {
        D::put(&mut value, lane, f(A::get(a, lane), B::get(b, lane), D::get(c, lane)));
    }
    // SAFETY: the loop wrote all 64 lanes of every row.
    store::<D>(wave, inst, plain, unsafe { value.assume_init_ref() });
    Flow::Next
}

/// The instructions of a family that are plain functions of their sources, whatever MODE says.
///
/// `clamp` gives the function that the clamp bit selects; without it the bit only acts on floating-point results.
///
/// `once;` in front compiles the instructions for the baseline only: rare ones are not worth three copies.
macro_rules! lanes {
    (once; $($entries:tt)*) => {
        $crate::wave::valu::map::lanes!(@family [$crate::wave::valu::map::once] $($entries)*);
    };
    (@family [$($versions:tt)+] $($name:ident $args:tt -> $ret:ty { $body:expr } $(, clamp { $clamp:expr })?;)*) => {
        $($versions)+! {$(
            pub(crate) fn $name(wave, inst) {
                use $crate::wave::valu::map::lanes;
                $(if $crate::wave::valu::result::clamps(inst) {
                    return lanes!(@args wave, inst, $args -> $ret { $clamp });
                })?
                lanes!(@args wave, inst, $args -> $ret { $body })
            }
        )*}
    };
    (@args $wave:expr, $inst:expr, ($($arg:ident: $ty:ty),+) -> $ret:ty { $body:expr }) => {
        lanes!(@map $wave, $inst, |$($arg: $ty),+| -> $ret { $body })
    };
    (@map $wave:expr, $inst:expr, |$a:ident: $ta:ty| -> $ret:ty { $body:expr }) => {
        $crate::wave::valu::map::map1($wave, $inst, |$a: $ta| -> $ret { $body })
    };
    (@map $wave:expr, $inst:expr, |$a:ident: $ta:ty, $b:ident: $tb:ty| -> $ret:ty { $body:expr }) => {
        $crate::wave::valu::map::map2($wave, $inst, |$a: $ta, $b: $tb| -> $ret { $body })
    };
    (@map $wave:expr, $inst:expr, |$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| -> $ret:ty { $body:expr }) => {
        $crate::wave::valu::map::map3($wave, $inst, |$a: $ta, $b: $tb, $c: $tc| -> $ret { $body })
    };
    ($($entries:tt)*) => {
        $crate::wave::valu::map::lanes!(@family [$crate::wave::simd::multiversion] $($entries)*);
    };
}

/// [`multiversion`](crate::wave::simd::multiversion) for instructions that get one version.
macro_rules! once {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($wave:ident, $inst:ident) $body:block)*) => {$(
        $(#[$meta])*
        $vis fn $name($wave: &mut $crate::wave::Wave, $inst: &$crate::isa::Inst) -> $crate::isa::Flow $body
    )*};
}

pub(super) use lanes;
pub(super) use once;
