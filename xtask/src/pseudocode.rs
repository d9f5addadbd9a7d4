//! `cargo xtask valu-oracle`: the vector ALU against all that knows what it computes, on many samples; `cargo xtask test`
//! takes a few.

use std::path::PathBuf;

use crate::{Result, cargo, packages, run};

/// The environment variable that names the folder with the pseudocode.
pub const VARIABLE: &str = "AQLIPSE_PSEUDOCODE";
/// The Python package that carries AMD's pseudocode, in a version whose layout the test knows.
const PACKAGE: &str = "tinygrad==0.14.0";
/// Where the package keeps the text of each manual.
const TEXT: &str = "tinygrad/runtime/autogen/amd";

/// The folder with the pseudocode, which is installed under the build folder the first time.
///
/// # Errors
/// [`crate::Error`] of the installation: without a network there is none.
pub fn text() -> Result<PathBuf> {
    Ok(packages::python("pseudocode", &[PACKAGE])?.join(TEXT))
}

/// Runs the vector tests on the pseudocode, `samples` times as long as usual.
///
/// # Errors
/// [`crate::Error`] of the first step that fails.
pub fn valu_oracle(samples: &str) -> Result {
    packages::install()?;
    let mut command = cargo();
    command.args(["test", "--package", "aqlipse-emulator", "--lib", "wave::valu"]);
    command.env("AQLIPSE_REQUIRE_PACKAGES", "1").env("AQLIPSE_VALU_SAMPLES", samples);
    run(command.env(VARIABLE, text()?))
}
