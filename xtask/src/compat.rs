//! `cargo xtask compat`: COMPAT.md, which says of each exported symbol whether it is written and what proves it.
//!
//! A test says what it proves in a comment, `// proves: hipFoo, hipBar`, before its function; in other languages
//! anywhere in the file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, Result, exports, file_error, read, root, surface};

const FILE: &str = "COMPAT.md";
/// Where tests are.
const TESTED: [&str; 4] = ["capi/src", "capi/tests", "tests", "xtask/tests"];
const LANGUAGES: [&str; 6] = ["rs", "c", "cpp", "hip", "h", "py"];

/// Writes COMPAT.md.
///
/// # Errors
/// [`Error::File`], and [`Error::Surface`] if a test proves a symbol that is not exported.
pub fn write() -> Result {
    let path = root().join(FILE);
    fs::write(&path, render()?).map_err(file_error(&path))
}

/// Compares COMPAT.md with what [`write()`] would write.
///
/// # Errors
/// [`Error::Stale`]; otherwise as [`write()`].
pub fn check() -> Result {
    if fs::read_to_string(root().join(FILE)).ok() == Some(render()?) {
        Ok(())
    } else {
        Err(Error::Stale { command: "compat", files: vec![FILE.into()] })
    }
}

fn render() -> Result<String> {
    let exports = exports()?;
    let written = surface::implemented(&root().join("capi/src"), &exports).map_err(Error::Surface)?;
    let proofs = proofs()?;
    for (symbol, tests) in &proofs {
        if !exports.iter().any(|export| export.symbol == *symbol) {
            let tests = tests.iter().cloned().collect::<Vec<_>>().join(", ");
            return Err(Error::Surface(format!("{tests} proves {symbol}, which is not exported")));
        }
    }

    let mut classes: BTreeMap<&str, Vec<&surface::Export>> = BTreeMap::new();
    let (extensions, exports): (Vec<_>, Vec<_>) = exports.iter().partition(|export| export.extension);
    for &export in &exports {
        classes.entry(&export.class).or_default().push(export);
    }
    let mut text = format!(
        "# Compatibility\n\n\
         Written by `cargo xtask compat`; do not edit. {} of {} exported symbols are implemented. The others return\n\
         `hipErrorNotSupported` and say their name once at `AQLIPSE_LOG=warn`. The node is the symbol's version.\n",
        exports.iter().filter(|export| written.binary_search(&export.symbol).is_ok()).count(),
        exports.len()
    );
    if !extensions.is_empty() {
        let names: Vec<_> = extensions.iter().map(|export| format!("`{}`", export.symbol)).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "\nNot counted, for no release of HIP has them: {}.\n", names.join(", "));
        classes.insert("extensions", extensions);
    }
    for (class, mut members) in classes {
        members.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        let done = members.iter().filter(|export| written.binary_search(&export.symbol).is_ok()).count();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {class}: {done} of {}\n\n", members.len());
        text.push_str("| symbol | node | status | proved by |\n|---|---|---|---|\n");
        for export in members {
            let status =
                if written.binary_search(&export.symbol).is_ok() { "implemented" } else { "not yet" };
            let tests =
                proofs.get(&export.symbol).into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "| `{}` | {} | {status} | {tests} |", export.symbol, export.node);
        }
    }
    Ok(text)
}

/// Symbols that tests prove, each with the tests.
fn proofs() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut proofs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for directory in TESTED {
        for path in files(&root().join(directory))? {
            let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            for (symbols, test) in claims(&read(&path)?) {
                let test = test.map_or_else(|| name.clone(), |test| format!("{name}: {test}"));
                for symbol in symbols {
                    proofs.entry(symbol).or_default().insert(test.clone());
                }
            }
        }
    }
    Ok(proofs)
}

/// The claims of one file: symbols, and the Rust function that follows the comment.
fn claims(text: &str) -> Vec<(Vec<String>, Option<String>)> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let mut claims = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(list) = line.strip_prefix("// proves: ") else { continue };
        let symbols = list.split(',').map(|symbol| symbol.trim().to_owned()).collect();
        let after = lines[index + 1..].iter().find(|line| !line.starts_with("//") && !line.starts_with('#'));
        let test = after.and_then(|line| line.strip_prefix("fn ")).and_then(|rest| rest.split_once('('));
        claims.push((symbols, test.map(|(name, _)| name.to_owned())));
    }
    claims
}

/// Files of [`LANGUAGES`] below a directory, which need not exist.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(file_error(directory))? {
        let path = entry.map_err(file_error(directory))?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path
            .extension()
            .is_some_and(|extension| LANGUAGES.iter().any(|language| extension == *language))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_names_its_symbols_and_the_test_after_it() {
        let text = "// proves: hipA, hipB\n#[test]\nfn a_rule() {}\n// proves: hipC\nint main(void) {}\n";
        let expected = [
            (vec!["hipA".to_owned(), "hipB".to_owned()], Some("a_rule".to_owned())),
            (vec!["hipC".to_owned()], None),
        ];
        assert_eq!(claims(text), expected);
    }
}
