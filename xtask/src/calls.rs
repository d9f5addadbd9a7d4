//! Holds tests to what they say that they prove: each has called it.
//!
//! `cargo xtask test` has processes write down which functions of the C interface they call (`AQLIPSE_CALLS`). A line
//! holds the function, the test that nextest runs there, and the name of the program.

use std::{collections::BTreeSet, path::Path};

use crate::{Error, Result, compat};

/// The environment variable that names the file.
pub const VARIABLE: &str = "AQLIPSE_CALLS";

/// A function was called by a test in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call<'a> {
    symbol: &'a str,
    /// With its modules; empty if nextest did not start the program.
    test: &'a str,
    program: &'a str,
}

/// Compares what tests say with the calls that were recorded.
///
/// # Errors
/// [`Error::Surface`] names tests that did not call what they say that they prove; [`Error::File`].
pub fn check(recorded: &str) -> Result {
    let wrong = wrong(&compat::claimed()?, recorded);
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::Surface(format!("tests did not call what they say that they prove:\n{}", wrong.join("\n"))))
}

/// What claims say and no call bears out.
fn wrong(claims: &[compat::Claim], recorded: &str) -> Vec<String> {
    let calls: BTreeSet<_> = recorded.lines().filter_map(parse).collect();
    let mut wrong = Vec::new();
    for claim in claims {
        let own: BTreeSet<_> =
            calls.iter().filter(|call| is_of(claim, call)).map(|call| call.symbol).collect();
        if own.is_empty() {
            wrong.push(format!("{claim}: called nothing, or did not run"));
            continue;
        }
        let missing: Vec<_> = claim
            .symbols
            .iter()
            .filter(|symbol| !own.contains(symbol.as_str()))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            wrong.push(format!("{claim}: did not call {}", missing.join(", ")));
        }
    }
    wrong
}

fn parse(line: &str) -> Option<Call<'_>> {
    let mut fields = line.split('\t');
    let (symbol, test, program) = (fields.next()?, fields.next()?, fields.next()?);
    Some(Call { symbol, test, program })
}

/// Whether a call was made by what a claim stands at: a test, or a program of the source's name.
fn is_of(claim: &compat::Claim, call: &Call<'_>) -> bool {
    let stem = Path::new(&claim.file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match &claim.test {
        Some(test) => {
            let mut modules: Vec<_> = call.test.split("::").collect();
            // A file of these names is no module of its own.
            let is_there = ["mod", "main", "lib"].contains(&stem) || modules.contains(&stem);
            modules.pop() == Some(test.as_str()) && is_there
        }
        None => call.program == stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(file: &str, test: Option<&str>, symbols: &[&str]) -> compat::Claim {
        let symbols = symbols.iter().map(|symbol| (*symbol).to_owned()).collect();
        compat::Claim { file: file.into(), test: test.map(String::from), symbols }
    }

    #[test]
    fn a_test_must_have_called_what_it_proves_itself() {
        let claims = [claim("capi/tests/entries/streams.rs", Some("a_rule"), &["hipA", "hipB"])];
        let wrong = |recorded: &str| wrong(&claims, recorded);
        assert!(wrong("hipA\tstreams::a_rule\tentries-1\nhipB\tstreams::a_rule\tentries-1\n").is_empty());
        let of_another =
            "hipA\tstreams::a_rule\tentries-1\nhipB\tevents::a_rule\te\nhipB\tstreams::a_rule_too\te\n";
        assert_eq!(wrong(of_another), ["capi/tests/entries/streams.rs: a_rule: did not call hipB"]);
        assert_eq!(wrong(""), ["capi/tests/entries/streams.rs: a_rule: called nothing, or did not run"]);
    }

    #[test]
    fn a_claim_in_a_program_is_of_the_program_whichever_test_runs_it() {
        let claims = [claim("tests/programs/errors.hip", None, &["hipA"])];
        assert!(wrong(&claims, "hipA\tservices::x\terrors\n").is_empty());
        assert!(wrong(&claims, "hipA\t\terrors\n").is_empty());
        assert!(!wrong(&claims, "hipA\tservices::x\terrors_too\n").is_empty());
    }

    #[test]
    fn modules_may_be_files_of_other_names() {
        let claims = [claim("tests/programs/mod.rs", Some("a_rule"), &["hipA"])];
        assert!(wrong(&claims, "hipA\tprograms::a_rule\tx\n").is_empty());
    }
}
