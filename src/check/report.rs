//! Where findings go that are not asked for: a file, or stderr.

#![forbid(unsafe_code)]

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use super::finding::Finding;

/// The environment variable with a file to which findings are appended, a line each; they go to stderr otherwise.
pub const REPORT_VARIABLE: &str = "AQLIPSE_CHECK_REPORT";

static FILE: LazyLock<Option<PathBuf>> = LazyLock::new(|| env::var_os(REPORT_VARIABLE).map(PathBuf::from));

/// A file beside the report, whose name begins with the report's; none, if there is no report.
pub(super) fn beside(name: &str) -> Option<PathBuf> {
    let mut path = FILE.as_ref()?.clone().into_os_string();
    path.push("-");
    path.push(name);
    Some(path.into())
}

/// Tells of a finding at once.
pub(super) fn tell(finding: &Finding) {
    if FILE.as_ref().is_some_and(|path| append(path, finding).is_ok()) {
        return;
    }
    // What cannot be written to the file must not look as if it were not there. A closed stderr is no reason to fail.
    drop(writeln!(io::stderr(), "aqlipse check: {finding}"));
}

/// Appends a finding to a report, with one write, so that lines of several processes do not mix.
fn append(path: &Path, finding: &Finding) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{}\n", finding.line()).as_bytes())
}
