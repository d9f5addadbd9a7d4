//! Programs that are compiled at run time.

use std::ffi::{CStr, c_char, c_int};

use hiprtc::{Error, Program};
use parking_lot::Mutex;

use super::{
    architecture,
    result::{
        HIPRTC_ERROR_INTERNAL_ERROR, HIPRTC_ERROR_INVALID_INPUT, HIPRTC_ERROR_INVALID_PROGRAM, code, coded,
        hiprtcResult, of, of_caller,
    },
};
use crate::{
    caller,
    handle::{Kind, Table},
    types::hiprtcProgram,
};

/// `HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION`.
const NO_LOWERED_NAMES: hiprtcResult = 9;

static PROGRAMS: Table<Mutex<Program>> = Table::new(Kind::Program);

/// Does `work` on a program.
fn with<T>(
    program: hiprtcProgram,
    work: impl FnOnce(&mut Program) -> Result<T, hiprtcResult>,
) -> Result<T, hiprtcResult> {
    let found = PROGRAMS.look(program.0).ok_or(HIPRTC_ERROR_INVALID_PROGRAM)?;
    let mut program = found.lock();
    work(&mut program)
}

/// A copy of the caller's text.
///
/// # Safety
/// `text` is null or a terminated string.
unsafe fn text(text: *const c_char) -> Result<String, hiprtcResult> {
    // SAFETY: the caller's promise.
    let text = unsafe { caller::text(text) }.map_err(of_caller)?;
    Ok(text.to_string_lossy().into_owned())
}

/// Copies of `count` texts.
///
/// # Safety
/// `texts` is null or has `count` pointers, each of them null or to a terminated string.
unsafe fn texts<T>(
    texts: *const *const c_char,
    count: c_int,
    copy: impl Fn(&CStr) -> T,
) -> Result<Vec<T>, hiprtcResult> {
    let count = usize::try_from(count).map_err(|_| HIPRTC_ERROR_INVALID_INPUT)?;
    // SAFETY: the caller's promise.
    let pointers = unsafe { caller::read_slice(texts, count) }.map_err(of_caller)?;
    // SAFETY: as above.
    let copies = pointers.into_iter().map(|text| unsafe { caller::text(text) }.map(&copy));
    copies.collect::<Result<_, _>>().map_err(of_caller)
}

entry! {
    /// Stores the version of the interface: that of NVRTC 9.0, whose functions it has.
    // HIP: 5.2.3.
    plain fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        if major.is_null() || minor.is_null() {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        // SAFETY: the caller's pointers, which are not null.
        let written = unsafe { caller::write(major, 9).and_then(|()| caller::write(minor, 0)) };
        code(written.map_err(of_caller))
    }
}

entry! {
    /// Makes a program of a source, a name for messages, and headers with the names that it includes them by.
    plain fn hiprtcCreateProgram(program: *mut hiprtcProgram, source: *const c_char, name: *const c_char, count: c_int, headers: *const *const c_char, names: *const *const c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        coded(|| {
            // HIP: 5.2.3.
            if program.is_null() {
                return Err(HIPRTC_ERROR_INVALID_PROGRAM);
            }
            // SAFETY: the caller's string, null or terminated.
            let source = unsafe { caller::text(source) }.map_err(of_caller)?;
            // SAFETY: the caller's string, which is not null.
            let name = if name.is_null() { String::new() } else { unsafe { text(name) }? };
            // SAFETY: the caller's arrays.
            let texts_of_headers = unsafe { texts(headers, count, |text| text.to_bytes().to_vec()) }?;
            // SAFETY: as above.
            let names = unsafe { texts(names, count, |text| text.to_string_lossy().into_owned()) }?;
            let headers = names.into_iter().zip(texts_of_headers).collect();
            let made = Program::new(source.to_bytes(), &name, headers).map_err(of)?;
            let handle = PROGRAMS.give(Mutex::new(made)).map_err(of_caller)?;
            // SAFETY: the caller's pointer, which is not null.
            unsafe { caller::write(program, hiprtcProgram(handle)) }.map_err(of_caller)
        })
    }
}

entry! {
    /// Ends a program and forgets its handle.
    plain fn hiprtcDestroyProgram(program: *mut hiprtcProgram) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        coded(|| {
            // SAFETY: the caller's pointer, null or readable.
            let handle = unsafe { caller::read(program) }.map_err(of_caller)?;
            PROGRAMS.remove(handle.0).ok_or(HIPRTC_ERROR_INVALID_PROGRAM)?;
            // SAFETY: the caller's pointer, which was just read and is the caller's to change.
            unsafe { caller::write(program, hiprtcProgram::NULL) }.map_err(of_caller)
        })
    }
}

