//! Compiles device code at test time and runs it on the emulator, without HSA.
//!
//! ```ignore
//! let Some(kernel) = kernel(SOURCE, "saxpy", Target::Gfx90a, Level::O3) else { return };
//! kernel.run([16, 1, 1], [256, 1, 1], &mut [input(&x), output(&mut y), value(3.0f32)], 0).unwrap();
//! ```
//!
//! Sources are HIP without headers; `prelude.h` says what they may use. Tests that need clang-22 pass with a message
//! where it is missing, unless `AQLIPSE_REQUIRE_PACKAGES=1`.

mod compile;
mod device;
mod native;

pub use compile::{Level, device as code_object, device_for as code_object_for, device_v4 as code_object_v4};
pub use device::{Kernel, input, output, value};
pub use native::{Native, compare, native};

use emulator::isa::Target;

/// All targets whose waves have 64 lanes.
pub const TARGETS: [Target; 3] = Target::GFX9;

/// One of each generation whose waves have 32.
pub const RDNA: [Target; 3] = [Target::Gfx1030, Target::Gfx1100, Target::Gfx1200];

/// Every target at every optimisation level.
pub fn everywhere() -> impl Iterator<Item = (Target, Level)> {
    TARGETS.into_iter().flat_map(|target| Level::ALL.map(|level| (target, level)))
}

/// Compiles `source` (or takes what an earlier run compiled) and loads the kernel `name`; `None` without a compiler.
///
/// # Panics
/// Where the source does not compile or has no such kernel.
pub fn kernel(source: &str, name: &str, target: Target, level: Level) -> Option<Kernel> {
    compile::device(source, target, level).map(|object| Kernel::load(&object, name, target))
}
