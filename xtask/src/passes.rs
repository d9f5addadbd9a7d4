//! How clang compiles a HIP program when it has read the headers before that programs begin with: in passes that take a
//! precompiled header each, since the driver takes none for both.

use std::{ffi::OsStr, path::Path, process::Command};

use crate::{Result, output};

/// What Debian writes whenever it installs or upgrades a package.
pub const INSTALLED: &str = "/var/lib/dpkg/status";

/// The level that tests compile the host's part of a program at: that only calls and compares, and is compiled soonest so.
pub const HOST_LEVEL: &str = "0";

/// One of the times that the compiler reads a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// The one for a program without device code.
    Only,
    /// The one for the host of a program with device code.
    Host,
    /// The one for a device.
    Device,
}

impl Pass {
    /// What it is called in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Only => "only",
            Self::Host => "host",
            Self::Device => "device",
        }
    }

    fn command(self, compiler: &str, flags: &[String]) -> Command {
        let mut command = Command::new(compiler);
        command.args(flags).args(match self {
            Self::Only => None,
            Self::Host => Some("--offload-host-only"),
            Self::Device => Some("--offload-device-only"),
        });
        command
    }

    /// Precompiles a header for programs with these flags.
    pub fn precompile(self, compiler: &str, flags: &[String], header: &Path, result: &Path) -> Command {
        let mut command = self.command(compiler, flags);
        if self == Self::Only {
            command.args(["-x", "c++-header"]);
        }
        // As the result of the driver, what a pass for a device makes would be linked.
        command.args(["-fsyntax-only", "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang"]).arg(result);
        command.arg(header);
        command
    }

    /// Compiles a program that begins with a precompiled header, if there is one.
    pub fn compile(
        self,
        compiler: &str,
        flags: &[String],
        precompiled: Option<&Path>,
        source: &Path,
    ) -> Command {
        let mut command = self.command(compiler, flags);
        if self == Self::Device {
            command.arg("--gpu-bundle-output");
        }
        if let Some(precompiled) = precompiled {
            command.args(["-Xclang", "-include-pch", "-Xclang"]).arg(precompiled);
        }
        command.arg("-c").arg(source);
        command
    }
}

/// Runs the passes over a HIP program; `bundle` is where its device code goes before it is in the object, in a folder of the
/// program's own.
///
/// # Errors
/// [`crate::Error::Failed`] with what the compiler says.
pub fn compile_both(
    mut pass: impl FnMut(Pass) -> Result<Command>,
    name: &OsStr,
    bundle: &Path,
    object: &Path,
) -> Result {
    // By it both passes name the variables of a file alike.
    let id = format!("-cuid={}", name.display());
    let mut device = pass(Pass::Device)?;
    if let Some(scratch) = bundle.parent() {
        // The driver leaves an empty folder there for each architecture.
        device.env("TMPDIR", scratch);
    }
    output(device.arg(&id).arg("-o").arg(bundle))?;
    let mut host = pass(Pass::Host)?;
    host.arg(id).args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"]).arg(bundle);
    output(host.arg("-o").arg(object)).map(drop)
}
