//! AMD's rocRAND, as Debian ships it for gfx90a, on the library: seventy-four of its eighty kernels run. The other six
//! are of Sobol64, whose 64 bits rocRAND 5.3.3 cuts to the lower half there, which is constant.

use crate::toolchain::{Program, Toolchain, build::compile_host, has};

fn agrees(program: &str) {
    let Some(toolchain) = Toolchain::find() else { return };
    let library = "/usr/lib/x86_64-linux-gnu/librocrand.so.1";
    if !has(library, "librocrand1") || !has("/usr/include/rocrand/rocrand.h", "librocrand-dev") {
        return;
    }
    let path = compile_host(&toolchain, &format!("{program}.cpp"), &[], &["rocrand"]);
    Program::new(&toolchain, &path, "gfx90a").run().expect_passed(&program);
}

#[test]
fn integers_are_those_of_the_papers() {
    agrees("rocrand_integers");
}

#[test]
fn distributions_are_made_of_the_integers() {
    agrees("rocrand_distributions");
}
