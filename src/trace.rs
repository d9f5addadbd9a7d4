//! Logging: `AQLIPSE_LOG=error|warn|info|debug|trace` prints to stderr; unset or `off` prints nothing.

use std::{io::Write, sync::Once};

use tracing::{Event, Level, Metadata, Subscriber, field::Field, span};

/// The environment variable that selects the log level.
pub const VARIABLE: &str = "AQLIPSE_LOG";

/// Installs the stderr log for this process if `AQLIPSE_LOG` asks for one and no other subscriber is installed.
///
/// A library must not decide where its host's logs go, so the Rust API never calls this by itself: the
/// command and the drop-in library do.
pub fn init_from_env() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let level = match std::env::var(VARIABLE).as_deref() {
            Ok("error") => Level::ERROR,
            Ok("warn") => Level::WARN,
            Ok("info") => Level::INFO,
            Ok("debug") => Level::DEBUG,
            Ok("trace") => Level::TRACE,
            _ => return,
        };
        // Another subscriber that stands already keeps its place.
        let _ = tracing::subscriber::set_global_default(Stderr { level });
    });
}

/// One line per event: `aqlipse LEVEL target: message field=value`.
struct Stderr {
    level: Level,
}

impl Subscriber for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = format!("aqlipse {} {}:", event.metadata().level(), event.metadata().target());
        event.record(&mut |field: &Field, value: &dyn std::fmt::Debug| {
            use std::fmt::Write as _;
            let written = match field.name() {
                "message" => write!(line, " {value:?}"),
                name => write!(line, " {name}={value:?}"),
            };
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        });
        line.push('\n');
        // A closed stderr is no reason to fail what was being logged.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
