//! Calls as captures see them: what a call is to a capture, and which call the thread is in.
//!
//! The names of calls, and which of these classes each has, are the caller's: the exported surface has a table of them.

use std::cell::Cell;

/// What a call is to captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Becomes a node where its stream captures.
    Captured,
    /// Moves what later nodes depend on, where its stream captures.
    Mark,
    /// Concerns no capture.
    Allowed,
    /// Asks for a stream's capture; the default stream has none that could be asked for while a blocking one captures.
    Asks,
    /// Begins, ends or steers a capture.
    Session,
    /// Waits for a stream, or asks how far it is.
    Waits,
    /// Waits for an event, or asks whether it has been reached.
    WaitsEvent,
    /// Waits for everything on a device.
    WaitsDevice,
    /// Acts at once, next to any stream's order.
    Unsafe,
    /// Acts at once, and is refused by name since HIP 7.
    Restricted,
    /// Works on the default stream and waits for it.
    DefaultStream,
    /// Works on the thread's own stream and waits for it.
    ThreadStream,
    /// Calls back when a stream gets there, with an argument that no graph can hold.
    Callback,
    /// Is ordered by a stream, but there is no node for it.
    Uncapturable,
}

impl Class {
    /// Whether a thread that a capture restrains may not make such a call.
    pub fn is_unsafe(self) -> bool {
        matches!(self, Self::Unsafe | Self::Restricted)
    }

    /// The rule that such a call breaks, as the end of a sentence about it.
    pub(super) fn rule(&self) -> &'static str {
        match self {
            Self::Captured | Self::Mark | Self::Callback => {
                "the default stream would wait for a blocking stream that captures and has nothing to wait for"
            }
            Self::DefaultStream => {
                "it waits for the default stream, which no call may while a stream captures"
            }
            Self::Waits | Self::WaitsDevice | Self::ThreadStream => {
                "what is captured has not been submitted, so nobody can wait for it or ask how far it is"
            }
            Self::WaitsEvent => {
                "the event marks a place in a graph, which is reached only when that is launched"
            }
            Self::Unsafe => "it acts at once, and a graph that relies on it would be launched without it",
            Self::Restricted => {
                "it changes what later work relies on, and a graph would be launched without it"
            }
            Self::Uncapturable => "there is no node that could hold it",
            Self::Allowed | Self::Asks | Self::Session => "the capture is not in a state that allows it",
        }
    }
}

/// What a capture does to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What the call is to captures.
    pub class: Class,
    /// What to do instead; empty where nothing is refused.
    pub instead: &'static str,
}

/// A call by its name.
pub struct Call {
    /// What errors call it.
    pub name: &'static str,
    /// Looks the rule of a name up; asked only while a capture is open.
    pub rule: fn(&str) -> Option<Rule>,
}

impl Call {
    pub(super) fn rule(&self) -> Option<Rule> {
        (self.rule)(self.name)
    }
}

thread_local! {
    static MAKING: Cell<Option<&'static Call>> = const { Cell::new(None) };
}

/// Runs the body of an exported call: until it returns, errors name it. A call inside another goes by the outer name.
pub fn making<T>(call: &'static Call, body: impl FnOnce() -> T) -> T {
    struct Leave<'a>(&'a Cell<Option<&'static Call>>, Option<&'static Call>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    // There as long as the thread: nothing has to be dropped.
    MAKING.with(|making| {
        let outer = making.get();
        making.set(outer.or(Some(call)));
        let _leave = Leave(making, outer);
        body()
    })
}

/// The exported call that the thread is in.
pub(super) fn current() -> Option<&'static Call> {
    MAKING.try_with(Cell::get).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_inside_another_goes_by_the_outer_name() {
        static CALLS: [Call; 2] =
            [Call { name: "outer", rule: |_| None }, Call { name: "inner", rule: |_| None }];
        let name = || current().map(|call| call.name);
        assert_eq!(name(), None);
        making(&CALLS[0], || {
            making(&CALLS[1], || assert_eq!(name(), Some("outer")));
            assert_eq!(name(), Some("outer"));
        });
        assert_eq!(name(), None);
    }
}
