//! Compiling and linking device code at run time: what `hiprtc.h` and the `hipLink` functions promise, without their C types.
//!
//! The compiler is a clang with the AMDGPU target that the machine has, run as a child process (ADR 50). What sources may
//! use without any include comes from headers in this crate, which stand on clang's own.
//!
//! ```no_run
//! let mut program = hiprtc::Program::new(b"__global__ void f(int* x) { *x = 1; }", "f.hip", Vec::new())?;
//! program.add_name_expression("f")?;
//! program.compile(&["--offload-arch=gfx90a"], || None)?;
//! assert_eq!(program.lowered_name("f")?.to_str(), Ok("_Z1fPi"));
//! # Ok::<(), hiprtc::Error>(())
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`program`] | programs: source, headers, name expressions, what became of them |
//! | [`link`] | objects, archives and bitcode, linked to a code object |
//! | `compile` | one run of the compiler |
//! | `names` | symbols of name expressions |
//! | `options` | options of a compilation |
//! | `target` | architectures, and what device libraries must know of them |
//! | `cache` | results of earlier compilations, on disk |
//! | `compiler` | which clang, which device libraries |
//! | `child` | running a program, private folders |
//! | `prelude` | what sources may use without an include |
//! | `error` | what can go wrong |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `error`, `prelude`, `target`
//! 2. `child`, `options`
//! 3. `cache`, `compiler`, `names`
//! 4. `compile`
//! 5. `link`, `program`

#![forbid(unsafe_code)]

mod cache;
mod child;
mod compile;
mod compiler;
mod error;
pub mod link;
mod names;
mod options;
mod prelude;
pub mod program;
mod target;

pub use error::Error;
pub use link::{Input, Linker};
pub use program::Program;
