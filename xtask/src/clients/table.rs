//! The clients, one row each.

use std::path::{Path, PathBuf};

/// What a client needs, how its script runs, and what is left.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Its folder in `clients`, and below `target/clients`.
    pub name: &'static str,
    /// Where its packages come from.
    pub source: Source,
    /// Whether it is linked with libraries that only ROCm has: they are stand-ins, all of whose functions fail.
    pub stand_ins: bool,
    /// Further variables of its environment; `{rocm}` stands for a folder in the form of ROCm's.
    pub variables: &'static [(&'static str, &'static str)],
    /// The only device that it has code for, if it brings its kernels compiled.
    pub only: Option<&'static str>,
    /// How many checks its script counts.
    pub checks: usize,
    /// How it makes graphs; empty if it makes none.
    pub graphs: &'static str,
    /// The rules of `aqlipse check` that it breaks.
    pub findings: &'static [&'static str],
    /// What it cannot do here, and why; empty if nothing is known.
    pub lacks: &'static str,
    /// Whether it is part of `cargo xtask test`.
    pub fast: bool,
}

/// Where a client comes from, and what its script is.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// PyPI: `requirements.txt` has all packages with their versions, `client.py` is the script. These are the client.
    PyPi(&'static [&'static str]),
    /// crates.io: `Cargo.lock` has all crates with their versions, the project is the script. This crate is the client.
    CratesIo(&'static str),
    /// Debian: these packages. `client.py` is the script, and `requirements.txt` has what it needs.
    Debian(&'static [&'static str]),
}

/// All of them, in the order in which they run.
pub const CLIENTS: [Client; 12] = [
    Client {
        name: "hip-python",
        source: Source::PyPi(&["hip-python"]),
        checks: 12,
        graphs: "captures, also of two streams and of memory in stream order; kernel nodes",
        fast: true,
        ..PLAIN
    },
    Client {
        name: "triton",
        source: Source::PyPi(&["triton"]),
        checks: 24,
        graphs: "captures of its launches",
        lacks: "what wants torch: its own driver class, `triton.testing`, autotuning",
        fast: true,
        ..PLAIN
    },
    Client {
        name: "bitsandbytes",
        source: Source::PyPi(&["bitsandbytes"]),
        stand_ins: true,
        checks: 7,
        graphs: "captures",
        lacks: "its Python code, which wants torch; products by hipBLASLt",
        fast: true,
        ..PLAIN
    },
    Client {
        name: "cupy",
        source: Source::PyPi(&["cupy-rocm-7-0"]),
        stand_ins: true,
        checks: 21,
        graphs: "captures",
        lacks: "`linalg`, `fft`, `sparse`, `random` and products of floating-point matrices, which are calls of ROCm's \
                libraries. A header of rocThrust: the script has its own in `CPATH`",
        fast: true,
        ..PLAIN
    },
    Client {
        name: "tinygrad",
        source: Source::PyPi(&["tinygrad"]),
        variables: &[("ROCM_PATH", "{rocm}")],
        checks: 12,
        lacks: "its compiler, ROCm's `libamd_comgr`: `hiprtc` takes its place. Its tensor cores: its table of them has no \
                names with features, such as `gfx942:sramecc+:xnack-`",
        ..PLAIN
    },
    Client {
        name: "tinygrad-0.8",
        source: Source::PyPi(&["tinygrad", "gpuctypes"]),
        checks: 3,
        graphs: "kernel nodes of its jit, set anew before each launch",
        lacks: "it opens libraries in `/opt/rocm/lib` only",
        ..PLAIN
    },
    Client {
        name: "cubecl",
        source: Source::CratesIo("cubecl"),
        variables: &[("PATH", "{rocm}/bin:{PATH}")],
        checks: 8,
        graphs: "captures",
        lacks: "its releases from 0.11.0 on, whose build fetches LLVM from elsewhere than crates.io",
        ..PLAIN
    },
    Client {
        name: "jax",
        source: Source::PyPi(&["jax", "jax-rocm7-plugin", "jax-rocm7-pjrt"]),
        stand_ins: true,
        variables: &[("ROCM_PATH", "{rocm}")],
        checks: 27,
        graphs: "command buffers of XLA",
        lacks: "convolutions, transforms, `linalg` and collectives, which are calls of ROCm's libraries. It counts the \
                devices of AMD's kernel driver: the script does that for it",
        ..PLAIN
    },
    Client {
        name: "quadrants",
        source: Source::PyPi(&["quadrants"]),
        variables: &[("ROCM_PATH", "{rocm}")],
        checks: 10,
        graphs: "kernel nodes of `@qd.kernel(graph=True)`",
        // It frees memory of a pool by `hipFree`, which waits for nothing, behind kernels that it has not waited for. Its arguments
        // lie one behind the other without regard to alignment, so that pointers behind a word of 4 bytes arrive in halves.
        findings: &["memory/unordered-free", "memory/argument"],
        ..PLAIN
    },
    Client {
        name: "hashcat",
        source: Source::Debian(&["hashcat"]),
        checks: 4,
        // A kernel zeros a variable that is constant for kernels.
        findings: &["memory/constant"],
        ..PLAIN
    },
    Client {
        name: "rocsparse",
        source: Source::Debian(&["librocsparse0"]),
        only: Some("gfx90a"),
        checks: 6,
        graphs: "captures",
        // A loop of a product has barriers, and lanes of a wave go through it a different number of times.
        findings: &["sync/divergent-barrier"],
        lacks: "gfx942, for which Debian's has no kernels",
        ..PLAIN
    },
    Client {
        name: "rocprim",
        source: Source::Debian(&["librocprim-dev", "hipcc"]),
        only: Some("gfx90a"),
        checks: 6,
        graphs: "captures",
        lacks: "gfx942, which Debian's hipcc does not know",
        ..PLAIN
    },
];

