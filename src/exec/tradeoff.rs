//! Plans for less time or for fewer bytes: what the caller wants.

#![forbid(unsafe_code)]

use std::{env, sync::OnceLock};

use super::Options;
use crate::{
    error::{Error, Result},
    schedule::memory::Goal,
};

/// What plans should be good at where [`Options::memory`] does not say.
const VARIABLE: &str = "AQLIPSE_MEMORY";

/// What the plan should be good at; nothing if neither the options nor the environment say. The environment is looked at once.
///
/// # Errors
/// [`Error::NotInitialized`] that says what the variable may hold.
pub(super) fn goal(options: &Options) -> Result<Option<Goal>> {
    static GOAL: OnceLock<Result<Option<Goal>>> = OnceLock::new();
    if options.memory.is_some() {
        return Ok(options.memory);
    }
    GOAL.get_or_init(|| env::var_os(VARIABLE).map(|text| read(&text.to_string_lossy())).transpose()).clone()
}

fn read(text: &str) -> Result<Goal> {
    text.parse().map_err(|error| Error::NotInitialized(format!("{VARIABLE}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_goal_names_the_variable_and_what_it_may_hold() {
        assert_eq!(read("2M"), Ok(Goal::Limit(2 << 20)));
        let Err(Error::NotInitialized(why)) = read("tiny") else { panic!("`tiny` is no goal") };
        assert!(["AQLIPSE_MEMORY", "`tiny`", "smallest"].iter().all(|part| why.contains(part)), "{why}");
    }
}
