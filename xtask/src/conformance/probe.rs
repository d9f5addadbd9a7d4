//! Makes sure, before any program runs, that a configuration is what its name says: a run on the wrong library would
//! agree with everything.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::{
    build,
    configuration::Configuration,
    programs::Language,
    run::{End, Libraries, Run, run},
};
use crate::{Error, Result, file_error};

const SOURCE: &str = include_str!("probe.cpp");
/// Where Debian puts AMD's libraries.
const SYSTEM: &str = "/usr/lib/x86_64-linux-gnu";

/// The libraries by whose names and places configurations are told apart.
const HIP: &str = "libamdhip64.so";
const ROCR: &str = "libhsa-runtime64.so";
const THUNK: &str = "libhsakmt.so";

/// Starts each configuration once and looks at what it has loaded.
///
/// # Errors
/// [`Error::Conformance`] says what is missing or wrong and what to do.
pub fn check(configurations: &[Configuration], libraries: &Libraries) -> Result {
    let program = build::compile(&source()?, Language::Cpp)?;
    for &configuration in configurations {
        if configuration != Configuration::Ours && thunk(libraries).is_none() {
            return Err(Error::Conformance(format!(
                "{configuration}: {}/libhsakmt.so.1 does not exist; `cargo xtask dist` builds it",
                libraries.thunk.display()
            )));
        }
        let run = run(&program, 1, configuration, libraries, None)?;
        judge(&run, configuration, libraries)
            .map_err(|why| Error::Conformance(format!("{configuration}: {why}")))?;
    }
    Ok(())
}

/// The probe's source: a copy, since sources are found by their place, and a build belongs to one.
///
/// # Errors
/// [`Error::File`].
pub fn source() -> Result<PathBuf> {
    let folder = build::directory().join("probe");
    fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    let source = folder.join("probe.cpp");
    fs::write(&source, SOURCE).map_err(file_error(&source))?;
    Ok(source)
}

fn thunk(libraries: &Libraries) -> Option<PathBuf> {
    libraries.thunk.join("libhsakmt.so.1").canonicalize().ok()
}

/// What is wrong with a configuration in which the probe ran like this.
fn judge(run: &Run, configuration: Configuration, libraries: &Libraries) -> std::result::Result<(), String> {
    let said = format!("\n{}{}", run.stdout, run.stderr).trim_end().replace('\n', "\n    ");
    // The dynamic linker's words, on stderr or from dlerror.
    if said.contains("HSAKMT_") || said.contains("undefined symbol: hsaKmt") {
        return Err(format!(
            "{} does not fit the installed libhsa-runtime64-1; `cargo xtask dist` builds the one that fits \
             Debian's, 5.2.3{said}",
            libraries.thunk.join("libhsakmt.so.1").display()
        ));
    }
    if run.end != End::Completed {
        return Err(format!("a program that only starts it {}{said}", run.end));
    }
    let value =
        |label: &str| run.stdout.lines().find_map(|line| line.strip_prefix(label)?.strip_prefix(": "));
    if value("hip") != Some("hipSuccess") || value("devices") != Some("1") {
        return Err(format!(
            "it does not come up with one device; AMD_LOG_LEVEL=4 and AQLIPSE_LOG=debug tell more{said}"
        ));
    }
    let wanted = match configuration {
        Configuration::Ours => [(HIP, folder(&libraries.hip)), (ROCR, None), (THUNK, None)],
        Configuration::Rocr => [
            (HIP, folder(&libraries.hip)),
            (ROCR, folder(Path::new(SYSTEM))),
            (THUNK, folder(&libraries.thunk)),
        ],
        Configuration::Amd => {
            let system = folder(Path::new(SYSTEM));
            [(HIP, system.clone()), (ROCR, system), (THUNK, folder(&libraries.thunk))]
        }
    };
    let loaded: Vec<_> =
        run.stdout.lines().filter_map(|line| line.strip_prefix("library: ")).map(Path::new).collect();
    for (library, wanted) in wanted {
        let mut found = loaded.iter().filter(|path| file_name(path).starts_with(library));
        let (first, second) = (found.next(), found.next());
        let place = first.and_then(|path| path.parent());
        if place != wanted.as_deref() || second.is_some() {
            let wanted =
                wanted.map_or_else(|| "not be loaded".into(), |w| format!("come from {}", w.display()));
            return Err(format!("the wrong libraries are loaded: {library} should {wanted}{said}"));
        }
    }
    Ok(())
}

