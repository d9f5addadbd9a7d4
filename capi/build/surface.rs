//! The exported surface: `exports.tsv`, and the `entry!` invocations found in the sources.
//!
//! Shared by the build script, which generates what is not written yet, and by xtask, which links and reports.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Version nodes of libamdhip64, oldest first; each inherits its predecessor.
pub const NODES: [&str; 18] = [
    "hip_4.2", "hip_4.3", "hip_4.4", "hip_4.5", "hip_5.0", "hip_5.1", "hip_5.2", "hip_5.3", "hip_5.5",
    "hip_5.6", "hip_6.0", "hip_6.1", "hip_6.2", "hip_6.3", "hip_6.4", "hip_6.5", "hip_7.1", "hip_7.2",
];

/// What an exported function returns while it is not implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// `hipError_t`: `hipErrorNotSupported`.
    Error,
    /// `hiprtcResult`: `HIPRTC_ERROR_INTERNAL_ERROR`.
    Hiprtc,
    /// `const char *`: an empty string.
    Text,
    /// A pointer: null.
    Null,
    /// `bool`: false.
    False,
    /// A device ordinal: -1.
    Device,
    /// Nothing.
    Nothing,
    /// A value without any error state: such a function must be implemented.
    Value,
}

/// One row of `exports.tsv`.
#[derive(Clone, Debug)]
pub struct Export {
    /// The symbol as the linker sees it.
    pub symbol: String,
    /// Its version node.
    pub node: String,
    /// Its family, as `COMPAT.md` groups it.
    pub class: String,
    /// Its return type.
    pub returns: Returns,
    /// What captures do to it: a constant of `capture_rules.rs` in small letters, with hyphens.
    pub capture: String,
    /// Whose it is.
    pub origin: Origin,
    /// Whether no library is known to export it, and the newest header declares it.
    pub is_of_newest_header: bool,
}

/// Where an exported symbol comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One of the 590 names of AMD's releases up to 7.2, or one of those that the newest header has beside them.
    Release,
    /// AMD's, but newer than those.
    Newer,
    /// A proposal of AMD's, or our own: no release of HIP exports it.
    Extension,
}

/// Reads the table, whose rows are `symbol node provenance class returns capture`, tab-separated, after a header line.
pub fn parse_table(text: &str) -> Result<Vec<Export>, String> {
    let mut exports = Vec::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let fail = |what: &str| format!("exports.tsv:{}: {what}", index + 1);
        let columns: Vec<_> = line.split('\t').collect();
        let [symbol, node, provenance, class, returns, capture] = columns[..] else {
            return Err(fail("expected six columns"));
        };
        if !NODES.contains(&node) {
            return Err(fail("unknown version node"));
        }
        let origin = match provenance {
            // Its version node is known, or was assigned by us; the newest header alone declares it.
            "map" | "assigned" | "header" => Origin::Release,
            "newer" => Origin::Newer,
            "extension" => Origin::Extension,
            _ => return Err(fail("unknown provenance")),
        };
        let returns = match returns {
            "error" => Returns::Error,
            "hiprtc" => Returns::Hiprtc,
            "text" => Returns::Text,
            "null" => Returns::Null,
            "false" => Returns::False,
            "device" => Returns::Device,
            "nothing" => Returns::Nothing,
            "value" => Returns::Value,
            _ => return Err(fail("unknown return type")),
        };
        if exports.iter().any(|export: &Export| export.symbol == symbol) {
            return Err(fail("duplicate symbol"));
        }
        exports.push(Export {
            symbol: symbol.into(),
            node: node.into(),
            class: class.into(),
            returns,
            capture: capture.into(),
            origin,
            is_of_newest_header: provenance == "header",
        });
    }
    Ok(exports)
}

/// How the macros that export a function are invoked.
const INVOCATIONS: [&str; 3] = ["entry! {", "per_thread! {", "thread_launch! {"];

/// How the macro that exports the functions of a kind of node is invoked: each has a line of its own.
const FAMILY: &str = "node_entries! {";