entry! {
    /// Has the symbol of a kernel or variable be looked up by the compilation.
    plain fn hiprtcAddNameExpression(program: hiprtcProgram, expression: *const c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's string, null or terminated.
        code(unsafe { text(expression) }.and_then(|expression| {
            with(program, |program| program.add_name_expression(&expression).map_err(of))
        }))
    }
}

entry! {
    /// Stores the symbol of a name expression. It is the program's, and stays until that is compiled again or ends.
    plain fn hiprtcGetLoweredName(program: hiprtcProgram, expression: *const c_char, lowered: *mut *const c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        coded(|| {
            // SAFETY: the caller's string, null or terminated.
            let expression = unsafe { text(expression) }?;
            if lowered.is_null() {
                return Err(HIPRTC_ERROR_INVALID_INPUT);
            }
            with(program, |program| {
                let name = program.lowered_name(&expression).map_err(|error| match error {
                    Error::NotCompiled => NO_LOWERED_NAMES,
                    other => of(other),
                })?;
                // SAFETY: the caller's pointer, which is not null.
                unsafe { caller::write(lowered, name.as_ptr()) }.map_err(of_caller)
            })
        })
    }
}

entry! {
    /// Compiles a program, for the current device unless an option names an architecture.
    plain fn hiprtcCompileProgram(program: hiprtcProgram, count: c_int, options: *const *const c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's array.
        let options = unsafe { texts(options, count, |text| text.to_string_lossy().into_owned()) };
        code(options.and_then(|options| {
            with(program, |program| program.compile(&options, architecture).map_err(of))
        }))
    }
}

/// Stores the length of one of a program's results.
///
/// # Safety
/// `bytes` is null or writable.
unsafe fn size(
    program: hiprtcProgram,
    bytes: *mut usize,
    result: impl Fn(&Program) -> Result<usize, Error>,
) -> hiprtcResult {
    if bytes.is_null() {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    code(with(program, |program| {
        let length = result(program).map_err(of)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(bytes, length) }.map_err(of_caller)
    }))
}

/// Copies one of a program's results.
///
/// # Safety
/// `out` is null or has room for as many bytes as [`size`] stores.
unsafe fn copy(
    program: hiprtcProgram,
    out: *mut c_char,
    result: impl Fn(&Program) -> Result<&[u8], Error>,
) -> hiprtcResult {
    if out.is_null() {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    code(with(program, |program| {
        let bytes = result(program).map_err(of)?;
        // SAFETY: the caller's buffer is as large as the result, and no other call uses it.
        unsafe { out.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }))
}

entry! {
    /// Stores the size of the code object.
    plain fn hiprtcGetCodeSize(program: hiprtcProgram, bytes: *mut usize) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { size(program, bytes, |program| Ok(program.code()?.len())) }
    }
}

entry! {
    /// Copies the code object.
    plain fn hiprtcGetCode(program: hiprtcProgram, out: *mut c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's buffer.
        unsafe { copy(program, out, Program::code) }
    }
}

entry! {
    /// Stores the size of the bitcode.
    plain fn hiprtcGetBitcodeSize(program: hiprtcProgram, bytes: *mut usize) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { size(program, bytes, |program| Ok(program.bitcode()?.len())) }
    }
}

entry! {
    /// Copies the bitcode of a program that was compiled with `-fgpu-rdc`.
    plain fn hiprtcGetBitcode(program: hiprtcProgram, out: *mut c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's buffer.
        unsafe { copy(program, out, Program::bitcode) }
    }
}

entry! {
    /// Stores the size of the log with the NUL at its end; 0 for an empty one.
    // HIP: 5.2.3.
    plain fn hiprtcGetProgramLogSize(program: hiprtcProgram, bytes: *mut usize) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { size(program, bytes, |program| Ok(if program.log().is_empty() { 0 } else { program.log().len() + 1 })) }
    }
}

entry! {
    /// Copies the log, which ends in NUL unless it is empty.
    plain fn hiprtcGetProgramLog(program: hiprtcProgram, out: *mut c_char) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        if out.is_null() {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        code(with(program, |program| {
            if program.log().is_empty() {
                return Ok(());
            }
            // A NUL inside would end it.
            let log = program.log().replace('\0', " ");
            // SAFETY: the caller's buffer has room for the log and a NUL.
            unsafe { caller::write_text(&log, out, log.len() + 1) }.map_err(of_caller)
        }))
    }
}
