//! Asking C: a program made from our tables includes headers and prints every difference. Other packages' tests of
//! layouts include this file too.

use std::{fmt::Write as _, path::PathBuf, process::Command};

use hsa_sys::layout::{self, Layout};

/// A type of ours as it describes itself.
pub struct Structure {
    pub name: &'static str,
    pub size: usize,
    pub align: usize,
    pub fields: &'static [layout::Field],
}

/// The description of `T`.
pub fn structure<T: Layout>() -> Structure {
    Structure { name: T::NAME, size: size_of::<T>(), align: align_of::<T>(), fields: T::FIELDS }
}

/// A directory for generated files that goes away with its owner.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A new directory, named after the test.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hsa-sys-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing to tell: a directory left behind harms no test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles `source` and returns what it prints.
pub fn run_c(scratch: &Scratch, source: &str) -> String {
    let file = scratch.0.join("compare.c");
    let program = scratch.0.join("compare");
    std::fs::write(&file, source).expect("the scratch directory is writable");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-w", "-o"])
        .args([&program, &file])
        .output()
        .expect("cc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().expect("the compiled program runs");
    assert!(run.status.success());
    String::from_utf8(run.stdout).expect("the program prints ASCII")
}

/// A C program that compares facts of the headers with ours.
#[derive(Default)]
pub struct Comparison {
    checks: String,
    /// How many facts it compares.
    pub count: usize,
}

impl Comparison {
    /// Compares the value of a C expression with a number of ours.
    pub fn check(&mut self, what: &str, c: &str, ours: i64) {
        writeln!(self.checks, "  compare(\"{what}\", (long long)({c}), {ours}ll);")
            .expect("a String takes any text");
        self.count += 1;
    }

    /// Compiles and runs it below `includes`, and returns the differences.
    pub fn run(&self, scratch: &Scratch, includes: &str) -> String {
        let source = format!(
            "{includes}
static void compare(const char *what, long long header, long long ours) {{
  if (header != ours) printf(\"%s: header %lld, ours %lld\\n\", what, header, ours);
}}
int main(void) {{
{}  return 0;
}}
",
            self.checks
        );
        run_c(scratch, &source)
    }
}
