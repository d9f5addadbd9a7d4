//! The only way to export: the `entry!` macro, and what every exported function has in common.
//!
//! An entry tells the timeline and profilers of the call if they want to know (see [`traced`](crate::traced)), catches
//! panics, keeps the calling thread's error state, asks whether open captures allow the call (see [`capture_rules`]), and is
//! found by the build script, which generates a refusal for each name of `exports.tsv` that no entry claims.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
};

use aqlipse::{
    capture::{self, Call},
    destructors,
};

use crate::{
    capture_rules, current,
    error::{hipError_t, hipErrorNotReady, hipErrorNotSupported, hipErrorUnknown, hipSuccess},
    log, made, soname,
    traced::Observed,
};

/// Exports one function. The build script reads invocations line by line: `entry! {` starts a line of its own.
///
/// `fn name(..) -> hipError_t { .. }` has a body of type `Result<(), hipError_t>`, so that `?` works; its outcome
/// becomes the thread's last error. `quiet fn` is the same but leaves the error state alone. `plain fn name(..) -> T,
/// or value { .. }` returns any other type, and `value` if the body panics. `as "symbol"` after a name exports it
/// under another symbol. Several names with commas between them export one body under each; they stand on one line.
macro_rules! entry {
    ($(#[$meta:meta])* fn $name:ident, $($alias:ident),+ ($($args:tt)*) -> hipError_t $body:block) => {
        entry! { $(#[$meta])* fn $name($($args)*) -> hipError_t $body }
        entry! { #[doc = concat!("As [`", stringify!($name), "`].")] fn $($alias),+ ($($args)*) -> hipError_t $body }
    };
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> hipError_t $body:block) => {
        entry! { @export $name, concat!(stringify!($name)), [$(#[$meta])*] ($($arg: $ty),*) -> $crate::error::hipError_t {
            let observed = entry! { @observed stringify!($name), ($($arg: $ty),*) };
            $crate::entry::recorded(&const { $crate::entry::call(stringify!($name)) }, observed, || -> Result<(), $crate::error::hipError_t> { $body })
        } }
    };
    ($(#[$meta:meta])* fn $name:ident as $symbol:literal ($($arg:ident: $ty:ty),* $(,)?) -> hipError_t $body:block) => {
        entry! { @export $name, $symbol, [$(#[$meta])*] ($($arg: $ty),*) -> $crate::error::hipError_t {
            let observed = entry! { @observed $symbol, ($($arg: $ty),*) };
            $crate::entry::recorded(&const { $crate::entry::call($symbol) }, observed, || -> Result<(), $crate::error::hipError_t> { $body })
        } }
    };
    ($(#[$meta:meta])* quiet fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> hipError_t $body:block) => {
        entry! { @export $name, concat!(stringify!($name)), [$(#[$meta])*] ($($arg: $ty),*) -> $crate::error::hipError_t {
            let observed = entry! { @observed stringify!($name), ($($arg: $ty),*) };
            $crate::entry::quiet(&const { $crate::entry::call(stringify!($name)) }, observed, || -> Result<(), $crate::error::hipError_t> { $body })
        } }
    };
    ($(#[$meta:meta])* plain fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty, or $fallback:expr; $body:block) => {
        entry! { @export $name, concat!(stringify!($name)), [$(#[$meta])*] ($($arg: $ty),*) -> $ret {
            let observed = entry! { @observed stringify!($name), ($($arg: $ty),*) };
            $crate::entry::plain(stringify!($name), observed, $fallback, || -> $ret { $body })
        } }
    };
    ($(#[$meta:meta])* plain fn $name:ident as $symbol:literal ($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty, or $fallback:expr; $body:block) => {
        entry! { @export $name, $symbol, [$(#[$meta])*] ($($arg: $ty),*) -> $ret {
            let observed = entry! { @observed $symbol, ($($arg: $ty),*) };
            $crate::entry::plain($symbol, observed, $fallback, || -> $ret { $body })
        } }
    };
    // A call that the timeline or a profiler wants to know of. Only then are the arguments copied to where their bytes can be read: with their
    // own addresses taken, they would be in memory at every call.
    (@observed $symbol:expr, ($($arg:ident: $ty:ty),*)) => {
        if $crate::traced::is_watched() {
            Some($crate::traced::begin(
                const { &$crate::traced::Entry {
                    name: $symbol,
                    function: $crate::callbacks::function($symbol, &[$(::std::mem::size_of::<$ty>()),*]),
                    parameters: &[$($crate::shown::Parameter {
                        name: stringify!($arg),
                        show: <$ty as $crate::shown::Shown>::SHOW,
                    }),*],
                } },
                &[$($crate::callbacks::bytes(&{ $arg })),*],
            ))
        } else {
            None
        }
    };
    (@export $name:ident, $symbol:expr, [$(#[$meta:meta])*] ($($arg:ident: $ty:ty),*) -> $ret:ty $body:block) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers must be null or point to what HIP documents for this function.
        #[unsafe(export_name = $symbol)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret $body
    };
}

/// `hiprtcResult` of a function that is not implemented.
pub const HIPRTC_ERROR_INTERNAL_ERROR: u32 = 11;

thread_local! {
    /// The last code that was an error; a later success leaves it.
    static LAST: Cell<hipError_t> = const { Cell::new(hipSuccess) };
    /// The code of the last recorded call, success included.
    static LATEST: Cell<hipError_t> = const { Cell::new(hipSuccess) };
}

/// An exported call.
pub const fn call(name: &'static str) -> Call {
    Call { name, rule: capture_rules::rule }
}

/// Runs the body of an entry and records its outcome for [`last_error`] and [`take_latest`].
pub fn recorded(
    call: &'static Call,
    observed: Option<Observed>,
    body: impl FnOnce() -> Result<(), hipError_t>,
) -> hipError_t {
    let code = admitted(call, body);
    record(code);
    if let Some(observed) = observed {
        observed.end(Some(code));
    }
    code
}

/// Runs the body of an entry that leaves the error state alone.
pub fn quiet(
    call: &'static Call,
    observed: Option<Observed>,
    body: impl FnOnce() -> Result<(), hipError_t>,
) -> hipError_t {
    let code = admitted(call, body);
    if let Some(observed) = observed {
        observed.end(Some(code));
    }
    code
}

/// Runs a body unless open captures forbid the call.
fn admitted(call: &'static Call, body: impl FnOnce() -> Result<(), hipError_t>) -> hipError_t {
    let body = || {
        capture::admit(|| current::device().ok())?;
        body()
    };
    guarded(call.name, Err(hipErrorUnknown), || capture::making(call, body)).err().unwrap_or(hipSuccess)
}

/// Runs the body of an entry of any return type; `fallback` is returned if it panics.
pub fn plain<T>(name: &'static str, observed: Option<Observed>, fallback: T, body: impl FnOnce() -> T) -> T {
    let value = guarded(name, fallback, body);
    if let Some(observed) = observed {
        observed.end(None);
    }
    value
}

/// As [`plain`], and neither the timeline nor a profiler is told of it.
fn guarded<T>(name: &'static str, fallback: T, body: impl FnOnce() -> T) -> T {
    made::call(name);
    // Behind the body: destructors of user objects run with nothing locked.
    let _call = destructors::Call::begin();
    // The body owns what it works on or holds it in locks that a panic poisons: nothing half-done stays reachable.
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        say_panicked(name, payload.as_ref());
        // Dropping a payload can panic in turn.
        std::mem::forget(payload);
        fallback
    })
}

#[cold]
fn say_panicked(name: &str, payload: &(dyn Any + Send)) {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    tracing::error!("{name} panicked: {text}");
}

/// What a generated refusal returns; it is an error like any other.
#[cold]
pub fn refuse(observed: Option<Observed>) -> hipError_t {
    record(hipErrorNotSupported);
    if let Some(observed) = observed {
        observed.end(Some(hipErrorNotSupported));
    }
    hipErrorNotSupported
}

/// Names a function that a program called although it is not implemented, and says why if there is a reason.
#[cold]
pub fn say_unsupported(name: &'static str, reason: &'static str) {
    log::init();
    tracing::warn!("{name} is not implemented{reason}");
}

fn record(code: hipError_t) {
    LATEST.set(code);
    // HIP's header calls the second "not actually an error": CuPy asks whether events are over, and Thrust then takes the
    // last error for that of its kernel.
    if code != hipSuccess && code != hipErrorNotReady {
        LAST.set(code);
    }
}

/// The calling thread's last error; with `reset` it is forgotten.
///
/// Since HIP 7 a successful call does not hide an earlier error; to clients of an older library it does.
// HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/error_sticky.cpp).
pub fn last_error(reset: bool) -> hipError_t {
    last_error_of(soname::major(), reset)
}

/// As [`last_error`], for a client of a major version of the library.
fn last_error_of(major: u32, reset: bool) -> hipError_t {
    let last = if major < 7 { &LATEST } else { &LAST };
    if reset { last.replace(hipSuccess) } else { last.get() }
}

/// The code of the calling thread's last recorded call, which is then forgotten.
pub fn take_latest() -> hipError_t {
    LATEST.replace(hipSuccess)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::hipErrorInvalidValue;

    static TEST: Call = call("test");

    #[test]
    fn a_panic_becomes_an_unknown_error() {
        assert_eq!(recorded(&TEST, None, || panic!("on purpose")), hipErrorUnknown);
        assert_eq!(last_error(true), hipErrorUnknown);
        assert_eq!(plain("test", None, 7, || panic!("on purpose")), 7);
    }

    #[test]
    fn success_hides_the_last_call_but_not_the_last_error() {
        assert_eq!(recorded(&TEST, None, || Err(hipErrorInvalidValue)), hipErrorInvalidValue);
        assert_eq!(recorded(&TEST, None, || Ok(())), hipSuccess);
        assert_eq!(take_latest(), hipSuccess);
        assert_eq!(last_error(false), hipErrorInvalidValue);
        assert_eq!(last_error(true), hipErrorInvalidValue);
        assert_eq!(last_error(true), hipSuccess);
    }

    #[test]
    fn success_hides_the_last_error_from_clients_of_older_libraries() {
        assert_eq!(recorded(&TEST, None, || Err(hipErrorInvalidValue)), hipErrorInvalidValue);
        assert_eq!(last_error_of(6, false), hipErrorInvalidValue);
        assert_eq!(recorded(&TEST, None, || Ok(())), hipSuccess);
        assert_eq!((last_error_of(6, false), last_error_of(7, false)), (hipSuccess, hipErrorInvalidValue));
        assert_eq!(recorded(&TEST, None, || Err(hipErrorNotReady)), hipErrorNotReady);
        assert_eq!((last_error_of(5, true), last_error_of(5, true)), (hipErrorNotReady, hipSuccess));
    }

    #[test]
    fn work_that_is_not_over_is_the_outcome_of_the_last_call_but_no_error() {
        assert_eq!(recorded(&TEST, None, || Err(hipErrorInvalidValue)), hipErrorInvalidValue);
        assert_eq!(recorded(&TEST, None, || Err(hipErrorNotReady)), hipErrorNotReady);
        assert_eq!((last_error_of(7, true), last_error_of(7, true)), (hipErrorInvalidValue, hipSuccess));
        assert_eq!(take_latest(), hipErrorNotReady);
    }

    #[test]
    fn quiet_entries_leave_the_error_state_alone() {
        assert_eq!(quiet(&TEST, None, || Err(hipErrorNotReady)), hipErrorNotReady);
        assert_eq!(last_error(false), hipSuccess);
        assert_eq!(take_latest(), hipSuccess);
    }

    #[test]
    fn error_state_belongs_to_one_thread() {
        assert_eq!(recorded(&TEST, None, || Err(hipErrorInvalidValue)), hipErrorInvalidValue);
        let other = std::thread::spawn(|| last_error(false)).join().unwrap();
        assert_eq!(other, hipSuccess);
    }
}
