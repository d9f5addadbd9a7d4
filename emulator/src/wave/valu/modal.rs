//! Declarations of instructions whose arithmetic follows MODE.

/// Instructions that compute in a precision `P` which MODE controls.
///
/// The first expression is the default arithmetic; the second one, of the environment, serves the other rounding
/// modes. Without it the operation does not round, and only the flushing of denormals is left to do.
///
/// `once;` in front: see [`lanes`](super::map::lanes). The other rounding modes come in one version always.
macro_rules! floats {
    (once; $($entries:tt)*) => {
        $crate::wave::valu::modal::floats!(@family [$crate::wave::valu::map::rare] $($entries)*);
    };
    (@family $map:tt $($precision:ty: $name:ident $args:tt -> $ret:ty { $native:expr }
        $(, exact |$env:ident| { $exact:expr })?;)*) => {
        $crate::wave::valu::map::instructions! {$(
            pub(crate) fn $name(wave, inst) {
                use $crate::wave::valu::{modal::floats, mode::{Arithmetic, Precision}};
                match <$precision>::arithmetic(wave.mode) {
                    Arithmetic::Native => floats!(@map $map wave, inst, $args -> $ret { $native }),
                    Arithmetic::Flushed => floats!(@flush $map wave, inst, true, true, $args -> $ret { $native }),
                    Arithmetic::Exact(env) => {
                        #[cold]
                        #[inline(never)]
                        fn other(
                            wave: &mut $crate::wave::Wave,
                            inst: &$crate::isa::Inst,
                            env: $crate::wave::valu::soft::Env,
                        ) -> $crate::isa::Flow {
                            floats!(@other wave, inst, env, $args -> $ret { $native } $(|$env| { $exact })?)
                        }
                        other(wave, inst, env)
                    }
                }
            }
        )*}
    };
    (@other $wave:ident, $inst:ident, $e:ident, $args:tt -> $ret:ty { $native:expr } |$env:ident| { $exact:expr }) => {{
        let $env = $e;
        floats!(@map [$crate::wave::valu::map::rare] $wave, $inst, $args -> $ret { $exact })
    }};
    (@other $wave:ident, $inst:ident, $e:ident, $args:tt -> $ret:ty { $native:expr }) => {
        floats!(@flush [$crate::wave::valu::map::rare] $wave, $inst, $e.flush_in, $e.flush_out, $args -> $ret { $native })
    };
    (@flush $map:tt $wave:ident, $inst:ident, $in:expr, $out:expr, ($($arg:ident: $ty:ty),+) -> $ret:ty { $native:expr }) => {
        floats!(@map $map $wave, $inst, ($($arg: $ty),+) -> $ret {{
            use $crate::wave::valu::mode::Operand;
            $(let $arg = Operand::flush_if($arg, $in);)+
            Operand::flush_if($native, $out)
        }})
    };
    (@map $map:tt $wave:ident, $inst:ident, ($($arg:ident: $ty:ty),+) -> $ret:ty { $body:expr }) => {
        $crate::wave::valu::map::lanes!(@map $map $wave, $inst, |$($arg: $ty),+| -> $ret { $body })
    };
    ($($entries:tt)*) => {
        $crate::wave::valu::modal::floats!(@family [$crate::wave::valu::map] $($entries)*);
    };
}

/// Instructions `d = f(s0, s1, d)` that compute in a precision which MODE controls; see [`floats`].
macro_rules! accumulating {
    ($($precision:ty: $name:ident($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty) { $native:expr },
        exact |$env:ident| { $exact:expr };)*) => {
        $crate::wave::valu::map::instructions! {$(
            pub(crate) fn $name(wave, inst) {
                use $crate::wave::valu::{map::{accumulate, rare}, mode::{Arithmetic, Operand, Precision}};
                match <$precision>::arithmetic(wave.mode) {
                    Arithmetic::Native => accumulate(wave, inst, |$a: $ta, $b: $tb, $c: $tc| -> $tc { $native }),
                    Arithmetic::Flushed => accumulate(wave, inst, |$a: $ta, $b: $tb, $c: $tc| -> $tc {
                        let ($a, $b, $c) = (Operand::flush($a), Operand::flush($b), Operand::flush($c));
                        Operand::flush($native)
                    }),
                    Arithmetic::Exact($env) => rare::accumulate(wave, inst, |$a: $ta, $b: $tb, $c: $tc| -> $tc { $exact }),
                }
            }
        )*}
    };
}

pub(super) use accumulating;
pub(super) use floats;
