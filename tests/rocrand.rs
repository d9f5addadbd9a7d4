//! AMD's rocRAND on the library: as Debian ships it, for gfx90a and gfx1030, seventy-four of its eighty kernels run. The other
//! six are of Sobol64, whose 64 bits rocRAND 5.3.3 cuts to the lower half there, which is constant. What its headers give to
//! kernels is compiled for every family of cards.

use crate::toolchain::{
    ARCHES, Build, Compiler, Output, Program, Toolchain, build::compile_host, has, offers,
};

fn find() -> Option<Toolchain> {
    Toolchain::find().filter(|_| has("/usr/include/rocrand/rocrand.h", "librocrand-dev"))
}

fn agrees(program: &str) {
    let Some(toolchain) = find() else { return };
    if !has("/usr/lib/x86_64-linux-gnu/librocrand.so.1", "librocrand1") {
        return;
    }
    let path = compile_host(&toolchain, &format!("{program}.cpp"), &[], &["rocrand"]);
    for card in ["gfx90a", "gfx1030"].into_iter().filter(|card| offers(card)) {
        Program::new(&toolchain, &path, card).run().expect_passed(&format!("{program} on {card}"));
    }
}

#[test]
fn integers_are_those_of_the_papers() {
    agrees("rocrand_integers");
}

#[test]
fn distributions_are_made_of_the_integers() {
    agrees("rocrand_distributions");
}

#[test]
fn kernels_draw_numbers_on_every_family() {
    let Some(toolchain) = find() else { return };
    for arch in ARCHES.into_iter().chain(["gfx1030"]).filter(|arch| offers(arch)) {
        let build = Build::new(Compiler::Clang22, arch, "2");
        let path = build.compile(&toolchain, "rocrand_device.hip", Output::Program);
        Program::new(&toolchain, &path, arch).run().expect_passed(&build);
    }
}
