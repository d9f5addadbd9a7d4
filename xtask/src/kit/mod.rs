//! `cargo xtask kit`: an archive with the conformance programs, the benchmark and a script, for somebody who has a card and
//! a ROCm of any release. The script writes one file, which `cargo xtask conformance --golden` reads.
//!
//! | module | what it does |
//! |---|---|
//! | [`build`] | compiles a program for cards of all kinds |
//! | [`emulated`] | compares what programs print on emulated cards |

pub mod build;
pub mod emulated;

use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use crate::{
    Result,
    conformance::{self, probe, programs},
    device_libs, file_error,
    link::{Profile, replace},
    packages, parallel, run, target_dir,
};

/// The folder in the archive.
const NAME: &str = "aqlipse-kit";
const SCRIPT: &str = include_str!("kit.sh");
const README: &str = include_str!("README.md");

/// What goes into the archive.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Parts of the names of the wanted programs; none: all
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// The folder in which the kit and its archive are made [default: `kit` in the target folder]
    #[arg(long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Instead of packing the programs, run them on these emulated cards: they print what they print on gfx90a
    #[arg(long, value_name = "CARD", value_delimiter = ',')]
    pub emulate: Vec<String>,
    /// How many programs are compiled, or run, at a time
    #[arg(long, value_name = "N", default_value_t = parallel::processors())]
    pub jobs: NonZero<usize>,
}

/// Makes `aqlipse-kit.tar.gz` and returns the folder that it was packed from.
///
/// # Errors
/// [`crate::Error`] of the compiler, of `tar` and of files; [`crate::Error::Conformance`] for a filter that fits nothing.
pub fn command(options: &Options) -> Result<PathBuf> {
    packages::install()?;
    let device_libs = device_libs::directory()?;
    let programs = programs::select(programs::find(&programs::directory())?, &options.filters)?;
    let dist = conformance::dist(Profile::Release)?;
    let built = parallel::in_parallel(&programs, options.jobs, |program| {
        build::compile(&program.path, program.language, &device_libs)
    })?;
    let probe = build::compile(&probe::source()?, programs::Language::Cpp, &device_libs)?;

    let output = options.output.clone().unwrap_or_else(|| target_dir().join("kit"));
    let kit = output.join(NAME);
    if kit.exists() {
        fs::remove_dir_all(&kit).map_err(file_error(&kit))?;
    }
    let folder = kit.join("programs");
    fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    for program in built.iter().chain([&probe]) {
        let place = folder.join(program.file_name().unwrap_or_default());
        replace(&place, |place| fs::copy(program, place).map(drop))?;
    }
    let table: String =
        programs.iter().map(|program| format!("{}\t{}\n", program.name, program.devices)).collect();
    for (name, text) in
        [("kit.sh", SCRIPT), ("README.md", README), ("programs.tsv", &table), ("kit.txt", &origin())]
    {
        let path = kit.join(name);
        fs::write(&path, text).map_err(file_error(&path))?;
    }
    // The benchmark brings the library that it compares with.
    for part in ["bin", "lib", "thunk"] {
        run(Command::new("cp").arg("-a").arg(dist.join(part)).arg(&kit))?;
    }
    let archive = kit.with_added_extension("tar.gz");
    replace(&archive, |aside| pack(&kit, aside))?;
    println!("{}", archive.display());
    Ok(kit)
}

fn pack(kit: &Path, archive: &Path) -> std::io::Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--owner=0", "--group=0", "-czf"]).arg(archive).arg("-C").arg(kit.with_file_name("")).arg(NAME);
    match tar.status()? {
        status if status.success() => Ok(()),
        status => Err(std::io::Error::other(format!("tar: {status}"))),
    }
}

/// The first lines of a result.
fn origin() -> String {
    let targets = build::TARGETS.map(|(target, ..)| target).join(" ");
    format!("# kit: {}\n# headers: HIP 5.2.3\n# targets: {targets}\n", env!("CARGO_PKG_VERSION"))
}
