//! Stand-ins for libraries that only ROCm has, so that clients which are linked with them can be loaded: every function
//! that computes returns an error.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, file_error, link::cc, output, run};

/// How names of functions begin, the library that has them, and the code by which its functions say that they are not
/// supported, not implemented, or have failed.
const LIBRARIES: [(&str, &str, i32); 14] = [
    ("hipblas", "libhipblas.so.3", 7),
    ("hipblasLt", "libhipblaslt.so.1", 7),
    ("hipfft", "libhipfft.so.0", 16),
    ("hiprand", "libhiprand.so.1", 1000),
    ("hipsolver", "libhipsolver.so.1", 7),
    ("hipsparse", "libhipsparse.so.4", 10),
    ("miopen", "libMIOpen.so.1", 6),
    ("nccl", "librccl.so.1", 3),
    ("rocblas_", "librocblas.so.5", 2),
    ("rocfft_", "librocfft.so.0", 1),
    ("rocprofiler_", "librocprofiler-sdk.so.1", 1),
    ("rocsolver_", "librocsolver.so.0", 2),
    ("roctracer_", "libroctracer64.so.4", -1),
    ("rsmi_", "librocm_smi64.so.1", 2),
];

/// Functions that make and return the handle without which XLA compiles nothing, and what else it does with it before the
/// first operation.
const HANDLES: [(&str, &str); 4] = [
    ("miopenCreate", "(void **handle) { *handle = handle; return 0; }"),
    ("miopenCreateWithStream", "(void **handle) { *handle = handle; return 0; }"),
    ("miopenDestroy", "(void) { return 0; }"),
    ("miopenSetStream", "(void) { return 0; }"),
];

/// The library that has a function, and the code that its functions return.
fn library_of(function: &str) -> Option<(&'static str, i32)> {
    let known = LIBRARIES.iter().filter(|(prefix, ..)| function.starts_with(prefix));
    known.max_by_key(|(prefix, ..)| prefix.len()).map(|&(_, library, code)| (library, code))
}

/// Links a stand-in for each library, with the functions that the shared libraries below `installed` want of it, into
/// `folder`.
///
/// # Errors
/// [`crate::Error`] of the linker and the files.
pub fn link_all(installed: &Path, folder: &Path) -> Result {
    if folder.exists() {
        return Ok(());
    }
    let mut wanted: BTreeMap<_, BTreeSet<_>> =
        LIBRARIES.iter().map(|&(_, library, code)| ((library, code), BTreeSet::new())).collect();
    for file in shared_libraries(installed)? {
        let mut command = Command::new("nm");
        command.args(["--dynamic", "--undefined-only", "--format=just-symbols"]).arg(file);
        for symbol in output(&mut command)?.lines() {
            if let Some(symbols) = library_of(symbol).and_then(|library| wanted.get_mut(&library)) {
                symbols.insert(symbol.to_owned());
            }
        }
    }
    let aside = folder.with_extension("new");
    fs::create_dir_all(&aside).map_err(file_error(&aside))?;
    for ((library, code), symbols) in wanted {
        let [source, script] = ["c", "map"].map(|extension| aside.join(library).with_extension(extension));
        fs::write(&source, functions(library, code, &symbols)).map_err(file_error(&source))?;
        fs::write(&script, versions(&symbols)).map_err(file_error(&script))?;
        let mut command = cc();
        command.args(["-shared", "-fPIC", "-w"]).arg(format!("-Wl,-soname,{library}"));
        if !versions(&symbols).is_empty() {
            command.arg(format!("-Wl,--version-script={}", script.display()));
        }
        run(command.arg("-o").arg(aside.join(library)).arg(&source))?;
    }
    fs::rename(&aside, folder).map_err(file_error(folder))
}

/// A function and the version node under which it is wanted.
fn parts(symbol: &str) -> (&str, Option<&str>) {
    symbol.split_once('@').map_or((symbol, None), |(name, node)| (name, Some(node)))
}

/// The source of a stand-in. Functions that return a text return one that says what they are.
fn functions(library: &str, code: i32, symbols: &BTreeSet<String>) -> String {
    let mut source = String::new();
    for (name, _) in symbols.iter().map(|symbol| parts(symbol)) {
        let lower = name.to_lowercase();
        // Writing to a string cannot fail.
        let _ = if let Some((_, handle)) = HANDLES.iter().find(|(known, _)| *known == name) {
            writeln!(source, "int {name}{handle}")
        } else if lower.contains("string") || lower.ends_with("errorname") {
            writeln!(source, "const char *{name}(void) {{ return \"stand-in for {library}\"; }}")
        } else {
            writeln!(source, "int {name}(void) {{ return {code}; }}")
        };
    }
    source
}

/// The linker's version script of a stand-in; empty if no function has a version.
fn versions(symbols: &BTreeSet<String>) -> String {
    let mut nodes = BTreeMap::<_, Vec<_>>::new();
    for symbol in symbols {
        if let (name, Some(node)) = parts(symbol) {
            nodes.entry(node).or_default().push(name);
        }
    }
    nodes.iter().map(|(node, names)| format!("{node} {{ {}; }};\n", names.join("; "))).collect()
}

/// The shared libraries below a folder.
fn shared_libraries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(file_error(&folder))? {
            let entry = entry.map_err(file_error(&folder))?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type().map_err(file_error(&path))?.is_dir() {
                folders.push(path);
            } else if name.ends_with(".so") || name.contains(".so.") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_belong_to_the_library_with_the_longest_prefix() {
        assert_eq!(library_of("hipblasLtMatmul"), Some(("libhipblaslt.so.1", 7)));
        assert_eq!(library_of("hipblasDgemm"), Some(("libhipblas.so.3", 7)));
        assert_eq!(library_of("hipMalloc"), None);
    }

    #[test]
    fn stand_ins_have_an_error_for_each_function_and_the_versions_that_are_asked_for() {
        let symbols = ["miopenCreate@V_1", "miopenForward@V_1", "miopenGetErrorString", "miopenOther@V_2"];
        let symbols = symbols.map(String::from).into();
        let expected = "int miopenCreate(void **handle) { *handle = handle; return 0; }\n\
                        int miopenForward(void) { return 6; }\n\
                        const char *miopenGetErrorString(void) { return \"stand-in for l\"; }\n\
                        int miopenOther(void) { return 6; }\n";
        assert_eq!(functions("l", 6, &symbols), expected);
        assert_eq!(versions(&symbols), "V_1 { miopenCreate; miopenForward; };\nV_2 { miopenOther; };\n");
    }
}
