//! Calls of the program's, for the timeline: `AQLIPSE_TRACE`.

use timeline::{Details, is_on, recorder, track::Track};

use crate::error::{hipError_t, hipSuccess};

/// A call that is recorded.
pub(crate) struct Call(Track);

/// A function is called, if calls are recorded.
#[inline]
pub(crate) fn begin(name: &'static str) -> Option<Call> {
    if !is_on() {
        return None;
    }
    std::hint::cold_path();
    let track = Track::here();
    recorder::begin(track, "api", name, Details::default());
    Some(Call(track))
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
        recorder::end_of(self.0, details);
    }
}
