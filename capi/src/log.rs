//! `AQLIPSE_LOG`: what the library says on stderr.
//!
//! A program that runs Rust code of its own may have installed a `tracing` subscriber already; then that one listens.

mod stderr;

use std::{env, sync::Once};

use tracing::level_filters::LevelFilter;

use crate::soname;
use stderr::{Stderr, level};

/// Installs the subscriber on the first call; later calls cost one load.
pub fn init() {
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        let level = env::var("AQLIPSE_LOG").map_or(LevelFilter::ERROR, |value| level(&value));
        if tracing::subscriber::set_global_default(Stderr { level }).is_ok() {
            tracing::info!(
                "aqlipse {}, loaded as libamdhip64.so.{}",
                env!("CARGO_PKG_VERSION"),
                soname::major()
            );
        }
    });
}
