//! A `tracing` subscriber that writes lines to stderr; the thunk includes this file too.

use std::{
    fmt::{self, Write as _},
    io::Write as _,
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
};

/// The level that a value of `AQLIPSE_LOG` names; errors only, if it names none.
pub fn level(value: &str) -> LevelFilter {
    value.trim().parse().unwrap_or(LevelFilter::ERROR)
}

/// Writes events up to a level to stderr, a line each.
pub struct Stderr<L> {
    /// Tells the last level that is written.
    pub level: L,
}

impl<L: Fn() -> LevelFilter + 'static> Subscriber for Stderr<L> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= (self.level)()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some((self.level)())
    }

    // Spans are never enabled; the trait wants an answer nevertheless.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::with_capacity(120));
        line.0.push_str("aqlipse: ");
        line.0.push_str(match *event.metadata().level() {
            Level::ERROR => "error:",
            Level::WARN => "warning:",
            Level::INFO => "info:",
            Level::DEBUG => "debug:",
            Level::TRACE => "trace:",
        });
        event.record(&mut line);
        line.0.push('\n');
        // One write, so that lines of several threads do not mix. A closed stderr is no reason to fail a call.
        let _ = std::io::stderr().write_all(line.0.as_bytes());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// One line: the message as it is, other fields as `name=value`.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_name_levels_and_nonsense_means_errors() {
        assert_eq!(level("warn"), LevelFilter::WARN);
        assert_eq!(level(" TRACE "), LevelFilter::TRACE);
        assert_eq!(level("off"), LevelFilter::OFF);
        assert_eq!(level("loud"), LevelFilter::ERROR);
    }
}