/// Symbols that the exporting macros of one source file export.
///
/// An invocation starts a line; the first `fn` after it names the symbols, with commas between them, unless `as "symbol"`
/// follows. In a family of entries each `fn` does.
pub fn entries_in(source: &str) -> Vec<String> {
    let mut symbols = Vec::new();
    let mut lines = source.lines().map(str::trim_start);
    while let Some(line) = lines.next() {
        if line.starts_with(FAMILY) {
            let members =
                lines.by_ref().take_while(|line| *line != "}").filter(|line| !line.starts_with("//"));
            symbols.extend(members.filter_map(|line| Some(named(line.split_once("fn ")?.1).0.to_owned())));
            continue;
        }
        if !INVOCATIONS.iter().any(|invocation| line.starts_with(invocation)) {
            continue;
        }
        let signature = lines.by_ref().find(|line| !line.starts_with("//") && !line.starts_with('#'));
        let mut rest = signature.and_then(|line| line.split_once("fn ")).map(|(_, rest)| rest);
        while let Some((name, after)) = rest.map(named) {
            if name.is_empty() {
                // A macro that exports what it is given.
                break;
            }
            let renamed = after.trim_start().strip_prefix("as \"").and_then(|after| after.split_once('"'));
            symbols.push(renamed.map_or(name, |(symbol, _)| symbol).to_owned());
            rest = after.strip_prefix(", ");
        }
    }
    symbols
}

/// The name that a text begins with, and what follows it.
fn named(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()))
}

/// Every `.rs` file below `dir`, in a fixed order.
pub fn sources(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Symbols implemented below `src`, sorted; each must be in the table and there only once.
pub fn implemented(src: &Path, exports: &[Export]) -> Result<Vec<String>, String> {
    let mut symbols = Vec::new();
    for path in sources(src).map_err(|error| format!("{}: {error}", src.display()))? {
        let source = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        for symbol in entries_in(&source) {
            if !exports.iter().any(|export| export.symbol == symbol) {
                return Err(format!("{}: {symbol} is not in exports.tsv", path.display()));
            }
            symbols.push(symbol);
        }
    }
    symbols.sort();
    if let Some(twice) = symbols.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("{} is implemented twice", twice[0]));
    }
    Ok(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_under_the_symbol_they_export() {
        let source = r#"
// entry! { a comment }
entry! {
    /// The fn hipNot is not meant.
    #[cold]
    fn hipOne(a: u32) -> hipError_t {
        Ok(())
    }
}
    entry! {
        quiet fn hipTwo() -> hipError_t { Ok(()) }
    }
entry! {
    fn three as "_Z5threev"(
        a: u32,
    ) -> hipError_t { Ok(()) }
}
        entry! {
            fn $name() -> hipError_t { Ok(()) }
        }
per_thread! {
    fn hipFour_spt for hipFour([stream])
}
entry! {
    fn hipFive, hipFiveToo(a: u32) -> hipError_t { Ok(()) }
}
node_entries! {
    (params: *const Params) => made(params);
    /// The fn hipNot is not meant.
    add fn hipSix;
    set fn hipSeven;
}
"#;
        let found =
            ["hipOne", "hipTwo", "_Z5threev", "hipFour_spt", "hipFive", "hipFiveToo", "hipSix", "hipSeven"];
        assert_eq!(entries_in(source), found);
    }

    #[test]
    fn bad_rows_are_named_by_their_line() {
        let head = "symbol\tnode\tprovenance\tclass\treturns\tcapture\n";
        let row = "hipMalloc\thip_4.2\tmap\tmemory\terror\tallocates\n";
        assert_eq!(parse_table(&format!("{head}{row}")).unwrap()[0].origin, Origin::Release);
        assert_eq!(parse_table(&format!("{head}{row}{row}")).unwrap_err(), "exports.tsv:3: duplicate symbol");
        for (bad, what) in [
            ("hipMalloc", "expected six columns"),
            ("hipMalloc\thip_9.9\tmap\tmemory\terror\tallocates", "unknown version node"),
            ("hipMalloc\thip_4.2\tguess\tmemory\terror\tallocates", "unknown provenance"),
            ("hipMalloc\thip_4.2\tmap\tmemory\tmoney\tallocates", "unknown return type"),
        ] {
            assert_eq!(parse_table(&format!("{head}{bad}\n")).unwrap_err(), format!("exports.tsv:2: {what}"));
        }
    }
}
