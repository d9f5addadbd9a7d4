//! Linkers, behind the functions of both names.

use std::{
    ffi::{c_char, c_uint, c_void},
    fs,
    path::Path,
};

use hiprtc::{Error, Input, Linker};
use parking_lot::Mutex;

use super::architecture;
use crate::{
    api::module::options::Logs,
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    handle::{Kind, Table},
    types::{hipJitInputType, hipJitOption, hipJitOptionOptimizationLevel},
};

/// Linkers that live.
pub static LINKERS: Table<Mutex<State>> = Table::new(Kind::Linker);

/// A linker and the logs of its caller.
pub struct State {
    linker: Linker,
    logs: Option<Logs>,
}

// SAFETY: the pointers among the logs are the caller's, who promises buffers that live as long as the linker; they are
// written only under the lock around the state.
unsafe impl Send for State {}

/// `hipJitOptionIRtoISAOptExt`: an array of options.
const OPTIONS: c_uint = 10000;
/// `hipJitOptionIRtoISAOptCountExt`: how many.
const OPTION_COUNT: c_uint = 10001;

/// What can go wrong before or while a linker works.
pub enum Fault {
    /// The caller's pointers, handles or numbers.
    Value,
    /// The linker's reasons.
    Link(Error),
}

impl From<hipError_t> for Fault {
    fn from(_: hipError_t) -> Self {
        Self::Value
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Link(error)
    }
}

/// Makes a linker.
///
/// # Safety
/// The arrays are null or have `count` elements, and their values are what the options promise: logs that live as long as
/// the linker, and an array of terminated strings.
pub unsafe fn create(
    count: c_uint,
    options: *const hipJitOption,
    values: *mut *mut c_void,
) -> Result<usize, Fault> {
    if count > 0 && (options.is_null() || values.is_null()) {
        return Err(Fault::Value);
    }
    let mut linker = Linker::default();
    // SAFETY: the caller's arrays.
    let (named, given) = unsafe {
        (
            caller::read_slice(options, count as usize)?,
            caller::read_slice(values.cast_const(), count as usize)?,
        )
    };
    let value = |wanted: c_uint| {
        let place = named.iter().position(|option| option.0 == wanted)?;
        given.get(place).copied()
    };
    if let Some(level) = value(hipJitOptionOptimizationLevel.0) {
        // The value itself is the level, in the place of a pointer.
        let level = level as usize;
        if level > 3 {
            return Err(Fault::Value);
        }
        linker.add_options([format!("-O{level}")]);
    }
    if let (Some(list), Some(length)) = (value(OPTIONS), value(OPTION_COUNT)) {
        // SAFETY: the caller's array, which has as many strings.
        let texts =
            unsafe { caller::read_slice(list.cast::<*const c_char>().cast_const(), length as usize) }?;
        // SAFETY: as above.
        let texts = texts
            .into_iter()
            .map(|text| unsafe { caller::text(text) }.map(|text| text.to_string_lossy().into_owned()));
        linker.add_options(texts.collect::<Result<Vec<_>, _>>()?);
    }
    // SAFETY: the caller's arrays.
    let logs = unsafe { Logs::find(count, options, values) }?;
    Ok(LINKERS.give(Mutex::new(State { linker, logs: Some(logs) }))?)
}

/// What a type of input is here; none is of another vendor.
fn input(kind: hipJitInputType) -> Option<Input> {
    Some(match kind.0 {
        3 => Input::Object,
        4 => Input::Library,
        100 => Input::Bitcode,
        101 => Input::BundledBitcode,
        102 => Input::BundledArchive,
        _ => return None,
    })
}

/// Adds an input.
///
/// # Safety
/// `data` is null or has `size` bytes; `name` is null or a terminated string.
pub unsafe fn add_data(
    linker: usize,
    kind: hipJitInputType,
    data: *const c_void,
    size: usize,
    name: *const c_char,
) -> Result<(), Fault> {
    let found = LINKERS.look(linker).ok_or(Fault::Value)?;
    let kind = input(kind).ok_or(Fault::Value)?;
    if data.is_null() || size == 0 {
        return Err(Fault::Value);
    }
    // SAFETY: the caller's bytes.
    let bytes = unsafe { caller::read_slice(data.cast::<u8>(), size) }?;
    let name = match name.is_null() {
        true => "an input without a name".into(),
        // SAFETY: the caller's string, which is not null.
        false => unsafe { caller::text(name) }?.to_string_lossy().into_owned(),
    };
    Ok(found.lock().linker.add(kind, &name, bytes)?)
}

/// Adds a file.
///
/// # Safety
/// `path` is null or a terminated string.
pub unsafe fn add_file(linker: usize, kind: hipJitInputType, path: *const c_char) -> Result<(), Fault> {
    let found = LINKERS.look(linker).ok_or(Fault::Value)?;
    let kind = input(kind).ok_or(Fault::Value)?;
    // SAFETY: the caller's string, null or terminated.
    let path = unsafe { caller::text(path) }?.to_str().map_err(|_| hipErrorInvalidValue)?;
    let bytes = fs::read(Path::new(path))
        .map_err(|source| Error::Input { name: path.into(), why: source.to_string() })?;
    Ok(found.lock().linker.add(kind, path, bytes)?)
}

/// Links. The code object is the linker's, and stays until that ends or links again.
///
/// # Safety
/// The pointers are null or writable.
pub unsafe fn complete(linker: usize, code: *mut *mut c_void, size: *mut usize) -> Result<(), Fault> {
    let found = LINKERS.look(linker).ok_or(Fault::Value)?;
    if code.is_null() {
        return Err(Fault::Value);
    }
    let mut state = found.lock();
    let state = &mut *state;
    let linked = state.linker.complete(architecture).map(|bytes| (bytes.as_ptr(), bytes.len()));
    let log = state.linker.log();
    let (info, error) = if linked.is_ok() { (log, "") } else { ("", log) };
    if let Some(logs) = state.logs.take() {
        // SAFETY: the promise of the caller who made the linker.
        unsafe { logs.tell_both(info, error) }?;
    }
    let (bytes, length) = linked?;
    // SAFETY: the caller's pointers, null or writable.
    unsafe {
        caller::write(code, bytes.cast_mut().cast())?;
        caller::write_if_wanted(size, length);
    }
    Ok(())
}

/// Ends a linker.
pub fn destroy(linker: usize) -> Result<(), Fault> {
    LINKERS.remove(linker).map(drop).ok_or(Fault::Value)
}
