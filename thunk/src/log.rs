//! `AQLIPSE_LOG`: what the thunk says on stderr.

#[path = "../../src/trace/stderr.rs"]
mod stderr;

use std::{env, sync::Once};

use tracing::level_filters::LevelFilter;

use stderr::{Stderr, level};

/// Installs the subscriber on the first call; later calls cost one load.
pub fn init() {
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        let level = env::var("AQLIPSE_LOG").map_or(LevelFilter::ERROR, |value| level(&value));
        // A Rust program that installed a subscriber of its own hears us there.
        let _ = tracing::subscriber::set_global_default(Stderr { level: move || level });
    });
}
