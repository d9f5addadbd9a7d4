//! What the library says on stderr: as much as `AQLIPSE_LOG` asks for, until the program itself says how much.
//!
//! A program that runs Rust code of its own may have installed a `tracing` subscriber already; then that one listens.

use std::{
    env,
    sync::{Once, OnceLock},
};

use aqlipse::trace::{Stderr, level};
use parking_lot::Mutex;
use tracing::{Dispatch, level_filters::LevelFilter, subscriber::NoSubscriber};

use crate::soname;

/// What a program has asked for by call.
struct Wish {
    enabled: bool,
    level: LevelFilter,
}

static WISH: Mutex<Wish> = Mutex::new(Wish { enabled: false, level: LevelFilter::INFO });

/// The level that `AQLIPSE_LOG` names.
fn asked_by_environment() -> LevelFilter {
    static LEVEL: OnceLock<LevelFilter> = OnceLock::new();
    *LEVEL.get_or_init(|| env::var("AQLIPSE_LOG").map_or(LevelFilter::ERROR, |value| level(&value)))
}

/// Installs the subscriber, once.
pub fn init() {
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        if tracing::subscriber::set_global_default(Stderr { level: current }).is_ok() {
            tracing::info!(
                "aqlipse {}, loaded as libamdhip64.so.{}",
                env!("CARGO_PKG_VERSION"),
                soname::major()
            );
        }
    });
}

/// The last level that is written: what the program wants, or what `AQLIPSE_LOG` asks for.
fn current() -> LevelFilter {
    let wish = WISH.lock();
    if wish.enabled { wish.level } else { asked_by_environment() }
}

fn wish(change: impl FnOnce(&mut Wish)) {
    change(&mut WISH.lock());
    // Each place that logs remembers whether a listener is there, and asks again when another listener is there.
    drop(Dispatch::new(NoSubscriber::default()));
}

/// Says what the program has asked to be said, or no more than `AQLIPSE_LOG` asks for.
pub fn enable(enabled: bool) {
    wish(|wish| wish.enabled = enabled);
}

/// Sets how much is said while that is enabled: 0 for nothing, 1 for errors, up to 5 for everything.
pub fn set_verbosity(verbosity: usize) {
    const LEVELS: [LevelFilter; 6] = [
        LevelFilter::OFF,
        LevelFilter::ERROR,
        LevelFilter::WARN,
        LevelFilter::INFO,
        LevelFilter::DEBUG,
        LevelFilter::TRACE,
    ];
    let level = LEVELS[verbosity.min(LEVELS.len() - 1)];
    wish(|wish| wish.level = level);
}
