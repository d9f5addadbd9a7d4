//! What programs are linked with: a folder for each ABI of HIP with a `libamdhip64.so` of its SONAME and its names, and a
//! `libhiprtc.so` since there is one; they have no code. At run time the loader finds the one library under that SONAME, which tells the ABI by it.

use std::{fmt::Write, fs, ops::RangeInclusive, os::unix::fs::symlink, path::Path};

use crate::{
    Result, file_error,
    link::{aside, cc, replace, version_script},
    run,
    surface::{Export, NODES, Origin},
};

/// The major versions of SONAMEs.
pub const ABIS: RangeInclusive<u32> = 4..=7;

/// Names that only libraries up to 5.2 export.
const GONE_SINCE_5_2: [&str; 9] = [
    "_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc",
    "_Z23hipDestroySurfaceObjectP13__hip_surface",
    "_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv",
    "hipEnableActivityCallback",
    "hipInitActivityCallback",
    "hipRegisterActivityCallback",
    "hipRegisterApiCallback",
    "hipRemoveActivityCallback",
    "hipRemoveApiCallback",
];

/// The last ABI that has a name, if a later one has lost it.
fn last_abi(symbol: &str) -> Option<u32> {
    match symbol {
        // HIP 7 moved run-time compilation into a library of its own.
        _ if symbol.starts_with("hiprtc") => Some(6),
        _ if GONE_SINCE_5_2.contains(&symbol) => Some(5),
        _ => None,
    }
}

/// Whether an ABI has a version node. No library of HIP 6 has 6.5, which came with HIP 7.
fn has_node(abi: u32, node: &str) -> bool {
    let first = match node {
        "hip_6.5" => Some(7),
        _ => node.strip_prefix("hip_").and_then(|version| version.split('.').next()?.parse().ok()),
    };
    first.is_some_and(|first: u32| first <= abi)
}

/// The names that an ABI has, our own extensions included.
pub fn exports_of(exports: &[Export], abi: u32) -> Vec<Export> {
    let is_known = |export: &&Export| {
        has_node(abi, &export.node) && last_abi(&export.symbol).is_none_or(|last| abi <= last)
    };
    exports.iter().filter(|export| export.origin == Origin::Extension || is_known(export)).cloned().collect()
}

/// The first ABI with a `libhiprtc.so`.
const FIRST_RTC: u32 = 5;

/// The names of `libhiprtc.so`.
pub fn rtc_exports(exports: &[Export]) -> Vec<Export> {
    exports.iter().filter(|export| export.symbol.starts_with("hiprtc")).cloned().collect()
}

/// The version nodes of some names, oldest first.
pub fn nodes_of(exports: &[Export]) -> Vec<&'static str> {
    NODES.into_iter().filter(|node| exports.iter().any(|export| export.node == *node)).collect()
}

/// Links the libraries of every ABI, in folders below `lib`.
///
/// # Errors
/// [`crate::Error`] of the linker and the files.
pub fn link_all(exports: &[Export], lib: &Path) -> Result {
    for abi in ABIS {
        let folder = lib.join(format!("hip{abi}"));
        fs::create_dir_all(&folder).map_err(file_error(&folder))?;
        link(&exports_of(exports, abi), abi, &folder, "libamdhip64.so")?;
        if abi >= FIRST_RTC {
            link(&rtc_exports(exports), abi, &folder, "libhiprtc.so")?;
        }
    }
    Ok(())
}

fn link(exports: &[Export], abi: u32, folder: &Path, name: &str) -> Result {
    let nodes = nodes_of(exports);
    let library = &folder.join(name);
    let aside = aside(library);
    let [script, source] = ["map", "s"].map(|extension| aside.with_added_extension(extension));
    fs::write(&script, version_script(&nodes, exports)).map_err(file_error(&script))?;
    fs::write(&source, names(exports)).map_err(file_error(&source))?;
    let mut command = cc();
    command.args(["-shared", "-nostdlib", "-o"]).arg(&aside).arg(&source);
    command.arg(format!("-Wl,--version-script={}", script.display()));
    command.arg(format!("-Wl,-soname,{name}.{abi}"));
    command.args(["-Wl,-z,noexecstack", "-Wl,--no-undefined-version", "-Wl,--strip-all"]);
    run(&mut command)?;
    for intermediate in [&script, &source] {
        fs::remove_file(intermediate).map_err(file_error(intermediate))?;
    }
    fs::rename(&aside, library).map_err(file_error(library))?;
    // A program that remembers this folder, as CMake has those remember that it builds, finds the library itself.
    let soname = format!("{name}.{abi}");
    replace(&folder.join(&soname), |path| symlink(Path::new("..").join(&soname), path))
}

/// All names, as functions at one instruction that stops a program that gets there: the file is to be linked with, not
/// loaded.
fn names(exports: &[Export]) -> String {
    let mut source = String::from(".text\n");
    for Export { symbol, .. } in exports {
        // Writing to a string cannot fail.
        let _ = writeln!(source, ".globl {symbol}\n.type {symbol}, @function\n{symbol}:");
    }
    source.push_str("ud2\n.section .note.GNU-stack,\"\",@progbits\n");
    source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports;

    fn has(abi: u32, symbol: &str) -> bool {
        exports_of(&exports().unwrap(), abi).iter().any(|export| export.symbol == symbol)
    }

    #[test]
    fn the_run_time_compiler_has_all_of_its_names() {
        let rtc = rtc_exports(&exports().unwrap());
        assert_eq!((rtc.len(), nodes_of(&rtc)), (18, vec!["hip_4.2", "hip_5.3"]));
    }

    #[test]
    fn an_abi_has_the_names_of_its_time() {
        let found = |symbol| ABIS.map(|abi| has(abi, symbol)).collect::<Vec<_>>();
        assert_eq!(found("hipMalloc"), [true; 4]);
        assert_eq!(found("hipGraphKernelNodeSetAttribute"), [false, true, true, true]);
        assert_eq!(found("hipGetDevicePropertiesR0600"), [false, false, true, true]);
        assert_eq!(found("hipLaunchKernelExC"), [false, false, false, true]);
        assert_eq!(found("hiprtcCompileProgram"), [true, true, true, false]);
        assert_eq!(found("hipRegisterActivityCallback"), [true, true, false, false]);
        assert_eq!(found("aqlipseGraphExecGetDeviceGraph"), [true; 4]);
        assert!(GONE_SINCE_5_2.iter().all(|symbol| has(5, symbol)));
    }
}
