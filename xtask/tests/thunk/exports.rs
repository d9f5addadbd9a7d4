//! What the libraries export.

use std::{collections::BTreeMap, fs, path::Path};

use object::{
    Endianness,
    elf::{self, FileHeader64},
    read::elf::{FileHeader, Sym},
};
use xtask::thunk::{DTIF, HSAKMT, NODE, exports};

use crate::{installed, thunk};

/// Exported symbols and the version node of each.
fn exported(library: &Path) -> BTreeMap<String, String> {
    let data = fs::read(library).unwrap();
    let data = data.as_slice();
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, data).unwrap();
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, data).unwrap();
    let mut found = BTreeMap::new();
    for (index, symbol) in symbols.enumerate().filter(|(_, symbol)| !symbol.is_undefined(endian)) {
        let name = str::from_utf8(symbols.symbol_name(endian, symbol).unwrap()).unwrap();
        // The linker defines each node as an absolute symbol of its own name.
        if name.is_empty() || name == NODE {
            continue;
        }
        let version = versions.as_ref().and_then(|versions| {
            let index = versions.version_index(endian, index);
            versions.version(index.into()).unwrap().map(|version| version.name())
        });
        let version = String::from_utf8(version.unwrap_or_default().to_owned()).unwrap();
        found.insert(name.to_owned(), version);
    }
    found
}

/// The rows of the table for one library.
fn table(library: &str) -> Vec<String> {
    let rows = exports().unwrap();
    rows.into_iter().filter(|row| row.libraries.contains(&library)).map(|row| row.symbol).collect()
}

#[test]
fn libhsakmt_exports_its_table_at_the_node_that_rocr_asks_for() {
    let expected: BTreeMap<_, _> =
        table(HSAKMT).into_iter().map(|symbol| (symbol, NODE.to_owned())).collect();
    assert_eq!(exported(&thunk().join(HSAKMT)), expected);
}

#[test]
fn libhsakmt_exports_all_that_amds_does() {
    let amd = "/usr/lib/x86_64-linux-gnu/libhsakmt.so.1";
    if !installed(&[(amd, "libhsakmt1")]) {
        return;
    }
    let mut expected = exported(Path::new(amd));
    for ours in ["aqlipseThunkCounters", "aqlipseThunkWriteSysfs"] {
        expected.insert(ours.to_owned(), NODE.to_owned());
    }
    assert_eq!(exported(&thunk().join(HSAKMT)), expected);
}

#[test]
fn libdtif_exports_its_table_without_versions() {
    let expected: BTreeMap<_, _> = table(DTIF).into_iter().map(|symbol| (symbol, String::new())).collect();
    assert_eq!(exported(&thunk().join(DTIF)), expected);
}
