//! Programs with many fat binaries, as those of large libraries: registration is lazy, and each binary keeps its own
//! kernels and variables.

use crate::toolchain::{ARCHES, Build, Compiler, Output, Program, Toolchain, build::compile_host, offers};

// proves: __hipRegisterFatBinary, __hipRegisterFunction, __hipRegisterVar, __hipUnregisterFatBinary
#[test]
fn kernels_and_variables_of_111_binaries_are_told_apart() {
    let Some(toolchain) = Toolchain::find() else { return };
    for arch in ARCHES.into_iter().filter(|arch| offers(arch)) {
        let build = Build::new(Compiler::Clang22, arch, "1");
        let bundle = build.compile(&toolchain, "registration_kernels.hip", Output::Bundle);
        let path = compile_host(&toolchain, "registration.cpp", &[("BUNDLE", &bundle)], &[]);
        for binaries in ["0", "1", "111"] {
            Program::new(&toolchain, &path, arch).args(&[binaries]).run().expect_passed(&build);
        }
    }
}
