//! What `cargo xtask dist` puts beside this command, and what the machine has.

use std::{
    env,
    path::{Path, PathBuf},
};

/// Our library, in the folder `lib`.
pub const LIBRARY: &str = "libamdhip64.so";

/// AMD's user-mode driver interface on the emulator, in the folder `thunk`.
pub const THUNK: &str = "libhsakmt.so.1";

/// The folder of [`LIBRARY`].
pub fn library_folder() -> Option<PathBuf> {
    folder("lib", LIBRARY)
}

/// The folder of [`THUNK`].
pub fn thunk_folder() -> Option<PathBuf> {
    folder("thunk", THUNK)
}

/// Whether the kernel drives an AMD GPU.
pub fn has_gpu() -> bool {
    Path::new("/dev/kfd").exists()
}

/// `../name` of an installed command, or the `dist/name` of the target folder that a build runs from.
fn folder(name: &str, file: &str) -> Option<PathBuf> {
    let command = env::current_exe().ok()?;
    let here = command.parent()?.parent()?;
    let candidates = [here.join(name), here.join("dist").join(name)];
    candidates.into_iter().find(|folder| folder.join(file).exists())
}