/// A folder as the kernel writes it in a process's maps.
fn folder(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| Some(path.to_owned()))
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(
        configuration: Configuration,
        end: End,
        stdout: &str,
        stderr: &str,
    ) -> std::result::Result<(), String> {
        let libraries = Libraries::of(Path::new("/dist"));
        let run = Run { end, stdout: stdout.into(), stderr: stderr.into() };
        judge(&run, configuration, &libraries)
    }

    const UP: &str = "hip: hipSuccess\ndevices: 1\n";

    #[test]
    fn each_configuration_must_load_its_own_libraries() {
        let system = Path::new(SYSTEM).canonicalize().unwrap_or_else(|_| SYSTEM.into());
        let system = system.display();
        let ours = format!("{UP}library: /dist/lib/libamdhip64.so.7.2.0\n");
        let rocr = format!(
            "{ours}library: {system}/libhsa-runtime64.so.1.5.0\nlibrary: /dist/thunk/libhsakmt.so.1.0.6\n"
        );
        let amd = rocr.replace("/dist/lib", &system.to_string());
        for (configuration, right, wrong) in [
            (Configuration::Ours, &ours, [&rocr, &amd]),
            (Configuration::Rocr, &rocr, [&ours, &amd]),
            (Configuration::Amd, &amd, [&ours, &rocr]),
        ] {
            assert_eq!(judged(configuration, End::Completed, right, ""), Ok(()));
            for wrong in wrong {
                let why = judged(configuration, End::Completed, wrong, "").unwrap_err();
                assert!(why.contains("wrong libraries"), "{why}");
            }
        }
        let thunk = rocr.replace("/dist/thunk", &system.to_string());
        assert!(judged(Configuration::Rocr, End::Completed, &thunk, "").is_err(), "the system's own thunk");
    }

    #[test]
    fn what_does_not_come_up_shows_what_hip_rocr_and_the_thunk_said() {
        let stdout = "hip: hipErrorNoDevice\ndevices: 0\nhsa_init: 0x1008 no resources\n";
        let why = judged(Configuration::Amd, End::Completed, stdout, "thunk: no node\n").unwrap_err();
        for part in ["hipErrorNoDevice", "hsa_init: 0x1008", "thunk: no node"] {
            assert!(why.contains(part), "{why}");
        }
        let why = judged(Configuration::Amd, End::Crashed(6), "", "Assertion failed\n").unwrap_err();
        assert!(why.contains("signal 6") && why.contains("Assertion failed"), "{why}");
    }

    #[test]
    fn a_thunk_of_another_abi_is_named_with_what_to_do() {
        let stderr = "probe: /dist/thunk/libhsakmt.so.1: version `HSAKMT_1' not found\n";
        let why = judged(Configuration::Amd, End::Failed(1), "", stderr).unwrap_err();
        assert!(why.contains("/dist/thunk/libhsakmt.so.1") && why.contains("cargo xtask dist"), "{why}");
        let stderr = "probe: symbol lookup error: libhsa-runtime64.so.1: undefined symbol: hsaKmtOpenKFD\n";
        let why = judged(Configuration::Amd, End::Failed(127), "", stderr).unwrap_err();
        assert!(why.contains("cargo xtask dist"), "{why}");
        let stdout = "hip: hipErrorNotInitialized\ndevices: 0\nhsa_init: undefined symbol: hsaKmtOpenKFD, version HSAKMT_1\n";
        let why = judged(Configuration::Rocr, End::Completed, stdout, "").unwrap_err();
        assert!(why.contains("cargo xtask dist"), "{why}");
    }
}
