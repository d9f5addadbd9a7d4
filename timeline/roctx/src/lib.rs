//! libroctx64.so: the ranges with which programs say what they do, as ROCm's library of that name declares them
//! (`roctx.h` of ROCTX 4.1). They are on the timeline of `aqlipse trace`, also while `hipProfilerStop` pauses it for what
//! the runtime does; without that they are only counted.
//!
//! ```
//! // SAFETY: texts that end with a 0.
//! unsafe {
//!     assert_eq!(roctx_c::roctxRangePushA(c"step".as_ptr()), 0);
//!     assert_eq!(roctx_c::roctxRangePushA(c"forward".as_ptr()), 1);
//! }
//! assert_eq!([(); 3].map(|()| roctx_c::roctxRangePop()), [1, 0, -1]);
//! ```

#![allow(non_snake_case)]

use std::{
    borrow::Cow,
    cell::RefCell,
    ffi::{CStr, c_char, c_int},
};

use parking_lot::Mutex;
use timeline::{Details, is_on, recorder, track::Track};

const CATEGORY: &str = "range";

thread_local! {
    /// Ranges of the thread that were pushed and not popped: whether each was recorded.
    static PUSHED: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
}

/// Ranges that were started and not stopped, by row: their numbers, and whether each was recorded.
static STARTED: Mutex<Vec<Option<(u64, bool)>>> = Mutex::new(Vec::new());

/// The text of a message.
///
/// # Safety
/// Null, or a text that ends with a 0.
unsafe fn text<'t>(message: *const c_char) -> Cow<'t, str> {
    if message.is_null() {
        return "".into();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(message) }.to_string_lossy()
}

/// The version of the interface: 4.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_major() -> u32 {
    4
}

/// What comes behind the point of the version: 1.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_minor() -> u32 {
    1
}

/// Marks a point in the calling thread.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxMarkA(message: *const c_char) {
    if is_on() {
        // SAFETY: the caller's promise.
        let text = unsafe { text(message) };
        recorder::instant(Track::here(), CATEGORY, &text, Details::default());
    }
}

/// Begins a range of the calling thread within those that it has begun; returns how many those are.
///
/// # Safety
/// As for [`roctxMarkA`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxRangePushA(message: *const c_char) -> c_int {
    let is_on = is_on();
    if is_on {
        // SAFETY: the caller's promise.
        let text = unsafe { text(message) };
        recorder::begin(Track::here(), CATEGORY, &text, Details::default());
    }
    PUSHED.with_borrow_mut(|pushed| {
        pushed.push(is_on);
        level(pushed)
    })
}

/// The level of the last one of some ranges.
fn level(ranges: &[bool]) -> c_int {
    c_int::try_from(ranges.len()).map_or(c_int::MAX, |count| count - 1)
}

/// Ends the range of the calling thread that it has begun last; returns how many are around it, or -1 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn roctxRangePop() -> c_int {
    PUSHED.with_borrow_mut(|pushed| {
        let level = level(pushed);
        if pushed.pop() == Some(true) {
            recorder::end_of(Track::here(), Details::default());
        }
        level
    })
}

/// Starts a range that any thread may stop; returns its number, which is not 0.
///
/// # Safety
/// As for [`roctxMarkA`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxRangeStartA(message: *const c_char) -> u64 {
    let number = recorder::flow();
    let mut started = STARTED.lock();
    let row = started.iter().position(Option::is_none).unwrap_or_else(|| {
        started.push(None);
        started.len() - 1
    });
    let is_on = is_on();
    started[row] = Some((number, is_on));
    if is_on {
        // SAFETY: the caller's promise.
        let text = unsafe { text(message) };
        recorder::begin(Track::Ranges(row), CATEGORY, &text, Details::default());
    }
    number
}

/// Stops the range with a number; nothing happens if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn roctxRangeStop(number: u64) {
    let mut started = STARTED.lock();
    let row = started.iter_mut().enumerate().find(|(_, range)| range.is_some_and(|(of, _)| of == number));
    if let Some((row, range)) = row
        && let Some((_, true)) = range.take()
    {
        recorder::end_of(Track::Ranges(row), Details::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_threads_are_nested_and_others_have_numbers() {
        // SAFETY: texts that end with a 0, and null.
        let (first, second) =
            unsafe { (roctxRangeStartA(c"one".as_ptr()), roctxRangeStartA(std::ptr::null())) };
        assert!(first != 0 && second != 0 && first != second);
        roctxRangeStop(first);
        roctxRangeStop(first);
        // SAFETY: as above.
        let third = unsafe { roctxRangeStartA(c"three".as_ptr()) };
        assert_eq!(
            *STARTED.lock(),
            [third, second].map(|range| Some((range, false))),
            "a row that is free is used again"
        );
        assert_eq!(std::thread::spawn(|| roctxRangePop()).join().unwrap(), -1);
        assert_eq!((roctx_version_major(), roctx_version_minor()), (4, 1));
    }
}
