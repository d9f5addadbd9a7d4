//! Compiles a program for cards of all kinds: each target's device code by itself, since code object versions differ.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result,
    conformance::{
        build::{cached, compile_pass, key},
        programs::Language,
    },
    output,
    passes::Pass,
    target_dir,
};

const COMPILER: &str = "/usr/bin/clang++-22";
const BUNDLER: &str = "/usr/bin/clang-offload-bundler-22";

/// A target, the version of its code object and the lanes of a wavefront. The oldest ROCm that knows a target reads the
/// version: AMD's 5.2.3 reads 4, and generic targets begin with 6 (LLVM's AMDGPU usage guide, "Code Object V6").
pub const TARGETS: [(&str, u32, u32); 7] = [
    ("gfx90a", 4, 64),
    ("gfx942", 5, 64),
    ("gfx9-generic", 6, 64),
    ("gfx9-4-generic", 6, 64),
    ("gfx10-3-generic", 6, 32),
    ("gfx11-generic", 6, 32),
    ("gfx12-generic", 6, 32),
];

/// Where the kit's programs are built.
fn directory() -> PathBuf {
    target_dir().join("kit").join("programs")
}

/// Compiles `source` for each of [`TARGETS`] and returns the program, or returns what an earlier run compiled.
///
/// # Errors
/// [`crate::Error::Failed`] with what the compiler says, [`crate::Error::File`].
pub fn compile(source: &Path, language: Language, device_libs: &Path) -> Result<PathBuf> {
    let flags = flags(language, device_libs);
    let program = directory().join(source.file_stem().unwrap_or_default());
    cached(&program, &key(source, COMPILER, &(TARGETS, &flags))?, |aside, scratch| {
        let pass = |pass: Pass, flags: &[String]| {
            let precompiled = directory().join(format!("observe-{}.pch", pass.name()));
            compile_pass(pass, COMPILER, flags, &precompiled, source)
        };
        let mut host;
        match language {
            Language::Cpp => host = pass(Pass::Only, &flags)?,
            Language::Hip => {
                let bundle = bundle(source, &flags, scratch)?;
                // HIP's headers want it; what they compute from it is device code.
                host = pass(Pass::Host, &[&flags[..], &["-D__AMDGCN_WAVEFRONT_SIZE=64".into()]].concat())?;
                host.args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"]).arg(bundle);
            }
        }
        let object = scratch.join("host.o");
        output(host.arg("-o").arg(&object))?;
        let mut link = Command::new(COMPILER);
        // What a distribution of another age may lack.
        link.args(["-static-libstdc++", "-static-libgcc"]);
        output(link.arg(&object).args(["-lamdhip64", "-lpthread", "-ldl", "-o"]).arg(aside)).map(drop)
    })
}

/// The device code of all targets in one file, as the host's part of the program holds it.
fn bundle(source: &Path, flags: &[String], scratch: &Path) -> Result<PathBuf> {
    let bundle = scratch.join("bundle");
    let mut bundler = Command::new(BUNDLER);
    bundler.args(["-type=o", "-bundle-align=4096", "-input=/dev/null"]);
    let mut names = String::from("host-x86_64-unknown-linux-gnu");
    for (target, version, lanes) in TARGETS {
        let object = scratch.join(target);
        let mut flags = flags.to_vec();
        flags.push(format!("--offload-arch={target}"));
        flags.push(format!("-mcode-object-version={version}"));
        flags.push(format!("-D__AMDGCN_WAVEFRONT_SIZE={lanes}"));
        let precompiled = directory().join(format!("observe-{target}.pch"));
        let mut device = compile_pass(Pass::Device, COMPILER, &flags, &precompiled, source)?;
        output(device.arg("--no-gpu-bundle-output").arg("-o").arg(&object))?;
        bundler.arg(format!("-input={}", object.display()));
        names += &format!(",hipv4-amdgcn-amd-amdhsa--{target}");
    }
    bundler.arg(format!("-targets={names}")).arg(format!("-output={}", bundle.display()));
    output(&mut bundler)?;
    Ok(bundle)
}

fn flags(language: Language, device_libs: &Path) -> Vec<String> {
    // The comparison compiles them with all warnings; those of another compiler are about HIP's headers.
    let mut flags = ["-std=c++17", "-O1", "-w"].map(String::from).to_vec();
    match language {
        Language::Cpp => flags.push("-D__HIP_PLATFORM_AMD__".into()),
        Language::Hip => {
            let compat = crate::root().join("tests/programs/toolchain/compat.h");
            flags.extend(["-x", "hip", "--rocm-path=/usr", "-include"].map(String::from));
            flags.push(compat.display().to_string());
            flags.push(format!("--rocm-device-lib-path={}", device_libs.display()));
        }
    }
    flags
}
