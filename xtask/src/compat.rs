//! `cargo xtask compat`: COMPAT.md, which says of each exported symbol what proves it, or why it is not supported.
//!
//! What succeeds and has no effect, by itself or in a part, says so with a reason, and is not counted as implemented.
//!
//! A symbol counts as implemented if it is written and a test proves it. A test says what it proves in a
//! comment, `// proves: hipFoo, hipBar`, before its function; in other languages anywhere in the file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, Result, exports, file_error, headers, pages, read, root, surface};

const FILE: &str = "COMPAT.md";
/// Where tests are.
const TESTED: [&str; 4] = ["capi/src", "capi/tests", "tests", "xtask/tests"];
const LANGUAGES: [&str; 6] = ["rs", "c", "cpp", "hip", "h", "py"];

/// Why what is not implemented is not: a line for a symbol, or for all of a class that have none of their own.
const REASONS: &str = "capi/unsupported.tsv";

/// What succeeds and does nothing, and why: a line for a symbol, or for a part of one, which is named behind it.
const ACCEPTED: &str = "capi/accepted.tsv";

/// What is exported beside the names of AMD's releases, in a word, and why it is not counted among them.
const UNCOUNTED: [(surface::Origin, &str, &str); 2] = [
    (surface::Origin::Newer, "newer", "newer than the releases"),
    (surface::Origin::Extension, "extensions", "for no release of HIP has them"),
];

/// Writes COMPAT.md.
///
/// # Errors
/// [`Error::File`], and [`Error::Surface`] if a test proves a symbol that is not exported.
pub fn write() -> Result {
    pages::write(&[(FILE, Surface::read()?.render())])
}

/// Compares COMPAT.md with what [`write()`] would write.
///
/// # Errors
/// [`Error::Stale`]; otherwise as [`write()`].
pub fn check() -> Result {
    pages::check("compat", &[(FILE, Surface::read()?.render())])
}

/// Symbols that are written and that no test proves, and symbols that are not written and have no reason, each with
/// what is missing.
///
/// # Errors
/// As [`write()`].
pub fn gaps() -> Result<Vec<String>> {
    let surface = Surface::read()?;
    let gap = |export: &surface::Export| match surface.status(export) {
        Status::Unproven => Some(format!("{} is written, but no test proves it", export.symbol)),
        Status::Unsupported(None) => {
            Some(format!("{} is not written, and {REASONS} does not say why", export.symbol))
        }
        Status::Implemented(_) | Status::Accepted(..) | Status::Unsupported(Some(_)) => None,
    };
    let stale = surface.reasons.keys().filter(|name| surface.written.binary_search(name).is_ok());
    let stale = stale.map(|name| format!("{name} is written, and {REASONS} says why it is not"));
    let hollow = surface.accepted.keys().filter(|name| surface.written.binary_search(name).is_err());
    let hollow = hollow.map(|name| format!("{name} is not written, and {ACCEPTED} says that it is accepted"));
    Ok(surface.exports.iter().filter_map(gap).chain(stale).chain(hollow).collect())
}

/// The exported surface, and what is said about it.
struct Surface {
    exports: Vec<surface::Export>,
    /// Sorted.
    written: Vec<String>,
    proofs: BTreeMap<String, BTreeSet<String>>,
    /// By symbol, or by `class` and its name.
    reasons: BTreeMap<String, String>,
    accepted: Accepted,
}

/// What has no effect, by symbol: the part, which is empty if it is the whole call, and the reason.
type Accepted = BTreeMap<String, Vec<(String, String)>>;

