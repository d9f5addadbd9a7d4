//! The calls, each with how its arguments are made up.

use std::{
    ffi::{c_int, c_uint, c_void},
    sync::LazyLock,
};

use super::{arguments::*, world::Caller, *};

/// One exported function.
pub struct Call {
    pub name: &'static str,
    /// Calls it once; says whether it succeeded.
    pub run: fn(&mut Caller<'_>) -> bool,
}

impl Call {
    /// Whether little else would succeed if it were made as often as others: what it ends was to be used, or what it
    /// begins forbids the others.
    pub fn is_rare(&self) -> bool {
        RARE.iter().any(|part| self.name.contains(part))
    }

    /// Whether it mostly breaks whatever its thread captures.
    pub fn breaks_captures(&self) -> bool {
        use aqlipse::capture::Class;
        capi::capture_rules::rule(self.name).is_some_and(|rule| {
            !matches!(
                rule.class,
                Class::Captured | Class::Mark | Class::Allowed | Class::Asks | Class::Session
            )
        })
    }

    /// Whether it frees memory that the nodes of a graph may be about.
    pub fn frees_operands(&self) -> bool {
        ["hipFreeArray", "hipArrayDestroy", "hipFreeMipmappedArray", "hipMipmappedArrayDestroy"]
            .contains(&self.name)
    }
}

const RARE: [&str; 12] = [
    "Destroy",
    "BeginCapture",
    "ExchangeStreamCaptureMode",
    "ConditionalHandleCreate",
    "Load",
    "Unload",
    "GreenCtxCreate",
    "CUMask",
    "SetMemPool",
    "DebugDotPrint",
    "AddressFree",
    "MemRelease",
];

macro_rules! calls {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {
        mod c {
            use super::*;

            unsafe extern "C" {
                $(pub fn $name($($argument: <$kind as Argument>::C),*) -> hipError_t;)*
            }
        }

        pub const CALLS: &[Call] = &[$(Call {
            name: stringify!($name),
            run: |_caller| {
                $(let mut $argument = <$kind as Argument>::make(_caller);)*
                // SAFETY: handles and numbers may be anything; addresses are what `arguments` says.
                let code = unsafe { c::$name($($argument.c()),*) };
                let succeeded = code == capi::error::hipSuccess;
                $($argument.done(_caller, succeeded);)*
                succeeded
            },
        }),*];
    };
}

mod graph;
mod memory;
mod work;

/// All calls.
pub static CALLS: LazyLock<Vec<&'static Call>> =
    LazyLock::new(|| [graph::CALLS, memory::CALLS, work::CALLS].into_iter().flatten().collect());
