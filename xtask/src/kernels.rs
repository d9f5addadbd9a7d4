//! `cargo xtask kernels`: device code objects that are committed, so that users need no clang.
//!
//! A folder of device code has a table, `build.txt`, whose format its first lines explain. The folder is copied,
//! its commands run in the copy, and the results are compared with what is committed or replace it. The same
//! clang makes the same bytes: `kernels/clang-version.txt` says which one made what is committed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use crate::{Error, Result, file_error, output, read, root};

const VERSION_FILE: &str = "kernels/clang-version.txt";

/// Folders with a table.
const FOLDERS: [&str; 2] = ["kernels", "loader/tests/samples"];

/// Headers of `capi/include` that device code may include.
const PUBLIC_HEADERS: [&str; 1] = ["aqlipse/device_graph.h"];

/// One line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    output: String,
    program: String,
    arguments: Vec<String>,
}

/// Rebuilds everything that is committed.
///
/// # Errors
/// [`Error::Start`] and [`Error::Failed`] if clang is missing or refuses a source, [`Error::File`], and
/// [`Error::Usage`] if a table has a line that is none.
pub fn rebuild() -> Result {
    let version = clang_version()?;
    for folder in FOLDERS {
        for (name, bytes) in build(folder)? {
            let path = root().join(folder).join(&name);
            fs::write(&path, &bytes).map_err(file_error(&path))?;
            println!("{:>7} {folder}/{name}", bytes.len());
        }
    }
    let path = root().join(VERSION_FILE);
    fs::write(&path, format!("{version}\n")).map_err(file_error(&path))
}

/// Rebuilds everything aside and compares, if this is the clang that made what is committed.
///
/// # Errors
/// [`Error::Stale`] names the files that differ or do not exist; otherwise as [`rebuild`].
pub fn check() -> Result {
    let (here, there) = (clang_version()?, read(&root().join(VERSION_FILE))?);
    if here != there.trim_end() {
        println!("not compared: the committed device code is of {}, this is {here}", there.trim_end());
        return Ok(());
    }
    let mut stale = Vec::new();
    for folder in FOLDERS {
        for (name, bytes) in build(folder)? {
            if fs::read(root().join(folder).join(&name)).ok() != Some(bytes) {
                stale.push(format!("{folder}/{name}"));
            }
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(Error::Stale { command: "kernels", files: stale }) }
}

/// Whether the compiler is there at all.
pub fn have_clang() -> bool {
    clang_version().is_ok()
}

fn clang_version() -> Result<String> {
    let text = output(Command::new("clang-22").arg("--version"))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Runs a folder's table in a copy of the folder and returns the outputs by name.
fn build(folder: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let original = root().join(folder);
    let steps = parse(&read(&original.join("build.txt"))?).map_err(|line| {
        Error::Usage(format!("{folder}/build.txt:{line}: expected `file | program arguments`"))
    })?;
    let copy = Scratch::new(folder)?;
    for entry in fs::read_dir(&original).map_err(file_error(&original))? {
        let path = entry.map_err(file_error(&original))?.path();
        // Outputs are left behind: a step that uses one must have made it.
        let is_output = steps.iter().any(|step| path.ends_with(&step.output));
        if path.is_file() && !is_output {
            // PANIC: the entry of a directory has a name.
            let to = copy.0.join(path.file_name().expect("a file name"));
            fs::copy(&path, &to).map_err(file_error(&path))?;
        }
    }
    // Device code includes what users include.
    for header in PUBLIC_HEADERS {
        let (from, to) = (root().join("capi/include").join(header), copy.0.join(header));
        to.parent().map_or(Ok(()), fs::create_dir_all).map_err(file_error(&to))?;
        fs::copy(&from, &to).map_err(file_error(&from))?;
    }
    let mut built = Vec::new();
    for step in steps {
        // Relative paths, so that whatever a compiler records of them is the same on every machine.
        output(Command::new(&step.program).current_dir(&copy.0).args(&step.arguments))?;
        let path = copy.0.join(&step.output);
        built.push((step.output, fs::read(&path).map_err(file_error(&path))?));
    }
    Ok(built)
}

/// Reads a table; text after `#` is a comment. The error is the number of a bad line.
fn parse(text: &str) -> std::result::Result<Vec<Step>, usize> {
    let mut steps = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (output, command) = line.split_once('|').ok_or(index + 1)?;
        let mut words = command.split_whitespace().map(String::from);
        let program = words.next().ok_or(index + 1)?;
        steps.push(Step { output: output.trim().to_owned(), program, arguments: words.collect() });
    }
    Ok(steps)
}

/// A directory that is removed when it goes out of scope.
struct Scratch(PathBuf);

impl Scratch {
    fn new(folder: &str) -> Result<Self> {
        let name = format!("aqlipse-{}-{}", process::id(), folder.replace('/', "-"));
        let scratch = Self(env::temp_dir().join(name));
        fs::create_dir_all(&scratch.0).map_err(file_error(&scratch.0))?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it, and there is no caller to report to.
        let _ = fs::remove_dir_all(Path::new(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_list_outputs_and_commands() {
        let steps = parse("# comment\n\na.co | clang-22 -O0 a.cpp -o a.co # why\n").unwrap();
        let arguments = ["-O0", "a.cpp", "-o", "a.co"].map(String::from).to_vec();
        assert_eq!(steps, [Step { output: "a.co".into(), program: "clang-22".into(), arguments }]);
        assert_eq!(parse("\nnonsense"), Err(2));
        assert_eq!(parse("a.co |"), Err(1));
    }
}
