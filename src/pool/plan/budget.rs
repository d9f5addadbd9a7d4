//! How long planning may take.

use std::{env, sync::OnceLock, time::Duration};

use crate::error::{Error, Result};

/// Milliseconds that placing the memory of a graph may take.
pub const PLAN_VARIABLE: &str = "AQLIPSE_PLAN_MS";

const DEFAULT: Duration = Duration::from_millis(20);
/// An hour: more is a mistake.
const MOST_MS: u64 = 3_600_000;

/// The time that [`PLAN_VARIABLE`] gives, or 20 ms. The environment is looked at once.
///
/// # Errors
/// [`Error::NotInitialized`] if it is no number of milliseconds up to an hour.
pub fn budget() -> Result<Duration> {
    static BUDGET: OnceLock<Result<Duration>> = OnceLock::new();
    BUDGET.get_or_init(|| read(&env::var_os(PLAN_VARIABLE).unwrap_or_default().to_string_lossy())).clone()
}

fn read(wanted: &str) -> Result<Duration> {
    if wanted.is_empty() {
        return Ok(DEFAULT);
    }
    let number = wanted.parse().ok().filter(|&number| number <= MOST_MS);
    let wrong = || {
        Error::NotInitialized(format!("{PLAN_VARIABLE}={wanted}: expected milliseconds, at most {MOST_MS}"))
    };
    number.map(Duration::from_millis).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_of_milliseconds() {
        assert_eq!(read(""), Ok(DEFAULT));
        assert_eq!(read("0"), Ok(Duration::ZERO));
        assert_eq!(read("250"), Ok(Duration::from_millis(250)));
        for wrong in ["-1", "20ms", "1.5", "3600001", " 20"] {
            let Err(Error::NotInitialized(text)) = read(wrong) else { panic!("{wrong} is taken") };
            assert!(text.contains(PLAN_VARIABLE) && text.contains(wrong), "{text}");
        }
    }
}
