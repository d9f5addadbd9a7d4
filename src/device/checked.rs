//! Whether what kernels touch is to be noted and compared.

#![forbid(unsafe_code)]

use std::{
    env,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{Backend, clocks};
use crate::error::{Error, Result};

/// The environment variable that has a program checked: `graph`.
pub const CHECK_VARIABLE: &str = "AQLIPSE_CHECK";

/// What it may hold.
const WORD: &str = "graph";

/// Set by a program that checks itself.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Has the runtime checked that is yet to start.
pub(crate) fn want() {
    WANTED.store(true, Ordering::SeqCst);
}

/// Whether a runtime on this kind of devices is checked.
///
/// # Errors
/// [`Error::NotInitialized`] for a variable that holds another word, and where the devices are not emulated.
pub(super) fn wanted(backend: Backend) -> Result<bool> {
    let given = env::var_os(CHECK_VARIABLE).filter(|given| !given.is_empty());
    if let Some(given) = given.as_ref().filter(|given| *given != WORD) {
        let text = format!("{CHECK_VARIABLE}={}: expected {WORD}", given.display());
        return Err(Error::NotInitialized(text));
    }
    let wanted = given.is_some() || WANTED.load(Ordering::SeqCst);
    if wanted && backend != Backend::Emulated {
        let text = "only the emulated device says what kernels touch (AQLIPSE_DEVICE=emulated)";
        return Err(Error::NotInitialized(format!("{CHECK_VARIABLE}: {text}")));
    }
    if wanted {
        clocks::keep();
    }
    Ok(wanted)
}
