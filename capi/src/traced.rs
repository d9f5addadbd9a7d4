//! Calls of the program's, for the timeline: `AQLIPSE_TRACE`.

use aqlipse::memory_report::count_memory;
use timeline::{Details, is_on, recorder, track::Track};

use crate::error::{hipError_t, hipSuccess};

/// A call that is recorded.
pub(crate) struct Call {
    track: Track,
    name: &'static str,
}

/// Parts of the names of functions that may change how much memory a process has.
const CHANGE_MEMORY: [&str; 8] =
    ["Alloc", "Destroy", "Free", "Instantiate", "Launch", "Pool", "Reset", "Synchronize"];

/// A function is called, if calls are recorded.
#[inline]
pub(crate) fn begin(name: &'static str) -> Option<Call> {
    if !is_on() {
        return None;
    }
    std::hint::cold_path();
    let track = Track::here();
    recorder::begin(track, "api", name, Details::default());
    Some(Call { track, name })
}

impl Call {
    /// It returns; with a code, if it is a function that returns one.
    #[cold]
    pub(crate) fn end(self, code: Option<hipError_t>) {
        let details = Details::default();
        let details = match code {
            Some(code) if code != hipSuccess => details.text("result", code.name().to_string_lossy()),
            _ => details,
        };
        recorder::end_of(self.track, details);
        if CHANGE_MEMORY.iter().any(|part| self.name.contains(part)) {
            count_memory();
        }
    }
}
