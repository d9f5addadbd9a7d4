//! `cargo xtask dist`: what users take away, in `target/dist`.
//!
//! Shared libraries are linked here and not by rustc: a `cdylib` brings a version script of its own, and with it
//! the version nodes that HIP programs were linked against are lost or clash. A static library, linked with our
//! script, keeps them.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use crate::{
    Result, cargo, exports, file_error,
    link::{Profile, Shared, link, replace, version_script},
    root, run, stubs, surface, target_dir, thunk,
};

/// File that holds the library; every name in [`LINKS`] points to it.
pub const LIBRARY: &str = "libamdhip64.so.7.2.0";
/// `DT_SONAME`: what programs that are linked against it ask for.
pub const SONAME: &str = "libamdhip64.so.7";
/// Names under which clients know the library.
pub const LINKS: [&str; 5] =
    ["libamdhip64.so", "libamdhip64.so.4", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"];

/// Headers for what no release of HIP declares.
const HEADERS: [&str; 3] = ["hip_graph_conditional.h", "device_graph.h", "graph_plan.h"];

/// Builds `lib`, `bin`, `thunk` and `include` and returns the directory that holds them.
///
/// # Errors
/// [`crate::Error`] of the compiler, the linker and the files.
pub fn build(profile: Profile) -> Result<PathBuf> {
    let target = target_dir();
    let dist = target.join("dist");
    let (lib, bin, thunk) = (dist.join("lib"), dist.join("bin"), dist.join("thunk"));
    for directory in [&lib, &bin, &thunk] {
        fs::create_dir_all(directory).map_err(file_error(directory))?;
    }

    let release: &[&str] = if profile == Profile::Release { &["--release"] } else { &[] };
    // At once: by itself each would ask other features of what they share, and have it compiled again.
    let packages = ["capi", "thunk", "aqlipse-cli"].map(|package| ["--package", package]);
    run(cargo().arg("build").args(packages.concat()).args(["--lib", "--bin", "aqlipse"]).args(release))?;
    let built = target.join(if profile == Profile::Release { "release" } else { "debug" });

    let exports = exports()?;
    link(&Shared {
        archive: &built.join("libcapi.a"),
        library: &lib.join(LIBRARY),
        soname: SONAME,
        script: &version_script(&surface::NODES, &exports),
        symbols: &exports.iter().map(|export| export.symbol.as_str()).collect::<Vec<_>>(),
        profile,
    })?;
    for name in LINKS {
        replace(&lib.join(name), |path| symlink(LIBRARY, path))?;
    }
    stubs::link_all(&exports, &lib)?;
    replace(&bin.join("aqlipse"), |path| fs::copy(built.join("aqlipse"), path).map(drop))?;
    thunk::link_all(&built.join("libthunk.a"), &thunk, profile)?;
    let include = dist.join("include/aqlipse");
    fs::create_dir_all(&include).map_err(file_error(&include))?;
    for header in HEADERS {
        let source = root().join("capi/include/aqlipse").join(header);
        replace(&include.join(header), |path| fs::copy(&source, path).map(drop))?;
    }
    println!("{}", dist.display());
    Ok(dist)
}
