//! rocPRIM's algorithms over the whole device, compiled for cards of GFX9 and of each generation of RDNA.

use crate::toolchain::{Build, Compiler, Output, Program, Toolchain, has, offers};

/// Debian's rocPRIM is older than RDNA 3, for which it would broadcast rows of lanes by DPP, as no card after GFX9 can.
const WITHOUT_DPP: [&str; 2] = ["-DROCPRIM_DISABLE_DPP", "-DROCPRIM_DETAIL_USE_DPP=false"];

#[test]
fn sorts_scans_and_sums_are_those_of_the_host() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !has("/usr/include/rocprim/rocprim.hpp", "librocprim-dev") {
        return;
    }
    for arch in ["gfx90a", "gfx1030", "gfx1100", "gfx1201"].into_iter().filter(|arch| offers(arch)) {
        let is_newer = arch.starts_with("gfx11") || arch.starts_with("gfx12");
        let options: &[&str] = if is_newer { &WITHOUT_DPP } else { &[] };
        let build = Build::new(Compiler::Clang22, arch, "2").with(options);
        let path = build.compile(&toolchain, "device_algorithms.hip", Output::Program);
        Program::new(&toolchain, &path, arch).run().expect_passed(&build);
    }
}
