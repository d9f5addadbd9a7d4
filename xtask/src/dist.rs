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

/// File that holds the run-time compiler; every name in [`RTC_LINKS`] points to it.
pub const RTC_LIBRARY: &str = "libhiprtc.so.7.2.0";
/// Its `DT_SONAME`.
pub const RTC_SONAME: &str = "libhiprtc.so.7";
/// Names under which clients know it.
pub const RTC_LINKS: [&str; 4] = ["libhiprtc.so", "libhiprtc.so.5", "libhiprtc.so.6", "libhiprtc.so.7"];

/// The library for ranges of programs, which is its name and its `DT_SONAME` as well.
pub const RANGES_LIBRARY: &str = "libroctx64.so.4";
/// The functions of it (`roctx.h`), of the version of that name.
const RANGES: (&str, [&str; 7]) = (
    "ROCTX_4.1",
    [
        "roctx_version_major",
        "roctx_version_minor",
        "roctxMarkA",
        "roctxRangePop",
        "roctxRangePushA",
        "roctxRangeStartA",
        "roctxRangeStop",
    ],
);

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
    let packages =
        ["capi", "hiprtc-c", "roctx-c", "thunk", "aqlipse-cli"].map(|package| ["--package", package]);
    run(cargo().arg("build").args(packages.concat()).args(["--lib", "--bin", "aqlipse"]).args(release))?;
    let built = target.join(if profile == Profile::Release { "release" } else { "debug" });

    let exports = exports()?;
    let rtc = stubs::rtc_exports(&exports);
    for (archive, library, soname, nodes, exports) in [
        ("libcapi.a", LIBRARY, SONAME, surface::NODES.to_vec(), &exports),
        ("libhiprtc_c.a", RTC_LIBRARY, RTC_SONAME, stubs::nodes_of(&rtc), &rtc),
    ] {
        link(&Shared {
            archive: &built.join(archive),
            library: &lib.join(library),
            soname,
            script: &version_script(&nodes, exports),
            symbols: &exports.iter().map(|export| export.symbol.as_str()).collect::<Vec<_>>(),
            profile,
        })?;
    }
    let (node, symbols) = RANGES;
    link(&Shared {
        archive: &built.join("libroctx_c.a"),
        library: &lib.join(RANGES_LIBRARY),
        soname: RANGES_LIBRARY,
        script: &format!("{node} {{\n  global:\n    {};\n  local:\n    *;\n}};\n", symbols.join(";\n    ")),
        symbols: &symbols,
        profile,
    })?;
    let links =
        LINKS.map(|name| (name, LIBRARY)).into_iter().chain(RTC_LINKS.map(|name| (name, RTC_LIBRARY)));
    let links = links.chain([("libroctx64.so", RANGES_LIBRARY)]);
    for (name, library) in links {
        replace(&lib.join(name), |path| symlink(library, path))?;
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
