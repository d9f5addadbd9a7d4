//! The samples of `tests/samples`, and running the tools that make them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A line of `build.txt`.
pub struct Recipe {
    pub file: String,
    pub command: Vec<String>,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

pub fn read(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn recipes() -> Vec<Recipe> {
    let table = String::from_utf8(read("build.txt")).unwrap();
    let lines = table.lines().map(|line| line.split('#').next().unwrap().trim());
    let recipe = |line: &str| {
        let (file, command) = line.split_once('|').expect("a file, a bar, a command");
        let command = command.split_whitespace().map(str::to_owned).collect();
        Recipe { file: file.trim().to_owned(), command }
    };
    lines.filter(|line| !line.is_empty()).map(recipe).collect()
}

/// All samples: name and bytes.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let samples: Vec<_> =
        recipes().into_iter().map(|recipe| (recipe.file.clone(), read(&recipe.file))).collect();
    assert!(samples.len() >= 11, "build.txt lists the samples");
    samples
}

/// The samples that are bare code objects.
pub fn code_objects() -> Vec<(String, Vec<u8>)> {
    all().into_iter().filter(|(name, _)| name.ends_with(".co")).collect()
}

/// Whether `programs` are installed. Without them a test has nothing to say, unless it must.
pub fn installed(programs: &[&str]) -> bool {
    let paths: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let missing: Vec<_> =
        programs.iter().filter(|p| !paths.iter().any(|dir| dir.join(p).is_file())).collect();
    if missing.is_empty() {
        return true;
    }
    let required = std::env::var("AQLIPSE_REQUIRE_PACKAGES").is_ok_and(|value| value == "1");
    assert!(!required, "{missing:?} must be installed (AQLIPSE_REQUIRE_PACKAGES=1)");
    eprintln!("skipped: {missing:?} not installed");
    false
}

/// Runs a program in `dir` and returns what it printed.
pub fn run(dir: &Path, command: &[impl AsRef<std::ffi::OsStr>]) -> String {
    let output = Command::new(&command[0]).args(&command[1..]).current_dir(dir).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {errors}", command[0].as_ref());
    String::from_utf8(output.stdout).unwrap()
}

/// A folder of its own for a test, removed with the value.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for source in ["kernels.cpp", "opencl.cl"] {
            std::fs::copy(folder().join(source), dir.join(source)).unwrap();
        }
        Self(dir)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
