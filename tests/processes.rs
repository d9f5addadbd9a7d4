//! Programs of several processes.

use std::path::Path;

use crate::toolchain::{Program, Toolchain, build::compile_host};

// proves: hipImportExternalSemaphore, hipSignalExternalSemaphoresAsync, hipWaitExternalSemaphoresAsync
#[test]
fn a_process_without_a_gpu_and_a_stream_take_turns() {
    let Some(toolchain) = Toolchain::find() else { return };
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("capi/include/aqlipse/semaphore.h");
    let path = compile_host(&toolchain, "semaphores.cpp", &[("SEMAPHORE_H", &header)], &[]);
    Program::new(&toolchain, &path, "gfx90a").run().expect_passed(&"semaphores");
}
