//! What a program is run on.

use std::fmt;

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Configuration {
    /// Our library on the device that it emulates itself.
    Ours,
    /// Our library on AMD's ROCr on our thunk.
    Rocr,
    /// AMD's library on AMD's ROCr on our thunk: what the others are compared with.
    Amd,
}

impl Configuration {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Ours, Self::Rocr, Self::Amd];

    /// The name on the command line and in markers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Rocr => "rocr",
            Self::Amd => "amd",
        }
    }

    /// The configuration of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|configuration| configuration.name() == name)
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours, emulated",
            Self::Rocr => "ours on ROCr",
            Self::Amd => "AMD's",
        })
    }
}
