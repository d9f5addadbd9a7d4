//! Whether queues that do not move are to be reported.

#![forbid(unsafe_code)]

use std::{env, time::Duration};

use crate::error::{Error, Result};

/// The environment variable with the milliseconds after which a queue that does not move is reported.
pub const WATCHDOG_VARIABLE: &str = "AQLIPSE_WATCHDOG_MS";

/// How long a queue may stand still, if the environment says so.
///
/// # Errors
/// [`Error::NotInitialized`] for what is no number above 0.
pub(super) fn limit_from_env() -> Result<Option<Duration>> {
    let Some(wanted) = env::var_os(WATCHDOG_VARIABLE).filter(|wanted| !wanted.is_empty()) else {
        return Ok(None);
    };
    let limit = wanted.to_str().and_then(|wanted| wanted.trim().parse().ok()).filter(|limit| *limit > 0);
    let refused =
        || Error::NotInitialized(format!("{WATCHDOG_VARIABLE}={}: expected milliseconds", wanted.display()));
    limit.map(|limit| Some(Duration::from_millis(limit))).ok_or_else(refused)
}
