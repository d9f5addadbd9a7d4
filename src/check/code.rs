//! The code objects that findings name instructions of.

#![forbid(unsafe_code)]

use std::{
    collections::HashMap,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, LazyLock},
};

use emulator::{Dispatched, Starting};
use loader::{Bytes, KernelMetadata, ValueKind};
use parking_lot::Mutex;

use super::{finding::Code, report};

/// A kernel that was loaded.
#[derive(Clone)]
struct Kernel {
    /// The symbol of its descriptor.
    symbol: Box<str>,
    object: Bytes<'static>,
    /// Whether it is one of the runtime's.
    is_own: bool,
    /// Whether it is one that copies or fills.
    moves: bool,
    /// Words of its arguments.
    words: u64,
    /// Which of its arguments are pointers to memory, and where they lie.
    pointers: Arc<[(u32, u32)]>,
}

/// By the address of the descriptor. A later kernel there takes the place of an earlier one.
static KERNELS: LazyLock<Mutex<HashMap<u64, Kernel>>> = LazyLock::new(Mutex::default);

/// Takes note of a kernel that may be dispatched.
pub(crate) fn kernel_loaded(
    descriptor: u64,
    metadata: &KernelMetadata,
    object: &Bytes<'static>,
    is_own: bool,
) {
    let arguments = (0..).zip(&metadata.args);
    let pointers = arguments.filter(|(_, arg)| arg.value_kind == ValueKind::GlobalBuffer && arg.size == 8);
    let pointers = pointers.map(|(number, arg)| (number, arg.offset)).collect();
    let (symbol, object) = (metadata.symbol.clone(), object.clone());
    let moves = is_own && ["copy", "fill"].iter().any(|name| symbol.starts_with(name));
    let of_program = metadata.args.iter().filter(|arg| !arg.value_kind.is_hidden());
    let words = of_program.map(|arg| arg.offset + arg.size).max().unwrap_or_default().div_ceil(8).into();
    KERNELS.lock().insert(descriptor, Kernel { symbol, object, is_own, moves, words, pointers });
}

/// Which arguments of a kernel of the program's are pointers to memory, and where they lie; by the kernel's descriptor.
pub(super) fn pointers(descriptor: u64) -> Arc<[(u32, u32)]> {
    let kernels = KERNELS.lock();
    let kernel = kernels.get(&descriptor).filter(|kernel| !kernel.is_own);
    kernel.map_or_else(Default::default, |kernel| kernel.pointers.clone())
}

/// Whether the kernel of a descriptor may tell the host of something: by a word that one of these reaches, or in a way that is
/// not known.
pub(super) fn may_tell_host(dispatch: &Starting<'_>, is_hosts: impl Fn(u64) -> bool) -> bool {
    let known =
        KERNELS.lock().get(&dispatch.kernel_object).map(|kernel| (kernel.is_own, kernel.moves, kernel.words));
    match known {
        Some((true, moves, _)) => !moves,
        Some((false, _, words)) => (0..words).filter_map(|word| (dispatch.word)(word * 8)).any(is_hosts),
        None => true,
    }
}

/// Whether the kernel of a descriptor is one of the runtime's.
pub(super) fn is_own(descriptor: u64) -> bool {
    KERNELS.lock().get(&descriptor).is_some_and(|kernel| kernel.is_own)
}

/// Where the code of a dispatch is, in a file beside the report; nowhere, if there is no report or the kernel is not known.
pub(super) fn of(dispatch: &Dispatched<'_>) -> Code {
    let known = KERNELS.lock().get(&dispatch.kernel_object).cloned();
    let Some(Kernel { symbol, object, .. }) = known else { return Code::default() };
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
