//! Why a capture is broken, as a sentence: which call, on which stream, in which thread, which rule it broke, and what
//! to call instead.

use std::{borrow::Cow, fmt, thread};

use super::{
    super::{Stream, StreamKind},
    call::{self, Class},
};

/// Why a capture is broken, or a call about one refused.
pub(crate) struct Reason {
    call: Cow<'static, str>,
    on: Option<On>,
    rule: Cow<'static, str>,
    instead: &'static str,
}

/// The stream that a call was made on.
enum On {
    Default,
    Stream(u64),
}

impl Reason {
    /// The exported call that the thread is in, or `otherwise` where it is in none, broke `rule`.
    pub(crate) fn new(otherwise: &str, rule: impl Into<Cow<'static, str>>) -> Self {
        let (call, known) = match call::current() {
            Some(call) => (Cow::Borrowed(call.name), call.rule()),
            None => (otherwise.to_owned().into(), None),
        };
        Self { call, on: None, rule: rule.into(), instead: known.map_or("", |known| known.instead) }
    }

    /// As [`Reason::new`], with the rule that the call has; `class` is that of `otherwise`.
    pub(crate) fn of(otherwise: &str, class: Class) -> Self {
        let class = call::current().and_then(call::Call::rule).map_or(class, |known| known.class);
        Self::new(otherwise, class.rule())
    }

    /// The call was made on this stream.
    pub(crate) fn on(mut self, stream: &Stream) -> Self {
        self.on =
            Some(if stream.kind() == StreamKind::Legacy { On::Default } else { On::Stream(stream.id()) });
        self
    }

    /// Whether it says on which stream the call was made.
    pub(crate) fn has_stream(&self) -> bool {
        self.on.is_some()
    }

    /// What to do instead, where that follows from the rule and not from the call.
    pub(crate) fn instead(mut self, advice: &'static str) -> Self {
        self.instead = advice;
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.call)?;
        match self.on {
            Some(On::Default) => f.write_str(" on the default stream")?,
            Some(On::Stream(id)) => write!(f, " on stream {id}")?,
            None => {}
        }
        write!(f, " in {}: {}", calling_thread(), self.rule)?;
        if self.instead.is_empty() { Ok(()) } else { write!(f, "; instead, {}", self.instead) }
    }
}

/// The calling thread, by its name if it has one.
pub(super) fn calling_thread() -> String {
    let thread = thread::current();
    match thread.name() {
        Some(name) => format!("thread {name:?}"),
        None => format!("a thread without a name, {:?}", thread.id()),
    }
}
