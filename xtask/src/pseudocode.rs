//! `cargo xtask valu-oracle`: the vector ALU against all that knows what it computes, on many samples.

use std::process::Command;

use crate::{Result, cargo, output, packages, run, target_dir};

/// The Python package that carries AMD's pseudocode, in a version whose layout the test knows.
const PACKAGE: &str = "tinygrad==0.14.0";
/// Prints where the package keeps the text.
const LOCATE: &str = "import tinygrad.runtime.autogen.amd.cdna.str_pcode as text; print(text.__file__)";

/// Installs the pseudocode under the build folder and runs the vector tests, `samples` times as long as usual.
///
/// # Errors
/// [`crate::Error`] of the first step that fails.
pub fn valu_oracle(samples: &str) -> Result {
    packages::install()?;
    let environment = target_dir().join("pseudocode");
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    run(Command::new(environment.join("bin/pip")).args(["install", "--quiet", PACKAGE]))?;
    let text = output(Command::new(environment.join("bin/python")).args(["-c", LOCATE]))?;
    let mut command = cargo();
    command.args(["test", "--package", "emulator", "--lib", "wave::valu"]);
    command.env("AQLIPSE_REQUIRE_PACKAGES", "1").env("AQLIPSE_VALU_SAMPLES", samples);
    run(command.env("AQLIPSE_PSEUDOCODE", text.trim()))
}
