//! What can go wrong.

use std::{io, path::PathBuf};

/// Why a program or a link failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no compiler, or the one that was chosen cannot be used.
    #[error("{0}")]
    NoCompiler(String),
    /// No architecture was named, and there is no device to take it from.
    #[error("no architecture: name one with --offload-arch, for there is no device to take it from")]
    NoTarget,
    /// An option cannot be used.
    #[error("option {option}: {why}")]
    Option {
        /// As the caller gave it.
        option: String,
        /// The reason.
        why: &'static str,
    },
    /// A header cannot be put where the source looks for it.
    #[error("header {name}: {why}")]
    Header {
        /// Its name.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The compiler refused the source; its text is the program's log.
    #[error("{0}")]
    Compilation(String),
    /// The linker refused its inputs.
    #[error("{0}")]
    Linking(String),
    /// An input of a link is not what its type says, or of a type that cannot be linked.
    #[error("{name}: {why}")]
    Input {
        /// The input.
        name: String,
        /// The reason.
        why: String,
    },
    /// Name expressions come before the compilation.
    #[error("the program is compiled already")]
    Compiled,
    /// The program has not been compiled, or not to this.
    #[error("the program has no such result")]
    NotCompiled,
    /// The program has no such name expression.
    #[error("no name expression {0}")]
    UnknownName(String),
    /// A file could not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// Names the file of an error of the system.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
