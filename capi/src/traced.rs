//! Calls of the program's, for the timeline (`AQLIPSE_TRACE`) and for profilers' callbacks.

use std::mem::MaybeUninit;

use aqlipse::{memory_report::count_memory, tell_listener};
use timeline::{Details, is_on, recorder, track::Track};

use crate::{
    callbacks::{Entered, Function},
    error::{hipError_t, hipSuccess},
};

pub use timeline::is_watched;

/// A call that the timeline or a profiler wants to know of. Entries pass it on in a register.
pub type Observed = Box<Call>;

/// What was told of a call when it began.
pub struct Call {
    name: &'static str,
    /// Where it is recorded.
    track: Option<Track>,
    /// What a profiler was told.
    entered: Option<Entered>,
}

/// Parts of the names of functions that may change how much memory a process has.
const CHANGE_MEMORY: [&str; 8] =
    ["Alloc", "Destroy", "Free", "Instantiate", "Launch", "Pool", "Reset", "Synchronize"];

/// A function is called that profilers know as `function`, with the bytes of its arguments.
#[cold]
#[inline(never)]
pub fn begin(
    name: &'static str,
    function: Option<&'static Function>,
    arguments: &[&[MaybeUninit<u8>]],
) -> Observed {
    let track = is_on().then(Track::here);
    if let Some(track) = track {
        recorder::begin(track, "api", name, Details::default());
    }
    let entered = function.and_then(|function| Entered::new(function, arguments));
    Box::new(Call { name, track, entered })
}

impl Call {
    /// It returns; with a code, if it is a function that returns one.
    #[cold]
    pub fn end(self, code: Option<hipError_t>) {
        let entered = self.entered.map(Entered::returned);
        // What ended during the call a profiler learns before it learns that the call is over.
        tell_listener();
        if let Some(entered) = entered {
            entered.tell();
        }
        let Some(track) = self.track else { return };
        let details = Details::default();
        let details = match code {
            Some(code) if code != hipSuccess => details.text("result", code.name().to_string_lossy()),
            _ => details,
        };
        recorder::end_of(track, details);
        if CHANGE_MEMORY.iter().any(|part| self.name.contains(part)) {
            count_memory();
        }
    }
}
