//! Calls of the program's, for the timeline (`AQLIPSE_TRACE`) and for profilers' callbacks.

use std::mem::MaybeUninit;

use aqlipse::{memory_report::count_memory, tell_listener};
use timeline::{Details, is_on, recorder, track::Track};

use crate::{
    callbacks::{Entered, Function},
    error::{hipError_t, hipSuccess},
    shown::Parameter,
};

pub use timeline::is_watched;

/// A function as calls of it are told of.
pub struct Entry {
    /// The symbol.
    pub name: &'static str,
    /// What profilers know it as.
    pub function: Option<&'static Function>,
    /// In the order in which they are passed.
    pub parameters: &'static [Parameter],
}

impl Entry {
    /// The arguments of a call, by the names that the public header gives them if profilers know the function.
    fn details(&self, arguments: &[&[MaybeUninit<u8>]]) -> Details {
        let named = self.function.map_or(&[][..], |function| function.arguments);
        let shown = self.parameters.iter().zip(arguments).enumerate();
        shown.fold(Details::default(), |details, (index, (parameter, argument))| {
            let name = named.get(index).map_or(parameter.name.trim_end_matches('_'), |known| known.name);
            parameter.show.add(details, name, argument)
        })
    }
}

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

/// A function is called, with the bytes of its arguments.
#[cold]
#[inline(never)]
pub fn begin(entry: &'static Entry, arguments: &[&[MaybeUninit<u8>]]) -> Observed {
    let track = is_on().then(Track::here);
    if let Some(track) = track {
        recorder::begin(track, "api", entry.name, entry.details(arguments));
    }
    let entered = entry.function.and_then(|function| Entered::new(function, arguments));
    Box::new(Call { name: entry.name, track, entered })
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