/// Clients whose tests were there before: name, packages, file, tests, and what is left.
pub const TESTED: [(&str, &str, &str, [&str; 3], &str); 1] = [(
    "rocRAND",
    "`librocrand1`, `librocrand-dev` of Debian",
    "tests/rocrand.rs",
    [
        "integers_are_those_of_the_papers",
        "distributions_are_made_of_the_integers",
        "kernels_draw_numbers_on_every_family",
    ],
    "its library on cards but gfx90a and gfx1030, for which Debian's has no kernels",
)];

/// Where stand-ins are in a client's folder: in its virtual environment, with which they are made anew.
pub const STAND_INS: &str = "venv/stand-ins";

/// What most rows have.
const PLAIN: Client = Client {
    name: "",
    source: Source::PyPi(&[]),
    stand_ins: false,
    variables: &[],
    only: None,
    checks: 0,
    graphs: "",
    findings: &[],
    lacks: "",
    fast: false,
};

impl Client {
    /// What its script is run with: how programs find the library, and what the client wants beside.
    ///
    /// `dist` is the folder of the library, `folder` that of the client, `rocm` what stands for ROCm's, and `path` the
    /// `PATH` of now.
    pub fn environment(
        &self,
        dist: &Path,
        folder: &Path,
        rocm: &Path,
        path: &str,
    ) -> Vec<(&'static str, String)> {
        let mut libraries = dist.join("lib").display().to_string();
        if self.stand_ins {
            libraries = format!("{libraries}:{}", folder.join(STAND_INS).display());
        }
        let own = self.variables.iter().map(|(name, value)| {
            (*name, value.replace("{rocm}", &rocm.display().to_string()).replace("{PATH}", path))
        });
        std::iter::once(("LD_LIBRARY_PATH", libraries)).chain(own).collect()
    }

    /// Whether it has code for a device, or for the device that a description begins with.
    pub fn runs_on(&self, device: &str) -> bool {
        self.only.is_none_or(|only| device.starts_with(only))
    }

    /// Its script or project in the workspace.
    pub fn sources(&self) -> PathBuf {
        Path::new("clients").join(self.name)
    }
}
