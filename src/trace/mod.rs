//! Logging: `AQLIPSE_LOG=error|warn|info|debug|trace` prints to stderr; unset or `off` prints nothing.

mod stderr;

use std::sync::Once;

use tracing::level_filters::LevelFilter;

pub use self::stderr::{Stderr, level};

/// The environment variable that selects the log level.
pub const VARIABLE: &str = "AQLIPSE_LOG";

/// Installs the stderr log for this process if `AQLIPSE_LOG` asks for one and no other subscriber is installed.
///
/// A library must not decide where its host's logs go, so the Rust API never calls this by itself: the command does.
pub fn init_from_env() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let level = std::env::var(VARIABLE).map_or(LevelFilter::OFF, |value| level(&value));
        if level > LevelFilter::OFF {
            // Another subscriber that stands already keeps its place.
            let _ = tracing::subscriber::set_global_default(Stderr { level: move || level });
        }
    });
}
