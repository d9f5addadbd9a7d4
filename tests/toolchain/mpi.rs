//! Debian's MPIs, and `examples/mpi`.

use std::path::{Path, PathBuf};

use super::{Build, Compiler, Output, Program, Toolchain, has, offers};

/// An MPI of Debian's.
pub struct Mpi {
    /// The package that starts them.
    pub package: &'static str,
    /// Starts ranks; their number follows.
    start: &'static [&'static str],
    build: Build,
}

const PLAIN: Build = Build::new(Compiler::Clang22, "gfx90a", "3");

/// OpenMPI.
pub const OPEN_MPI: Mpi = Mpi {
    package: "openmpi-bin",
    start: &["/usr/bin/mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"],
    build: PLAIN
        .with(&["-isystem", "/usr/lib/x86_64-linux-gnu/openmpi/include", "-DOMPI_SKIP_MPICXX"])
        .linked_with(&["/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so"]),
};

/// MPICH.
pub const MPICH: Mpi = Mpi {
    package: "mpich",
    start: &["/usr/bin/mpiexec.mpich", "-n"],
    build: PLAIN
        .with(&["-isystem", "/usr/include/x86_64-linux-gnu/mpich", "-DMPICH_SKIP_MPICXX"])
        .linked_with(&["/usr/lib/x86_64-linux-gnu/libmpich.so"]),
};

impl Mpi {
    /// `examples/mpi/halo.hip` with its headers and its library.
    pub fn halo(&self, toolchain: &Toolchain) -> Option<PathBuf> {
        (has(self.start[0], self.package) && offers("gfx90a"))
            .then(|| self.build.compile(toolchain, "../../examples/mpi/halo.hip", Output::Program))
    }

    /// `ranks` processes of a program.
    pub fn ranks(&self, toolchain: &Toolchain, ranks: usize, program: &Path) -> Program {
        let ranks = ranks.to_string();
        Program::below(toolchain, &[self.start, &[&ranks]].concat(), program, "gfx90a")
    }
}
