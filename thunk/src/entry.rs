//! The one way to export a function.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
};

use crate::{
    abi::{HSAKMT_STATUS, HSAKMT_STATUS_ERROR, HSAKMT_STATUS_SUCCESS},
    log,
};

/// Result of an entry's body.
pub type Result<T = ()> = std::result::Result<T, HSAKMT_STATUS>;

/// Exports functions that return a status; a body returns [`Result`].
macro_rules! entry {
    ($( $(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block )*) => { $(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers must be null or point to what `hsakmt.h` documents for this function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::abi::HSAKMT_STATUS {
            $crate::entry::status(stringify!($name), move || $body)
        }
    )* };
}

pub(crate) use entry;

/// Runs the body of an entry; a panic becomes a status.
pub fn status(name: &'static str, body: impl FnOnce() -> Result) -> HSAKMT_STATUS {
    let status = match caught(name, Err(HSAKMT_STATUS_ERROR), body) {
        Ok(()) => HSAKMT_STATUS_SUCCESS,
        Err(status) => status,
    };
    tracing::trace!("{name}: {status:?}");
    status
}

/// Runs the body of an entry of any return type; `fallback` is returned if it panics.
pub fn caught<T>(name: &'static str, fallback: T, body: impl FnOnce() -> T) -> T {
    log::init();
    // State that a panic left half-done is behind locks whose holders take it as it is: maps of plain values.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(status("test", || panic!("on purpose")), HSAKMT_STATUS_ERROR);
        assert_eq!(caught("test", 7, || panic!("on purpose")), 7);
    }
}