/// What a program can expect of a symbol.
enum Status<'a> {
    /// It does what is documented: these tests say so.
    Implemented(&'a BTreeSet<String>),
    /// It succeeds and has no effect, for a reason: these tests say that it does no harm.
    Accepted(&'a str, &'a BTreeSet<String>),
    /// It is written, and nothing says that it works.
    Unproven,
    /// It refuses, for a reason if one is given.
    Unsupported(Option<&'a str>),
}

impl Surface {
    fn read() -> Result<Self> {
        let exports = exports()?;
        let written = surface::implemented(&root().join("capi/src"), &exports).map_err(Error::Surface)?;
        let proofs = proofs()?;
        for (symbol, tests) in &proofs {
            if !exports.iter().any(|export| export.symbol == *symbol) {
                let tests = tests.iter().cloned().collect::<Vec<_>>().join(", ");
                return Err(Error::Surface(format!("{tests} proves {symbol}, which is not exported")));
            }
        }
        let reasons = reasons(&read(&root().join(REASONS))?, &exports).map_err(Error::Surface)?;
        let accepted = accepted(&read(&root().join(ACCEPTED))?, &exports).map_err(Error::Surface)?;
        Ok(Self { exports, written, proofs, reasons, accepted })
    }

    /// What of a symbol has no effect.
    fn without_effect(&self, symbol: &str) -> &[(String, String)] {
        self.accepted.get(symbol).map_or(&[], Vec::as_slice)
    }

    fn status(&self, export: &surface::Export) -> Status<'_> {
        let written = self.written.binary_search(&export.symbol).is_ok();
        match self.proofs.get(&export.symbol) {
            Some(tests) if written => {
                match self.without_effect(&export.symbol).iter().find(|(part, _)| part.is_empty()) {
                    Some((_, reason)) => Status::Accepted(reason, tests),
                    None => Status::Implemented(tests),
                }
            }
            None if written => Status::Unproven,
            _ => {
                let of_class = || self.reasons.get(&format!("class {}", export.class));
                let reason = self.reasons.get(&export.symbol).or_else(of_class);
                Status::Unsupported(reason.map(String::as_str))
            }
        }
    }

    fn is_implemented(&self, export: &surface::Export) -> bool {
        matches!(self.status(export), Status::Implemented(_))
    }

    /// The symbols of an origin, by class.
    fn classes(&self, origin: surface::Origin) -> BTreeMap<&str, Vec<&surface::Export>> {
        let mut classes: BTreeMap<&str, Vec<&surface::Export>> = BTreeMap::new();
        for export in self.exports.iter().filter(|export| export.origin == origin) {
            classes.entry(&export.class).or_default().push(export);
        }
        classes
    }

    fn render(&self) -> String {
        let released: Vec<_> =
            self.exports.iter().filter(|export| export.origin == surface::Origin::Release).collect();
        let implemented = released.iter().filter(|export| self.is_implemented(export)).count();
        let accepted =
            released.iter().filter(|export| matches!(self.status(export), Status::Accepted(..))).count();
        let mut text = format!(
            "# Compatibility\n\n\
             Written by `cargo xtask compat`; do not edit. {implemented} of {} exported symbols are implemented, and each of\n\
             them is proven by the tests named beside it. {accepted} more are accepted, without effect: they check what they\n\
             are given, succeed and do nothing, for the reason beside them, as some parts of implemented ones do\n\
             (`{ACCEPTED}`). The others return `hipErrorNotSupported`, or what their type has for a failure, and say their\n\
             name once at `AQLIPSE_LOG=warn`; beside them stands the reason, which is of `{REASONS}`. The node is the\n\
             symbol's version. The symbols are those of AMD's libraries up to 7.2 and, as a test says, all functions of\n\
             the newest header at hand, that of HIP {}.\n",
            released.len(),
            headers::NEWEST
        );
        for (origin, _, why) in UNCOUNTED {
            let names = self.exports.iter().filter(|export| export.origin == origin);
            let names: Vec<_> = names.map(|export| format!("`{}`", export.symbol)).collect();
            if !names.is_empty() {
                // Writing to a string cannot fail.
                let _ = write!(text, "\nNot counted, {why}: {}.\n", names.join(", "));
            }
        }
        let released = self.classes(surface::Origin::Release).into_iter();
        let released = released.map(|(class, members)| (class.to_owned(), members));
        let uncounted = UNCOUNTED.iter().flat_map(|(origin, word, _)| {
            let classes = self.classes(*origin).into_iter();
            classes.map(move |(class, members)| (format!("{class} ({word})"), members))
        });
        for (title, members) in released.chain(uncounted) {
            self.section(&mut text, &title, members);
        }
        text
    }

    fn section(&self, text: &mut String, title: &str, mut members: Vec<&surface::Export>) {
        members.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        let done = members.iter().filter(|export| self.is_implemented(export)).count();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {title}: {done} of {}\n\n", members.len());
        text.push_str("| symbol | node | status | proved by, or the reason |\n|---|---|---|---|\n");
        for export in members {
            let named = |tests: &BTreeSet<String>| tests.iter().cloned().collect::<Vec<_>>().join(", ");
            let (status, mut because) = match self.status(export) {
                Status::Implemented(tests) => ("implemented", named(tests)),
                Status::Accepted(reason, tests) => {
                    ("accepted, without effect", format!("{reason}; {}", named(tests)))
                }
                Status::Unproven => ("not proven", String::new()),
                Status::Unsupported(reason) => ("unsupported", reason.unwrap_or_default().to_owned()),
            };
            for (part, reason) in
                self.without_effect(&export.symbol).iter().filter(|(part, _)| !part.is_empty())
            {
                let _ = write!(because, "; *{part}: accepted, without effect* ({reason})");
            }
            let _ = writeln!(text, "| `{}` | {} | {status} | {because} |", export.symbol, export.node);
        }
    }
}

