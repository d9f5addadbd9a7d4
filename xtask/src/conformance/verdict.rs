//! What became of a program.

use std::{collections::BTreeMap, fmt};

use super::{compare::Comparison, configuration::Configuration, programs::Program, run::End};

/// Our configurations, in the order of the report.
pub const OURS: [Configuration; 2] = [Configuration::Ours, Configuration::Rocr];

/// What a program did in one of our configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Which one.
    pub configuration: Configuration,
    /// How it ended.
    pub end: End,
    /// What it printed beside what AMD's library made it print; `None` if either did not complete.
    pub comparison: Option<Comparison>,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The program.
    pub program: Program,
    /// How it ended on AMD's library, and how many lines it printed; `None` if it did not run there.
    pub amd: Option<(End, usize)>,
    /// How many lines the newer release printed; `None` if that is not recorded.
    pub newer: Option<usize>,
    /// Our configurations.
    pub sides: Vec<Side>,
    /// What is wrong, for a person to read; nothing if all is well.
    pub failures: Vec<String>,
    /// What it printed where it completed.
    pub printed: BTreeMap<Configuration, String>,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// What differs in both of our configurations, as `expected` files hold it; `None` where nothing was compared.
    pub fn differing(&self) -> [Option<Vec<String>>; 2] {
        OURS.map(|configuration| Some(self.side(configuration)?.comparison.as_ref()?.lines_of_ours()))
    }

    /// What it did in one of them, if it ran there.
    pub fn side(&self, configuration: Configuration) -> Option<&Side> {
        self.sides.iter().find(|side| side.configuration == configuration)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed() { "ok  " } else { "FAIL" };
        write!(f, "{word} {}", self.program.file_name())?;
        if let Some((_, lines)) = self.amd {
            write!(f, ": {}", counted(lines, "line"))?;
            for side in &self.sides {
                write!(f, "; {}: {}", side.configuration, cell(side))?;
            }
        }
        self.failures.iter().try_for_each(|failure| write!(f, "\n{failure}"))
    }
}

/// A side's result in a few words.
pub fn cell(side: &Side) -> String {
    let Some(comparison) = &side.comparison else {
        return match side.end {
            End::Completed => "not compared".into(),
            end => end.to_string(),
        };
    };
    let counts = [
        (comparison.as_newer, "as 6.3 only"),
        (comparison.as_older(), "as 5.2.3 only"),
        (comparison.as_neither(), "as neither"),
    ];
    // Without a recording there is one release to agree with.
    let word = |word| if comparison.is_recorded { word } else { "not as 5.2.3" };
    let counts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|&(count, text)| format!("{count} {}", word(text)))
        .collect();
    let mut words = if counts.is_empty() { "equal".into() } else { counts.join(", ") };
    if side.end != End::Completed {
        words = format!("{words}, {}", side.end);
    }
    words
}

/// A number of things, in words.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
