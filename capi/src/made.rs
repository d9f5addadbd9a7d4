//! Which functions a process has called, so that a test can be held to what it says that it proves.
//!
//! With `AQLIPSE_CALLS=FILE` in its environment a process appends a line to FILE when it first calls a function: the
//! symbol, the test that it runs (`NEXTEST_TEST_NAME`) and the name of the program, with tabs between. Without, a call
//! costs the one load that it costs anyway to find out whether the library has been called before.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{IoSlice, Write},
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicPtr, AtomicU8, Ordering},
    },
};

use crate::log;

/// The environment variable that names the file.
pub const VARIABLE: &str = "AQLIPSE_CALLS";

/// No function has been called.
const FIRST: u8 = 0;
/// Calls are not recorded.
const PLAIN: u8 = 1;
/// Calls are recorded.
const RECORDED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(FIRST);

/// More than there are functions.
const SLOTS: usize = 2048;

struct Recorder {
    file: File,
    /// What stands behind the symbol.
    tail: String,
    /// The names that were written, by where they are in memory, each at or behind the slot of its address.
    seen: [AtomicPtr<u8>; SLOTS],
}

/// `None`: it is not asked for, or the file cannot be opened.
static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();

/// Notes that the program calls a function: the first call installs the log, others cost a load.
#[inline]
pub(crate) fn call(name: &'static str) {
    // ORDER: Acquire. The log is there once this says so; pairs with the Release in `first_or_recorded`.
    if STATE.load(Ordering::Acquire) != PLAIN {
        first_or_recorded(name);
    }
}

#[cold]
fn first_or_recorded(name: &'static str) {
    log::init();
    let recorder = RECORDER.get_or_init(Recorder::open);
    let state = if recorder.is_some() { RECORDED } else { PLAIN };
    // ORDER: Release. What the log and the recorder are made of; pairs with the Acquire in `call`.
    STATE.store(state, Ordering::Release);
    if let Some(recorder) = recorder
        && recorder.is_new(name)
    {
        recorder.write(name);
    }
}

impl Recorder {
    fn open() -> Option<Self> {
        let path = env::var_os(VARIABLE)?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file =
            file.inspect_err(|error| tracing::error!("{VARIABLE}: {}: {error}", path.display())).ok()?;
        let test = env::var("NEXTEST_TEST_NAME").unwrap_or_default();
        let program = env::current_exe().unwrap_or_default();
        let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let seen = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
        Some(Self { file, tail: format!("\t{test}\t{program}\n"), seen })
    }

    /// Whether a name was not asked for before.
    fn is_new(&self, name: &'static str) -> bool {
        let name = name.as_ptr().cast_mut();
        for slot in self.seen.iter().cycle().skip(name.addr() % SLOTS).take(SLOTS) {
            // ORDER: Relaxed. Nothing else hangs on the name; the thread that sets it writes the line.
            match slot.compare_exchange(ptr::null_mut(), name, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(taken) if taken == name => return false,
                Err(_) => {}
            }
        }
        true
    }

    fn write(&self, name: &str) {
        let line = [IoSlice::new(name.as_bytes()), IoSlice::new(self.tail.as_bytes())];
        // One write of a short line to a file opened for appending does not mix with other processes' lines.
        if let Err(error) = (&self.file).write_vectored(&line) {
            tracing::error!("{VARIABLE}: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_once_with_the_test_and_the_program() {
        let path = env::temp_dir().join(format!("aqlipse-calls-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let seen = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
        let recorder = Recorder { file, tail: "\ta::test\tprogram\n".into(), seen };
        let names = ["hipMalloc", "hipFree", "hipMalloc"];
        for name in names.into_iter().filter(|name| recorder.is_new(name)) {
            recorder.write(name);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "hipMalloc\ta::test\tprogram\nhipFree\ta::test\tprogram\n");
    }
}