/// Functions of the newest header that are not exported or not counted, and exported names that it alone should have and
/// does not have; `None` if its bindings are not here.
///
/// # Errors
/// [`Error::File`], [`Error::Surface`].
pub fn against_the_newest_header() -> Result<Option<Vec<String>>> {
    let Some(newest) = headers::newest_functions()? else { return Ok(None) };
    let exports = exports()?;
    let counted = |name: &String| {
        exports.iter().any(|export| export.symbol == *name && export.origin == surface::Origin::Release)
    };
    let missing = newest.iter().filter(|name| !counted(name));
    let missing =
        missing.map(|name| format!("{name} is in the header of HIP {} and not counted", headers::NEWEST));
    let unknown =
        exports.iter().filter(|export| export.is_of_newest_header && !newest.contains(&export.symbol));
    let unknown =
        unknown.map(|export| format!("{} is not in the header of HIP {}", export.symbol, headers::NEWEST));
    Ok(Some(missing.chain(unknown).collect()))
}

/// Reads the table of reasons, whose rows are `symbol reason` or `class NAME reason`, tab-separated, after a header.
fn reasons(text: &str, exports: &[surface::Export]) -> std::result::Result<BTreeMap<String, String>, String> {
    let mut reasons = BTreeMap::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let fail = |what: &str| format!("{REASONS}:{}: {what}", index + 1);
        let (name, reason) = line.split_once('\t').ok_or_else(|| fail("expected two columns"))?;
        let known = match name.strip_prefix("class ") {
            Some(class) => exports.iter().any(|export| export.class == class),
            None => exports.iter().any(|export| export.symbol == name),
        };
        if !known {
            return Err(fail("neither an exported symbol nor a class of them"));
        }
        if reason.trim().is_empty() {
            return Err(fail("no reason"));
        }
        if reasons.insert(name.to_owned(), reason.to_owned()).is_some() {
            return Err(fail("a second reason"));
        }
    }
    Ok(reasons)
}

/// Reads the table of what has no effect, whose rows are `symbol reason` or `symbol PART reason`, tab-separated before
/// the reason, after a header.
fn accepted(text: &str, exports: &[surface::Export]) -> std::result::Result<Accepted, String> {
    let mut accepted = Accepted::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let fail = |what: &str| format!("{ACCEPTED}:{}: {what}", index + 1);
        let (name, reason) = line.split_once('\t').ok_or_else(|| fail("expected two columns"))?;
        let (symbol, part) = name.split_once(' ').unwrap_or((name, ""));
        if !exports.iter().any(|export| export.symbol == symbol) {
            return Err(fail("no exported symbol"));
        }
        if reason.trim().is_empty() {
            return Err(fail("no reason"));
        }
        let parts = accepted.entry(symbol.to_owned()).or_default();
        if parts.iter().any(|(other, _)| other == part || other.is_empty() || part.is_empty()) {
            return Err(fail("a second reason"));
        }
        parts.push((part.to_owned(), reason.to_owned()));
    }
    Ok(accepted)
}

/// A comment that says what a test proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where it stands, relative to the workspace.
    pub file: String,
    /// The Rust function that follows; `None` in other languages.
    pub test: Option<String>,
    /// What is proven.
    pub symbols: Vec<String>,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.test.iter().try_for_each(|test| write!(f, ": {test}"))
    }
}

/// Every claim of a test.
///
/// # Errors
/// [`Error::File`].
pub fn claimed() -> Result<Vec<Claim>> {
    let mut claimed = Vec::new();
    for directory in TESTED {
        for path in files(&root().join(directory))? {
            let file = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            let found = claims(&read(&path)?).into_iter();
            claimed.extend(found.map(|(symbols, test)| Claim { file: file.clone(), test, symbols }));
        }
    }
    Ok(claimed)
}

