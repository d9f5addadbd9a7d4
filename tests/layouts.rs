//! Programs that are compiled with the headers of several releases of HIP, each linked as `aqlipse flags` says.

use std::path::Path;

use crate::toolchain::{Program, Toolchain, build::compile_against, is_emulated};

// proves: hipGetDeviceProperties, hipPointerGetAttributes, hipDrvMemcpy3D, hipGraphNodeGetType
// proves: hipGraphMemsetNodeGetParams, hipGraphKernelNodeGetAttribute, hipGraphKernelNodeSetAttribute
// proves: hipDrvGraphAddMemsetNode, hipImportExternalSemaphore, hipImportExternalMemory
// proves: hipSignalExternalSemaphoresAsync, hipWaitExternalSemaphoresAsync
// proves: hipMemImportFromShareableHandle, hipMemPoolImportFromShareableHandle
#[test]
fn programs_of_three_releases_read_every_structure_as_their_headers_declare_it() {
    let Some(toolchain) = Toolchain::find() else { return };
    // ROCr over the thunk shares no memory.
    if !is_emulated() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (header, image) =
        (root.join("capi/include/aqlipse/semaphore.h"), root.join("kernels/demo.gfx90a.co"));
    for release in [5, 6, 7] {
        let Some(headers) = toolchain.headers(release) else { continue };
        let files = [("SEMAPHORE_H", header.as_path()), ("IMAGE", image.as_path())];
        let path = compile_against(&toolchain, "layouts.cpp", &headers, &files);
        let finished = Program::new(&toolchain, &path, "gfx90a").run();
        finished.expect_passed(&format!("HIP {release}"));
        assert!(finished.stdout.contains(&format!("HIP {release}\n")), "{}", finished.stdout);
    }
}
