//! The libraries that AMD's own runtime loads instead of its kernel driver's, and the `lsmod` beside them.

use std::{fmt::Write, fs, path::Path};

use crate::{
    Error, Result, file_error,
    link::{Profile, Shared, link, replace},
    read, root,
};

/// The table of exports, relative to the workspace.
pub const EXPORTS: &str = "thunk/exports.tsv";
/// The library that ROCr 5 loads, as file and as `DT_SONAME`.
pub const HSAKMT: &str = "libhsakmt.so.1";
/// The library that newer ROCr loads if told so.
pub const DTIF: &str = "libdtif.so";
/// Version node of every symbol of [`HSAKMT`].
pub const NODE: &str = "HSAKMT_1";

/// A row of the table: a symbol, and the libraries that export it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The symbol.
    pub symbol: String,
    /// Files that export it: [`HSAKMT`], [`DTIF`] or both.
    pub libraries: Vec<&'static str>,
}

/// The rows of the table of exports.
///
/// # Errors
/// [`Error::File`], and [`Error::Surface`] for a row that makes no sense.
pub fn exports() -> Result<Vec<Export>> {
    let text = read(&root().join(EXPORTS))?;
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let libraries = match line.split_once('\t') {
            Some((_, "both")) => vec![HSAKMT, DTIF],
            Some((_, "hsakmt")) => vec![HSAKMT],
            Some((_, "dtif")) => vec![DTIF],
            _ => return Err(Error::Surface(format!("{EXPORTS}: {line:?} names no library"))),
        };
        let symbol = line.split('\t').next().unwrap_or_default().to_owned();
        Ok(Export { symbol, libraries })
    })
    .collect()
}

/// Links both libraries into `directory`, and puts commands into its folder `bin`.
///
/// # Errors
/// [`Error`] of the table, the linker and the files.
pub fn link_all(archive: &Path, directory: &Path, profile: Profile) -> Result {
    let exports = exports()?;
    for library in [HSAKMT, DTIF] {
        let exported = exports.iter().filter(|export| export.libraries.contains(&library));
        let symbols: Vec<_> = exported.map(|export| export.symbol.as_str()).collect();
        link(&Shared {
            archive,
            library: &directory.join(library),
            soname: library,
            script: &version_script(library, &symbols),
            symbols: &symbols,
            profile,
        })?;
    }
    let bin = directory.join("bin");
    fs::create_dir_all(&bin).map_err(file_error(&bin))?;
    replace(&bin.join("lsmod"), |path| fs::copy(root().join("thunk/bin/lsmod"), path).map(drop))
}

/// One node for all symbols; names that are looked up by `dlsym` need none.
fn version_script(library: &str, symbols: &[&str]) -> String {
    let mut script = String::new();
    let node = if library == HSAKMT { NODE } else { "" };
    // Writing to a string cannot fail.
    let _ = writeln!(script, "{node} {{\n  global:");
    for symbol in symbols {
        let _ = writeln!(script, "    {symbol};");
    }
    script.push_str("  local:\n    *;\n};\n");
    script
}