/// Symbols that tests prove, each with the tests.
fn proofs() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut proofs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for claim in claimed()? {
        let test = claim.to_string();
        for symbol in claim.symbols {
            proofs.entry(symbol).or_default().insert(test.clone());
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

/// Sources in Rust, C and their relatives below a directory, which need not exist.
///
/// # Errors
/// [`Error::File`].
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
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
    use surface::{Export, Origin, Returns};

    fn export(symbol: &str, class: &str) -> Export {
        let (symbol, node, class) = (symbol.into(), "hip_4.2".into(), class.into());
        Export {
            symbol,
            node,
            class,
            returns: Returns::Error,
            capture: "none".into(),
            origin: Origin::Release,
            is_of_newest_header: false,
        }
    }

    #[test]
    fn what_is_not_proven_does_not_count() {
        let exports = vec![export("hipA", "one"), export("hipB", "one"), export("hipC", "two")];
        let reasons = reasons("symbol\treason\nclass two\tno device has it\n", &exports).unwrap();
        let proofs = BTreeMap::from(["hipA", "hipC"].map(|symbol| (symbol.to_owned(), BTreeSet::new())));
        let written = vec!["hipA".into(), "hipB".into()];
        let surface = Surface { exports, written, proofs, reasons, accepted: Accepted::new() };
        assert!(matches!(surface.status(&surface.exports[0]), Status::Implemented(_)));
        assert!(matches!(surface.status(&surface.exports[1]), Status::Unproven));
        assert!(matches!(surface.status(&surface.exports[2]), Status::Unsupported(Some("no device has it"))));
        let text = surface.render();
        assert!(text.contains("1 of 3 exported symbols") && text.contains("## one: 1 of 2"), "{text}");
    }

    #[test]
    fn what_no_release_has_is_listed_and_not_counted() {
        let newer = Export { origin: Origin::Newer, ..export("hipB", "one") };
        let own = Export { origin: Origin::Extension, ..export("ownC", "one") };
        let exports = vec![export("hipA", "one"), newer, own];
        let written = exports.iter().map(|export| export.symbol.clone()).collect::<Vec<_>>();
        let proofs = written.iter().map(|symbol| (symbol.clone(), BTreeSet::new())).collect();
        let surface =
            Surface { exports, written, proofs, reasons: BTreeMap::new(), accepted: Accepted::new() };
        let text = surface.render();
        for part in [
            "1 of 1 exported symbols",
            "Not counted, newer than the releases: `hipB`.",
            "Not counted, for no release of HIP has them: `ownC`.",
            "## one: 1 of 1\n",
            "## one (newer): 1 of 1\n",
            "## one (extensions): 1 of 1\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_has_no_effect_is_a_status_of_its_own_and_a_part_is_a_remark() {
        let exports = vec![export("hipA", "one"), export("hipB", "one")];
        let accepted =
            accepted("head\nhipA\tno hardware has it\nhipB some flags\tno effect\n", &exports).unwrap();
        let tests = BTreeSet::from(["test".to_owned()]);
        let proofs = BTreeMap::from(["hipA", "hipB"].map(|symbol| (symbol.to_owned(), tests.clone())));
        let written = vec!["hipA".into(), "hipB".into()];
        let text = Surface { exports, written, proofs, reasons: BTreeMap::new(), accepted }.render();
        for part in [
            "1 of 2 exported symbols are implemented",
            " 1 more are accepted, without effect",
            "| `hipA` | hip_4.2 | accepted, without effect | no hardware has it; test |",
            "| `hipB` | hip_4.2 | implemented | test; *some flags: accepted, without effect* (no effect) |",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_has_no_effect_is_exported_and_has_one_reason() {
        let exports = [export("hipA", "one")];
        let read = |lines: &str| accepted(&format!("head\n{lines}\n"), &exports);
        assert_eq!(read("hipA x\twhy\nhipA y\twhy").unwrap()["hipA"].len(), 2);
        for (lines, what) in [
            ("hipA", "expected two columns"),
            ("hipB\twhy", "no exported symbol"),
            ("hipA\t ", "no reason"),
            ("hipA\twhy\nhipA\twhy", "a second reason"),
            ("hipA\twhy\nhipA x\twhy", "a second reason"),
        ] {
            assert!(read(lines).unwrap_err().ends_with(what), "{lines}");
        }
    }

    #[test]
    fn reasons_are_for_what_is_exported() {
        let exports = [export("hipA", "one")];
        let read = |line: &str| reasons(&format!("head\n{line}\n"), &exports);
        assert_eq!(read("hipA\twhy").unwrap()["hipA"], "why");
        for (line, what) in [
            ("hipA", "expected two columns"),
            ("hipB\twhy", "neither an exported symbol nor a class of them"),
            ("class two\twhy", "neither an exported symbol nor a class of them"),
            ("hipA\t ", "no reason"),
            ("hipA\twhy\nhipA\twhy", "a second reason"),
        ] {
            assert!(read(line).unwrap_err().ends_with(what), "{line}");
        }
    }

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
