//! The counters of the thunk that AMD's ROCr has loaded.

use std::ffi::c_int;

use libloading::os::unix::{Library as Object, RTLD_NOW};

use super::protocol::Counters;

/// Names under which ROCr loads a thunk: as a library it is linked with, and by `HSA_ENABLE_DTIF`.
const THUNKS: [&str; 2] = ["libhsakmt.so.1", "libdtif.so"];

/// Numbers in the structure of counters at most; those that we know come first.
const ROOM: usize = 32;

/// `HSAKMT_STATUS_SUCCESS`.
const SUCCESS: u32 = 0;

/// Opens only what is loaded already (`dlfcn.h`); not every platform's `libloading` names it.
const RTLD_NOLOAD: c_int = libc::RTLD_NOLOAD;

/// Reads the counters of a device.
#[derive(Debug)]
pub struct Source {
    read: unsafe extern "C" fn(u32, *mut [u64; ROOM]) -> u32,
    /// Holds the function in memory.
    _thunk: Object,
}

impl Source {
    /// The loaded thunk, if there is one that counts.
    ///
    /// A library that was loaded by another has its symbols in no scope of ours, so it is asked for by its
    /// name.
    pub fn find() -> Option<Self> {
        THUNKS.into_iter().find_map(|name| {
            // SAFETY: nothing is loaded, so nothing runs.
            let thunk = unsafe { Object::open(Some(name), RTLD_NOW | RTLD_NOLOAD) }.ok()?;
            // SAFETY: aqlipse_thunk.h: the function's signature.
            let read = unsafe { thunk.get("aqlipseThunkCounters") }.ok().map(|symbol| *symbol)?;
            Some(Self { read, _thunk: thunk })
        })
    }

    /// What the first device has processed so far, if the thunk tells.
    pub fn read(&self) -> Option<Counters> {
        let mut room = [0; ROOM];
        // SAFETY: the function writes its structure of counters, for which there is room.
        let status = unsafe { (self.read)(0, &raw mut room) };
        (status == SUCCESS).then(|| Counters(std::array::from_fn(|at| room[at])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_thunk_has_no_counters() {
        assert!(Source::find().is_none());
    }
}
