//! The code objects that findings name instructions of.

#![forbid(unsafe_code)]

use std::{
    collections::HashMap,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::LazyLock,
};

use emulator::Dispatched;
use loader::Bytes;
use parking_lot::Mutex;

use super::{finding::Code, report};

/// A kernel that was loaded: the symbol of its descriptor, the code object, and whether it is one of the runtime's.
type Kernel = (Box<str>, Bytes<'static>, bool);

/// By the address of the descriptor. A later kernel there takes the place of an earlier one.
static KERNELS: LazyLock<Mutex<HashMap<u64, Kernel>>> = LazyLock::new(Mutex::default);

/// Takes note of a kernel that may be dispatched.
pub(crate) fn kernel_loaded(descriptor: u64, symbol: &str, object: &Bytes<'static>, is_own: bool) {
    KERNELS.lock().insert(descriptor, (symbol.into(), object.clone(), is_own));
}

/// Whether the kernel of a descriptor is one of the runtime's.
pub(super) fn is_own(descriptor: u64) -> bool {
    KERNELS.lock().get(&descriptor).is_some_and(|(.., is_own)| *is_own)
}

/// Where the code of a dispatch is, in a file beside the report; nowhere, if there is no report or the kernel is not known.
pub(super) fn of(dispatch: &Dispatched<'_>) -> Code {
    let known = KERNELS.lock().get(&dispatch.kernel_object).cloned();
    let Some((symbol, object, _)) = known else { return Code::default() };
    let mut hasher = DefaultHasher::new();
    object.hash(&mut hasher);
    let Some(path) = report::beside(&format!("{:x}.co", hasher.finish())) else { return Code::default() };
    if !path.exists() && fs::write(&path, &*object).is_err() {
        return Code::default();
    }
    Code {
        object: path.to_string_lossy().into_owned(),
        descriptor: symbol.into(),
        entry: dispatch.entry.wrapping_sub(dispatch.kernel_object),
    }
}
